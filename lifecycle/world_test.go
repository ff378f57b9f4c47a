package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/gate"
	"weir/lifecycle"
	"weir/store"
	"weir/test/stores"
)

const max = weir.OwnerID("max")

var (
	person   = weir.Actor{Owner: max, Name: "Max", Door: "web", MayConfirm: true}
	robot    = weir.Actor{Owner: max, Name: "Max", Door: "mcp"}
	stranger = weir.Actor{Owner: "mia", Name: "Mia", Door: "web", MayConfirm: true}
)

// world is a real store and gate with the service in front, and a few verbs.
type world struct {
	testing.TB
	*lifecycle.Service
	s       store.Store
	g       *gate.Gate
	signals *signals
	// settle stands for what a running step appends when it is interrupted.
	settle func(tx store.Tx, fence int64) error
}

func eachWorld(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	stores.Each(t, func(t *testing.T, s store.Store) { fn(t, newWorld(t, s)) })
}

func newWorld(t testing.TB, s store.Store) *world {
	w := &world{TB: t, s: s, signals: &signals{}, g: gate.New(gate.Config{Key: []byte("the server's key")})}
	w.Service = lifecycle.New(lifecycle.Config{
		Store: lifecycle.Over[store.Tx](s), Turns: lifecycle.TurnsOver[gate.Tx](w), Gate: w.g, Live: w.signals,
		KnowsModel: func(id string) bool { return id == "demo/demo" },
	})
	return w
}

// signals collects what watchers would be told.
type signals struct {
	mu  sync.Mutex
	got []weir.Signal
}

func (s *signals) Publish(sig weir.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, sig)
}

// Exclusive is the engine's, without a running step.
func (w *world) Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx gate.Tx, fence int64) error) error {
	return w.s.Update(ctx, func(tx store.Tx) error {
		l, ok, err := tx.AcquireLease(ctx, c, "test", time.Minute)
		if err != nil || !ok {
			return errors.Join(err, fmt.Errorf("lease: %v", ok))
		}
		if w.settle != nil {
			if err := w.settle(tx, l.Fence); err != nil {
				return err
			}
		}
		if err := fn(tx, l.Fence); err != nil {
			return err
		}
		return tx.ReleaseLease(ctx, l)
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused fails unless err has the code.
func (w *world) refused(err error, code string) *weir.Error {
	w.Helper()
	var e *weir.Error
	if !errors.As(err, &e) || e.Code != code {
		w.Fatalf("got %v, want a refusal with code %s", err, code)
	}
	return e
}

func (w *world) conversation(id weir.ConversationID) weir.Conversation {
	w.Helper()
	c, err := w.s.Conversation(context.Background(), id)
	w.must(err)
	return c
}

func (w *world) create(n lifecycle.NewConversation) weir.ConversationID {
	w.Helper()
	c, err := w.Create(context.Background(), person, n)
	w.must(err)
	return c.ID
}

// write appends records and returns their ids.
func (w *world) write(c weir.ConversationID, bodies ...weir.Body) []weir.MessageID {
	w.Helper()
	var ids []weir.MessageID
	g := w.conversation(c).Generation
	w.must(w.Exclusive(context.Background(), c, func(tx gate.Tx, fence int64) error {
		ids = nil
		now := time.Now()
		for _, b := range bodies {
			id := weir.NewMessageID(now)
			ids = append(ids, id)
			_, err := tx.(store.Tx).Append(context.Background(), c, fence, nil,
				weir.Record{ID: id, Time: now, Generation: g, Body: b})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	return ids
}

func says(text string) weir.Body { return &weir.UserMessage{Text: text} }

func answers(text string) weir.Body {
	return &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartText, Text: text}}}
}

func (w *world) log(id weir.ConversationID) []weir.Record {
	w.Helper()
	c := w.conversation(id)
	rs, err := w.s.Records(context.Background(), &c, weir.RecordQuery{})
	w.must(err)
	return rs
}

// words are the texts of a log, in order.
func (w *world) words(id weir.ConversationID) []string {
	w.Helper()
	var all []string
	for _, r := range w.log(id) {
		switch b := r.Body.(type) {
		case *weir.UserMessage:
			all = append(all, b.Text)
		case *weir.AssistantMessage:
			all = append(all, b.VisibleText())
		case *weir.ToolResult:
			all = append(all, b.Text)
		}
	}
	return all
}

func (w *world) flows(q weir.FlowQuery) []weir.Flow {
	w.Helper()
	q.Owner = max
	page, err := w.s.Flows(context.Background(), q)
	w.must(err)
	return page.Items
}

// pend puts an input into an inbox, through the gate.
func (w *world) pend(c weir.ConversationID, text string, refs ...weir.Reference) weir.InputID {
	w.Helper()
	ctx := context.Background()
	in := weir.Input{
		Conversation: c, ID: weir.NewInputID(time.Now()), Owner: max, Kind: weir.InputUser, Delivery: weir.Queue,
		State: weir.Pending, Revision: 1, Text: text, Asked: refs, AdmittedAt: time.Now(),
	}
	w.must(w.s.Update(ctx, func(tx store.Tx) error {
		if err := w.g.Admit(ctx, tx, person, &in); err != nil {
			return err
		}
		return tx.InsertInput(ctx, &in)
	}))
	return in.ID
}

func point[T any](v T) *T { return &v }
