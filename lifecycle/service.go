// Package lifecycle makes conversations, branches them, rewinds them, changes
// what is set on them and deletes them.
//
// Promises. Whole or not at all: each operation is one transaction, except
// deleting with branches, which deletes one conversation after the other,
// deepest first, and may be asked again after a failure. Order: what shapes
// the surface (rewind, undo) and what removes bodies is written by the holder
// of the conversation's lease, after a running step has been interrupted and
// settled; a title, a visibility or a setting takes effect in the
// conversation's row at once and its record follows at the next boundary.
// Loss: rewind deletes nothing; delete keeps a tombstone, so that nobody's
// island path changes. Concurrency: a Service has no state and may be used
// from any goroutine. A wall is taken down under an exclusive lock of the
// conversation and its descendants, so no admission sees half of it.
//
// A conversation of another owner, a deleted one and one that never was are
// the same here: not found.
package lifecycle

import (
	"context"
	"time"

	"weir"
	"weir/gate"
)

// Reader is what is asked of the store.
type Reader interface {
	Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error)
	Descendants(ctx context.Context, id weir.ConversationID) ([]weir.Conversation, error)
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error)
}

// Tx is a transaction on the store.
type Tx interface {
	gate.Tx
	Reader
	PendingInputs(ctx context.Context, c weir.ConversationID) ([]weir.Input, error)
	LockForChange(ctx context.Context, id weir.ConversationID) error
	InsertConversation(ctx context.Context, c *weir.Conversation) error
	ChangeConversation(ctx context.Context, id weir.ConversationID, ch weir.ConversationChange) error
	ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error
	DeleteBodies(ctx context.Context, id weir.ConversationID, keep weir.Seq) error
	Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error)
}

// Store is where conversations live.
type Store interface {
	Reader
	Update(ctx context.Context, fn func(Tx) error) error
}

// Turns gives the lease of a conversation for as long as fn runs, in the
// transaction that fn is given; a running step is interrupted and settled
// first.
type Turns interface {
	Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx Tx, fence int64) error) error
}

// Gate takes the decisions that only a person can take.
type Gate interface {
	Decide(a weir.Actor, q gate.Question, confirmed bool, seen string) error
	Settle(ctx context.Context, tx gate.Tx, in *weir.Input, result weir.FlowResult, seq weir.Seq) error
}

// Publisher tells watchers that something changed.
type Publisher interface{ Publish(weir.Signal) }

// Config is what a Service needs. KnowsModel is asked whether a catalogue id
// may be set on a conversation; nil takes any.
type Config struct {
	Store      Store
	Turns      Turns
	Gate       Gate
	Live       Publisher
	Now        func() time.Time
	KnowsModel func(id string) bool
}

// Service carries out what people do to conversations.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg}
}

// now is cut to what the wire and both databases keep.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Millisecond) }

func (s *Service) changed(ids ...weir.ConversationID) {
	for _, id := range ids {
		s.cfg.Live.Publish(weir.Signal{Conversation: id, State: true})
	}
}

// visible returns a conversation that a may see.
func visible(ctx context.Context, r Reader, a weir.Actor, id weir.ConversationID) (weir.Conversation, error) {
	missing := weir.Fault(weir.NotFound, weir.CodeConversationNotFound,
		"There is no such conversation. Look it up in the list.")
	if !weir.ValidID(string(id)) {
		return weir.Conversation{}, missing
	}
	c, err := r.Conversation(ctx, id)
	switch {
	case err != nil && weir.KindOf(err) != weir.NotFound:
		return weir.Conversation{}, err
	case err != nil || c.Deleted || c.Owner != a.Owner:
		return weir.Conversation{}, missing
	}
	return c, nil
}
