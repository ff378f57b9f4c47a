package store

import (
	"context"
	"slices"

	"weir"
)

// Lock order, for all transactions: conversations rows in id order, then heads
// rows. Where there is one writer, nothing has to be locked but only to be there.

func (t *tx) LockShared(ctx context.Context, ids ...weir.ConversationID) error {
	if len(ids) == 0 || t.d.oneWriter {
		return t.exist(ctx, ids...)
	}
	wanted := slices.Clone(ids)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	among := toJSON(wanted)
	locked, err := list(ctx, &t.reader, scanID, `
		SELECT id FROM conversations
		WHERE id IN {ids} OR id IN (SELECT ancestor FROM ancestry WHERE descendant IN {ids})
		ORDER BY id {shared}`, among, among)
	if err != nil {
		return err
	}
	for _, id := range wanted {
		if !slices.Contains(locked, id) {
			return noConversation()
		}
	}
	return nil
}

func (t *tx) exist(ctx context.Context, ids ...weir.ConversationID) error {
	for _, id := range ids {
		var one int64
		found, err := first(ctx, &t.reader, []any{&one}, `SELECT 1 FROM conversations WHERE id = ?`, id)
		if err == nil && !found {
			err = noConversation()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) LockForChange(ctx context.Context, id weir.ConversationID) error {
	if t.d.oneWriter {
		return t.exist(ctx, id)
	}
	locked, err := list(ctx, &t.reader, scanID, `
		SELECT id FROM conversations
		WHERE id = ? OR id IN (SELECT descendant FROM ancestry WHERE ancestor = ?)
		ORDER BY id {change}`, id, id)
	if err == nil && !slices.Contains(locked, id) {
		err = noConversation()
	}
	return err
}

func scanID(r row) (id weir.ConversationID, err error) {
	err = r.Scan(&id)
	return id, err
}
