package turn_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

func TestWhatIsNoTextIsRefused(t *testing.T) {
	w := newWorld(t, stores.SQLite(t))
	c := w.conversation("c")
	for _, bad := range []struct{ name, text, code string }{
		{"nothing", "", "text_invalid"},
		{"a NUL", "a\x00b", "text_invalid"},
		{"bad UTF-8", "a\xffb", "text_invalid"},
		{"a byte too many", strings.Repeat("x", 1_000_001), "text_too_long"},
	} {
		_, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: bad.text})
		if got := weir.CodeOf(err); got != bad.code {
			t.Errorf("%s: %q, want %q", bad.name, got, bad.code)
		}
	}
	_, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", Delivery: "soon"})
	codeIs(t, err, "delivery_invalid")
	_, err = w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", ID: weir.InputID(strings.Repeat("i", 513))})
	codeIs(t, err, "id_invalid")
	if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: strings.Repeat("x", 1_000_000)}); err != nil {
		t.Errorf("a million bytes are refused: %v", err)
	}
	if n := len(w.pending(c)); n != 1 {
		t.Errorf("%d inputs are stored, want 1", n)
	}
}

func TestAConversationOfSomeoneElseIsNotThere(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		c := w.conversation("c")
		in := w.send(c, "mine")
		stranger := weir.Actor{Owner: "eve", Name: "Eve", Door: "api", MayConfirm: true}
		seq := weir.Seq(7)
		for name, try := range map[string]func(a weir.Actor, c weir.ConversationID) error{
			"admit": func(a weir.Actor, c weir.ConversationID) error {
				_, err := w.engine.Admit(t.Context(), a, turn.Admission{Conversation: c, Text: "x", IfSeq: &seq, ID: in.ID})
				return err
			},
			"replace": func(a weir.Actor, c weir.ConversationID) error {
				_, err := w.engine.Admit(t.Context(), a, turn.Admission{Conversation: c, Text: "x", Replaces: "m"})
				return err
			},
			"edit": func(a weir.Actor, c weir.ConversationID) error {
				_, err := w.engine.Edit(t.Context(), a, turn.Admission{Conversation: c, Text: "x", ID: in.ID}, 1)
				return err
			},
			"withdraw": func(a weir.Actor, c weir.ConversationID) error {
				_, err := w.engine.Withdraw(t.Context(), a, c, in.ID)
				return err
			},
			"delivery": func(a weir.Actor, c weir.ConversationID) error {
				_, err := w.engine.SetDelivery(t.Context(), a, c, in.ID, weir.Queue, 1)
				return err
			},
			"retry":     func(a weir.Actor, c weir.ConversationID) error { return w.engine.Retry(t.Context(), a, c, &seq) },
			"interrupt": func(a weir.Actor, c weir.ConversationID) error { return w.engine.Interrupt(t.Context(), a, c, "") },
		} {
			theirs, none := try(stranger, c), try(stranger, "nowhere")
			if fmt.Sprint(theirs) != fmt.Sprint(none) || weir.CodeOf(theirs) != weir.CodeConversationNotFound {
				t.Errorf("%s: someone else's is answered %v, none is answered %v", name, theirs, none)
			}
		}
		if p := w.pending(c); len(p) != 1 || p[0].Text != "mine" || p[0].Revision != 1 {
			t.Errorf("the inbox changed: %+v", p)
		}
	})
}

func TestAnArchivedConversationTakesMessages(t *testing.T) {
	w := newWorld(t, stores.SQLite(t))
	c := w.conversation("c")
	yes := true
	if err := w.s.Update(t.Context(), func(tx store.Tx) error {
		return tx.ChangeConversation(t.Context(), c, weir.ConversationChange{Archived: &yes})
	}); err != nil {
		t.Fatal(err)
	}
	w.send(c, "still here")
}

func TestTheSameIDIsTheSameMessage(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		c, source := w.conversation("c"), w.conversation("source")
		ad := turn.Admission{Conversation: c, ID: "mine", Text: "hello", References: []weir.Reference{{Type: weir.Pointer, Conversation: source}}}
		first, err := w.engine.Admit(t.Context(), actor(), ad)
		if err != nil {
			t.Fatal(err)
		}
		again := ad
		again.References = []weir.Reference{{Type: weir.Pointer, Conversation: source, Confirmed: true, Seen: "x"}}
		again.Delivery = weir.Steer
		second, err := w.engine.Admit(t.Context(), actor(), again)
		if err != nil || second.Position != first.Position || second.AdmittedAt != first.AdmittedAt {
			t.Errorf("the second receipt is %+v (%v), want %+v", second, err, first)
		}
		for name, change := range map[string]func(*turn.Admission){
			"text":       func(a *turn.Admission) { a.Text = "hello " },
			"references": func(a *turn.Admission) { a.References = nil },
			"mentions":   func(a *turn.Admission) { a.Mentions = weir.Mentions{All: true} },
			"delivery":   func(a *turn.Admission) { a.Delivery = weir.Queue },
		} {
			other := ad
			change(&other)
			_, err := w.engine.Admit(t.Context(), actor(), other)
			codeIs(t, err, weir.CodeInputConflict)
			var f *weir.Error
			if errors.As(err, &f); f == nil || f.Extra["input"].(map[string]any)["text"] != "hello" {
				t.Errorf("%s: the conflict does not carry what is stored: %v", name, err)
			}
		}
		if n := len(w.pending(c)); n != 1 {
			t.Errorf("%d inputs are pending, want 1", n)
		}
		if flows, err := s.FlowsOf(t.Context(), c, "mine"); err != nil || len(flows) != 1 {
			t.Errorf("%d flows (%v), want 1", len(flows), err)
		}
	})
}

