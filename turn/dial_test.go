package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/store"
	"weir/turn"
)

// dial is a fact that a test turns. It says “K is V”, “K is now V (was P)” and
// “K no longer applies (was P)”.
type dial struct {
	key      string
	required bool

	mu    sync.Mutex
	o     fact.Observation
	hangs chan struct{} // readings wait for it, whatever their context says
	looks int
	look  func(fact.Subject) // called by each reading
}

func newDial(key string, v any) *dial { return &dial{key: key, o: fact.Observed(v)} }

func (d *dial) turn(o fact.Observation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.o = o
}

func (d *dial) set(v any) { d.turn(fact.Observed(v)) }

func (d *dial) setAt(v any, at time.Time) {
	o := fact.Observed(v)
	o.At = at
	d.turn(o)
}

func (d *dial) gone() { d.turn(fact.Observation{State: fact.Absent}) }
func (d *dial) lost() { d.turn(fact.Observation{State: fact.Unavailable}) }

func (d *dial) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *dial) fact() fact.Fact {
	return fact.Fact{
		Key: d.key, Required: d.required,
		Observe: func(_ context.Context, s fact.Subject) fact.Observation {
			d.mu.Lock()
			d.looks++
			o, hangs, look := d.o, d.hangs, d.look
			d.mu.Unlock()
			if hangs != nil {
				<-hangs
			}
			if look != nil {
				look(s)
			}
			return o
		},
		Baseline: func(v json.RawMessage) (string, error) { return fmt.Sprintf("%s is %s", d.key, v), nil },
		Update: func(prev, v json.RawMessage) (string, error) {
			return fmt.Sprintf("%s is now %s (was %s)", d.key, v, prev), nil
		},
		Removed: func(prev json.RawMessage) (string, error) {
			return fmt.Sprintf("%s no longer applies (was %s)", d.key, prev), nil
		},
	}
}

func composed(dials ...*dial) *fact.Set {
	facts := []fact.Fact{builtin.Limits()}
	for _, d := range dials {
		facts = append(facts, d.fact())
	}
	set, err := fact.Compose(facts...)
	if err != nil {
		panic(err)
	}
	return set
}

func withDials(dials ...*dial) option {
	return func(c *turn.Config) { c.Facts = composed(dials...) }
}

// journal adds an entry to the change journal, as a watcher does.
func (w *world) journal(c weir.ConversationID, key string, v any, at time.Time) {
	w.t.Helper()
	ch := weir.Change{Scope: weir.OfConversation(c), Fact: key, At: at, Noticed: at}
	if v != nil {
		ch.Value = fact.Observed(v).Value
	}
	if err := w.s.Update(w.t.Context(), func(tx store.Tx) error { return tx.AppendChanges(w.t.Context(), &ch) }); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) change(c weir.ConversationID, ch weir.ConversationChange) {
	w.t.Helper()
	if err := w.s.Update(w.t.Context(), func(tx store.Tx) error { return tx.ChangeConversation(w.t.Context(), c, ch) }); err != nil {
		w.t.Fatal(err)
	}
}

// told lists the updates in the log, rewound ones too.
func (w *world) told(c weir.ConversationID) []string {
	w.t.Helper()
	var out []string
	for _, r := range w.records(c) {
		if u, ok := r.Body.(*weir.Update); ok {
			out = append(out, u.Text)
		}
	}
	return out
}

func (w *world) context(c weir.ConversationID) turn.Context {
	w.t.Helper()
	got, err := w.engine.Context(w.t.Context(), actor(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// say has the conversation answered once.
func (w *world) exchange(c weir.ConversationID, text string) *asked {
	w.t.Helper()
	a := w.asks(c, text)
	a.say("to " + text).end()
	w.rests(c)
	return a
}

func eachOrder(t *testing.T, run func(t *testing.T, first, second int)) {
	for name, o := range map[string][2]int{"the one before the other": {0, 1}, "the other before the one": {1, 0}} {
		t.Run(name, func(t *testing.T) { run(t, o[0], o[1]) })
	}
}

// branch makes a child that inherits c's log up to a seq.
func (w *world) branch(c, child weir.ConversationID, upto weir.Seq) weir.ConversationID {
	w.t.Helper()
	now, parent := time.Now(), w.get(c)
	err := w.s.Update(w.t.Context(), func(tx store.Tx) error {
		return tx.InsertConversation(w.t.Context(), &weir.Conversation{
			ID: child, Owner: owner, Kind: weir.Branch, Visibility: weir.Visibility{Level: weir.Open},
			Lineage:    append(parent.Lineage, weir.Inherited{Conversation: c, Upto: upto}),
			Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now,
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return child
}

// messageOf returns the id of the message that says text.
func (w *world) messageOf(c weir.ConversationID, text string) weir.MessageID {
	w.t.Helper()
	for _, r := range w.records(c) {
		if m, ok := r.Body.(*weir.UserMessage); ok && m.Text == text {
			return r.ID
		}
	}
	w.t.Fatalf("nobody said %q", text)
	return ""
}
