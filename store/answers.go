package store

import (
	"context"
	"time"

	"weir"
)

// answersKept is for how long the answer to an Idempotency-Key is remembered.
const answersKept = 24 * time.Hour

func (r *reader) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	var a weir.IdempotentAnswer
	found, err := first(ctx, r, []any{&a.Digest, &a.Status, &a.Body}, `
		SELECT digest, status, body FROM answers WHERE owner = ? AND route = ? AND key = ? AND created_at > {now} - ?`,
		owner, route, key, r.d.now(), answersKept.Microseconds())
	if err == nil && !found {
		err = weir.Fault(weir.NotFound, "answer_not_found", "No answer is remembered for this Idempotency-Key.")
	}
	return a, err
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
	if _, err := t.q.exec(ctx, `DELETE FROM answers WHERE created_at <= {now} - ?`, t.d.now(), answersKept.Microseconds()); err != nil {
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
