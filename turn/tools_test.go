package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

type fakeTool struct {
	name  string
	alone bool
	run   func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fakeTool) Definition() tool.Definition {
	return tool.Definition{Name: f.name, Description: "for tests", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func (f fakeTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) { return f.run(ctx, c) }

func (f fakeTool) Alone() bool { return f.alone }

func TestAToolThatIsNotThereIsAnErrorTheModelSees(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("let me see").call("x", "nothing", `{"a":1}`).end()
		b := w.next()
		b.has(t, "let me see", "not available")
		b.say("never mind").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: let me see | call nothing",
			`result nothing: The tool "nothing" is not available.`, "end done", "step", "assistant: never mind", "end done")
		w.clean()
	})
}

func TestResultsAreSentInCallOrderWhateverFinishesFirst(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		release := map[string]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{}), "3": make(chan struct{})}
		w := newWorld(t, s, withTools(fakeTool{name: "t", run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			<-release[c.ID]
			return tool.Result{Text: "r" + c.ID}, nil
		}})).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "t", "{}").call("2", "t", "{}").call("3", "t", "{}").end()
		for i, id := range []string{"3", "1", "2"} {
			close(release[id])
			w.until(c, "its result is there", func() bool { return len(w.results(c)) == i+1 })
		}
		a := w.next()
		a.has(t, "one", `"r1"`, `"r2"`, `"r3"`)
		a.say("ok").end()
		w.rests(c)
		got := strings.Join(w.transcript(c), ",")
		if !strings.Contains(got, "result t: r3,result t: r1,result t: r2,end done") {
			t.Error(got)
		}
		w.clean()
	})
}

// results returns the results of a conversation by call, and fails where a
// call has two.
func (w *world) results(c weir.ConversationID) map[string]*weir.ToolResult {
	w.t.Helper()
	out := map[string]*weir.ToolResult{}
	for _, r := range w.records(c) {
		if b, ok := r.Body.(*weir.ToolResult); ok {
			if out[b.Call] != nil {
				w.t.Errorf("%s has two results: %q and %q", b.Call, out[b.Call].Text, b.Text)
			}
			out[b.Call] = b
		}
	}
	return out
}

func TestSteersAreTakenAfterToolsAndQueuedOnesWait(t *testing.T) {
	hold := make(chan struct{})
	w := newWorld(t, stores.SQLite(t), withTools(fakeTool{name: "t", run: func(context.Context, tool.Call) (tool.Result, error) {
		<-hold
		return tool.Result{Text: "r"}, nil
	}})).start()
	c := w.conversation("c")
	w.asks(c, "one").call("1", "t", "{}").end()
	w.queue(c, "later")
	w.send(c, "steer")
	close(hold)
	b := w.next()
	b.has(t, "one", `"r"`, "steer")
	b.lacks(t, "later")
	b.say("ok").end()
	w.next().say("ok").end()
	w.rests(c)
	w.clean()
}

func TestAnInterruptSettlesCallsAndEndsTheTurn(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		begun := make(chan struct{}, 2)
		w := newWorld(t, s, withTools(
			fakeTool{name: "hang", run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}},
			fakeTool{name: "alone", alone: true, run: func(context.Context, tool.Call) (tool.Result, error) {
				t.Error("it was run")
				return tool.Result{}, nil
			}})).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "hang", "{}").call("2", "alone", "{}").end()
		<-begun
		w.interrupt(c)
		w.rests(c)
		w.notAsked()
		b := w.asks(c, "go on")
		b.has(t, "may or may not have taken effect", "it was not run", "go on")
		b.say("ok").end()
		w.rests(c)
		w.clean()
	})
}

func TestTheAllowanceEndsATurnThatCallsForEver(t *testing.T) {
	w := newWorld(t, stores.SQLite(t),
		withTools(fakeTool{name: "t", run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "r"}, nil }}),
		func(c *turn.Config) { c.Allowance = 3 }).start()
	c := w.conversation("c")
	w.asks(c, "one").call("1", "t", "{}").end()
	w.next().call("2", "t", "{}").end()
	a := w.next()
	a.has(t, "The number of steps allowed", `"tool_choice":{"type":"none"`)
	a.call("3", "t", "{}").end()
	w.rests(c)
	w.notAsked()
	lines := w.transcript(c)
	if got := lines[len(lines)-1]; got != "end done allowance_used" {
		t.Errorf("it ended with %q", got)
	}
	b := w.asks(c, "two") // the allowance is new
	b.lacks(t, `"tool_choice":{"type":"none"`)
	b.has(t, "The number of steps allowed", "two", "You may call tools again.")
	b.say("ok").end()
	w.rests(c)
	want(t, w.told(c)[1:], "You may call tools again.")
	w.clean()
}

func TestCallsWithoutAnIDOfTheirOwnGetOne(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	w.asks(c, "one").call("x", "a", "{}").call("x", "b", "{}").call("", "c", "broken").end()
	w.next().say("ok").end()
	w.rests(c)
	seen := map[string]bool{}
	for _, r := range w.records(c) {
		if b, ok := r.Body.(*weir.ToolResult); ok {
			seen[b.Call] = true
		}
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("the results are for %v", seen)
	}
	w.clean()
}

// failing is a store whose next transactions fail.
type failing struct {
	turn.Store
	times *atomic.Int32
	err   error
}

func (f failing) Update(ctx context.Context, fn func(turn.Tx) error) error {
	if f.times.Add(-1) >= 0 {
		return f.err
	}
	return f.Store.Update(ctx, fn)
}

func withFailing(times *atomic.Int32, err error) option {
	return func(c *turn.Config) { c.Store = failing{c.Store, times, err} }
}

func TestAResultThatCannotBeStoredEndsTheOtherTools(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var times atomic.Int32
		running := make(chan struct{})
		w := newWorld(t, s, withFailing(&times, errors.New("disk full")), withTools(
			fakeTool{name: "quick", run: func(context.Context, tool.Call) (tool.Result, error) {
				<-running
				times.Store(4) // as often as it is tried
				return tool.Result{Text: "q"}, nil
			}},
			fakeTool{name: "slow", run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				close(running)
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Second):
					t.Error("it went on")
				}
				return tool.Result{Text: "s"}, nil
			}})).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "quick", "{}").call("2", "slow", "{}").end()
		a := w.next() // whoever goes on settles both
		a.has(t, "may or may not have taken effect", "may or may not have taken effect")
		a.say("ok").end()
		w.rests(c)
		w.clean()
	})
}

func TestAResultWaitsForADatabaseThatIsAwayForAWhile(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var times atomic.Int32
		away := weir.Fault(weir.Unavailable, "store_unavailable", "The database cannot be reached at the moment; try again.")
		w := newWorld(t, s, withFailing(&times, away), withTools(fakeTool{name: "work", run: func(context.Context, tool.Call) (tool.Result, error) {
			times.Store(4)
			return tool.Result{Text: "done and kept"}, nil
		}})).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "work", "{}").end()
		a := w.next()
		a.has(t, "done and kept")
		a.say("ok").end()
		w.rests(c)
		w.clean()
	})
}
