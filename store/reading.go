package store

import (
	"context"

	"weir"
)

// reading answers each question outside a transaction in a view of its own,
// so that an answer made of several queries is of one moment.
type reading struct {
	view func(ctx context.Context, fn func(Reader) error) error
}

// ask runs one question.
func ask[T any](ctx context.Context, r reading, question func(Reader) (T, error)) (answer T, err error) {
	err = r.view(ctx, func(r Reader) error {
		answer, err = question(r)
		return err
	})
	return answer, err
}

func (r reading) Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error) {
	return ask(ctx, r, func(r Reader) (weir.Conversation, error) { return r.Conversation(ctx, id) })
}

func (r reading) Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error) {
	return ask(ctx, r, func(r Reader) (weir.Page[weir.Conversation], error) { return r.Conversations(ctx, q) })
}

func (r reading) Candidates(ctx context.Context, q weir.CandidateQuery) ([]weir.Conversation, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Conversation, error) { return r.Candidates(ctx, q) })
}

func (r reading) Descendants(ctx context.Context, id weir.ConversationID) ([]weir.Conversation, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Conversation, error) { return r.Descendants(ctx, id) })
}

func (r reading) Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Record, error) { return r.Records(ctx, c, q) })
}

func (r reading) Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Record, error) { return r.Structure(ctx, c) })
}

func (r reading) Message(ctx context.Context, c *weir.Conversation, id weir.MessageID) (weir.Record, error) {
	return ask(ctx, r, func(r Reader) (weir.Record, error) { return r.Message(ctx, c, id) })
}

func (r reading) Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error) {
	return ask(ctx, r, func(r Reader) ([]weir.View, error) { return r.Views(ctx, c, lowering, from, upto) })
}

func (r reading) Input(ctx context.Context, c weir.ConversationID, id weir.InputID) (weir.Input, error) {
	return ask(ctx, r, func(r Reader) (weir.Input, error) { return r.Input(ctx, c, id) })
}

func (r reading) Inputs(ctx context.Context, c weir.ConversationID, limit int) ([]weir.Input, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Input, error) { return r.Inputs(ctx, c, limit) })
}

func (r reading) PendingInputs(ctx context.Context, c weir.ConversationID) ([]weir.Input, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Input, error) { return r.PendingInputs(ctx, c) })
}

func (r reading) Step(ctx context.Context, c weir.ConversationID, id weir.StepID) (weir.Step, error) {
	return ask(ctx, r, func(r Reader) (weir.Step, error) { return r.Step(ctx, c, id) })
}

func (r reading) Steps(ctx context.Context, c weir.ConversationID, before weir.Seq, limit int) ([]weir.Step, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Step, error) { return r.Steps(ctx, c, before, limit) })
}

func (r reading) RefusedSteps(ctx context.Context, c *weir.Conversation) ([]weir.Step, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Step, error) { return r.RefusedSteps(ctx, c) })
}

func (r reading) Lessons(ctx context.Context) ([]weir.Lesson, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Lesson, error) { return r.Lessons(ctx) })
}

func (r reading) UnsettledStep(ctx context.Context, c weir.ConversationID) (weir.Step, error) {
	return ask(ctx, r, func(r Reader) (weir.Step, error) { return r.UnsettledStep(ctx, c) })
}

func (r reading) Due(ctx context.Context, limit int) ([]weir.ConversationID, error) {
	return ask(ctx, r, func(r Reader) ([]weir.ConversationID, error) { return r.Due(ctx, limit) })
}

func (r reading) Calls(ctx context.Context, c weir.ConversationID, step weir.StepID) ([]weir.Call, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Call, error) { return r.Calls(ctx, c, step) })
}

func (r reading) WaitingCalls(ctx context.Context, c weir.ConversationID) ([]weir.Call, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Call, error) { return r.WaitingCalls(ctx, c) })
}

func (r reading) CallIDs(ctx context.Context, c *weir.Conversation, ids ...string) ([]string, error) {
	return ask(ctx, r, func(r Reader) ([]string, error) { return r.CallIDs(ctx, c, ids...) })
}

func (r reading) Artefact(ctx context.Context, c *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error) {
	return ask(ctx, r, func(r Reader) (weir.Artefact, error) { return r.Artefact(ctx, c, id) })
}

func (r reading) ToolRules(ctx context.Context, owner weir.OwnerID) ([]weir.ToolRule, error) {
	return ask(ctx, r, func(r Reader) ([]weir.ToolRule, error) { return r.ToolRules(ctx, owner) })
}

func (r reading) Changes(ctx context.Context, scopes []weir.ChangeScope, after int64, limit int) ([]weir.Change, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Change, error) { return r.Changes(ctx, scopes, after, limit) })
}

func (r reading) NewestChange(ctx context.Context, scope weir.ChangeScope, fact string) (weir.Change, error) {
	return ask(ctx, r, func(r Reader) (weir.Change, error) { return r.NewestChange(ctx, scope, fact) })
}

func (r reading) ClientFacts(ctx context.Context, scopes ...weir.ChangeScope) ([]weir.ClientFact, error) {
	return ask(ctx, r, func(r Reader) ([]weir.ClientFact, error) { return r.ClientFacts(ctx, scopes...) })
}

func (r reading) Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error) {
	return ask(ctx, r, func(r Reader) (weir.Page[weir.Flow], error) { return r.Flows(ctx, q) })
}

func (r reading) FlowsOf(ctx context.Context, c weir.ConversationID, in weir.InputID) ([]weir.Flow, error) {
	return ask(ctx, r, func(r Reader) ([]weir.Flow, error) { return r.FlowsOf(ctx, c, in) })
}

func (r reading) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	return ask(ctx, r, func(r Reader) (weir.IdempotentAnswer, error) { return r.Answer(ctx, owner, route, key) })
}

func (r reading) Setting(ctx context.Context, name string) ([]byte, error) {
	return ask(ctx, r, func(r Reader) ([]byte, error) { return r.Setting(ctx, name) })
}
