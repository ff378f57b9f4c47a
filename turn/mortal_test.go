package turn_test

import (
	"context"
	"errors"
	"sync/atomic"

	"weir"
	"weir/store"
)

// mortal is a store as one process sees it: once killed, nothing that the
// process still does reaches the database.
type mortal struct {
	store.Store
	dead atomic.Bool
}

var errKilled = errors.New("this process was killed")

func (m *mortal) kill() { m.dead.Store(true) }

func (m *mortal) Update(ctx context.Context, fn func(store.Tx) error) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.Update(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if m.dead.Load() {
			return errKilled
		}
		return nil
	})
}

func (m *mortal) Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error) {
	if m.dead.Load() {
		return weir.Conversation{}, errKilled
	}
	return m.Store.Conversation(ctx, id)
}

func (m *mortal) Due(ctx context.Context, limit int) ([]weir.ConversationID, error) {
	if m.dead.Load() {
		return nil, errKilled
	}
	return m.Store.Due(ctx, limit)
}
