package turn_test

import (
	"strings"
	"testing"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

func TestQueuedMessagesCanBeMoved(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		in := map[string]weir.Input{}
		for _, text := range []string{"A", "B"} {
			in[text] = w.queue(c, text)
		}
		in["s"] = w.send(c, "s")
		in["C"] = w.queue(c, "C")
		move := func(what, before string) error {
			now, err := w.s.Input(t.Context(), c, in[what].ID)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.engine.Move(t.Context(), actor(), c, now.ID, in[before].ID, now.Revision)
			return err
		}
		for _, m := range []struct{ what, before, order string }{
			{"C", "A", "CAsB"}, {"C", "", "ABsC"}, {"A", "C", "BAsC"}, {"A", "A", "BAsC"}, {"B", "A", "BAsC"}, {"C", "", "BAsC"}, {"C", "A", "BCsA"},
		} {
			if err := move(m.what, m.before); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, p := range w.pending(c) {
				got.WriteString(p.Text)
			}
			if got.String() != m.order {
				t.Fatalf("%s before %q: %s, want %s", m.what, m.before, got.String(), m.order)
			}
		}
		codeIs(t, move("s", "A"), "not_queued")
		codeIs(t, move("A", "s"), "move_invalid")
		_, err := w.engine.Move(t.Context(), actor(), c, in["A"].ID, "", 1)
		codeIs(t, err, weir.CodeMoved)
		if err := w.engine.NewEpoch(t.Context(), actor(), c, nil); err != nil {
			t.Fatal(err)
		}
		in["D"], in["E"] = w.queue(c, "D"), w.queue(c, "E")
		codeIs(t, move("D", "A"), "move_invalid") // it would pass a control
		codeIs(t, move("A", "D"), "move_invalid")
		if err := move("B", ""); err != nil { // to the end of what nothing separates it from
			t.Fatal(err)
		}
		a.say("1").end()
		for _, text := range []string{"s", "C", "A", "B", "D", "E"} {
			b := w.next()
			b.has(t, `"`+text+`"`)
			b.say("to " + text).end()
		}
		w.rests(c)
		codeIs(t, move("A", ""), weir.CodeInputPromoted)
		w.clean()
		w.engine.Stop()
	})
}

func TestWhatBecomesOfAQueueWhenItIsReordered(t *testing.T) {
	letters := func(ids []weir.InputID) string {
		var s strings.Builder
		for _, id := range ids {
			s.WriteString(string(id) + " ")
		}
		return strings.TrimSpace(s.String())
	}
	for _, c := range []struct{ pending, id, before, want string }{
		{"qqq", "q2", "q0", "q2 q0 q1"},
		{"qqq", "q0", "", "q1 q2 q0"},
		{"qqq", "q0", "q2", "q1 q0"},
		{"qqq", "q0", "q1", ""},
		{"qsqnq", "q4", "q2", "q4 q2"},
		{"qqeqq", "q0", "", "q1 q0"},
		{"qqrqq", "q4", "q3", "q4 q3"},
	} {
		got, err := turn.Reordered(inbox(c.pending), weir.InputID(c.id), weir.InputID(c.before))
		if err != nil || letters(got) != c.want {
			t.Errorf("%s before %q of %s: %q (%v), want %q", c.id, c.before, c.pending, letters(got), err, c.want)
		}
	}
}
