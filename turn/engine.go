package turn

import (
	"context"
	"log/slog"
	"time"

	"weir"
	"weir/fact"
	"weir/gate"
	"weir/modelview"
	"weir/tool"
)

// Config is what an Engine needs. Everything from Now on has a default.
type Config struct {
	Store   Store
	Gate    *gate.Gate
	Lowerer *modelview.Lowerer
	Models  Models
	Tools   *tool.Registry
	Facts   *fact.Set
	Live    Publisher

	Now    func() time.Time
	Holder string // names this process among all that share the store
	Log    *slog.Logger

	Drains    int // conversations drained at once: 256
	Warm      int // conversations kept warm while idle: 64
	Allowance int // steps until a person has to write again: 50
}

// Admission is what a person sends.
type Admission struct {
	Conversation weir.ConversationID
	ID           weir.InputID // "" to have one made
	Text         string
	References   []weir.Reference
	Mentions     weir.Mentions
	Delivery     weir.Delivery  // "" is steer
	IfSeq        *weir.Seq      // refuse when the conversation moved on
	Replaces     weir.MessageID // rewind to before this message first
}

// Engine runs turns.
type Engine struct{ cfg Config }

// New makes an engine. Until [Engine.Start] it admits and drains nothing.
func New(cfg Config) *Engine { return &Engine{cfg: cfg} }

// Start begins to drain; the work ends with ctx or with Stop.
func (e *Engine) Start(ctx context.Context) error { panic("not yet") }

// Stop ends all work and waits for it.
func (e *Engine) Stop() {}

// Admit accepts an input durably.
func (e *Engine) Admit(ctx context.Context, a weir.Actor, ad Admission) (weir.Input, error) {
	panic("not yet")
}

// Edit replaces a pending input.
func (e *Engine) Edit(ctx context.Context, a weir.Actor, ad Admission, revision int64) (weir.Input, error) {
	panic("not yet")
}

// Withdraw takes a pending input back.
func (e *Engine) Withdraw(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID) (weir.Input, error) {
	panic("not yet")
}

// SetDelivery switches a pending input between steer and queue.
func (e *Engine) SetDelivery(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID, d weir.Delivery, revision int64) (weir.Input, error) {
	panic("not yet")
}

// Retry asks for a step from the surface's end.
func (e *Engine) Retry(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error {
	panic("not yet")
}

// Interrupt asks the running step to stop.
func (e *Engine) Interrupt(ctx context.Context, a weir.Actor, c weir.ConversationID) error {
	panic("not yet")
}

// Exclusive runs fn as the only writer of a conversation.
func (e *Engine) Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx Tx, fence int64) error) error {
	panic("not yet")
}

// Partial returns the running step's text so far in this process.
func (e *Engine) Partial(c weir.ConversationID) (weir.StepID, string) { panic("not yet") }
