package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

var errOfMine = errors.New("an error of mine")

var transactions = []scenario{
	{"AnErrorUndoesAllOfItsOwnAndIsReturned", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		err := w.Update(w.ctx, func(tx store.Tx) error {
			if _, err := tx.Append(w.ctx, "a", l.Fence, nil, said("x")); err != nil {
				return err
			}
			if err := tx.InsertConversation(w.ctx, &weir.Conversation{ID: "b", Owner: owner, Kind: weir.Chat, Generation: "g", Title: "zebra"}); err != nil {
				return err
			}
			return errOfMine
		})
		if !errors.Is(err, errOfMine) {
			w.Errorf("error is %v", err)
		}
		if h := w.get("a").HeadSeq; h != 0 {
			w.Errorf("head is %d", h)
		}
		_, err = w.Conversation(w.ctx, "b")
		wantCode(w, err, weir.CodeConversationNotFound)
		if got := w.walkAll(weir.ConversationQuery{Owner: owner, Words: "zebra"}, nil); len(got) != 0 {
			w.Errorf("the index still finds %v", got)
		}
	}},
	{"AFailingUpdateDoesNotHarmItsNeighbours", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		const n = 60
		each(w.T, n, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error {
				if err := tx.InsertInput(w.ctx, input("a", weir.InputID(fmt.Sprintf("i%02d", i)), "x")); err != nil {
					return err
				}
				if _, err := tx.Append(w.ctx, "a", l.Fence, nil, said(fmt.Sprint(i))); err != nil {
					return err
				}
				if i%3 == 0 {
					return errOfMine
				}
				return nil
			})
			if (i%3 == 0) != errors.Is(err, errOfMine) || (i%3 != 0) != (err == nil) {
				w.Errorf("update %d: %v", i, err)
			}
		})
		all, err := w.PendingInputs(w.ctx, "a")
		if err != nil {
			w.Fatal(err)
		}
		got := map[weir.InputID]bool{}
		for _, in := range all {
			got[in.ID] = true
		}
		for i := range n {
			if id := weir.InputID(fmt.Sprintf("i%02d", i)); got[id] != (i%3 != 0) {
				w.Errorf("input %s is there: %v", id, got[id])
			}
		}
		c := w.get("a")
		records, err := w.Records(w.ctx, &c, weir.RecordQuery{})
		if err != nil || len(records) != n*2/3 || c.HeadSeq != n*2/3 {
			w.Errorf("%d records, head %d, %v", len(records), c.HeadSeq, err)
		}
		for i, r := range records {
			if r.Seq != weir.Seq(i+1) {
				w.Fatalf("record %d has seq %d", i, r.Seq)
			}
		}
	}},
	{"APanicUndoesItsOwnAndReachesItsCaller", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		recovered := func() (v any) {
			defer func() { v = recover() }()
			w.Update(w.ctx, func(tx store.Tx) error {
				if _, err := tx.Append(w.ctx, "a", l.Fence, nil, said("x")); err != nil {
					return err
				}
				panic("mine")
			})
			return nil
		}()
		if recovered != "mine" {
			w.Errorf("recovered %v", recovered)
		}
		var wg sync.WaitGroup
		wg.Go(func() { // as t.Fatal does
			w.Update(w.ctx, func(tx store.Tx) error {
				tx.Append(w.ctx, "a", l.Fence, nil, said("y"))
				runtime.Goexit()
				return nil
			})
		})
		wg.Wait()
		w.say(l, "z")
		if d := cmp.Diff([]string{"a 1 z"}, w.log("a", weir.RecordQuery{})); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"ATransactionReadsItsOwnWrites", func(w *world) {
		w.must(func(tx store.Tx) error {
			c := weir.Conversation{ID: "a", Owner: owner, Kind: weir.Chat, Generation: "g", Title: "zebra"}
			if err := tx.InsertConversation(w.ctx, &c); err != nil {
				return err
			}
			page, err := tx.Conversations(w.ctx, weir.ConversationQuery{Owner: owner, Words: "zebra"})
			if len(page.Items) != 1 {
				w.Errorf("found %d", len(page.Items))
			}
			if err != nil {
				return err
			}
			if err := tx.InsertInput(w.ctx, input("a", "i", "x")); err != nil {
				return err
			}
			pending, err := tx.PendingInputs(w.ctx, "a")
			if len(pending) != 1 {
				w.Errorf("%d pending", len(pending))
			}
			return err
		})
	}},
	{"AViewSeesOneState", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "one")
		err := w.View(w.ctx, func(r store.Reader) error {
			before, err := r.Conversation(w.ctx, "a")
			if err != nil {
				return err
			}
			w.say(l, "two")
			after, err := r.Conversation(w.ctx, "a")
			if err != nil {
				return err
			}
			records, err := r.Records(w.ctx, &after, weir.RecordQuery{})
			if before.HeadSeq != 1 || after.HeadSeq != 1 || len(records) != 1 {
				w.Errorf("heads %d and %d, %d records", before.HeadSeq, after.HeadSeq, len(records))
			}
			return err
		})
		if err != nil {
			w.Fatal(err)
		}
		if h := w.get("a").HeadSeq; h != 2 {
			w.Errorf("head is %d", h)
		}
		if err := w.View(w.ctx, func(store.Reader) error { return errOfMine }); !errors.Is(err, errOfMine) {
			w.Errorf("error of a view is %v", err)
		}
	}},
	{"AnUpdateThatWasCancelledBeforehandDoesNotRun", func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		err := w.Update(ctx, func(tx store.Tx) error {
			w.Error("it ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			w.Errorf("error is %v", err)
		}
	}},
	{"AnUpdateThatIsCancelledInTheMiddleLeavesNothing", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		ctx, cancel := context.WithCancel(w.ctx)
		err := w.Update(ctx, func(tx store.Tx) error {
			if _, err := tx.Append(ctx, "a", l.Fence, nil, said("x")); err != nil {
				return err
			}
			cancel()
			_, err := tx.Append(ctx, "a", l.Fence, nil, said("y"))
			return err
		})
		if !errors.Is(err, context.Canceled) {
			w.Errorf("error is %v", err)
		}
		if h := w.get("a").HeadSeq; h != 0 {
			w.Errorf("head is %d", h)
		}
	}},
	{"ATransactionCannotBeUsedAfterItsEnd", func(w *world) {
		var kept store.Tx
		w.must(func(tx store.Tx) error { kept = tx; return nil })
		if err := kept.InsertConversation(w.ctx, &weir.Conversation{ID: "late", Owner: owner, Kind: weir.Chat, Generation: "g"}); err == nil {
			w.Error("it wrote")
		}
		_, err := w.Conversation(w.ctx, "late")
		wantCode(w, err, weir.CodeConversationNotFound)
	}},
	{"WhatWasReadUnderALockStaysTrue", func(w *world) {
		root := w.conversation("root", func(c *weir.Conversation) { c.Visibility.Level = weir.Isolated })
		w.branch("leaf", root, 0)
		changed := make(chan error, 1)
		locked := make(chan struct{})
		var once sync.Once
		go func() {
			<-locked
			changed <- w.Update(w.ctx, func(tx store.Tx) error {
				if err := tx.LockForChange(w.ctx, "root"); err != nil {
					return err
				}
				return tx.ChangeConversation(w.ctx, "root", weir.ConversationChange{Visibility: &weir.Visibility{Level: weir.Open}})
			})
		}()
		w.must(func(tx store.Tx) error {
			if err := tx.LockShared(w.ctx, "leaf", "leaf"); err != nil {
				return err
			}
			once.Do(func() { close(locked) })
			for range 50 {
				leaf, err := tx.Conversation(w.ctx, "leaf")
				if err != nil {
					return err
				}
				if len(leaf.Island) != 1 {
					w.Error("the wall came down under a lock")
				}
			}
			select {
			case err := <-changed:
				w.Errorf("the change did not wait: %v", err)
			default:
			}
			return nil
		})
		if err := <-changed; err != nil {
			w.Fatal(err)
		}
		if leaf := w.get("leaf"); len(leaf.Island) != 0 {
			w.Errorf("island is %v", leaf.Island)
		}
	}},
	{"LockingTheUnknownIsNotFound", func(w *world) {
		w.conversation("a")
		w.must(func(tx store.Tx) error { return tx.LockShared(w.ctx) })
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error { return tx.LockShared(w.ctx, "a", "none") })
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error { return tx.LockForChange(w.ctx, "none") })
	}},
	{"AdmissionsUnderSharedLocksAndAppendsGoOnTogether", func(w *world) {
		a := w.conversation("a")
		w.branch("b", a, 0)
		la, lb := w.lease("a"), w.lease("b")
		each(w.T, 12, func(i int) {
			for j := range 10 {
				err := w.Update(w.ctx, func(tx store.Tx) error {
					switch i % 3 {
					case 0:
						if err := tx.LockShared(w.ctx, "b", "a"); err != nil {
							return err
						}
						return tx.InsertInput(w.ctx, input("b", weir.InputID(fmt.Sprint(i, j)), "x"))
					case 1:
						if err := tx.LockForChange(w.ctx, "a"); err != nil {
							return err
						}
						return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{Title: ptr(fmt.Sprint(i, j))})
					}
					l := la
					if j%2 == 0 {
						l = lb
					}
					_, err := tx.Append(w.ctx, l.Conversation, l.Fence, nil, said(fmt.Sprint(i, j)))
					return err
				})
				if err != nil {
					w.Error(err)
				}
			}
		})
		if got := w.get("a").HeadSeq + w.get("b").HeadSeq; got != 40 {
			w.Errorf("%d records", got)
		}
	}},
}
