package importer

import (
	"context"
	"time"

	"weir"
)

// Reader is what an import reads to know what is there already.
type Reader interface {
	Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error)
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
}

// Tx is the part of the store's transaction that an import needs.
type Tx interface {
	Reader
	InsertConversation(ctx context.Context, c *weir.Conversation) error
	ChangeConversation(ctx context.Context, id weir.ConversationID, ch weir.ConversationChange) error
	ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error
	Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error)
	AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error)
	ReleaseLease(ctx context.Context, l weir.Lease) error
}

// Store is where conversations are kept. The function given to Update may run
// more than once.
type Store interface {
	Reader
	Update(ctx context.Context, fn func(Tx) error) error
}

// Publisher tells watchers what is new. It must not block.
type Publisher interface {
	Publish(weir.Signal)
}

// Over lets a store whose transactions are wider than [Tx] serve as a [Store].
func Over[T Tx](s interface {
	Reader
	Update(ctx context.Context, fn func(T) error) error
}) Store {
	return over[T]{Reader: s, update: s.Update}
}

type over[T Tx] struct {
	Reader
	update func(ctx context.Context, fn func(T) error) error
}

func (o over[T]) Update(ctx context.Context, fn func(Tx) error) error {
	return o.update(ctx, func(tx T) error { return fn(tx) })
}
