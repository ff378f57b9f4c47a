package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"weir"
)

// changesKept is how many entries the journal keeps of a fact in a scope.
const changesKept = 1000

// scopeKey is how a scope is stored: some name a path that is too long for an
// index.
func scopeKey(s weir.ChangeScope) string {
	if len(s) <= 2*weir.MaxIDBytes {
		return string(s)
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

const changeColumns = `seq, scope, fact, value, at, noticed`

// scanChange reads an entry; scopes is by their keys.
func scanChange(scopes map[string]weir.ChangeScope) func(row) (weir.Change, error) {
	return func(r row) (weir.Change, error) {
		var c weir.Change
		var scope string
		var value []byte
		var at, noticed int64
		err := r.Scan(&c.Seq, &scope, &c.Fact, &value, &at, &noticed)
		c.Scope, c.At, c.Noticed = scopes[scope], fromMicros(at), fromMicros(noticed)
		if value != nil {
			c.Value = value
		}
		return c, err
	}
}

// Changes asks for the newest of each scope, so that each is a walk from the
// end of an index, whatever the others hold.
func (r *reader) Changes(ctx context.Context, scopes []weir.ChangeScope, after int64, limit int) ([]weir.Change, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	byKey := map[string]weir.ChangeScope{}
	var parts []string
	var args []any
	for _, s := range scopes {
		key := scopeKey(s)
		if _, twice := byKey[key]; twice {
			continue
		}
		byKey[key] = s
		parts = append(parts, `SELECT * FROM (
			SELECT `+changeColumns+` FROM changes WHERE scope = ? AND seq > ? ORDER BY seq DESC LIMIT ?) AS found`)
		args = append(args, key, after, limit)
	}
	if len(parts) == 0 {
		return nil, nil
	}
	all, err := list(ctx, r, scanChange(byKey), strings.Join(parts, ` UNION ALL `)+` ORDER BY seq DESC LIMIT ?`, append(args, limit)...)
	slices.Reverse(all)
	return all, err
}

func (r *reader) NewestChange(ctx context.Context, scope weir.ChangeScope, fact string) (weir.Change, error) {
	key := scopeKey(scope)
	all, err := list(ctx, r, scanChange(map[string]weir.ChangeScope{key: scope}), `
		SELECT `+changeColumns+` FROM changes WHERE scope = ? AND fact = ? ORDER BY seq DESC LIMIT 1`, key, fact)
	if err == nil && len(all) == 0 {
		err = weir.Fault(weir.NotFound, "change_not_found", "No change of this fact is in the journal.")
	}
	if err != nil {
		return weir.Change{}, err
	}
	return all[0], nil
}

func (t *tx) AppendChanges(ctx context.Context, changes ...*weir.Change) error {
	if len(changes) == 0 {
		return nil
	}
	scopes := make([]weir.ChangeScope, len(changes))
	for i, c := range changes {
		scopes[i] = c.Scope
		if err := validFact(c.Fact, c.Value, ""); err != nil {
			return err
		}
	}
	if err := t.takeTurn(ctx, scopes...); err != nil {
		return err
	}
	for _, c := range changes {
		var value any
		if len(c.Value) > 0 {
			value = []byte(c.Value)
		}
		key := scopeKey(c.Scope)
		_, err := first(ctx, &t.reader, []any{&c.Seq}, `
			INSERT INTO changes (scope, fact, value, at, noticed) VALUES (?, ?, ?, ?, ?) RETURNING seq`,
			key, c.Fact, value, micros(c.At), micros(c.Noticed))
		if err != nil {
			return err
		}
		c.At, c.Noticed = fromMicros(micros(c.At)), fromMicros(micros(c.Noticed))
		_, err = t.q.exec(ctx, `
			DELETE FROM changes WHERE scope = ? AND fact = ? AND seq <= (
				SELECT seq FROM changes WHERE scope = ? AND fact = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
			key, c.Fact, key, c.Fact, changesKept)
		if err != nil {
			return err
		}
	}
	return nil
}

// takeTurn comes before what is written of the journal and of clients' facts:
// one transaction after the other does that, so that seqs are in the order of
// commits and a fact's newest entry is what the fact is. Nothing is written
// about a conversation that is gone, and none goes meanwhile.
func (t *tx) takeTurn(ctx context.Context, scopes ...weir.ChangeScope) error {
	var ids []string
	for _, s := range scopes {
		if id, ok := strings.CutPrefix(string(s), string(weir.OfConversation(""))); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		var deleted bool
		found, err := first(ctx, &t.reader, []any{&deleted}, `SELECT deleted FROM conversations WHERE id = ? {shared}`, id)
		switch {
		case err != nil:
			return err
		case !found || deleted:
			return noConversation()
		}
	}
	return t.d.turn(ctx, t.q)
}

// validFact refuses what is no fact, or more than one may be.
func validFact(key string, value json.RawMessage, text string) error {
	switch {
	case !weir.ValidID(key), len(value) > 0 && !json.Valid(value):
		return weir.Fault(weir.Invalid, "fact_invalid", "A fact needs a key of at most %d bytes and a value that is JSON.", weir.MaxIDBytes)
	case len(value) > weir.MaxFactBytes, len(text) > weir.MaxFactBytes:
		return weir.Fault(weir.TooLarge, "fact_too_large", "A fact's value and its text have at most %d bytes each.", weir.MaxFactBytes)
	}
	return valid(string(value), text)
}
