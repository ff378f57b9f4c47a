package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
)

// querier runs statements on one connection or a pool of them. Errors it
// returns are fit to leave the store.
type querier interface {
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	exec(ctx context.Context, text string, args ...any) (affected int64, err error)
}

// reader answers what [Reader] asks.
type reader struct {
	q querier
	d *dialect
}

// tx is a reader that can write: what [Tx] asks.
type tx struct {
	reader
	// fenced remembers the fences that were checked and whose heads this
	// transaction has locked since.
	fenced map[string]int64
}

func newTx(q querier, d *dialect) *tx {
	return &tx{reader: reader{q: q, d: d}, fenced: map[string]int64{}}
}

// row is what a scan function reads from.
type row interface{ Scan(dest ...any) error }

// list runs a query and scans all of its rows.
func list[T any](ctx context.Context, r *reader, scan func(row) (T, error), text string, args ...any) ([]T, error) {
	rows, err := r.q.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		r.d.meter.row()
		one, err := scan(rows)
		if err != nil {
			return nil, fault(err)
		}
		all = append(all, one)
	}
	return all, fault(rows.Err())
}

// first runs a query and scans its first row, if there is one.
func first(ctx context.Context, r *reader, dest []any, text string, args ...any) (found bool, err error) {
	rows, err := r.q.query(ctx, text, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if rows.Next() {
		r.d.meter.row()
		if err := rows.Scan(dest...); err != nil {
			return false, fault(err)
		}
		found = true
	}
	return found, fault(rows.Err())
}

// micros is how times are kept: to the microsecond.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// toJSON encodes v without escaping what only matters in HTML. The types that
// come here always encode.
func toJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("store: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// listJSON is toJSON with "" for an empty list.
func listJSON[T any](v []T) string {
	if len(v) == 0 {
		return ""
	}
	return toJSON(v)
}

// fromJSON decodes into v unless s is "".
func fromJSON(s string, v any) error {
	if s == "" {
		return nil
	}
	return json.Unmarshal([]byte(s), v)
}

// values writes n tuples of k arguments: (?,?),(?,?).
func values(n, k int) string {
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", k), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
}
