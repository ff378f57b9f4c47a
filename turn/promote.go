package turn

import (
	"context"
	"slices"

	"weir"
)

// continueNotice is what the model is told after an answer that was cut off.
const continueNotice = "the answer above was cut off; continue from where it stopped"

// batch is what a boundary promotes.
type batch struct {
	epoch    *weir.Epoch  // the first one
	before   bodies       // appended first: the epoch, what the row says and the log not yet
	promoted []weir.Input // then one record each of these, but for a control
}

// renews reports whether what is due is a new epoch and nothing else.
func (b *batch) renews() bool { return len(b.promoted) == 1 && b.promoted[0].Kind == weir.InputEpoch }

// due decides what is promoted now. A control that has nothing to do is
// rejected, and the rest goes on.
func (en *entry) due(ctx context.Context) (b batch, err error) {
	pending, err := en.tx.PendingInputs(ctx, en.d.id)
	if err != nil {
		return batch{}, err
	}
	cutOff := en.next.cutOff
	for {
		ch := choose(pending, en.next.mustGoOn || en.conv.WaitingFor == waitingSteers)
		b.promoted = ch.messages
		if ch.control == nil {
			break
		}
		var why *weir.Error
		if why, cutOff, err = en.idle(ctx, ch.control); err != nil {
			return batch{}, err
		}
		if why == nil {
			b.promoted = []weir.Input{*ch.control}
			break
		}
		if err := en.reject(ctx, *ch.control, why.Code, why.Public); err != nil {
			return batch{}, err
		}
		pending = slices.DeleteFunc(pending, func(in weir.Input) bool { return in.ID == ch.control.ID })
	}
	if len(b.promoted) == 0 && !en.next.mustGoOn {
		return batch{}, nil
	}
	if en.model, err = answers(ctx, en.tx, &en.conv, en.d.warm, en.next.mustGoOn); err != nil {
		return batch{}, err
	}
	if en.d.warm.shape.Epoch() == 0 && en.plan.fail == nil {
		if en.plan.epoch == nil {
			en.plan.look = true
			return batch{}, errAgain // somebody wrote after we looked
		}
		b.epoch = en.plan.epoch
		b.before.add(b.epoch)
	}
	now := en.conv
	now.Model = en.model
	b.before.add(en.d.warm.settings(&now)...)
	if cutOff {
		b.before.add(&weir.Notice{Text: continueNotice})
	}
	return b, nil
}

// idle says why a control has nothing to do, nil when it has; and whether what
// it goes on with is an answer that was cut off.
func (en *entry) idle(ctx context.Context, control *weir.Input) (why *weir.Error, cutOff bool, err error) {
	if control.Kind == weir.InputEpoch {
		if en.d.warm.shape.Epoch() == 0 {
			why = nothingToRenew()
		}
		return why, false, nil
	}
	ready, cutOff, err := surfaceEnd(ctx, en.tx, &en.conv, en.d.warm.shape)
	if err == nil && !ready {
		why = nothingToRetry()
	}
	return why, cutOff, err
}

// bodyOf returns the record that an input becomes, nil for a control.
func bodyOf(in *weir.Input) weir.Body {
	switch in.Kind {
	case weir.InputUser:
		m := &weir.UserMessage{Input: in.ID, Text: in.Text, Shown: in.Shown, References: in.References}
		if m.Shown == m.Text {
			m.Shown = ""
		}
		return m
	case weir.InputNotice:
		return &weir.Notice{Text: in.Text}
	}
	return nil
}

// markPromoted says of each input which record it became, in order; a
// control's is the step that it began.
func (en *entry) markPromoted(ctx context.Context, promoted []weir.Input, became []weir.Record, step weir.Seq) error {
	for i := range promoted {
		in := promoted[i]
		in.State, in.PromotedSeq = weir.Promoted, step
		if bodyOf(&in) != nil {
			in.PromotedSeq, became = became[0].Seq, became[1:]
		}
		if err := en.update(ctx, &in); err != nil {
			return err
		}
		if err := en.d.e.cfg.Gate.Settle(ctx, en.tx, &in, weir.FlowDelivered, in.PromotedSeq); err != nil {
			return err
		}
	}
	return nil
}

func (en *entry) reject(ctx context.Context, in weir.Input, code, reason string) error {
	in.State, in.Code, in.Reason = weir.Rejected, code, reason
	if err := en.update(ctx, &in); err != nil {
		return err
	}
	return en.d.e.cfg.Gate.Settle(ctx, en.tx, &in, weir.FlowRejected, 0)
}

// update stores an input at its next revision, so that an edit which read the
// one before fails.
func (en *entry) update(ctx context.Context, in *weir.Input) error {
	en.inbox = true
	in.Revision++
	return en.tx.UpdateInput(ctx, in, in.Revision-1)
}
