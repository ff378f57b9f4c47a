package turn_test

import (
	"context"
	"sync"
	"testing"

	"weir"
	"weir/test/stores"
	"weir/turn"
)

// overtaking lets a test act between the last look of a settlement and its
// commit, and know when what it did there is about to write.
type overtaking struct {
	turn.Store
	settles func()
	writes  func(ctx context.Context)
}

func (s overtaking) Update(ctx context.Context, fn func(turn.Tx) error) error {
	return s.Store.Update(ctx, func(tx turn.Tx) error { return fn(overtakingTx{tx, s}) })
}

type overtakingTx struct {
	turn.Tx
	s overtaking
}

func (tx overtakingTx) ReleaseLease(ctx context.Context, l weir.Lease) error {
	tx.s.settles()
	return tx.Tx.ReleaseLease(ctx, l)
}

func (tx overtakingTx) ChangeActivity(ctx context.Context, c weir.ConversationID, a weir.Activity) error {
	tx.s.writes(ctx)
	return tx.Tx.ChangeActivity(ctx, c, a)
}

type comesLate struct{} // marks the context of who comes late

// amidSettlement interrupts a conversation and runs late between the last look
// of the interrupt's settlement and its commit. Only where writers run side by
// side can it come there.
func amidSettlement(t *testing.T, prepare, then func(w *world, ctx context.Context, c weir.ConversationID) error) (*world, weir.ConversationID) {
	w := newWorld(t, stores.Postgres(t))
	c := w.conversation("c")
	var once sync.Once
	var all sync.WaitGroup
	active := make(chan struct{})
	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	s := overtaking{
		settles: func() {
			select {
			case <-active:
			default:
				return
			}
			once.Do(func() {
				all.Go(func() {
					defer reach() // it may have nothing to write
					if err := then(w, context.WithValue(context.Background(), comesLate{}, true), c); err != nil {
						t.Error(err)
					}
				})
				<-reached
			})
		},
		writes: func(ctx context.Context) {
			if ctx.Value(comesLate{}) != nil {
				reach()
			}
		},
	}
	w.engine = w.another(func(cfg *turn.Config) { s.Store = cfg.Store; cfg.Store = s })
	w.start()
	w.asks(c, "one")
	if err := prepare(w, t.Context(), c); err != nil {
		t.Fatal(err)
	}
	close(active)
	w.interrupt(c)
	<-reached
	all.Wait()
	return w, c
}

func TestWhoAsksAgainWhileAnInterruptSettlesIsHeard(t *testing.T) {
	again := func(w *world, ctx context.Context, c weir.ConversationID) error {
		return w.engine.NewEpoch(ctx, actor(), c, nil)
	}
	w, c := amidSettlement(t, func(w *world, ctx context.Context, c weir.ConversationID) error {
		w.queue(c, "later")
		return again(w, ctx, c)
	}, again)
	w.next().say("Later.").end()
	w.rests(c)
	w.clean()
}

func TestWithdrawingTheLastInputWhileAnInterruptSettlesLeavesItIdle(t *testing.T) {
	var in weir.Input
	w, c := amidSettlement(t, func(w *world, ctx context.Context, c weir.ConversationID) error {
		in = w.queue(c, "later")
		return nil
	}, func(w *world, ctx context.Context, c weir.ConversationID) error {
		_, err := w.engine.Withdraw(ctx, actor(), c, in.ID)
		return err
	})
	w.rests(c)
}
