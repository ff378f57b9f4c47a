package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/test/race"
	. "weir/test/strictpeer/strictpeer"
	"weir/test/toolserver"
)

func (w *world) put(path string, body any) answer {
	w.Helper()
	return w.do(ask{method: "PUT", path: path, body: body})
}

// fact keeps a fact of a client's, with the time at which it changed.
func (w *world) fact(c, name string, value any, changed time.Time) {
	w.Helper()
	w.put(at(c, "context", "facts", "test", name), m{"value": value, "changed_at": changed}).is(200)
}

func TestTwoChangesAreToldInTheOrderInWhichTheyHappened(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, order := range [][2]string{{"alpha", "beta"}, {"beta", "alpha"}} {
			for _, noticed := range [][2]string{{"alpha", "beta"}, {"beta", "alpha"}} {
				first := fmt.Sprintf("%s first, %s noticed first", order[0], noticed[0])
				c := w.create(m{})
				w.fact(c, "alpha", "a0", time.Now().Add(-time.Hour))
				w.fact(c, "beta", "b0", time.Now().Add(-time.Hour))
				w.say(c, first)
				happened := map[string]time.Time{order[0]: time.Now().Add(-2 * time.Minute), order[1]: time.Now().Add(-time.Minute)}
				for _, name := range noticed {
					w.fact(c, name, name+" is new", happened[name])
				}
				w.say(c, "and now?")
				requests := w.requests(first)
				said := requests[1].said()
				if len(said) != 3 || said[0] != "user: and now?" ||
					!strings.Contains(said[1], order[0]+" is new") || !strings.Contains(said[2], order[1]+" is new") {
					t.Errorf("%s: the model reads %q", first, said)
				}
				w.extended(requests)
				var updates []string
				for _, i := range w.timeline(c, "") {
					if u, ok := i["update"].(m); ok {
						updates = append(updates, u["fact"].(string))
					}
				}
				if want := []string{"test/" + order[0], "test/" + order[1]}; !slices.Equal(updates, want) {
					t.Errorf("%s: the timeline shows %q, want %q", first, updates, want)
				}
				w.say(c, "anything else?")
				if said := w.requests(first)[2].said(); !slices.Equal(said, []string{"user: anything else?"}) {
					t.Errorf("%s: what was told is told again: %q", first, said)
				}
			}
		}
		w.accepted()
		w.verified()
	})
}

// extended holds each request against the one before: the same head, and every
// earlier byte as it was.
func (w *world) extended(requests []wire) {
	w.Helper()
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1], requests[i]
		if now.System != before.System {
			w.Fatalf("request %d has another baseline:\n%s\nand before\n%s", i, now.System, before.System)
		}
		if !strings.HasPrefix(now.Prefix, before.Prefix) {
			at := 0
			for at < len(before.Prefix) && at < len(now.Prefix) && before.Prefix[at] == now.Prefix[at] {
				at++
			}
			w.Fatalf("request %d does not extend the one before, from byte %d of %d on: %s", i, at, len(before.Prefix), short([]byte(now.Prefix[at:])))
		}
	}
}

func (w *world) checkout(dir, branch string) {
	w.Helper()
	if _, err := toolserver.Git(w.Context(), dir, "checkout", "-q", branch); err != nil {
		w.Fatal(err)
	}
}

// noticed waits until the journal has a change that the model has not been told.
func (w *world) noticed(c, value string) {
	w.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		if strings.Contains(fmt.Sprint(w.get(at(c, "context")).is(200).object()["journal"]), value) {
			return
		}
		<-tick.C
	}
	w.Fatalf("%q was not noticed: %v", value, w.get(at(c, "context")).object()["journal"])
}

