package modelview_test

import (
	"context"
	"errors"
	"strconv"
	"time"

	"weir"
	"weir/modelview"
	"weir/store"
)

// backend is where a world keeps its conversations: memory, or a real store.
type backend interface {
	modelview.Source
	// create adds a conversation; generation is where its records belong.
	create(c *weir.Conversation) error
	// commit runs fn in one transaction.
	commit(c *weir.Conversation, fn func(tx writer) error) error
}

// writer is a transaction.
type writer interface {
	modelview.Source
	write(c *weir.Conversation, bodies ...weir.Body) (weir.Seq, error) // seq of the last
	put(c *weir.Conversation, views []weir.View) error
}

// The memory as a backend: a transaction works on a copy.

type memoryBackend struct{ *memory }

type memoryTx struct{ *memory }

func (memoryBackend) create(*weir.Conversation) error { return nil }

func (b memoryBackend) commit(_ *weir.Conversation, fn func(tx writer) error) error {
	tx := b.clone()
	if err := fn(memoryTx{tx}); err != nil {
		return err
	}
	*b.memory = *tx
	return nil
}

func (t memoryTx) write(c *weir.Conversation, bodies ...weir.Body) (weir.Seq, error) {
	for _, b := range bodies {
		t.append(c, b)
	}
	return t.headOf(c), nil
}

func (t memoryTx) put(_ *weir.Conversation, views []weir.View) error {
	t.putViews(views)
	return nil
}

// A real store as a backend.

type storeBackend struct {
	store.Store
	leases map[weir.ConversationID]weir.Lease
	ids    *int
}

func newStoreBackend(s store.Store) storeBackend {
	return storeBackend{Store: s, leases: map[weir.ConversationID]weir.Lease{}, ids: new(int)}
}

func (b storeBackend) create(c *weir.Conversation) error {
	ctx := context.Background()
	return b.Update(ctx, func(tx store.Tx) error {
		if err := tx.InsertConversation(ctx, c); err != nil {
			return err
		}
		lease, ok, err := tx.AcquireLease(ctx, c.ID, "test", time.Hour)
		if err == nil && !ok {
			err = errors.New("the lease is taken")
		}
		b.leases[c.ID] = lease
		return err
	})
}

func (b storeBackend) commit(_ *weir.Conversation, fn func(tx writer) error) error {
	return b.Update(context.Background(), func(tx store.Tx) error { return fn(storeTx{tx, b}) })
}

type storeTx struct {
	store.Tx
	b storeBackend
}

func (t storeTx) write(c *weir.Conversation, bodies ...weir.Body) (weir.Seq, error) {
	records := make([]weir.Record, len(bodies))
	for i, body := range bodies {
		*t.b.ids++
		records[i] = weir.Record{ID: weir.MessageID("msg_" + strconv.Itoa(*t.b.ids)), Time: someTime(), Generation: "gen_1", Body: body}
	}
	done, err := t.Append(context.Background(), c.ID, t.b.leases[c.ID].Fence, nil, records...)
	if err != nil {
		return 0, err
	}
	return done[len(done)-1].Seq, nil
}

func (t storeTx) put(c *weir.Conversation, views []weir.View) error {
	return t.PutViews(context.Background(), t.b.leases[c.ID].Fence, c.ID, views...)
}

// newConversation returns what create takes.
func newConversation(id weir.ConversationID, lineage []weir.Inherited) *weir.Conversation {
	kind := weir.Chat
	if len(lineage) > 0 {
		kind = weir.Branch
	}
	return &weir.Conversation{ID: id, Owner: "own_1", Title: string(id), Kind: kind, Lineage: lineage,
		Visibility: weir.Visibility{Level: weir.Open}, Generation: "gen_1", CreatedAt: someTime()}
}

var (
	_ backend = memoryBackend{}
	_ backend = storeBackend{}
)
