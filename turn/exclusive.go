package turn

import (
	"context"
	"errors"
	"time"

	"weir"
)

// errHeld says that another holds the lease.
var errHeld = errors.New("turn: the lease is held")

// Exclusive runs fn as the only writer of a conversation: a running step is
// asked to stop and waited for, the lease is taken, fn runs in one transaction
// with the lease's fence, the lease is freed and the conversation rung. What fn
// would refuse anyway stops nothing: while another holds the lease, fn is first
// run in a transaction that is undone, and its error is the answer. When the
// step has not settled within ten seconds it fails with conversation_busy and
// nothing of fn counts. fn may run more than once, as in any transaction.
func (e *Engine) Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx Tx, fence int64) error) error {
	release := e.reserve(c)
	defer release()
	deadline := time.NewTimer(exclusiveWait)
	defer deadline.Stop()
	for rehearsed := false; ; rehearsed = true {
		ended := e.ending(c)
		head, err := e.tryExclusive(ctx, c, fn, !rehearsed)
		if err == nil {
			e.publish(weir.Signal{Conversation: c, Head: head, Inputs: true, State: true})
			return nil
		}
		if !errors.Is(err, errHeld) {
			return err
		}
		if err := e.askToStop(ctx, c); err != nil {
			return err
		}
		poll := time.NewTimer(exclusivePoll)
		select {
		case <-ended:
		case <-poll.C: // the holder may be another process
		case <-deadline.C:
			err = weir.Fault(weir.Conflict, weir.CodeBusy, "The conversation is busy and did not stop within ten seconds; try again.")
		case <-ctx.Done():
			err = ctx.Err()
		}
		poll.Stop()
		if !errors.Is(err, errHeld) {
			return err
		}
	}
}

func (e *Engine) tryExclusive(ctx context.Context, c weir.ConversationID, fn func(tx Tx, fence int64) error, rehearse bool) (head weir.Seq, err error) {
	err = e.cfg.Store.Update(ctx, func(tx Tx) error {
		l, ok, err := tx.AcquireLease(ctx, c, e.holder(), e.cfg.Lease)
		if err != nil {
			return err
		}
		if !ok {
			if rehearse {
				// The holder may let go or lose the lease under the rehearsal;
				// that is no answer, only a reason to try again.
				if err := fn(tx, l.Fence); err != nil && weir.CodeOf(err) != weir.CodeFenced {
					return err
				}
			}
			return errHeld // undoes what fn did
		}
		if err := e.settleDead(ctx, tx, l); err != nil {
			return err
		}
		if err := fn(tx, l.Fence); err != nil {
			return err
		}
		conv, err := tx.Conversation(ctx, c)
		if err != nil {
			return err
		}
		head = conv.HeadSeq
		return tx.ReleaseLease(ctx, l)
	})
	return head, err
}

// settleDead settles a step whose holder died, and does not go on with it:
// what comes now was asked for by a person.
func (e *Engine) settleDead(ctx context.Context, tx Tx, l weir.Lease) error {
	conv, err := tx.Conversation(ctx, l.Conversation)
	if err != nil || conv.Deleted {
		return err
	}
	s, err := tx.UnsettledStep(ctx, l.Conversation)
	switch {
	case err != nil && weir.KindOf(err) != weir.NotFound:
		return err
	case err == nil:
		left, err := leftover(ctx, tx, &conv, &s)
		if err != nil {
			return err
		}
		if _, _, err := left.close(ctx, tx, e, &conv, l.Fence, false); err != nil {
			return err
		}
	case conv.State != weir.Running:
		return nil
	}
	idle, nothing := weir.Idle, ""
	act := weir.Activity{State: &idle}
	if conv.WaitingFor == waitingApproval {
		act.WaitingFor = &nothing
	}
	return tx.ChangeActivity(ctx, l.Conversation, act)
}

// askToStop marks the running step, wherever it runs, and makes this process
// look at the mark at once.
func (e *Engine) askToStop(ctx context.Context, c weir.ConversationID) error {
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		_, err := tx.AskInterrupt(ctx, c)
		return err
	})
	e.poke(c)
	return err
}
