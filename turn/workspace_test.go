package turn_test

import (
	"context"
	"strings"
	"testing"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

// TestAMoveIsToldAtTheTimeItHappened has others at work in the place it moves to.
func TestAMoveIsToldAtTheTimeItHappened(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		eachOrder(t, func(t *testing.T, first, _ int) {
			facts, err := fact.Compose(builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return "Max", nil }), builtin.Workspace())
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, s, func(c *turn.Config) { c.Facts = facts }).start()
			here, there := t.TempDir(), t.TempDir()
			c := w.conversation(weir.ConversationID("c" + string(rune('0'+first))))
			w.change(c, weir.ConversationChange{Workspace: &here})
			w.exchange(c, "hello").has(t, "The workspace is "+here)
			past := weir.Change{Scope: weir.OfWorkspace(there), Fact: "core/workspace", At: w.get(c).CreatedAt, Noticed: w.get(c).CreatedAt}
			past.Value = builtin.Workspace().Observe(t.Context(), fact.Subject{Conversation: weir.Conversation{Workspace: there}}).Value
			if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.AppendChanges(t.Context(), &past) }); err != nil {
				t.Fatal(err)
			}
			steps := []func(){
				func() {
					w.change(c, weir.ConversationChange{Workspace: &there})
					if err := w.engine.Noticed(t.Context(), c, "core/workspace"); err != nil {
						t.Fatal(err)
					}
				},
				func() {
					if err := w.engine.PutFact(t.Context(), actor(), c, weir.ClientFact{Key: "api/x", Value: []byte(`1`)}); err != nil {
						t.Fatal(err)
					}
				},
			}
			steps[first]()
			steps[1-first]()
			w.exchange(c, "and now?").has(t, "The workspace is now "+there)
			want := []string{"core/workspace", "api/x"}
			if first == 1 {
				want = []string{"api/x", "core/workspace"}
			}
			var got []string
			for _, r := range w.records(c) {
				if u, ok := r.Body.(*weir.Update); ok {
					got = append(got, u.Fact)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("told %v, want %v", got, want)
			}
			w.clean()
			w.engine.Stop()
		})
	})
}
