package turn_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

// withLease makes leases short, for tests that wait for a real database's
// clock. Not too short: who stalls for longer loses it.
func withLease(d time.Duration) option {
	return func(c *turn.Config) { c.Lease = d }
}

func withSweep(d time.Duration) option {
	return func(c *turn.Config) { c.Sweep = d }
}

// dying makes a world whose first engine can be killed.
func dying(t *testing.T, s store.Store, options ...option) (*world, *mortal) {
	m := &mortal{Store: s}
	w := newWorld(t, m, append(options, withLease(3*time.Second))...)
	w.start()
	w.s = s
	return w, m
}

// successor starts another engine, which has to wait for the dead one's lease.
func (w *world) successor(options ...option) {
	w.t.Helper()
	w.engine = w.another(append(options, withSweep(100*time.Millisecond))...)
	w.start()
}

func TestAStepWithoutOutputIsRunAgain(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w, dead := dying(t, s)
		c := w.conversation("c")
		w.asks(c, "one")
		dead.kill()
		w.successor()
		a := w.next()
		a.has(t, "one")
		a.lacks(t, "cut off")
		a.say("1").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "end interrupted cut_off", "step", "assistant: 1", "end done")
		w.clean()
	})
}

func TestTextThatWasStreamedBecomesAnInterruptedAnswer(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w, dead := dying(t, s)
		c := w.conversation("c")
		w.asks(c, "one").say("half an answer")
		w.checkpointed(c, "half an answer")
		w.queue(c, "later")
		dead.kill()
		w.successor()
		a := w.next()
		a.has(t, "one", "half an answer", "cut off; continue from where it stopped")
		a.say("and the rest").end()
		w.next().say("2").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant, cut off: half an answer", "end interrupted cut_off",
			"notice: the answer above was cut off; continue from where it stopped",
			"step", "assistant: and the rest", "end done", "user: later", "step", "assistant: 2", "end done")
		w.clean()
	})
}

// checkpointed waits until the running step's text is in the store.
func (w *world) checkpointed(c weir.ConversationID, text string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := w.s.UnsettledStep(ctx, c)
		if err == nil && s.Partial == text {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("the step's text is %q (%v), not %q", s.Partial, err, text)
		}
	}
}

func TestACallThatWasRunningIsSettledAndNotRunAgain(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		begun := make(chan string, 10)
		hang := fakeTool{name: "hang", run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			begun <- c.ID
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		quick := fakeTool{name: "quick", run: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "done"}, nil
		}}
		w, dead := dying(t, s, withTools(hang, quick))
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.call("a", "quick", "{}").call("b", "hang", "{}").call("d", "hang", "{}").end()
		<-begun
		<-begun
		w.until(c, "the first result is there", func() bool {
			return strings.Contains(strings.Join(w.transcript(c), "\n"), "result quick: done")
		})
		dead.kill()
		w.successor(withTools(hang, quick))
		b := w.next()
		b.has(t, "done", "may or may not have taken effect", "may or may not have taken effect")
		b.say("I see").end()
		w.rests(c)
		if len(begun) != 0 {
			t.Error("a tool was run again")
		}
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: call quick | call hang | call hang",
			"result quick: done", "result hang: interrupted; it may or may not have taken effect",
			"result hang: interrupted; it may or may not have taken effect", "end interrupted cut_off",
			"step", "assistant: I see", "end done")
		w.clean()
	})
}

func TestResultsThatNoStepHasSeenAreSeenAfterACrash(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		stop := make(chan struct{})
		quick := fakeTool{name: "quick", run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "done"}, nil }}
		m := &mortal{Store: s}
		w := newWorld(t, m, withTools(quick), withLease(3*time.Second), func(c *turn.Config) { c.Live = killer{m, s, c.Live, stop} })
		w.start()
		w.s = s
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.call("a", "quick", "{}").end()
		<-stop
		w.successor(withTools(quick))
		w.next().say("I see").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: call quick", "result quick: done", "end done",
			"step", "assistant: I see", "end done")
		w.clean()
	})
}

// killer kills the process right after the first result was stored.
type killer struct {
	m    *mortal
	s    store.Store
	next turn.Publisher
	done chan struct{}
}

func (k killer) Publish(sig weir.Signal) {
	if sig.Head != 0 && !k.m.dead.Load() {
		c, _ := k.s.Conversation(context.Background(), sig.Conversation)
		if last, err := k.s.Records(context.Background(), &c, weir.RecordQuery{Newest: true, Limit: 1}); err == nil && len(last) == 1 && last[0].Kind() == weir.KindToolResult {
			k.m.kill()
			close(k.done)
		}
	}
	k.next.Publish(sig)
}

func TestTenResumptionsWithoutProgressStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, openHere(t))
		c := w.conversation("c")
		w.send(c, "one")
		for range 11 {
			m := &mortal{Store: w.s}
			e := w.another(func(cfg *turn.Config) { cfg.Store = turn.Over[store.Tx](m) })
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.next()
			m.kill()
			e.Stop()
		}
		w.engine = w.another()
		w.start()
		w.rests(c)
		w.engine.Stop()
		w.notAsked()
		lines := w.transcript(c)
		if got := lines[len(lines)-1]; got != "end failed resumed_too_often" {
			t.Errorf("the last line is %q of\n%s", got, strings.Join(lines, "\n"))
		}
		w.clean()
	})
}

func TestARestartGoesOnWhereTheStreamWasCut(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.asks(c, "one").say("half ").say("an answer")
		w.engine.Stop()
		step, err := s.UnsettledStep(t.Context(), c)
		if err != nil || step.Partial != "half an answer" {
			t.Errorf("what is stored is %q (%v)", step.Partial, err)
		}
		w.engine = w.another()
		w.start() // at once: the lease was given back
		a := w.next()
		a.has(t, "half an answer", "cut off")
		a.say("the rest").end()
		w.rests(c)
		w.clean()
	})
}

func TestTwoProcessesNeverDrainOneConversationAtOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		w.model.auto = func([]byte) string { return "ok" }
		w.start()
		other := w.another()
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var convs []weir.ConversationID
		for i := range 4 {
			convs = append(convs, w.conversation(weir.ConversationID(fmt.Sprint("c", i))))
		}
		for i := range 40 {
			e := w.engine
			if i%2 == 1 {
				e = other
			}
			if _, err := e.Admit(t.Context(), actor(), turn.Admission{Conversation: convs[i%4], Text: fmt.Sprint("message ", i), Delivery: weir.Queue}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range convs {
			w.rests(c)
			n := 0
			for _, line := range w.transcript(c) {
				if line == "step" {
					n++
				}
			}
			if n != 10 {
				t.Errorf("%s has %d steps for 10 queued messages", c, n)
			}
		}
		w.clean()
	})
}

func TestAHolderThatLostItsLeaseWritesNothing(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		// The first holder's renewals do not arrive; it still believes.
		w := newWorld(t, s)
		w.engine = w.another(withLease(3*time.Second), func(c *turn.Config) { c.Store = deafStore{c.Store} })
		w.start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("from the first")
		second := w.another(withSweep(100 * time.Millisecond))
		if err := second.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-a.over // the first gives up by itself when its lease has run out
		b := w.next()
		b.say("from the second").end()
		w.rests(c)
		for _, line := range w.transcript(c) {
			if strings.HasPrefix(line, "assistant: ") && line != "assistant: from the second" {
				t.Errorf("the transcript has %q", line)
			}
		}
		w.clean()
	})
}

// deafStore loses renewals.
type deafStore struct{ turn.Store }

func (d deafStore) Update(ctx context.Context, fn func(turn.Tx) error) error {
	return d.Store.Update(ctx, func(tx turn.Tx) error { return fn(deafTx{tx}) })
}

type deafTx struct{ turn.Tx }

func (deafTx) RenewLease(context.Context, weir.Lease, time.Duration) (weir.Lease, error) {
	return weir.Lease{}, errTest
}

func TestTheSweepFindsWhatNoRingTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, openHere(t))
		w.model.auto = func([]byte) string { return "ok" }
		w.start()
		synctest.Wait()
		c := w.conversation("c")
		deaf := w.another() // not started: it admits and rings nobody
		if _, err := deaf.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "one"}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		w.rests(c)
		if d := time.Since(begun); d > 3*time.Second {
			t.Errorf("it took %s", d)
		}
		w.engine.Stop()
	})
}

func TestALongStreamKeepsItsLeaseAndIsCheckpointedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counting := &counter{Store: openHere(t)}
		w := newWorld(t, counting).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		synctest.Wait()
		before := counting.n.Load()
		for range 600 { // a minute, ten pieces a second
			a.say("x")
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if n := counting.n.Load() - before; n > 60+12+1 {
			t.Errorf("%d transactions in a minute of streaming, want 60 checkpoints and 12 renewals at most", n)
		}
		s, err := w.s.UnsettledStep(t.Context(), c)
		if err != nil || len(s.Partial) < 580 {
			t.Errorf("%d bytes of 600 are stored (%v)", len(s.Partial), err)
		}
		if id, text := w.engine.Partial(c); id != s.ID || len(text) != 600 {
			t.Errorf("the partial text of %s has %d bytes", id, len(text))
		}
		a.end()
		w.rests(c)
		w.clean()
		w.engine.Stop()
	})
}

// counter counts transactions.
type counter struct {
	store.Store
	n atomic.Int64
}

func (c *counter) Update(ctx context.Context, fn func(store.Tx) error) error {
	c.n.Add(1)
	return c.Store.Update(ctx, fn)
}

// openHere opens a SQLite store within the test's bubble.
func openHere(t *testing.T) store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), "sqlite:"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
