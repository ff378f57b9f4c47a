package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"weir"
)

// answersKept is for how long the answer to an Idempotency-Key is remembered.
const answersKept = 24 * time.Hour

func (r *reader) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	var a weir.IdempotentAnswer
	var fresh int64
	found, err := first(ctx, r, []any{&fresh, &a.Digest, &a.Status, &a.Body}, `
		SELECT CASE WHEN created_at > {now} - ? THEN 1 ELSE 0 END, digest, status, body
		FROM answers WHERE owner = ? AND route = ? AND key = ?`,
		r.d.now(), answersKept.Microseconds(), owner, route, key)
	if err != nil || found && fresh == 1 {
		return a, err
	}
	f := weir.Fault(weir.NotFound, "answer_not_found", "No answer is remembered for this Idempotency-Key.")
	if found {
		f.Err = staleAnswer{}
	}
	return weir.IdempotentAnswer{}, f
}

// staleAnswer is why an answer that is still stored is not given.
type staleAnswer struct{}

func (staleAnswer) Error() string { return "the stored answer is too old" }

// forgetStale removes old answers when one was met. That it fails is no
// failure of the question; the next to come removes them.
func forgetStale(ctx context.Context, met error, update func(context.Context, func(Tx) error) error) {
	if errors.As(met, new(staleAnswer)) {
		_ = update(ctx, func(t Tx) error { return t.(*tx).forgetOld(ctx) })
	}
}

func (t *tx) forgetOld(ctx context.Context) error {
	_, err := t.q.exec(ctx, `DELETE FROM answers WHERE created_at <= {now} - ?`, t.d.now(), answersKept.Microseconds())
	return err
}

// forgetAnswers removes answers that name a conversation or were given under
// its address: they tell of it, its title for one, after it is gone. Ids are
// looked for as they are spelled in JSON, with and without care for HTML.
func (t *tx) forgetAnswers(ctx context.Context, id weir.ConversationID) error {
	careful, err := json.Marshal(id)
	if err != nil {
		return err
	}
	_, err = t.q.exec(ctx, `DELETE FROM answers WHERE {named} OR {named} OR {has}(route, ?) > 0`,
		toJSON(id), string(careful), "/"+url.PathEscape(string(id))+"/")
	if err != nil {
		return err
	}
	return t.forgetOld(ctx)
}

// RememberAnswer refuses a key that is taken: of two requests at once, one
// counts, and the other's transaction is undone.
func (t *tx) RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error {
	if err := valid(key, a.Digest); err != nil {
		return err
	}
	if len(key) > weir.MaxIDBytes {
		return weir.Fault(weir.Invalid, "idempotency_key_invalid", "An Idempotency-Key has at most %d bytes.", weir.MaxIDBytes)
	}
	if err := t.forgetOld(ctx); err != nil {
		return err
	}
	if a.Body == nil {
		a.Body = []byte{}
	}
	n, err := t.q.exec(ctx, `
		INSERT INTO answers (owner, route, key, digest, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?, {now})
		ON CONFLICT DO NOTHING`, owner, route, key, a.Digest, a.Status, a.Body, t.d.now())
	if err == nil && n == 0 {
		err = weir.Fault(weir.Conflict, "idempotency_conflict", "A request with this Idempotency-Key was answered just now; repeat it to get that answer.")
	}
	return err
}

func (r *reader) Setting(ctx context.Context, name string) ([]byte, error) {
	var value []byte
	found, err := first(ctx, r, []any{&value}, `SELECT value FROM settings WHERE name = ?`, name)
	if err == nil && !found {
		err = weir.Fault(weir.NotFound, "setting_not_found", "There is no such setting.")
	}
	return value, err
}

func (t *tx) InitSetting(ctx context.Context, name string, value []byte) ([]byte, error) {
	if value == nil {
		value = []byte{}
	}
	if _, err := t.q.exec(ctx, `INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, value); err != nil {
		return nil, err
	}
	return t.Setting(ctx, name)
}
