package turn

import (
	"context"

	"weir"
	"weir/transcript"
)

// Retry asks for a step from the surface's end, as a durable control among the
// inputs. Asking twice before it ran is asking once.
func (e *Engine) Retry(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error {
	return e.control(ctx, a, c, weir.InputRetry, ifSeq, retryable)
}

// NewEpoch asks for a new epoch, as a durable control among the inputs. Asking
// twice before it has begun is asking once.
func (e *Engine) NewEpoch(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error {
	return e.control(ctx, a, c, weir.InputEpoch, ifSeq, renewable)
}

// control admits a control, unless one of its kind is pending. What would be
// rejected as soon as it is looked at is refused by possible.
func (e *Engine) control(ctx context.Context, a weir.Actor, c weir.ConversationID, kind weir.InputKind, ifSeq *weir.Seq,
	possible func(ctx context.Context, r Reader, c *weir.Conversation) error) error {
	var fresh bool
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		fresh = false
		conv, err := owned(ctx, tx, a, c)
		if err != nil {
			return err
		}
		if ifSeq != nil && *ifSeq != conv.HeadSeq {
			return movedOn(conv.HeadSeq)
		}
		waiting, err := tx.PendingInputs(ctx, c)
		if err != nil {
			return err
		}
		if conv.State == weir.Idle && len(waiting) == 0 {
			if err := possible(ctx, tx, &conv); err != nil {
				return err
			}
		}
		if !hasControl(waiting, kind) {
			now := e.cfg.Now()
			in := weir.Input{
				Conversation: c, ID: weir.NewInputID(now), Owner: a.Owner, Kind: kind,
				Delivery: weir.Queue, State: weir.Pending, Revision: 1, AdmittedAt: now,
			}
			if err := tx.InsertInput(ctx, &in); err != nil {
				return err
			}
			fresh = true
		}
		if conv, err = held(ctx, tx, c); err != nil {
			return err
		}
		if ifSeq != nil && *ifSeq != conv.HeadSeq {
			return movedOn(conv.HeadSeq)
		}
		return resume(ctx, tx, &conv)
	})
	if err != nil {
		return err
	}
	e.admitted(weir.Input{Conversation: c}, fresh)
	return nil
}

func nothingToRetry() *weir.Error {
	return weir.Fault(weir.Unprocessable, "nothing_to_retry", "The newest message is an answer already; write something instead.")
}

// retryable refuses a retry that would be rejected as soon as it is looked at.
func retryable(ctx context.Context, r Reader, c *weir.Conversation) error {
	structure, err := r.Structure(ctx, c)
	if err != nil {
		return err
	}
	ready, _, err := surfaceEnd(ctx, r, c, transcript.Fold(structure))
	if err == nil && !ready {
		err = nothingToRetry()
	}
	return err
}

// renewable refuses a new epoch where there is none.
func renewable(ctx context.Context, r Reader, c *weir.Conversation) error {
	structure, err := r.Structure(ctx, c)
	if err == nil && transcript.Fold(structure).Epoch() == 0 {
		err = nothingToRenew()
	}
	return err
}

func nothingToRenew() *weir.Error {
	return weir.Fault(weir.Unprocessable, "nothing_to_renew", "The model has been told nothing here yet; its first message begins afresh anyway.")
}

func hasControl(pending []weir.Input, kind weir.InputKind) bool {
	for i := range pending {
		if pending[i].Kind == kind {
			return true
		}
	}
	return false
}

// Interrupt asks the running step to stop and returns at once. What came so
// far is kept; pending inputs stay pending until something new is asked for,
// except a retry, which asked for what is being stopped and is taken back.
// Interrupting an idle conversation, or twice, is nothing. With then
// [weir.Steer] the pending steers go on at once, and the queued inputs alone
// wait.
func (e *Engine) Interrupt(ctx context.Context, a weir.Actor, c weir.ConversationID, then weir.Delivery) error {
	if then != "" && then != weir.Steer {
		return weir.Fault(weir.Invalid, "then_invalid", "After an interrupt only “steer” can go on; leave “then” out or say “steer”.")
	}
	mark := waitingResume
	if then == weir.Steer {
		mark = waitingSteers
	}
	var asked bool
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		conv, err := owned(ctx, tx, a, c)
		if err != nil {
			return err
		}
		step, err := tx.AskInterrupt(ctx, c)
		if err != nil {
			return err
		}
		// Between two steps there is no step to mark, but work to stop.
		asked = step || conv.State == weir.Running
		if !asked {
			return nil
		}
		if err := takeRetriesBack(ctx, tx, c); err != nil {
			return err
		}
		if conv, err = held(ctx, tx, c); err != nil {
			return err
		}
		act := weir.Activity{WaitingFor: &mark}
		switch {
		case conv.State == weir.Running:
		case step: // its calls wait for a person and nobody drains it
			running := weir.Running
			act.State = &running
		default: // the work had ended just before: there is nothing to stop
			asked = false
			return nil
		}
		return tx.ChangeActivity(ctx, c, act)
	})
	if err != nil || !asked {
		return err
	}
	e.poke(c)
	e.ring(c)
	e.publish(weir.Signal{Conversation: c, State: true})
	return nil
}

func takeRetriesBack(ctx context.Context, tx Tx, c weir.ConversationID) error {
	pending, err := tx.PendingInputs(ctx, c)
	if err != nil {
		return err
	}
	for i := range pending {
		in := &pending[i]
		if in.Kind != weir.InputRetry {
			continue
		}
		in.State = weir.Withdrawn
		in.Revision++
		switch err := tx.UpdateInput(ctx, in, in.Revision-1); weir.CodeOf(err) {
		case "", weir.CodeMoved, weir.CodeInputPromoted: // or it was settled meanwhile
		default:
			return err
		}
	}
	return nil
}