func TestTheSameIDSentManyTimesAtOnceIsOneMessage(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		c := w.conversation("c")
		var all sync.WaitGroup
		positions := make([]int64, 16)
		for i := range positions {
			all.Go(func() {
				in, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "mine", Text: "hello"})
				if err != nil {
					t.Error(err)
				}
				positions[i] = in.Position
			})
		}
		all.Wait()
		for _, p := range positions {
			if p != positions[0] {
				t.Errorf("the receipts differ: %v", positions)
				break
			}
		}
	})
}

func TestARefusedMessageMayUseItsIDAgain(t *testing.T) {
	w := newWorld(t, stores.SQLite(t))
	c := w.conversation("c")
	ad := turn.Admission{Conversation: c, ID: "mine", Text: "look", References: []weir.Reference{{Type: weir.Pointer, Conversation: "nowhere"}}}
	_, err := w.engine.Admit(t.Context(), actor(), ad)
	codeIs(t, err, "reference_not_found")
	if w.get(c).Title != "" || len(w.pending(c)) != 0 {
		t.Error("a refused message left something behind")
	}
	ad.References = nil
	if _, err := w.engine.Admit(t.Context(), actor(), ad); err != nil {
		t.Error(err)
	}
}

func TestAMessageForAConversationThatMovedOnIsRefused(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		zero := weir.Seq(0)
		if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "one", IfSeq: &zero}); err != nil {
			t.Fatal(err)
		}
		w.next().say("1").end()
		w.rests(c)
		_, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "two", IfSeq: &zero})
		codeIs(t, err, weir.CodeMoved)
		codeIs(t, w.engine.Retry(t.Context(), actor(), c, &zero), weir.CodeMoved)
		if n := len(w.pending(c)); n != 0 {
			t.Errorf("%d inputs are pending, want none", n)
		}
	})
}

func TestAPendingMessageCanBeChanged(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s) // not started: nothing is promoted
		c, a, b := w.conversation("c"), w.conversation("a"), w.conversation("b")
		point := func(to weir.ConversationID) []weir.Reference {
			return []weir.Reference{{Type: weir.Pointer, Conversation: to}}
		}
		first, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "draft", References: point(a)})
		if err != nil {
			t.Fatal(err)
		}
		w.send(c, "second")
		edited, err := w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "final", References: point(b), Delivery: weir.Queue}, 1)
		if err != nil || edited.Revision != 2 || edited.Position != first.Position || edited.Delivery != weir.Queue || edited.References[0].Conversation != b {
			t.Fatalf("the edited input is %+v (%v)", edited, err)
		}
		_, err = w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "late"}, 1)
		codeIs(t, err, weir.CodeMoved)
		_, err = w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "bad", References: point("nowhere")}, 2)
		codeIs(t, err, "reference_not_found")
		switched, err := w.engine.SetDelivery(t.Context(), actor(), c, "one", weir.Steer, 2)
		if err != nil || switched.Revision != 3 || switched.Delivery != weir.Steer || switched.Text != "final" {
			t.Errorf("the switched input is %+v (%v)", switched, err)
		}
		if again, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "draft", References: point(a)}); err != nil || again.Text != "final" {
			t.Errorf("the first admission, repeated, is answered %+v (%v)", again, err)
		}
		for range 2 {
			gone, err := w.engine.Withdraw(t.Context(), actor(), c, "one")
			if err != nil || gone.State != weir.Withdrawn || gone.Revision != 4 {
				t.Errorf("the withdrawn input is %+v (%v)", gone, err)
			}
		}
		_, err = w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: "one", Text: "x"}, 4)
		codeIs(t, err, "input_settled")
		_, err = w.engine.Withdraw(t.Context(), actor(), c, "nothing")
		codeIs(t, err, weir.CodeInputNotFound)
		if p := w.pending(c); len(p) != 1 || p[0].Text != "second" {
			t.Errorf("pending: %+v", p)
		}
		outcomes := map[weir.ConversationID]weir.FlowResult{}
		page, err := s.Flows(t.Context(), weir.FlowQuery{Owner: owner, Target: c})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Items {
			if f.Form == weir.FlowOutcome {
				outcomes[f.Source] = f.Result
			}
		}
		if outcomes[a] != weir.FlowReplaced || outcomes[b] != weir.FlowWithdrawn || len(page.Items) != 4 {
			t.Errorf("%d flows with outcomes %v", len(page.Items), outcomes)
		}
	})
}

func TestAPromotedMessageCanNoLongerBeChanged(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	in := w.send(c, "one")
	w.next().say("1").end()
	w.rests(c)
	_, err := w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: in.ID, Text: "x"}, 1)
	codeIs(t, err, weir.CodeInputPromoted)
	_, err = w.engine.Withdraw(t.Context(), actor(), c, in.ID)
	codeIs(t, err, weir.CodeInputPromoted)
	_, err = w.engine.SetDelivery(t.Context(), actor(), c, in.ID, weir.Queue, 1)
	codeIs(t, err, weir.CodeInputPromoted)
}

func TestATitleComesFromTheFirstMessageAndStays(t *testing.T) {
	w := newWorld(t, stores.SQLite(t))
	c, named := w.conversation("c"), w.conversation("named")
	set := true
	empty := ""
	if err := w.s.Update(t.Context(), func(tx store.Tx) error {
		return tx.ChangeConversation(t.Context(), named, weir.ConversationChange{Title: &empty, TitleSet: &set})
	}); err != nil {
		t.Fatal(err)
	}
	w.send(c, "\n first line\nsecond")
	w.send(c, "another")
	w.send(named, "first line")
	if got := w.get(c).Title; got != "first line" {
		t.Errorf("the title is %q", got)
	}
	if got := w.get(named).Title; got != "" {
		t.Errorf("a person left the title empty, and now it is %q", got)
	}
}
