package turn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"weir"
)

// Told is what the model was last told of a fact.
type Told struct {
	Value   json.RawMessage
	Removal string // what it will be told when the fact no longer applies
}

// Context is what a conversation's model is told with authority, and what it
// will be told at the next boundary.
type Context struct {
	Epoch       weir.Seq  // of the epoch's record; 0: no step has begun yet
	Began       time.Time // the epoch
	Baseline    string
	SHA256      string
	Snapshot    map[string]Told
	Pending     []weir.Change        // noticed and not told yet, in the order of the journal
	Unavailable map[string]time.Time // facts that cannot be observed, since when, as far as this process knows
}

var errNotYet = errors.New("turn: not there yet")

// Context returns what the model of a conversation is told with authority.
func (e *Engine) Context(ctx context.Context, a weir.Actor, c weir.ConversationID) (Context, error) {
	return Context{}, errNotYet
}

// PutFact keeps a client's fact for a conversation, or, where c is "", for all
// of the actor's, and journals the change. The fact's Scope is set here; a zero
// At is now.
func (e *Engine) PutFact(ctx context.Context, a weir.Actor, c weir.ConversationID, f weir.ClientFact) error {
	return errNotYet
}

// DeleteFact takes a client's fact away; a zero at is now.
func (e *Engine) DeleteFact(ctx context.Context, a weir.Actor, c weir.ConversationID, key string, at time.Time) error {
	return errNotYet
}

// Noticed observes the named facts of a conversation and journals what changed.
// It is for right after a change of the conversation's row.
func (e *Engine) Noticed(ctx context.Context, c weir.ConversationID, keys ...string) error {
	return nil
}

// NewEpoch asks for a new epoch, as a durable control among the inputs. Asking
// twice before it has begun is asking once.
func (e *Engine) NewEpoch(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error {
	return errNotYet
}

// Move puts a queued message before another one, or with "" at the end.
func (e *Engine) Move(ctx context.Context, a weir.Actor, c weir.ConversationID, id, before weir.InputID, revision int64) (weir.Input, error) {
	return weir.Input{}, errNotYet
}
