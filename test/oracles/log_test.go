package oracles

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
)

// log is one conversation in memory: what modelview needs of a store. Bodies
// go through their JSON, as in a store.
type log struct {
	t       testing.TB
	c       *weir.Conversation
	records []stored
	views   map[viewKey]weir.View
	steps   int
	lowerer *modelview.Lowerer
}

type stored struct {
	kind weir.RecordKind
	body []byte
}

type viewKey struct {
	seq      weir.Seq
	lowering string
}

func newLog(t testing.TB) *log {
	return &log{t: t, c: &weir.Conversation{ID: "cnv_oracle"}, views: map[viewKey]weir.View{}, lowerer: modelview.New()}
}

func (l *log) append(b weir.Body) weir.Seq {
	data, err := json.Marshal(b)
	if err != nil {
		l.t.Fatal(err)
	}
	l.records = append(l.records, stored{b.Kind(), data})
	return weir.Seq(len(l.records))
}

func (l *log) stepID() weir.StepID { return weir.StepID("stp_" + strconv.Itoa(l.steps)) }

// step makes and records a request.
func (l *log) step(p model.Profile, o modelview.Options) []byte {
	l.t.Helper()
	r, err := l.lowerer.Window(l.c).Next(context.Background(), l, p, o)
	if err != nil {
		l.t.Fatalf("no request for %s: %v", p.ID, err)
	}
	for _, v := range r.Views {
		if k := (viewKey{v.Seq, v.Lowering}); l.views[k].Bytes == nil {
			l.views[k] = v
		}
	}
	l.steps++
	l.append(&weir.StepStart{Step: l.stepID(), Purpose: "answer", Provider: p.Provider, Model: p.ID,
		Lowering: r.Lowering, Tail: r.Tail, Marks: r.Marks, Ledger: r.Ledger})
	return r.Body
}

func (l *log) Records(_ context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	var found []weir.Record
	for i, s := range l.records {
		seq := weir.Seq(i + 1)
		if seq <= q.After || q.Before != 0 && seq >= q.Before || q.Kinds != nil && !slices.Contains(q.Kinds, s.kind) {
			continue
		}
		body, err := weir.DecodeBody(s.kind, s.body)
		if err != nil {
			return nil, err
		}
		found = append(found, weir.Record{Conversation: c.ID, Seq: seq, Body: body})
	}
	if q.Limit > 0 && len(found) > q.Limit {
		if q.Newest {
			return found[len(found)-q.Limit:], nil
		}
		return found[:q.Limit], nil
	}
	return found, nil
}

func (l *log) Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error) {
	return l.Records(ctx, c, weir.RecordQuery{Kinds: []weir.RecordKind{weir.KindRewind, weir.KindUndo, weir.KindCheckpoint, weir.KindEpoch}})
}

func (l *log) Views(_ context.Context, _ *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error) {
	var found []weir.View
	for seq := max(from, 1); seq <= min(upto, weir.Seq(len(l.records))); seq++ {
		if v, ok := l.views[viewKey{seq, lowering}]; ok {
			v.Bytes = slices.Clone(v.Bytes)
			found = append(found, v)
		}
	}
	return found, nil
}

var _ modelview.Source = (*log)(nil)
