package store

import (
	"context"
	"strings"

	"weir"
)

func (r *reader) ClientFacts(ctx context.Context, scopes ...weir.ChangeScope) ([]weir.ClientFact, error) {
	var all []weir.ClientFact
	for _, scope := range scopes {
		scan := func(r row) (weir.ClientFact, error) {
			f := weir.ClientFact{Scope: scope}
			var value []byte
			var at int64
			err := r.Scan(&f.Key, &value, &f.Text, &at)
			f.Value, f.At = value, fromMicros(at)
			return f, err
		}
		some, err := list(ctx, r, scan, `SELECT key, value, text, at FROM facts WHERE scope = ? ORDER BY key`, scopeKey(scope))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (t *tx) PutClientFact(ctx context.Context, f weir.ClientFact) error {
	if len(f.Value) == 0 {
		return weir.Fault(weir.Invalid, "fact_invalid", "A fact needs a value; delete it to have none.")
	}
	if err := validFact(f.Key, f.Value, f.Text); err != nil {
		return err
	}
	if err := t.takeTurn(ctx, f.Scope); err != nil {
		return err
	}
	kept, err := t.ClientFacts(ctx, f.Scope)
	if err != nil {
		return err
	}
	if err := roomFor(&f, kept); err != nil {
		return err
	}
	_, err = t.q.exec(ctx, `INSERT INTO facts (scope, key, value, text, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, text = excluded.text, at = excluded.at`,
		scopeKey(f.Scope), f.Key, []byte(f.Value), f.Text, micros(f.At))
	return err
}

// roomFor refuses a fact that is one too many in its scope, or too long beside
// the others there.
func roomFor(f *weir.ClientFact, kept []weir.ClientFact) error {
	others, bytes := 0, f.Size()
	for i := range kept {
		if kept[i].Key != f.Key {
			others++
			bytes += kept[i].Size()
		}
	}
	switch {
	case others >= weir.MaxClientFacts:
		return weir.Fault(weir.Unprocessable, "too_many_facts", "There are %d facts already, and there can be no more; delete one first.", others)
	case bytes > weir.MaxClientFactsBytes:
		return weir.Fault(weir.Unprocessable, "facts_too_long",
			"All facts kept here have %d KiB of room together, for their keys, values and texts, and %s would make it %d KiB; shorten it or delete another.",
			weir.MaxClientFactsBytes>>10, f.Key, (bytes+1023)>>10)
	}
	return nil
}

func (t *tx) DeleteClientFact(ctx context.Context, scope weir.ChangeScope, key string) error {
	if err := t.takeTurn(ctx, scope); err != nil {
		return err
	}
	n, err := t.q.exec(ctx, `DELETE FROM facts WHERE scope = ? AND key = ?`, scopeKey(scope), key)
	if err == nil && n == 0 {
		err = weir.Fault(weir.NotFound, "fact_not_found", "There is no such fact.")
	}
	return err
}

// deleteFacts removes what is kept about a scope: its facts and its journal.
func (t *tx) deleteFacts(ctx context.Context, scope weir.ChangeScope) error {
	for _, table := range []string{"facts", "changes"} {
		if _, err := t.q.exec(ctx, strings.ReplaceAll(`DELETE FROM {table} WHERE scope = ?`, "{table}", table), scopeKey(scope)); err != nil {
			return err
		}
	}
	return nil
}
