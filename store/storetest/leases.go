package storetest

import (
	"fmt"
	"sync"
	"time"

	"weir"
	"weir/store"
)

// acquire tries to take a lease.
func (w *world) acquire(id weir.ConversationID, holder string, ttl time.Duration) (l weir.Lease, ok bool) {
	w.Helper()
	w.must(func(tx store.Tx) error {
		var err error
		l, ok, err = tx.AcquireLease(w.ctx, id, holder, ttl)
		return err
	})
	return l, ok
}

// takeover waits until a lease has run out by the database's clock and takes it.
func (w *world) takeover(id weir.ConversationID, holder string) weir.Lease {
	w.Helper()
	for w.ctx.Err() == nil {
		if l, ok := w.acquire(id, holder, time.Hour); ok {
			return l
		}
	}
	w.Fatal("the lease never ran out")
	return weir.Lease{}
}

var leases = []scenario{
	{"OneHoldsALeaseUntilItIsReleased", func(w *world) {
		w.conversation("a")
		first, ok := w.acquire("a", "n1", time.Hour)
		if !ok || first.Fence != 1 || first.Holder != "n1" || first.Conversation != "a" {
			w.Fatalf("first: %+v, %v", first, ok)
		}
		for _, holder := range []string{"n2", "n1"} {
			if l, ok := w.acquire("a", holder, time.Hour); ok || l.Fence != first.Fence {
				w.Errorf("%s took a lease that is held, or was not told its fence: %+v, %v", holder, l, ok)
			}
		}
		w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, first) })
		second, ok := w.acquire("a", "n2", time.Hour)
		if !ok || second.Fence <= first.Fence {
			w.Errorf("second: %+v, %v", second, ok)
		}
		w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, first) }) // lost long ago: nothing
		if _, ok := w.acquire("a", "n3", time.Hour); ok {
			w.Error("releasing a lost lease freed another's")
		}
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
			_, _, err := tx.AcquireLease(w.ctx, "none", "n1", time.Hour)
			return err
		})
	}},
	{"ARenewalExtendsAndALostLeaseIsNotRenewed", func(w *world) {
		w.conversation("a")
		l, _ := w.acquire("a", "n1", time.Millisecond)
		var renewed weir.Lease
		w.must(func(tx store.Tx) error {
			var err error
			renewed, err = tx.RenewLease(w.ctx, l, time.Hour)
			return err
		})
		if d := renewed.Expires.Sub(l.Expires); d < 59*time.Minute || renewed.Fence != l.Fence {
			w.Errorf("renewed by %v: %+v", d, renewed)
		}
		if _, ok := w.acquire("a", "n2", time.Hour); ok {
			w.Error("a renewed lease was taken")
		}
		w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, l) })
		w.refused(weir.CodeFenced, func(tx store.Tx) error { _, err := tx.RenewLease(w.ctx, l, time.Hour); return err })
	}},
	{"AfterATakeoverTheOldHolderCanWriteNothing", func(w *world) {
		w.conversation("a")
		old, ok := w.acquire("a", "n1", time.Millisecond)
		if !ok {
			w.Fatal("not free")
		}
		s := step(old, "stp_1", 1)
		x := call(old, "stp_1", "x", 0, weir.CallStarted)
		w.must(func(tx store.Tx) error {
			if err := tx.InsertStep(w.ctx, s); err != nil {
				return err
			}
			return tx.InsertCalls(w.ctx, old.Fence, x)
		})
		now := w.takeover("a", "n2")
		if now.Fence <= old.Fence {
			w.Fatalf("fence went from %d to %d", old.Fence, now.Fence)
		}
		for name, write := range map[string]func(tx store.Tx) error{
			"append":      func(tx store.Tx) error { _, err := tx.Append(w.ctx, "a", old.Fence, nil, said("x")); return err },
			"append none": func(tx store.Tx) error { _, err := tx.Append(w.ctx, "a", old.Fence, nil); return err },
			"views":       func(tx store.Tx) error { return tx.PutViews(w.ctx, old.Fence, "a", view("a", 1, "x", "y")) },
			"step":        func(tx store.Tx) error { return tx.UpdateStep(w.ctx, old.Fence, s) },
			"a new step":  func(tx store.Tx) error { return tx.InsertStep(w.ctx, step(old, "stp_2", 2)) },
			"calls": func(tx store.Tx) error {
				return tx.InsertCalls(w.ctx, old.Fence, call(old, "stp_1", "y", 1, weir.CallWaiting))
			},
			"a call": func(tx store.Tx) error {
				c := x
				c.State = weir.CallSettled
				return tx.UpdateCall(w.ctx, old.Fence, &c)
			},
			"an artefact":  func(tx store.Tx) error { return tx.PutArtefact(w.ctx, old.Fence, artefact("a", "x", "y")) },
			"renewal":      func(tx store.Tx) error { _, err := tx.RenewLease(w.ctx, old, time.Hour); return err },
			"a future one": func(tx store.Tx) error { _, err := tx.Append(w.ctx, "a", now.Fence+1, nil, said("x")); return err },
			"after a check": func(tx store.Tx) error {
				if err := tx.PutViews(w.ctx, now.Fence, "a"); err != nil {
					return err
				}
				return tx.PutViews(w.ctx, old.Fence, "a")
			},
		} {
			if err := w.Update(w.ctx, write); weir.CodeOf(err) != weir.CodeFenced {
				w.Errorf("%s of the old holder: %v", name, err)
			}
		}
		w.say(now, "mine")
		w.must(func(tx store.Tx) error { return tx.UpdateStep(w.ctx, now.Fence, s) })
	}},
	{"ALeaseThatRanOutIsGoodUntilSomebodyTakesIt", func(w *world) {
		w.conversation("a")
		w.admit(input("a", "i", "x"))
		l, _ := w.acquire("a", "n1", time.Millisecond)
		for len(w.due()) == 0 {
			if w.ctx.Err() != nil {
				w.Fatal("the lease never ran out")
			}
		}
		w.say(l, "still mine")
		w.must(func(tx store.Tx) error { _, err := tx.RenewLease(w.ctx, l, time.Hour); return err })
		if len(w.due()) != 0 {
			w.Error("a renewed lease is due")
		}
	}},
	{"AReleasedLeaseWritesNoMore", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.must(func(tx store.Tx) error {
			if _, err := tx.Append(w.ctx, "a", l.Fence, nil, said("last")); err != nil {
				return err
			}
			return tx.ReleaseLease(w.ctx, l)
		})
		w.refused(weir.CodeFenced, func(tx store.Tx) error { _, err := tx.Append(w.ctx, "a", l.Fence, nil, said("late")); return err })
		w.refused(weir.CodeFenced, func(tx store.Tx) error {
			again, _, err := tx.AcquireLease(w.ctx, "a", "n1", time.Hour)
			if err != nil {
				return err
			}
			if err := tx.ReleaseLease(w.ctx, again); err != nil {
				return err
			}
			return tx.PutViews(w.ctx, again.Fence, "a") // released in the same transaction
		})
	}},
	{"OfManyWhoWantALeaseOneGetsIt", func(w *world) {
		w.conversation("a")
		for round := range 5 {
			var won sync.Map
			each(w.T, 12, func(i int) {
				err := w.Update(w.ctx, func(tx store.Tx) error {
					l, ok, err := tx.AcquireLease(w.ctx, "a", fmt.Sprint("n", i), time.Hour)
					if ok {
						won.Store(i, l)
					} else {
						won.Delete(i) // of a first try that was run again
					}
					return err
				})
				if err != nil {
					w.Error(err)
				}
			})
			if n := size(&won); n != 1 {
				w.Fatalf("%d hold the lease in round %d", n, round)
			}
			won.Range(func(_, l any) bool {
				if f := l.(weir.Lease).Fence; f != int64(round+1) {
					w.Errorf("fence %d in round %d", f, round)
				}
				w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, l.(weir.Lease)) })
				return true
			})
		}
	}},
}
