package e2e

import (
	"slices"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

func TestASteerAmidAnAnswerWithoutToolsIsTheNextStep(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		going, goOn := make(chan struct{}), make(chan struct{})
		w.peer.Otherwise(func(*strictpeer.Request) strictpeer.Answer {
			return strictpeer.Answer{strictpeer.Say("fine")}
		})
		w.peer.Script(strictpeer.Answer{strictpeer.Say("It begins"), strictpeer.Hold(going), strictpeer.Say(" and ends."), strictpeer.Hold(goOn)})
		w.send(c, "go")
		w.until(c, "it runs", func() bool { return w.state(c) == "running" && len(w.peer.Bodies()) == 1 })
		w.send(c, "one")
		w.send(c, "later", m{"delivery": "queue"})
		w.send(c, "two")
		close(going)
		w.send(c, "much later", m{"delivery": "queue"})
		w.send(c, "three")
		if got, want := w.pending(c), []string{"one", "later", "two", "much later", "three"}; !slices.Equal(got, want) {
			t.Errorf("%q wait, want %q", got, want)
		}
		close(goOn)
		w.rests(c)
		w.sections(c, "go", [][]string{
			{"user: go"},
			{"user: one", "user: two", "user: three"},
			{"user: later"},
			{"user: much later"},
		})
		w.accepted()
	})
}

// sections holds what was new in each request against what must have been, and
// each request against the one before it.
func (w *world) sections(c, first string, want [][]string) {
	w.Helper()
	got := w.requests(first)
	for i, r := range got {
		if i >= len(want) || !slices.Equal(r.said(), want[i]) {
			w.Errorf("request %d said %q; want %q of all", i, r.said(), want)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%d requests, want %d", len(got), len(want))
	}
	promoted := 0
	for _, i := range w.timeline(c, "") {
		if i["kind"] == "user" {
			promoted++
		}
	}
	users := 0
	for _, s := range want {
		for _, l := range s {
			if len(l) > 6 && l[:6] == "user: " {
				users++
			}
		}
	}
	if promoted != users {
		w.Errorf("%d messages of a person in the timeline, want %d", promoted, users)
	}
}

func TestWhatIsSentWhileIdleIsTheNextStep(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.peer.Otherwise(func(*strictpeer.Request) strictpeer.Answer { return strictpeer.Answer{strictpeer.Say("fine")} })
		c := w.create(m{})
		w.say(c, "go")
		w.say(c, "on")
		w.send(c, "and", m{"delivery": "queue"})
		w.rests(c)
		w.sections(c, "go", [][]string{{"user: go"}, {"user: on"}, {"user: and"}})
		w.accepted()
		w.verified()
	})
}
