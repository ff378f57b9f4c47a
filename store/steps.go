package store

import (
	"context"
	"encoding/json"
	"math"

	"weir"
)

const stepColumns = `
	conversation, seq, id, fence, state, purpose, provider, model, attempts, ledger, usage, partial,
	resumptions, interrupt, code, reason, started_at, ended_at, chained, next_try`

func scanStep(r row) (weir.Step, error) {
	var s weir.Step
	var ledger, usage string
	var started, ended, next int64
	err := r.Scan(&s.Conversation, &s.Seq, &s.ID, &s.Fence, &s.State, &s.Purpose, &s.Provider, &s.Model, &s.Attempts,
		&ledger, &usage, &s.Partial, &s.Resumptions, &s.Interrupt, &s.Code, &s.Reason, &started, &ended, &s.Chained, &next)
	if err != nil {
		return s, err
	}
	s.StartedAt, s.EndedAt, s.NextTry = fromMicros(started), fromMicros(ended), fromMicros(next)
	if usage != "" {
		s.Usage = new(weir.Usage)
		if err := json.Unmarshal([]byte(usage), s.Usage); err != nil {
			return s, err
		}
	}
	return s, fromJSON(ledger, &s.Ledger)
}

func usageJSON(u *weir.Usage) string {
	if u == nil {
		return ""
	}
	return toJSON(u)
}

func oneStep(all []weir.Step, err error) (weir.Step, error) {
	if err == nil && len(all) == 0 {
		err = weir.Fault(weir.NotFound, weir.CodeStepNotFound, "There is no such step in this conversation.")
	}
	if err != nil {
		return weir.Step{}, err
	}
	return all[0], nil
}

func (r *reader) Step(ctx context.Context, c weir.ConversationID, id weir.StepID) (weir.Step, error) {
	return oneStep(list(ctx, r, scanStep, `SELECT `+stepColumns+` FROM steps WHERE conversation = ? AND id = ?`, c, id))
}

func (r *reader) Steps(ctx context.Context, c weir.ConversationID, before weir.Seq, limit int) ([]weir.Step, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	return list(ctx, r, scanStep, `
		SELECT `+stepColumns+` FROM steps WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?`, c, before, limit)
}

func (r *reader) UnsettledStep(ctx context.Context, c weir.ConversationID) (weir.Step, error) {
	return oneStep(list(ctx, r, scanStep, `SELECT `+stepColumns+` FROM steps WHERE conversation = ? AND state = 'running'`, c))
}

// refusedCodes spells [weir.RefusedCodes] as the index steps_refused does.
const refusedCodes = `(
    'provider_refused_request', 'provider_refused_reasoning', 'provider_refused_system', 'provider_refused_roles',
    'provider_refused_calls', 'provider_context_overflow')`

func (r *reader) RefusedSteps(ctx context.Context, c *weir.Conversation) ([]weir.Step, error) {
	var all []weir.Step
	for _, part := range segments(c, 0, math.MaxInt64) {
		some, err := list(ctx, r, scanStep, `
			SELECT `+stepColumns+` FROM steps {refused} WHERE conversation = ? AND seq > ? AND seq <= ? AND code IN `+refusedCodes+` ORDER BY seq`,
			part.conversation, part.after, part.upto)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (r *reader) Lessons(ctx context.Context) ([]weir.Lesson, error) {
	scan := func(r row) (weir.Lesson, error) {
		var l weir.Lesson
		var at int64
		err := r.Scan(&l.Model, &l.Objection, &at)
		l.At = fromMicros(at)
		return l, err
	}
	return list(ctx, r, scan, `SELECT model, objection, at FROM lessons ORDER BY model, objection`)
}

func (t *tx) PutLesson(ctx context.Context, l weir.Lesson) error {
	_, err := t.q.exec(ctx, `INSERT INTO lessons (model, objection, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		l.Model, l.Objection, micros(l.At))
	return err
}

func (t *tx) InsertStep(ctx context.Context, s *weir.Step) error {
	if err := t.guard(ctx, s.Conversation, s.Fence); err != nil {
		return err
	}
	n, err := t.q.exec(ctx, `INSERT INTO steps (`+stepColumns+`) VALUES `+values(1, 20)+` ON CONFLICT DO NOTHING`,
		s.Conversation, s.Seq, s.ID, s.Fence, s.State, s.Purpose, s.Provider, s.Model, s.Attempts, toJSON(s.Ledger), usageJSON(s.Usage),
		s.Partial, s.Resumptions, flag(s.Interrupt), s.Code, s.Reason, micros(s.StartedAt), micros(s.EndedAt),
		s.Chained, micros(s.NextTry))
	if err == nil && n == 0 {
		err = weir.Fault(weir.Conflict, weir.CodeBusy, "A step of this conversation is running already.")
	}
	return err
}

// UpdateStep changes running steps only: a step settles once. An interrupt
// that was asked for meanwhile stays, and s.Interrupt tells of it.
func (t *tx) UpdateStep(ctx context.Context, fence int64, s *weir.Step) error {
	if err := t.guard(ctx, s.Conversation, fence); err != nil {
		return err
	}
	found, err := first(ctx, &t.reader, []any{&s.Interrupt}, `
		UPDATE steps SET fence = ?, state = ?, attempts = ?, ledger = ?, usage = ?, partial = ?, resumptions = ?,
			interrupt = CASE WHEN ? = 1 THEN 1 ELSE interrupt END, code = ?, reason = ?, ended_at = ?,
			chained = ?, next_try = ?
		WHERE conversation = ? AND id = ? AND state = 'running' RETURNING interrupt`,
		fence, s.State, s.Attempts, toJSON(s.Ledger), usageJSON(s.Usage), s.Partial, s.Resumptions,
		flag(s.Interrupt), s.Code, s.Reason, micros(s.EndedAt), s.Chained, micros(s.NextTry),
		s.Conversation, s.ID)
	if err != nil {
		return err
	}
	s.Fence = fence
	if found {
		return nil
	}
	if _, err := t.Step(ctx, s.Conversation, s.ID); err != nil {
		return err
	}
	return movedOn("The step")
}

func (t *tx) AskInterrupt(ctx context.Context, c weir.ConversationID) (bool, error) {
	n, err := t.q.exec(ctx, `UPDATE steps SET interrupt = 1 WHERE conversation = ? AND state = 'running'`, c)
	return n > 0, err
}