func TestABranchSwitchWhileAToolRunsIsToldWithItsResult(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		dir := toolserver.Repository(t, "main", "dev")
		w.peer.Otherwise(func(*Request) Answer { return Answer{Say("fine")} })
		w.peer.Script(Answer{held("a"), held("b")})
		c := w.create(m{"workspace": dir})
		w.send(c, "go")
		w.began(tools, "a")
		w.began(tools, "b")
		w.checkout(dir, "dev")
		w.noticed(c, "dev")
		tools.Release("a", "a is done")
		w.until(c, "the first result is there", func() bool { return strings.Contains(fmt.Sprint(w.timeline(c, "")), "a is done") })
		for _, i := range w.timeline(c, "?hidden=include") {
			if i["update"] != nil {
				t.Errorf("told while a tool runs: %v", i["update"])
			}
		}
		if n := len(w.peer.Bodies()); n != 1 {
			t.Errorf("%d requests while a tool runs", n)
		}
		tools.Release("b", "b is done")
		w.rests(c)
		requests := w.requests("go")
		said := requests[1].said()
		if len(said) != 3 || said[0] != "result: a is done" || said[1] != "result: b is done" || !strings.HasPrefix(said[2], "system: ") || !strings.Contains(said[2], "dev") {
			t.Errorf("the next request says %q", said)
		}
		w.extended(requests)
		w.accepted()
		w.verified()
	})
}

func TestASwitchByTheToolItselfIsInTheVeryNextRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withTools("allow")
		dir := toolserver.Repository(t, "main", "dev")
		w.peer.Script(Answer{Use("t__git", fmt.Sprintf(`{"dir":%q,"args":["checkout","-q","dev"]}`, dir))}, Answer{Say("fine")})
		c := w.create(m{"workspace": dir})
		w.send(c, "go")
		w.rests(c)
		if said := told(w.requests("go")[1].said()); len(said) != 1 || !strings.Contains(said[0], "dev") {
			t.Errorf("the model was told %q", said)
		}
		w.accepted()
	})
}

func TestBackAndForthIsToldOnlyWhenAToolRanInBetween(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		dir := toolserver.Repository(t, "main", "dev", "old")
		w.peer.Otherwise(func(*Request) Answer { return Answer{Say("fine")} })
		c := w.create(m{"workspace": dir})
		w.say(c, "go")
		// Without a tool: not at all; or the last one, once.
		w.checkout(dir, "dev")
		w.noticed(c, "dev")
		w.checkout(dir, "main")
		w.say(c, "two")
		w.checkout(dir, "old")
		w.noticed(c, "old")
		w.checkout(dir, "dev")
		w.say(c, "three")
		// With one that ran under both: both.
		w.peer.Script(Answer{held("a")})
		w.send(c, "four")
		w.began(tools, "a")
		w.checkout(dir, "old")
		w.noticed(c, "old")
		w.checkout(dir, "dev")
		w.newest(c, "dev")
		tools.Release("a", "a is done")
		w.rests(c)
		requests := w.requests("go")
		for i, want := range [][]string{nil, nil, {"dev"}, nil, {"old", "dev"}} {
			got := told(requests[i].said())
			ok := len(got) == len(want)
			for j := range want {
				ok = ok && strings.Contains(got[j], want[j])
			}
			if !ok {
				t.Errorf("request %d told %q, want %q", i, got, want)
			}
		}
		w.extended(requests)
		w.accepted()
		w.verified()
	})
}

// newest waits until the newest change in the journal names a value.
func (w *world) newest(c, value string) {
	w.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		journal, _ := w.get(at(c, "context")).is(200).object()["journal"].([]any)
		if n := len(journal); n > 0 && strings.Contains(fmt.Sprint(journal[n-1]), value) {
			return
		}
		<-tick.C
	}
	w.Fatalf("%q is not the newest: %v", value, w.get(at(c, "context")).object()["journal"])
}

// A fact that hangs delays a step by its deadline and keeps nothing else from
// being told, here or elsewhere.
func TestAFactThatHangsDelaysByItsDeadlineAndFreezesNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		dir := toolserver.Repository(t, "main", "dev")
		w.must(os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Use tabs.\n"), 0o600))
		c, other := w.create(m{"workspace": dir}), w.create(m{})
		w.say(c, "go")
		w.say(other, "elsewhere")
		w.must(os.Remove(filepath.Join(dir, "AGENTS.md")))
		w.must(syscall.Mkfifo(filepath.Join(dir, "AGENTS.md"), 0o600))
		w.fact(c, "alpha", "a1", time.Now())
		w.fact(other, "alpha", "a2", time.Now())
		begun := time.Now()
		w.send(c, "and?")
		w.say(other, "here?")
		w.rests(c)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		for first, want := range map[string]string{"go": "a1", "elsewhere": "a2"} {
			requests := w.requests(first)
			if got := told(requests[1].said()); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("told %q, want %q alone", got, want)
			}
			w.extended(requests)
		}
		if got := fmt.Sprint(w.get(at(c, "context")).is(200).object()["unavailable"]); !strings.Contains(got, "core/instructions") {
			t.Errorf("unavailable are %s", got)
		}
		// When it is there again, what is new is told.
		w.must(os.Remove(filepath.Join(dir, "AGENTS.md")))
		w.must(os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Use spaces.\n"), 0o600))
		w.say(c, "now?")
		if got := told(w.requests("go")[2].said()); len(got) != 1 || !strings.Contains(got[0], "Use spaces.") {
			t.Errorf("told %q", got)
		}
		w.accepted()
		w.verified()
	})
}

