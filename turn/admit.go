package turn

import (
	"context"

	"weir"
)

// Admit accepts an input durably: when it returns nil, the input survives a
// power cut. The same id with the same body gets the stored input back, with
// another body a conflict that carries the stored one.
func (e *Engine) Admit(ctx context.Context, a weir.Actor, ad Admission) (weir.Input, error) {
	if err := ad.check(); err != nil {
		return weir.Input{}, err
	}
	if ad.Replaces != "" {
		return e.replace(ctx, a, ad)
	}
	in, fresh, err := e.admitOnce(ctx, a, ad)
	if weir.CodeOf(err) == weir.CodeInputConflict && !carriesStored(err) {
		// The same id came twice at once and the other one was first.
		in, fresh, err = e.admitOnce(ctx, a, ad)
	}
	if err != nil {
		return weir.Input{}, err
	}
	e.admitted(in, fresh)
	return in, nil
}

func (e *Engine) admitOnce(ctx context.Context, a weir.Actor, ad Admission) (in weir.Input, fresh bool, err error) {
	err = e.cfg.Store.Update(ctx, func(tx Tx) error {
		in, fresh, err = e.admit(ctx, tx, a, ad)
		return err
	})
	return in, fresh, err
}

// admitted tells those who wait, after the commit.
func (e *Engine) admitted(in weir.Input, fresh bool) {
	if fresh {
		e.publish(weir.Signal{Conversation: in.Conversation, Inputs: true, State: true})
	}
	e.ring(in.Conversation)
}

// admit does the work of Admit within a transaction.
func (e *Engine) admit(ctx context.Context, tx Tx, a weir.Actor, ad Admission) (in weir.Input, fresh bool, err error) {
	c, err := owned(ctx, tx, a, ad.Conversation)
	if err != nil {
		return weir.Input{}, false, err
	}
	if stored, ok, err := receipt(ctx, tx, &ad); ok || err != nil {
		return stored, false, err
	}
	named := c.TitleSet || c.Title != ""
	if !named {
		// The row will be changed: locking it shared first, as the gate does,
		// and then for change would let two first messages wait for each other.
		if err := tx.LockForChange(ctx, c.ID); err != nil {
			return weir.Input{}, false, err
		}
	}
	in = ad.input(a)
	in.AdmittedAt = e.cfg.Now()
	if in.ID == "" {
		in.ID = weir.NewInputID(in.AdmittedAt)
	}
	if err := e.cfg.Gate.Admit(ctx, tx, a, &in); err != nil {
		return weir.Input{}, false, err
	}
	if err := tx.InsertInput(ctx, &in); err != nil {
		return weir.Input{}, false, err
	}
	// Inserting locked the conversation's head: from here on what is read of
	// it is what the inbox was extended under.
	if c, err = owned(ctx, tx, a, ad.Conversation); err != nil {
		return weir.Input{}, false, err
	}
	if ad.IfSeq != nil && ad.Replaces == "" && *ad.IfSeq != c.HeadSeq {
		return weir.Input{}, false, movedOn(c.HeadSeq)
	}
	if !named && !c.TitleSet && c.Title == "" {
		if err := entitle(ctx, tx, &in); err != nil {
			return weir.Input{}, false, err
		}
	}
	return in, true, resume(ctx, tx, &c)
}

// input is what an admission becomes before the gate has seen it.
func (ad *Admission) input(a weir.Actor) weir.Input {
	return weir.Input{
		Conversation: ad.Conversation,
		ID:           ad.ID,
		Owner:        a.Owner,
		Kind:         weir.InputUser,
		Delivery:     ad.delivery(),
		State:        weir.Pending,
		Revision:     1,
		Text:         ad.Text,
		Asked:        ad.References,
		Mentions:     ad.Mentions,
		Digest:       ad.digest(),
	}
}

// entitle names a conversation after its first message.
func entitle(ctx context.Context, tx Tx, in *weir.Input) error {
	said := in.Shown
	if said == "" {
		said = in.Text
	}
	title := titleOf(said)
	if title == "" {
		return nil
	}
	return tx.ChangeConversation(ctx, in.Conversation, weir.ConversationChange{Title: &title})
}

// receipt returns what was stored when this id was sent before.
func receipt(ctx context.Context, r Reader, ad *Admission) (weir.Input, bool, error) {
	if ad.ID == "" {
		return weir.Input{}, false, nil
	}
	stored, err := r.Input(ctx, ad.Conversation, ad.ID)
	switch {
	case err != nil && weir.KindOf(err) == weir.NotFound:
		return weir.Input{}, false, nil
	case err != nil:
		return weir.Input{}, false, err
	case stored.Digest != ad.digest():
		return weir.Input{}, false, weir.Fault(weir.Conflict, weir.CodeInputConflict,
			"Another message was sent under this id before; send yours under a new one.").With(storedMember, shownInput(&stored))
	}
	return stored, true, nil
}

const storedMember = "input"

func carriesStored(err error) bool {
	e, ok := asFault(err)
	return ok && e.Extra[storedMember] != nil
}

// shownInput is what a conflict shows of a stored input: nothing that the
// person did not send themselves.
func shownInput(in *weir.Input) map[string]any {
	asked := make([]weir.Reference, 0, len(in.Asked))
	for _, r := range in.Asked {
		asked = append(asked, weir.Reference{Type: r.Type, Conversation: r.Conversation, Message: r.Message})
	}
	return map[string]any{
		"id": in.ID, "state": in.State, "delivery": in.Delivery, "revision": in.Revision,
		"admitted_at": in.AdmittedAt, "text": in.Text, "references": asked,
	}
}
