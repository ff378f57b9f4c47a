package modelview

import (
	"context"

	"weir"
	"weir/model"
)

// Source is what a window reads: a part of the store's Reader.
type Source interface {
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error)
	Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error)
}

// Dialect renders records for one wire protocol.
type Dialect interface {
	Tag() string
}

// Lowerer turns transcripts into requests.
type Lowerer struct{}

// New returns a Lowerer for the given dialects, or for all built-in ones.
func New(dialects ...Dialect) *Lowerer { panic("not yet") }

// Window returns the (cold) warm state of one holder of a conversation.
func (l *Lowerer) Window(c *weir.Conversation) *Window { panic("not yet") }

// Rebuild returns the exact bytes of a step's request.
func (l *Lowerer) Rebuild(ctx context.Context, src Source, c *weir.Conversation, start *weir.Record) ([]byte, error) {
	panic("not yet")
}

// Options are what a request says beside its prefix.
type Options struct {
	MaxTokens int64 // 0: the profile's
	ToolsOff  bool  // list the tools, permit none
}

// Request is a request to a provider and what is to be stored with it.
type Request struct {
	Body     []byte
	Lowering string
	Tail     string
	Marks    []int64
	Ledger   weir.Ledger
	Views    []weir.View // to be put in the transaction that appends the StepStart
}

// Window is the state that one holder of a conversation keeps between steps.
type Window struct{}

// Expect names the model that the next request is for, so that CatchUp can
// lower for it outside the transaction. Optional.
func (w *Window) Expect(p model.Profile) { panic("not yet") }

// CatchUp reads what the window does not know yet.
func (w *Window) CatchUp(ctx context.Context, src Source) error { panic("not yet") }

// Next makes the next request.
func (w *Window) Next(ctx context.Context, src Source, p model.Profile, o Options) (*Request, error) {
	panic("not yet")
}
