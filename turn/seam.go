package turn

import (
	"context"
	"time"

	"weir"
	"weir/gate"
	"weir/model"
)

// Reader is what a turn reads, inside a transaction or outside one.
type Reader interface {
	gate.Reader
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error)
	Input(ctx context.Context, c weir.ConversationID, id weir.InputID) (weir.Input, error)
	PendingInputs(ctx context.Context, c weir.ConversationID) ([]weir.Input, error)
	Step(ctx context.Context, c weir.ConversationID, id weir.StepID) (weir.Step, error)
	Steps(ctx context.Context, c weir.ConversationID, before weir.Seq, limit int) ([]weir.Step, error)
	RefusedSteps(ctx context.Context, c *weir.Conversation) ([]weir.Step, error)
	Lessons(ctx context.Context) ([]weir.Lesson, error)
	UnsettledStep(ctx context.Context, c weir.ConversationID) (weir.Step, error)
	Due(ctx context.Context, limit int) ([]weir.ConversationID, error)
	Calls(ctx context.Context, c weir.ConversationID, step weir.StepID) ([]weir.Call, error)
	WaitingCalls(ctx context.Context, c weir.ConversationID) ([]weir.Call, error)
	CallIDs(ctx context.Context, c *weir.Conversation, ids ...string) ([]string, error)
	Artefact(ctx context.Context, c *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error)
	ToolRules(ctx context.Context, owner weir.OwnerID) ([]weir.ToolRule, error)
	Changes(ctx context.Context, scopes []weir.ChangeScope, after int64, limit int) ([]weir.Change, error)
	NewestChange(ctx context.Context, scope weir.ChangeScope, fact string) (weir.Change, error)
	ClientFacts(ctx context.Context, scopes ...weir.ChangeScope) ([]weir.ClientFact, error)
}

// Tx is a Reader that can write: the part of the store's transaction that
// turns need.
type Tx interface {
	Reader
	LockShared(ctx context.Context, ids ...weir.ConversationID) error
	LockForChange(ctx context.Context, id weir.ConversationID) error
	ChangeConversation(ctx context.Context, id weir.ConversationID, ch weir.ConversationChange) error
	ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error
	Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error)
	PutViews(ctx context.Context, fence int64, c weir.ConversationID, views ...weir.View) error
	InsertInput(ctx context.Context, in *weir.Input) error
	UpdateInput(ctx context.Context, in *weir.Input, revision int64) error
	ReorderInputs(ctx context.Context, c weir.ConversationID, ids []weir.InputID) error
	InsertStep(ctx context.Context, s *weir.Step) error
	UpdateStep(ctx context.Context, fence int64, s *weir.Step) error
	PutLesson(ctx context.Context, l weir.Lesson) error
	AskInterrupt(ctx context.Context, c weir.ConversationID) (bool, error)
	InsertCalls(ctx context.Context, fence int64, calls ...weir.Call) error
	UpdateCall(ctx context.Context, fence int64, call *weir.Call) error
	DecideCall(ctx context.Context, c weir.ConversationID, call string, d weir.Decision) (weir.Call, error)
	PutArtefact(ctx context.Context, fence int64, a *weir.Artefact) error
	PutToolRule(ctx context.Context, rule weir.ToolRule) error
	AppendChanges(ctx context.Context, changes ...*weir.Change) error
	PutClientFact(ctx context.Context, f weir.ClientFact) error
	DeleteClientFact(ctx context.Context, scope weir.ChangeScope, key string) error
	AppendFlows(ctx context.Context, flows ...*weir.Flow) error
	AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error)
	RenewLease(ctx context.Context, l weir.Lease, ttl time.Duration) (weir.Lease, error)
	ReleaseLease(ctx context.Context, l weir.Lease) error
}

// Store is where turns keep everything. fn may run more than once.
type Store interface {
	Reader
	Update(ctx context.Context, fn func(Tx) error) error
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

// Models finds the model with a catalogue id, "" for the default one, and the
// client that speaks to its endpoint. A model that is not known or whose
// provider is not configured is a *weir.Error fit to show.
type Models interface {
	Model(id string) (model.Profile, model.Client, error)
}

// Publisher tells watchers what is new. It must not block.
type Publisher interface {
	Publish(weir.Signal)
}
