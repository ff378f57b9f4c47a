package turn

import (
	"context"

	"weir"
)

// Edit replaces the text, references and mentions of a pending message, which
// keeps its place and id: a new admission through the gate, refused when the
// message is not at the given revision. An empty Delivery stays what it was.
func (e *Engine) Edit(ctx context.Context, a weir.Actor, ad Admission, revision int64) (weir.Input, error) {
	if err := ad.check(); err != nil {
		return weir.Input{}, err
	}
	return e.change(ctx, a, ad.Conversation, ad.ID, func(tx Tx, in *weir.Input) (bool, error) {
		if err := changeable(in, revision); err != nil {
			return false, err
		}
		if err := e.cfg.Gate.Settle(ctx, tx, in, weir.FlowReplaced, 0); err != nil {
			return false, err
		}
		in.Text, in.Asked, in.Mentions = ad.Text, ad.References, ad.Mentions
		in.Shown, in.References = "", nil
		if ad.Delivery != "" {
			in.Delivery = ad.Delivery
		}
		// The digest stays that of the first admission: whoever repeats that
		// one because its answer got lost must still be recognised.
		return true, e.cfg.Gate.Admit(ctx, tx, a, in)
	})
}

// Withdraw takes a pending input back. Withdrawing it again changes nothing.
func (e *Engine) Withdraw(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID) (weir.Input, error) {
	return e.change(ctx, a, c, id, func(tx Tx, in *weir.Input) (bool, error) {
		if in.State == weir.Withdrawn {
			return false, nil
		}
		if err := pending(in); err != nil {
			return false, err
		}
		in.State = weir.Withdrawn
		return true, e.cfg.Gate.Settle(ctx, tx, in, weir.FlowWithdrawn, 0)
	})
}

// SetDelivery switches a pending message between steer and queue.
func (e *Engine) SetDelivery(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID, d weir.Delivery, revision int64) (weir.Input, error) {
	if err := checkDelivery(d, false); err != nil {
		return weir.Input{}, err
	}
	return e.change(ctx, a, c, id, func(_ Tx, in *weir.Input) (bool, error) {
		if err := changeable(in, revision); err != nil {
			return false, err
		}
		in.Delivery = d
		return true, nil
	})
}

// change lets fn change an input, and stores it at its next revision when fn
// says that it did.
func (e *Engine) change(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID, fn func(Tx, *weir.Input) (bool, error)) (weir.Input, error) {
	var in weir.Input
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		conv, err := owned(ctx, tx, a, c)
		if err != nil {
			return err
		}
		if in, err = storedInput(ctx, tx, c, id); err != nil {
			return err
		}
		revision := in.Revision
		changed, err := fn(tx, &in)
		if !changed || err != nil {
			return err
		}
		in.Revision = revision + 1
		if conv, err = held(ctx, tx, c); err != nil {
			return err
		}
		if err := tx.UpdateInput(ctx, &in, revision); err != nil {
			return err
		}
		return letGo(ctx, tx, &conv)
	})
	if weir.CodeOf(err) == weir.CodeMoved {
		// The store saw another revision than we read: say what overtook us.
		if now, err2 := storedInput(ctx, e.cfg.Store, c, id); err2 == nil && pending(&now) != nil {
			err = pending(&now)
		}
	}
	if err != nil {
		return weir.Input{}, err
	}
	e.publish(weir.Signal{Conversation: c, Inputs: true})
	e.ring(c)
	return in, nil
}

func storedInput(ctx context.Context, r Reader, c weir.ConversationID, id weir.InputID) (weir.Input, error) {
	in, err := r.Input(ctx, c, id)
	if err != nil && weir.KindOf(err) == weir.NotFound {
		return in, noInput()
	}
	return in, err
}

// changeable refuses what is no pending message at this revision.
func changeable(in *weir.Input, revision int64) error {
	if err := pending(in); err != nil {
		return err
	}
	if in.Kind != weir.InputUser {
		return noInput()
	}
	if in.Revision != revision {
		return editedMeanwhile(in)
	}
	return nil
}

func pending(in *weir.Input) error {
	switch in.State {
	case weir.Pending:
		return nil
	case weir.Promoted:
		return weir.Fault(weir.Conflict, weir.CodeInputPromoted,
			"The message is part of the conversation already; it can no longer be changed or taken back.").With("seq", in.PromotedSeq)
	}
	return weir.Fault(weir.Conflict, "input_settled", "The message no longer waits: it was %s.", in.State)
}

// waitingResume is what a conversation waits for after an interrupt, as long
// as inputs are pending. Interrupting marks the row; the settlement of the
// interrupted step acts on the mark; whoever admits something new or asks for
// a retry takes it away.
const waitingResume = "resume"

// waitingSteers is the mark of an interrupt after which the steers go on and
// nothing else does.
const waitingSteers = "steers"

// held reads a conversation after locking its head: what it says stays true
// until the transaction ends. Who decides by state or mark reads it so; what
// was read before may be overtaken by a settlement that is about to commit.
func held(ctx context.Context, tx Tx, c weir.ConversationID) (weir.Conversation, error) {
	if err := tx.ChangeActivity(ctx, c, weir.Activity{}); err != nil {
		return weir.Conversation{}, err
	}
	return tx.Conversation(ctx, c)
}

// resume takes the mark of an interrupt away: something new was asked for.
func resume(ctx context.Context, tx Tx, c *weir.Conversation) error {
	if c.WaitingFor != waitingResume && c.WaitingFor != waitingSteers {
		return nil
	}
	none := ""
	act := weir.Activity{WaitingFor: &none}
	if c.State == weir.Waiting {
		idle := weir.Idle
		act.State = &idle
	}
	return tx.ChangeActivity(ctx, c.ID, act)
}

// letGo lets a conversation that waits for a person, or for a fact, be idle
// again when the last thing that was pending is gone.
func letGo(ctx context.Context, tx Tx, c *weir.Conversation) error {
	if c.State != weir.Blocked && (c.State != weir.Waiting || c.WaitingFor != waitingResume) {
		return nil
	}
	left, err := tx.PendingInputs(ctx, c.ID)
	if err != nil || len(left) > 0 {
		return err
	}
	idle, nothing := weir.Idle, ""
	return tx.ChangeActivity(ctx, c.ID, weir.Activity{State: &idle, WaitingFor: &nothing})
}
