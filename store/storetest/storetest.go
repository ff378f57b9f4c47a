// Package storetest is what every database behind store.Store must pass. It
// says in tests what the comments of that package say in words.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"weir"
	"weir/store"
)

// Run runs the suite. open gives a fresh, empty database that lives as long as
// the test it is given.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range [][]scenario{
		conversations, logs, lineages, views, inputs, steps, calls, artefacts, journal, facts, flows, leases, remembered, lists, candidates, transactions, deletions, texts,
	} {
		for _, sc := range group {
			t.Run(sc.name, func(t *testing.T) {
				sc.run(&world{T: t, Store: open(t), ctx: t.Context()})
			})
		}
	}
}

// scenario is one test; its name reads as a sentence.
type scenario struct {
	name string
	run  func(w *world)
}

// world is an empty database and what tests of it do again and again. Its
// methods end the test on an error that they do not return.
type world struct {
	*testing.T
	store.Store
	ctx context.Context
}

// epoch is when all tests begin.
var epoch = time.Date(2026, 11, 30, 9, 0, 0, 123456000, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

const owner = weir.OwnerID("own_1")

// must runs an Update that has to succeed.
func (w *world) must(fn func(tx store.Tx) error) {
	w.Helper()
	if err := w.Update(w.ctx, fn); err != nil {
		w.Fatal(err)
	}
}

// refused runs an Update that has to fail with a code, and nothing of it may stay.
func (w *world) refused(code string, fn func(tx store.Tx) error) {
	w.Helper()
	wantCode(w, w.Update(w.ctx, fn), code)
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

func wantCode(t failer, err error, code string) {
	t.Helper()
	if got := weir.CodeOf(err); got != code {
		t.Errorf("error is %q (%v), want code %q", got, err, code)
	}
}

// conversation inserts a chat, changed by the options.
func (w *world) conversation(id weir.ConversationID, options ...func(*weir.Conversation)) weir.Conversation {
	w.Helper()
	c := weir.Conversation{
		ID: id, Owner: owner, Kind: weir.Chat, Generation: weir.GenerationID("gen_" + string(id)), CreatedAt: at(0),
		Visibility: weir.Visibility{Level: weir.Open},
	}
	for _, o := range options {
		o(&c)
	}
	w.must(func(tx store.Tx) error { return tx.InsertConversation(w.ctx, &c) })
	return c
}

// branch inserts a conversation that inherits parent's log up to a seq.
func (w *world) branch(id weir.ConversationID, parent weir.Conversation, upto weir.Seq, options ...func(*weir.Conversation)) weir.Conversation {
	w.Helper()
	return w.conversation(id, append([]func(*weir.Conversation){func(c *weir.Conversation) {
		c.Kind = weir.Branch
		c.Lineage = append(append([]weir.Inherited{}, parent.Lineage...), weir.Inherited{Conversation: parent.ID, Upto: upto})
	}}, options...)...)
}

// lease takes a conversation's lease for the whole test.
func (w *world) lease(id weir.ConversationID) weir.Lease {
	w.Helper()
	var l weir.Lease
	w.must(func(tx store.Tx) error {
		var ok bool
		var err error
		if l, ok, err = tx.AcquireLease(w.ctx, id, "node-1", time.Hour); err == nil && !ok {
			err = fmt.Errorf("the lease of %s is not free", id)
		}
		return err
	})
	return l
}

// say appends user messages under a lease.
func (w *world) say(l weir.Lease, texts ...string) []weir.Record {
	w.Helper()
	var records []weir.Record
	for _, text := range texts {
		records = append(records, said(text))
	}
	return w.append(l, records...)
}

func (w *world) append(l weir.Lease, records ...weir.Record) []weir.Record {
	w.Helper()
	var appended []weir.Record
	w.must(func(tx store.Tx) error {
		var err error
		appended, err = tx.Append(w.ctx, l.Conversation, l.Fence, nil, records...)
		return err
	})
	return appended
}

// said is a user's message whose id follows from its text.
func said(text string) weir.Record { return record("msg_"+text, &weir.UserMessage{Text: text}) }

func record(id string, body weir.Body) weir.Record {
	return weir.Record{ID: weir.MessageID(id), Time: at(1), Generation: "gen", Body: body}
}

// log reads a conversation's log as "seq text" lines.
func (w *world) log(id weir.ConversationID, q weir.RecordQuery) []string {
	w.Helper()
	c := w.get(id)
	records, err := w.Records(w.ctx, &c, q)
	if err != nil {
		w.Fatal(err)
	}
	lines := []string{}
	for _, r := range records {
		lines = append(lines, line(r))
	}
	return lines
}

// line shows a record as where it was written, its seq and its text or kind.
func line(r weir.Record) string {
	what := string(r.Kind())
	if m, ok := r.Body.(*weir.UserMessage); ok {
		what = m.Text
	}
	return fmt.Sprintf("%s %d %s", r.Conversation, r.Seq, what)
}

func (w *world) get(id weir.ConversationID) weir.Conversation {
	w.Helper()
	c, err := w.Conversation(w.ctx, id)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func ptr[T any](v T) *T { return &v }
