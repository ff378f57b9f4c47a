package e2e

import (
	"slices"
	"strings"
	"testing"

	. "weir/test/strictpeer/strictpeer"
)

// waitsFor waits until c waits for a person's word about a call.
func (w *world) waitsFor(c, call string) {
	w.Helper()
	w.until(c, "it waits for approval", func() bool {
		got := w.get(at(c)).is(200).object()
		return got["state"] == "waiting" && got["waiting_for"] == "approval"
	})
	s := w.watch(c, 0)
	defer s.close()
	calls, _ := s.next().data["calls"].([]any)
	if len(calls) != 1 || calls[0].(m)["call"] != call || calls[0].(m)["state"] != "waiting" {
		w.Fatalf("%v wait, want %s", calls, call)
	}
}

func (w *world) decide(c, call, decision string, more ...m) answer {
	w.Helper()
	body := m{"decision": decision}
	for _, add := range more {
		body = with(body, add)
	}
	return w.post(at(c, "approvals", call), body)
}

func TestACallThatNeedsConsentWaitsThroughARestartAndRunsOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("ask")
		w.peer.Script(Answer{Say("May I?"), Call("c1", "t__echo", `{"text":"echoed"}`)}, Answer{Say("Thanks.")})
		c := w.create(m{})
		w.send(c, "go")
		w.waitsFor(c, "c1")
		w.send(c, "what is it?")
		if got := w.pending(c); !slices.Equal(got, []string{"what is it?"}) {
			t.Errorf("%q wait", got)
		}
		w.restart()
		w.waitsFor(c, "c1")
		if n := len(w.peer.Bodies()); n != 1 || tools.Ran("echo") != 0 {
			t.Errorf("%d requests, %d runs before anybody decided", n, tools.Ran("echo"))
		}
		w.decide(c, "c2", "allow").problem(404, "call_not_found")
		w.decide(c, "c1", "allow").is(202)
		w.rests(c)
		w.decide(c, "c1", "deny").problem(404, "call_not_found")
		w.sections(c, "go", [][]string{{"user: go"}, {"result: echoed", "user: what is it?"}})
		if n := tools.Ran("echo"); n != 1 {
			t.Errorf("it ran %d times", n)
		}
		w.accepted()
		w.verified()
	})
}

func TestACallThatIsDeclinedEndsTheTurn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("ask")
		w.peer.Script(Answer{Call("c1", "t__echo", `{"text":"x"}`)}, Answer{Say("Very well.")})
		c := w.create(m{})
		w.send(c, "go")
		w.waitsFor(c, "c1")
		w.decide(c, "c1", "deny").is(202)
		w.rests(c)
		if n := len(w.peer.Bodies()); n != 1 {
			t.Errorf("%d requests though the turn was ended", n)
		}
		w.send(c, "then without")
		w.rests(c)
		said := w.requests("go")[1].said()
		if len(said) != 2 || !strings.Contains(said[0], "declined") || said[1] != "user: then without" || tools.Ran("echo") != 0 {
			t.Errorf("the model reads %q; it ran %d times", said, tools.Ran("echo"))
		}
		w.accepted()
		w.verified()
	})
}

func TestADecisionThatIsRememberedIsNotAskedForAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("ask")
		w.peer.Script(Loop("t__echo", `{"text":"x"}`, 3, Answer{Say("done")})...)
		c := w.create(m{})
		w.send(c, "go")
		w.until(c, "it waits", func() bool { return w.state(c) == "waiting" })
		var call string
		for _, i := range w.timeline(c, "") {
			parts, _ := i["parts"].([]any)
			for _, p := range parts {
				if id, ok := p.(m)["call"].(string); ok {
					call = id
				}
			}
		}
		w.decide(c, call, "allow", m{"remember": true}).is(202)
		w.rests(c)
		if n := tools.Ran("echo"); n != 3 || w.answers(c)[len(w.answers(c))-4:] != "done" {
			t.Errorf("it ran %d times; the model said %q", n, w.answers(c))
		}
		w.accepted()
		w.verified()
	})
}

func TestAnInterruptDeclinesWhatWaitsForConsent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("ask")
		w.peer.Script(Answer{Call("c1", "t__echo", `{"text":"x"}`)}, Answer{Say("Very well.")})
		c := w.create(m{})
		w.send(c, "go")
		w.waitsFor(c, "c1")
		w.post(at(c, "interrupt"), nil).is(202)
		w.until(c, "it stops", func() bool { return w.state(c) == "idle" })
		w.decide(c, "c1", "allow").problem(404, "call_not_found")
		w.send(c, "go on")
		w.rests(c)
		if n := tools.Ran("echo"); n != 0 || w.answers(c) != "|Very well." {
			t.Errorf("it ran %d times; the model said %q", n, w.answers(c))
		}
		w.accepted()
		w.verified()
	})
}
