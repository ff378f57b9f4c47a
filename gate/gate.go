// Package gate is the one place through which content passes from one
// conversation to another: it resolves references, decides whether what they
// name may pass, freezes it with the exact words that the model will read, and
// puts every passage on record.
//
// Promises. Whole or not at all: [Gate.Admit] either fills in the input and
// appends its flow rows, or returns one fault and has changed nothing. Order:
// references first, then accepted mentions in text order; faults are looked
// for kind by kind (invalid, too many, self, not found, not quotable, recall
// refused, confirmation) over all references before the next kind. Loss: flow
// rows live in the caller's transaction and are never edited. Concurrency: a
// Gate has no state of its own and may be used from any goroutine; Admit locks
// the rows that decide before it reads them, so no text leaves after a wall
// was acknowledged.
//
// What is not visible to the asking owner does not exist here: a conversation
// of someone else, a deleted one, a message under another conversation's id
// and an id made up on the spot take the same path, with the same number of
// queries, to the same answer.
package gate

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"time"

	"weir"
)

// Reader is what the gate reads, inside a transaction or outside one.
type Reader interface {
	Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error)
	Message(ctx context.Context, c *weir.Conversation, id weir.MessageID) (weir.Record, error)
	Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error)
	Candidates(ctx context.Context, q weir.CandidateQuery) ([]weir.Conversation, error)
	FlowsOf(ctx context.Context, c weir.ConversationID, in weir.InputID) ([]weir.Flow, error)
}

// Tx is a Reader that can lock what decides and record what passed.
type Tx interface {
	Reader
	LockShared(ctx context.Context, ids ...weir.ConversationID) error
	AppendFlows(ctx context.Context, flows ...*weir.Flow) error
}

// Config is what a gate needs. Quotes and Recalls limit the references of one
// message (quotes and pointers together, and recalls); zero means 8 and 3.
type Config struct {
	Key     []byte // the server's; digests and text HMACs are made with it
	Now     func() time.Time
	Rand    io.Reader
	Quotes  int
	Recalls int
}

// Gate decides. It holds no state besides its configuration.
type Gate struct {
	cfg     Config
	textKey []byte // for HMACs of texts, so that none of them is a digest
}

// New makes a gate. It panics on an empty key: digests that anyone can forge
// would confirm crossings that no person saw.
func New(cfg Config) *Gate {
	if len(cfg.Key) == 0 {
		panic("gate: Config.Key is empty")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Quotes <= 0 {
		cfg.Quotes = 8
	}
	if cfg.Recalls <= 0 {
		cfg.Recalls = 3
	}
	mac := hmac.New(sha256.New, cfg.Key)
	mac.Write([]byte("weir: text of a flow"))
	return &Gate{cfg: cfg, textKey: mac.Sum(nil)}
}
