package store

import (
	"context"
	"slices"

	"weir"
)

// Lock order, for all transactions: conversations rows in id order, then heads
// rows. SQLite has one writer and needs none of it.

func (t *tx) LockShared(ctx context.Context, ids ...weir.ConversationID) error {
	if len(ids) == 0 {
		return nil
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

func (t *tx) LockForChange(ctx context.Context, id weir.ConversationID) error {
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
