package gate_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
)

// A wall is acknowledged when the transaction that raises it has returned. An
// admission that let a text pass unasked must have committed by then: if, at
// the end of its transaction, a wall already stands, the text leaves through it.
func TestNoTextLeavesAfterAWallWasAcknowledged(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		// The wall may be the source's own or an ancestor's.
		ancestor := w.make(like{title: "Ancestor"})
		w.say(ancestor, "x")
		source := w.make(like{title: "Source", kind: weir.Branch, parent: ancestor})
		ref := quote(source, w.say(source, "secret"))
		const senders = 4
		var targets []weir.ConversationID
		for i := range senders {
			targets = append(targets, w.make(like{title: fmt.Sprint("Target ", i)}))
		}

		ctx := context.Background()
		var walled atomic.Bool
		counts := newTally()
		var crowd sync.WaitGroup
		for i := range senders {
			crowd.Go(func() {
				for !counts.closed() {
					code := weir.CodeOf(admitWatched(ctx, w, targets[i], ref, &walled))
					counts.add(code)
					if code != "" && code != "confirmation_required" {
						t.Errorf("an admission failed: %s", code)
						counts.close()
					}
				}
			})
		}
		for i := range 40 {
			whose := []weir.ConversationID{source, ancestor}[i%2]
			w.see(whose, weir.Isolated, "")
			walled.Store(true)
			counts.wait("confirmation_required", 2)
			walled.Store(false)
			w.see(whose, weir.Open, "")
			counts.wait("", 2)
		}
		counts.close()
		crowd.Wait()
		t.Logf("%d passed, %d were asked", counts.of[""], counts.of["confirmation_required"])
	})
}

// tally counts answers by code and lets one wait for more of a kind.
type tally struct {
	changed *sync.Cond
	of      map[string]int
	done    bool
}

func newTally() *tally { return &tally{changed: sync.NewCond(new(sync.Mutex)), of: map[string]int{}} }

func (c *tally) locked(f func()) {
	c.changed.L.Lock()
	defer c.changed.L.Unlock()
	f()
	c.changed.Broadcast()
}

func (c *tally) add(code string) { c.locked(func() { c.of[code]++ }) }
func (c *tally) close()          { c.locked(func() { c.done = true }) }
func (c *tally) closed() (done bool) {
	c.locked(func() { done = c.done })
	return done
}

// wait returns when n more of a code have come, or the tally is closed.
func (c *tally) wait(code string, n int) {
	c.changed.L.Lock()
	defer c.changed.L.Unlock()
	for upto := c.of[code] + n; c.of[code] < upto && !c.done; {
		c.changed.Wait()
	}
}

// admitWatched admits a message that quotes ref unasked and fails when a wall
// stands before its transaction has ended.
func admitWatched(ctx context.Context, w *world, target weir.ConversationID, ref weir.Reference, walled *atomic.Bool) error {
	in := weir.Input{
		Conversation: target, ID: weir.NewInputID(time.Now()), Owner: max, Kind: weir.InputUser, Delivery: weir.Steer,
		State: weir.Pending, Revision: 1, Text: "hi", Asked: []weir.Reference{ref}, AdmittedAt: time.Now(),
	}
	return w.s.Update(ctx, func(tx store.Tx) error {
		if err := w.g.Admit(ctx, tx, person, &in); err != nil {
			return err
		}
		if err := tx.InsertInput(ctx, &in); err != nil {
			return err
		}
		// Give a wall every chance to be raised meanwhile.
		for range 3 {
			if _, err := tx.Conversation(ctx, target); err != nil {
				return err
			}
		}
		if walled.Load() {
			return weir.Fault(weir.Internal, "a_text_leaves_through_an_acknowledged_wall", "")
		}
		return nil
	})
}