// Three hundred turns with a hundred changes of facts of several kinds,
// restarts, a fact that cannot be observed for a while and a model switch: no
// request differs from the one before in anything but what it adds.
func TestALongRunNeverChangesAByteThatWasSent(t *testing.T) {
	turns := 300
	if race.Enabled {
		turns = 60
	}
	each(t, func(t *testing.T, w *world) {
		other := maps.Clone(w.cfg.Models[0])
		other["id"], other["name"] = "peer/other", "claude-other"
		w.cfg.Models = append(w.cfg.Models, other)
		w.restart()
		dir := toolserver.Repository(t, "main", "dev")
		agents := filepath.Join(dir, "AGENTS.md")
		c := w.create(m{"workspace": dir})
		branch, changes := "main", 0
		for i := range turns {
			if i%60 == 20 { // it cannot be read for ten turns
				w.must(os.Rename(agents, agents+".away"))
				w.must(syscall.Mkfifo(agents, 0o600))
			}
			if i%60 == 30 {
				w.must(os.Rename(agents+".away", agents))
			}
			switch {
			case i%3 != 1:
			case i%9 == 1:
				branch = map[string]string{"main": "dev", "dev": "main"}[branch]
				w.checkout(dir, branch)
				changes++
			case i%9 == 4 && (i%60 < 20 || i%60 >= 30):
				w.must(os.WriteFile(agents, fmt.Appendf(nil, "Rule %d holds.\n", i), 0o600))
				changes++
			default:
				w.fact(c, "count", i, time.Now())
				changes++
			}
			if i%75 == 40 {
				w.restart()
			}
			if i == turns/2 {
				w.patch(at(c), m{"model": "peer/other"}).is(200)
			}
			w.say(c, fmt.Sprintf("turn %d", i))
		}
		requests := w.requests("turn 0")
		if len(requests) != turns {
			t.Fatalf("%d requests in %d turns", len(requests), turns)
		}
		w.extended(requests[:turns/2])
		w.extended(requests[turns/2:])
		if requests[0].System != requests[turns-1].System {
			t.Error("the baseline is another after the model switch")
		}
		updates := 0
		for _, r := range requests {
			updates += len(told(r.said()))
		}
		if updates < changes {
			t.Errorf("%d changes were told in %d updates", changes, updates)
		}
		for i, s := range w.steps(c) {
			if r := s.Ledger.Reason; r != "" && i > 0 && r != "model" {
				t.Errorf("step %d breaks the prefix: %s", i, r)
			}
		}
		t.Logf("%d turns, %d changes, %d updates", turns, changes, updates)
		w.accepted()
		w.verified()
	})
}

// A fact that cannot be had at the start is left out, and told as soon as it is
// there.
func TestAFactThatCannotBeHadAtTheStartIsToldWhenItComes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		dir := toolserver.Repository(t, "main")
		agents := filepath.Join(dir, "AGENTS.md")
		w.must(syscall.Mkfifo(agents, 0o600))
		c := w.create(m{"workspace": dir})
		w.say(c, "go")
		w.must(os.Remove(agents))
		w.must(os.WriteFile(agents, []byte("Use tabs.\n"), 0o600))
		w.say(c, "and?")
		requests := w.requests("go")
		if strings.Contains(requests[0].System, "Use tabs.") {
			t.Error("it was there at the start")
		}
		if got := told(requests[1].said()); len(got) != 1 || !strings.Contains(got[0], "Use tabs.") {
			t.Errorf("told %q", got)
		}
		w.extended(requests)
		w.accepted()
		w.verified()
	})
}
