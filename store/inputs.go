package store

import (
	"context"
	"slices"

	"weir"
)

const inputColumns = `
	conversation, position, id, owner, kind, delivery, state, revision, text, shown,
	asked, mentions, frozen, digest, admitted_at, promoted_seq, code, reason`

func scanInput(r row) (weir.Input, error) {
	var in weir.Input
	var asked, mentions, frozen string
	var admitted int64
	err := r.Scan(&in.Conversation, &in.Position, &in.ID, &in.Owner, &in.Kind, &in.Delivery, &in.State, &in.Revision,
		&in.Text, &in.Shown, &asked, &mentions, &frozen, &in.Digest, &admitted, &in.PromotedSeq, &in.Code, &in.Reason)
	if err != nil {
		return in, err
	}
	in.AdmittedAt = fromMicros(admitted)
	if err := fromJSON(asked, &in.Asked); err != nil {
		return in, err
	}
	if err := fromJSON(mentions, &in.Mentions); err != nil {
		return in, err
	}
	return in, fromJSON(frozen, &in.References)
}

func (r *reader) Input(ctx context.Context, c weir.ConversationID, id weir.InputID) (weir.Input, error) {
	all, err := list(ctx, r, scanInput, `SELECT `+inputColumns+` FROM inputs WHERE conversation = ? AND id = ?`, c, id)
	if err == nil && len(all) == 0 {
		err = noInput()
	}
	if err != nil {
		return weir.Input{}, err
	}
	return all[0], nil
}

func noInput() error {
	return weir.Fault(weir.NotFound, weir.CodeInputNotFound, "There is no such input in this conversation.")
}

func (r *reader) Inputs(ctx context.Context, c weir.ConversationID, limit int) ([]weir.Input, error) {
	return list(ctx, r, scanInput, `
		SELECT `+inputColumns+` FROM inputs {pending} WHERE conversation = ? AND state = 'pending'
		UNION ALL
		SELECT `+inputColumns+` FROM inputs WHERE conversation = ? AND state = 'rejected'
			AND position > (SELECT last_input FROM heads WHERE conversation = ?) - ?
		ORDER BY position`, c, c, c, limit)
}

func (r *reader) PendingInputs(ctx context.Context, c weir.ConversationID) ([]weir.Input, error) {
	return list(ctx, r, scanInput, `
		SELECT `+inputColumns+` FROM inputs {pending} WHERE conversation = ? AND state = 'pending' ORDER BY position`, c)
}

func (t *tx) InsertInput(ctx context.Context, in *weir.Input) error {
	if !weir.ValidID(string(in.ID)) {
		return weir.Fault(weir.Invalid, "input_invalid", "An input needs a valid id.")
	}
	if err := valid(in.Text, in.Shown, in.Code, in.Reason); err != nil {
		return err
	}
	var position int64
	found, err := first(ctx, &t.reader, []any{&position},
		`UPDATE heads SET last_input = last_input + 1 WHERE conversation = ? RETURNING last_input`, in.Conversation)
	switch {
	case err != nil:
		return err
	case !found:
		return noConversation()
	}
	n, err := t.q.exec(ctx, `INSERT INTO inputs (`+inputColumns+`) VALUES `+values(1, 18)+` ON CONFLICT DO NOTHING`,
		in.Conversation, position, in.ID, in.Owner, in.Kind, in.Delivery, in.State, in.Revision, in.Text, in.Shown,
		listJSON(in.Asked), toJSON(in.Mentions), listJSON(in.References), in.Digest, micros(in.AdmittedAt), in.PromotedSeq, in.Code, in.Reason)
	switch {
	case err != nil:
		return err
	case n == 0:
		return weir.Fault(weir.Conflict, weir.CodeInputConflict, "There is already an input with this id in this conversation.")
	}
	in.Position, in.AdmittedAt = position, fromMicros(micros(in.AdmittedAt))
	return nil
}

// UpdateInput changes pending inputs only: what became of one is final, even
// where two transactions looked at it before either changed it.
func (t *tx) UpdateInput(ctx context.Context, in *weir.Input, revision int64) error {
	if err := valid(in.Text, in.Shown, in.Code, in.Reason); err != nil {
		return err
	}
	n, err := t.q.exec(ctx, `
		UPDATE inputs SET delivery = ?, state = ?, revision = ?, text = ?, shown = ?, asked = ?, mentions = ?, frozen = ?,
			digest = ?, promoted_seq = ?, code = ?, reason = ?
		WHERE conversation = ? AND id = ? AND revision = ? AND state = 'pending'`,
		in.Delivery, in.State, in.Revision, in.Text, in.Shown, listJSON(in.Asked), toJSON(in.Mentions), listJSON(in.References),
		in.Digest, in.PromotedSeq, in.Code, in.Reason, in.Conversation, in.ID, revision)
	if err != nil || n == 1 {
		return err
	}
	stored, err := t.Input(ctx, in.Conversation, in.ID)
	if err == nil {
		err = ended(stored.State)
	}
	if err == nil {
		err = movedOn("The message")
	}
	return err
}

// ReorderInputs locks the head first, as adding an input does: of two at once
// the second finds the order that the first has made.
func (t *tx) ReorderInputs(ctx context.Context, c weir.ConversationID, ids []weir.InputID) error {
	var one int64
	found, err := first(ctx, &t.reader, []any{&one}, `SELECT 1 FROM heads WHERE conversation = ? {change}`, c)
	switch {
	case err != nil:
		return err
	case !found:
		return noConversation()
	case len(ids) == 0:
		return nil
	}
	places, err := t.places(ctx, c, ids)
	if err != nil {
		return err
	}
	slices.Sort(places)
	// No two may be in one place at any moment, so all step aside first.
	if _, err := t.q.exec(ctx, `UPDATE inputs SET position = -position WHERE conversation = ? AND id IN {ids}`, c, toJSON(ids)); err != nil {
		return err
	}
	for i, id := range ids {
		_, err := t.q.exec(ctx, `UPDATE inputs SET position = ?, revision = revision + 1 WHERE conversation = ? AND id = ?`, places[i], c, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// places returns the positions of pending inputs and locks these.
func (t *tx) places(ctx context.Context, c weir.ConversationID, ids []weir.InputID) ([]int64, error) {
	var places []int64
	for i, id := range ids {
		var place int64
		var state weir.InputState
		found, err := first(ctx, &t.reader, []any{&place, &state},
			`SELECT position, state FROM inputs WHERE conversation = ? AND id = ? {change}`, c, id)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, noInput()
		case slices.Contains(ids[:i], id):
			return nil, weir.Fault(weir.Invalid, "order_invalid", "The new order names a message twice.")
		}
		if err := ended(state); err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	return places, nil
}

// ended refuses an input that is no longer pending.
func ended(state weir.InputState) error {
	switch state {
	case weir.Pending:
		return nil
	case weir.Promoted:
		return weir.Fault(weir.Conflict, weir.CodeInputPromoted, "The message has already been taken into the conversation.")
	}
	return movedOn("The message")
}
