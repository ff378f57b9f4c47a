package turn

import (
	"context"
	"slices"

	"weir"
	"weir/transcript"
)

// replace rewinds to before a message and admits another, in one transaction
// and as the only writer.
func (e *Engine) replace(ctx context.Context, a weir.Actor, ad Admission) (weir.Input, error) {
	conv, err := owned(ctx, e.cfg.Store, a, ad.Conversation)
	if err != nil {
		return weir.Input{}, err
	}
	if stored, ok, err := receipt(ctx, e.cfg.Store, &ad); ok || err != nil {
		return stored, err
	}
	// A running step is not stopped for what would be refused anyway.
	if ad.IfSeq != nil && *ad.IfSeq != conv.HeadSeq {
		return weir.Input{}, movedOn(conv.HeadSeq)
	}
	if _, _, err := replaceable(ctx, e.cfg.Store, &conv, ad.Replaces); err != nil {
		return weir.Input{}, err
	}
	var in weir.Input
	var fresh bool
	err = e.Exclusive(ctx, ad.Conversation, func(tx Tx, fence int64) (err error) {
		conv, err := owned(ctx, tx, a, ad.Conversation)
		if err != nil {
			return err
		}
		if stored, ok, err := receipt(ctx, tx, &ad); ok || err != nil {
			in, fresh = stored, false
			return err
		}
		if err := e.rewindBefore(ctx, tx, &conv, fence, &ad); err != nil {
			return err
		}
		in, fresh, err = e.admit(ctx, tx, a, ad)
		return err
	})
	if err != nil {
		return weir.Input{}, err
	}
	e.admitted(in, fresh)
	return in, nil
}

// rewindBefore hides the message that is replaced and everything after it.
func (e *Engine) rewindBefore(ctx context.Context, tx Tx, conv *weir.Conversation, fence int64, ad *Admission) error {
	at, shape, err := replaceable(ctx, tx, conv, ad.Replaces)
	if err != nil {
		return err
	}
	if ad.IfSeq != nil {
		// The head may have moved by the settlement of the step that was
		// stopped for this; by anything else it may not.
		since, err := tx.Records(ctx, conv, weir.RecordQuery{After: *ad.IfSeq})
		if err != nil {
			return err
		}
		if *ad.IfSeq > conv.HeadSeq || slices.ContainsFunc(since, func(r weir.Record) bool { return !settles(r.Kind()) }) {
			return movedOn(conv.HeadSeq)
		}
	}
	to, err := messageBefore(ctx, tx, conv, shape, at.Seq)
	if err != nil {
		return err
	}
	_, err = appendTo(ctx, tx, conv, fence, e.cfg.Now(), &weir.Rewind{To: to, From: at.Seq, Upto: conv.HeadSeq})
	return err
}

// settles reports whether records of kind k come of a step's settlement.
func settles(k weir.RecordKind) bool {
	return k == weir.KindAssistant || k == weir.KindToolResult || k == weir.KindStepEnd
}

// replaceable returns a message that may be replaced: a user's, on the surface.
func replaceable(ctx context.Context, r Reader, c *weir.Conversation, id weir.MessageID) (weir.Record, *transcript.Shape, error) {
	at, err := r.Message(ctx, c, id)
	if err != nil {
		if weir.KindOf(err) == weir.NotFound {
			err = weir.Fault(weir.NotFound, weir.CodeMessageNotFound, "There is no such message in this conversation.")
		}
		return at, nil, err
	}
	structure, err := r.Structure(ctx, c)
	if err != nil {
		return at, nil, err
	}
	shape := transcript.Fold(structure)
	if at.Kind() != weir.KindUser || !shape.Current(at.Seq, c.HeadSeq) {
		return at, nil, weir.Fault(weir.Unprocessable, "cut_invalid",
			"Only a message that a person wrote and that still counts can be replaced.")
	}
	return at, shape, nil
}

// messageBefore returns the id of the last message on the surface before seq,
// "" for none.
func messageBefore(ctx context.Context, r Reader, c *weir.Conversation, shape *transcript.Shape, seq weir.Seq) (weir.MessageID, error) {
	for _, span := range slices.Backward(shape.Surface(c.HeadSeq)) {
		if span.From >= seq {
			continue
		}
		found, err := r.Records(ctx, c, weir.RecordQuery{
			After: span.From - 1, Before: min(span.Upto+1, seq), Newest: true, Limit: 1,
			Kinds: []weir.RecordKind{weir.KindUser, weir.KindAssistant},
		})
		if err != nil || len(found) > 0 {
			if err != nil {
				return "", err
			}
			return found[0].ID, nil
		}
	}
	return "", nil
}
