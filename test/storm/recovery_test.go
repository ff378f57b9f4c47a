package storm

import (
	"os"
	"strconv"
	"strings"
	"time"

	"weir"
	"weir/store"
)

// lease is how long a dead child's lease stays in its successor's way on
// PostgreSQL; on SQLite it does not.
const lease = 600 * time.Millisecond

// unsettled returns the steps that a dead child left.
func (s *storm) unsettled() []weir.Step {
	s.t.Helper()
	db, err := store.OpenReadOnly(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	return s.running(db)
}

func (s *storm) running(db store.Reader) (left []weir.Step) {
	s.t.Helper()
	for i := range conversations {
		step, err := db.UnsettledStep(s.t.Context(), conversation(i))
		if weir.KindOf(err) == weir.NotFound && err != nil {
			continue
		}
		if err != nil {
			s.t.Fatal(err)
		}
		left = append(left, step)
	}
	return left
}

// recovered waits until the new child has settled what the dead one left. That
// takes a second at most, counted from when the lease ran out, or from when
// the new child was ready. The full storm allows one in twenty to be late,
// because a machine that does other things too is.
func (s *storm) recovered(left []weir.Step, died, ready time.Time) {
	s.t.Helper()
	if len(left) == 0 {
		return
	}
	free := ready
	if out := died.Add(lease); s.name == "postgres" && out.After(ready) {
		free = out
	}
	db, err := store.OpenReadOnly(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	dead := map[weir.StepID]bool{}
	for _, step := range left {
		dead[step.ID] = true
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for dead := dead; ; <-tick.C {
		open := 0
		for _, step := range s.running(db) {
			if dead[step.ID] {
				open++
			}
		}
		took := time.Since(free)
		if open > 0 && took < patience {
			continue
		}
		s.measured++
		s.slowest = max(s.slowest, took)
		if took > time.Second {
			s.late++
			s.t.Logf("%d steps took %s to be recovered from when they could be, %d still open", len(left), took, open)
		}
		return
	}
}

// everyCallOnce: no tool ran twice; each call has one result, and that result
// says truly whether the tool ran.
func (s *storm) everyCallOnce(db store.Store) {
	s.t.Helper()
	raw, err := os.ReadFile(s.runs)
	if err != nil {
		s.t.Fatal(err)
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if ran[line]++; ran[line] == 2 {
			s.t.Errorf("a tool ran twice for %s", line)
		}
	}
	calls, interrupted := 0, 0
	for i := range conversations {
		called := map[string]string{}
		for _, r := range s.records(db, conversation(i), weir.KindAssistant) {
			for _, call := range r.Body.(*weir.AssistantMessage).Calls() {
				called[call.Call] = call.Name
			}
		}
		calls += len(called)
		for _, r := range s.records(db, conversation(i), weir.KindToolResult) {
			res := r.Body.(*weir.ToolResult)
			key := string(conversation(i)) + " " + res.Call
			if _, open := called[res.Call]; !open {
				s.t.Errorf("a second result, or one of no call: %s", key)
			}
			if called[res.Call] == "work_ask" && denied(res.Call) && ran[key] > 0 {
				s.t.Errorf("%s was denied and ran: %s", key, res.Text)
			}
			delete(called, res.Call)
			switch {
			case strings.HasPrefix(res.Text, worked):
				if ran[key] == 0 {
					s.t.Errorf("%s did not run and says it worked", key)
				}
			case strings.Contains(res.Text, "not run"), strings.Contains(res.Text, "not available"), strings.Contains(res.Text, "declined"):
				if ran[key] > 0 {
					s.t.Errorf("%s ran and says it did not: %s", key, res.Text)
				}
			default:
				interrupted++
			}
			delete(ran, key)
		}
		for call, name := range called {
			s.t.Errorf("%s %s (%s) has no result", conversation(i), call, name)
		}
	}
	for key := range ran {
		s.t.Errorf("a tool ran for %s, which no answer called", key)
	}
	if os.Getenv("WEIR_STORM") == "full" && s.late*20 > s.measured {
		s.t.Errorf("%d of %d recoveries took over a second", s.late, s.measured)
	}
	s.factsOnce(db)
	s.t.Logf("%d calls, %d of them interrupted while they ran; %d recoveries, %d of them over a second, the slowest %s after it could begin", calls, interrupted, s.measured, s.late, s.slowest)
}

// factsOnce: no value is told twice in a row, and none that nobody kept.
func (s *storm) factsOnce(db store.Store) {
	s.t.Helper()
	updates := 0
	for i := range conversations {
		kept := map[string]bool{}
		for _, o := range s.orders {
			if o.Conversation == conversation(i) && o.Fact != 0 {
				kept[strconv.Itoa(o.Fact)] = true
			}
		}
		last := ""
		for _, r := range s.records(db, conversation(i), weir.KindSystem) {
			u := r.Body.(*weir.Update)
			if u.Fact != factKey {
				continue
			}
			updates++
			if string(u.Value) == last || !kept[string(u.Value)] {
				s.t.Errorf("%s is told %s after %s", conversation(i), u.Value, last)
			}
			last = string(u.Value)
		}
	}
	s.t.Logf("%d updates", updates)
}
