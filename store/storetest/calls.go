package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir"
	"weir/store"
)

func call(l weir.Lease, step weir.StepID, id string, ordinal int, state weir.CallState) weir.Call {
	c := weir.Call{Conversation: l.Conversation, Step: step, ID: id, Ordinal: ordinal, Name: "tool of " + id, State: state}
	if state != weir.CallWaiting {
		c.StartedAt = at(ordinal)
	}
	return c
}

func (w *world) putCalls(l weir.Lease, calls ...weir.Call) {
	w.Helper()
	w.must(func(tx store.Tx) error { return tx.InsertCalls(w.ctx, l.Fence, calls...) })
}

func (w *world) decide(c weir.ConversationID, id string, d weir.Decision) (decided weir.Call, err error) {
	err = w.Update(w.ctx, func(tx store.Tx) error {
		var err error
		decided, err = tx.DecideCall(w.ctx, c, id, d)
		return err
	})
	return decided, err
}

func (w *world) calls(c weir.ConversationID, step weir.StepID) []weir.Call {
	w.Helper()
	all, err := w.Calls(w.ctx, c, step)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) waiting(c weir.ConversationID) []string {
	w.Helper()
	all, err := w.WaitingCalls(w.ctx, c)
	if err != nil {
		w.Fatal(err)
	}
	ids := []string{}
	for _, c := range all {
		ids = append(ids, strings.TrimSpace(c.ID+" "+string(c.Decision)))
	}
	return ids
}

var calls = []scenario{
	{"CallsComeBackAsTheyWerePutInTheOrderOfTheAnswer", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		l, other := w.lease("a"), w.lease("b")
		first, second := call(l, "s1", "z", 0, weir.CallStarted), call(l, "s1", "a", 1, weir.CallWaiting)
		w.putCalls(l, second, first, call(l, "s2", "z", 0, weir.CallStarted))
		w.putCalls(other, call(other, "s1", "z", 0, weir.CallStarted))
		if d := cmp.Diff([]weir.Call{first, second}, w.calls("a", "s1")); d != "" {
			w.Error("(-want +got):\n", d)
		}
		if got := w.calls("a", "s3"); len(got) != 0 {
			w.Errorf("another step has %v", got)
		}
		if d := cmp.Diff([]string{"a"}, w.waiting("a")); d != "" {
			w.Error("waiting (-want +got):\n", d)
		}
		if d := cmp.Diff([]string{}, w.waiting("b")); d != "" {
			w.Error("waiting elsewhere (-want +got):\n", d)
		}
	}},
	{"TheIDsThatCallsHaveAreKnownInBranchesToo", func(w *world) {
		a := w.conversation("a")
		w.conversation("else")
		b := w.branch("b", a, 1)
		c := w.branch("c", b, 2)
		l, other := w.lease("a"), w.lease("else")
		settled := call(l, "s1", "x", 0, weir.CallStarted)
		w.putCalls(l, settled, call(l, "s1", "y", 1, weir.CallWaiting), call(l, "s2", "x", 0, weir.CallStarted))
		settled.State = weir.CallSettled
		w.must(func(tx store.Tx) error { return tx.UpdateCall(w.ctx, l.Fence, &settled) })
		w.putCalls(other, call(other, "s1", "z", 0, weir.CallStarted))
		m := w.lease("b")
		w.putCalls(m, call(m, "s3", "b", 0, weir.CallStarted))
		for _, test := range []struct {
			c    weir.Conversation
			want []string
		}{{a, []string{"x", "y"}}, {b, []string{"b", "x", "y"}}, {c, []string{"b", "x", "y"}}} {
			got, err := w.CallIDs(w.ctx, &test.c, "y", "none", "z", "x", "b", `"`)
			if d := cmp.Diff(test.want, got); err != nil || d != "" {
				w.Errorf("%s: %v (-want +got):\n%s", test.c.ID, err, d)
			}
		}
		if got, err := w.CallIDs(w.ctx, &a); err != nil || len(got) > 0 {
			w.Errorf("of no ids: %v %v", got, err)
		}
	}},
	{"ACallIsInsertedOnce", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.putCalls(l, call(l, "s1", "x", 0, weir.CallStarted), call(l, "s1", "y", 1, weir.CallWaiting))
		w.refused("call_exists", func(tx store.Tx) error {
			return tx.InsertCalls(w.ctx, l.Fence, call(l, "s1", "new", 2, weir.CallStarted), call(l, "s1", "x", 0, weir.CallStarted))
		})
		w.refused("call_exists", func(tx store.Tx) error { // a decision could mean either
			return tx.InsertCalls(w.ctx, l.Fence, call(l, "s2", "y", 0, weir.CallWaiting))
		})
		if got := w.calls("a", "s1"); len(got) != 2 {
			w.Errorf("stored are %v", got)
		}
	}},
	{"ACallGoesForwardOnly", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		update := func(tx store.Tx, id string, state weir.CallState, given weir.Decision) (*weir.Call, error) {
			c := call(l, "s1", id, 0, state)
			c.Decision, c.EndedAt = given, at(9)
			return &c, tx.UpdateCall(w.ctx, l.Fence, &c)
		}
		for i, from := range []weir.CallState{weir.CallWaiting, weir.CallStarted, weir.CallSettled} {
			for j, to := range []weir.CallState{weir.CallWaiting, weir.CallStarted, weir.CallSettled, "else"} {
				id := fmt.Sprint(from, " to ", to)
				w.putCalls(l, call(l, "s1", id, 0, from))
				err := w.Update(w.ctx, func(tx store.Tx) error { _, err := update(tx, id, to, weir.Allow); return err })
				want := ""
				if i >= j || j == 3 {
					want = weir.CodeMoved
				}
				if weir.CodeOf(err) != want {
					w.Errorf("%s: %v", id, err)
				}
			}
		}
		w.refused("call_not_found", func(tx store.Tx) error { _, err := update(tx, "none", weir.CallSettled, ""); return err })
		w.refused("call_not_found", func(tx store.Tx) error {
			c := call(l, "s2", "started to settled", 0, weir.CallSettled)
			return tx.UpdateCall(w.ctx, l.Fence, &c)
		})
	}},
	{"ACallThatWaitedStartsOnlyIfItIsAllowed", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for i, c := range []struct {
			name           string
			decided, given weir.Decision
			may            bool
			stored         weir.Decision
		}{
			{"undecided", "", "", false, ""},
			{"allowed", weir.Allow, "", true, weir.Allow},
			{"allowed and the writer did not know", weir.Allow, weir.Deny, true, weir.Allow},
			{"denied", weir.Deny, "", false, weir.Deny},
			{"denied and the writer did not know", weir.Deny, weir.Allow, false, weir.Deny},
			{"undecided and a rule allows it", "", weir.Allow, true, weir.Allow},
			{"undecided and a rule denies it", "", weir.Deny, false, ""},
		} {
			w.putCalls(l, call(l, "s1", c.name, i, weir.CallWaiting))
			if c.decided != "" {
				if _, err := w.decide("a", c.name, c.decided); err != nil {
					w.Fatal(err)
				}
			}
			started := call(l, "s1", c.name, i, weir.CallStarted)
			started.Decision = c.given
			err := w.Update(w.ctx, func(tx store.Tx) error { return tx.UpdateCall(w.ctx, l.Fence, &started) })
			if (err == nil) != c.may || err != nil && weir.CodeOf(err) != weir.CodeMoved {
				w.Errorf("%s: starting it gave %v", c.name, err)
			}
			got := w.calls("a", "s1")[i]
			if got.Decision != c.stored || (got.State == weir.CallStarted) != c.may {
				w.Errorf("%s: stored is %+v", c.name, got)
			}
			if err == nil && !cmp.Equal(got, started) {
				w.Errorf("%s: the writer has %+v, the store %+v", c.name, started, got)
			}
			settled := got
			settled.State, settled.EndedAt, settled.Decision = weir.CallSettled, at(60), ""
			w.must(func(tx store.Tx) error { return tx.UpdateCall(w.ctx, l.Fence, &settled) })
			if got := w.calls("a", "s1")[i]; !cmp.Equal(settled, got) || got.Decision != c.stored {
				w.Errorf("%s: settled is %+v, told was %+v", c.name, got, settled)
			}
		}
	}},
	{"AWaitingCallIsDecidedOnce", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		l := w.lease("a")
		w.putCalls(l, call(l, "s1", "x", 0, weir.CallWaiting), call(l, "s1", "y", 1, weir.CallWaiting), call(l, "s1", "ran", 2, weir.CallStarted))
		got, err := w.decide("a", "x", weir.Allow)
		want := call(l, "s1", "x", 0, weir.CallWaiting)
		want.Decision = weir.Allow
		if err != nil || !cmp.Equal(want, got) {
			w.Errorf("decided: %+v, %v", got, err)
		}
		if again, err := w.decide("a", "x", weir.Allow); err != nil || !cmp.Equal(want, again) {
			w.Errorf("decided again: %+v, %v", again, err)
		}
		_, err = w.decide("a", "x", weir.Deny)
		wantCode(w, err, "call_decided")
		for _, c := range []weir.ConversationID{"a", "b", "none"} {
			for _, id := range []string{"ran", "none"} {
				_, err := w.decide(c, id, weir.Allow)
				wantCode(w, err, "call_not_found")
			}
		}
		_, err = w.decide("b", "x", weir.Allow)
		wantCode(w, err, "call_not_found")
		for _, d := range []weir.Decision{"", weir.Ask, "maybe"} {
			_, err := w.decide("a", "y", d)
			wantCode(w, err, "decision_invalid")
		}
		if d := cmp.Diff([]string{"x allow", "y"}, w.waiting("a")); d != "" {
			w.Error("waiting (-want +got):\n", d)
		}
		settled := want
		settled.State = weir.CallSettled
		w.must(func(tx store.Tx) error { return tx.UpdateCall(w.ctx, l.Fence, &settled) })
		_, err = w.decide("a", "x", weir.Allow)
		wantCode(w, err, "call_not_found")
	}},
	{"OfManyWhoDecideOneDoes", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for round := range 10 {
			id := fmt.Sprint("call_", round)
			w.putCalls(l, call(l, "s1", id, round, weir.CallWaiting))
			var said sync.Map
			each(w.T, 8, func(i int) {
				d := []weir.Decision{weir.Allow, weir.Deny}[i%2]
				if got, err := w.decide("a", id, d); err == nil {
					said.Store(got.Decision, true)
				} else {
					wantCode(w, err, "call_decided")
				}
			})
			stored := w.calls("a", "s1")[round].Decision
			if _, ok := said.Load(stored); !ok || size(&said) != 1 {
				w.Errorf("stored is %q, but %d decisions were confirmed", stored, size(&said))
			}
		}
	}},
	{"ADecisionAndAnInterruptAtOnceAreBothKept", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for round := range 10 {
			id := fmt.Sprint("call_", round)
			w.putCalls(l, call(l, "s1", id, round, weir.CallWaiting))
			settled := call(l, "s1", id, round, weir.CallSettled)
			errs := make([]error, 2)
			each(w.T, 2, func(who int) {
				if who == 0 {
					_, errs[0] = w.decide("a", id, weir.Allow)
				} else {
					errs[1] = w.Update(w.ctx, func(tx store.Tx) error { return tx.UpdateCall(w.ctx, l.Fence, &settled) })
				}
			})
			got := w.calls("a", "s1")[round]
			want := weir.Allow
			if errs[0] != nil {
				want = ""
				wantCode(w, errs[0], "call_not_found")
			}
			if errs[1] != nil || got.State != weir.CallSettled || got.Decision != want || settled.Decision != want {
				w.Errorf("settling: %v; stored is %+v, told was %q, the decision had %v", errs[1], got, settled.Decision, errs[0])
			}
		}
	}},
	{"DecidedCallsAndInterruptsMakeAWaitingConversationDue", func(w *world) {
		for _, id := range []weir.ConversationID{"undecided", "decided", "held", "interrupted"} {
			w.conversation(id)
			l := w.lease(id)
			w.must(func(tx store.Tx) error {
				if err := tx.InsertStep(w.ctx, step(l, "s1", 1)); err != nil {
					return err
				}
				if err := tx.ChangeActivity(w.ctx, id, weir.Activity{State: ptr(weir.Waiting), WaitingFor: ptr("approval")}); err != nil {
					return err
				}
				return tx.InsertCalls(w.ctx, l.Fence, call(l, "s1", "x", 0, weir.CallWaiting), call(l, "s1", "y", 1, weir.CallWaiting))
			})
			w.admit(input(id, "i", "a steer meanwhile"))
			if id != "held" {
				w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, l) })
			}
		}
		if d := cmp.Diff([]weir.ConversationID{}, w.due()); d != "" {
			w.Error("while all wait (-want +got):\n", d)
		}
		for _, id := range []weir.ConversationID{"decided", "held"} {
			if _, err := w.decide(id, "y", weir.Deny); err != nil {
				w.Fatal(err)
			}
		}
		w.must(func(tx store.Tx) error { _, err := tx.AskInterrupt(w.ctx, "interrupted"); return err })
		if d := cmp.Diff([]weir.ConversationID{"decided", "interrupted"}, w.due()); d != "" {
			w.Error("after a decision and an interrupt (-want +got):\n", d)
		}
		l := w.lease("decided")
		w.must(func(tx store.Tx) error {
			c := call(l, "s1", "y", 1, weir.CallSettled)
			if err := tx.UpdateCall(w.ctx, l.Fence, &c); err != nil {
				return err
			}
			return tx.ReleaseLease(w.ctx, l)
		})
		if d := cmp.Diff([]weir.ConversationID{"interrupted"}, w.due()); d != "" {
			w.Error("after the decided call settled and another waits (-want +got):\n", d)
		}
	}},
	{"RulesAboutToolsAreTheOwnersOwn", func(w *world) {
		put := func(rules ...weir.ToolRule) {
			w.must(func(tx store.Tx) error {
				for _, r := range rules {
					if err := tx.PutToolRule(w.ctx, r); err != nil {
						return err
					}
				}
				return nil
			})
		}
		put(weir.ToolRule{Owner: owner, Tool: "z", Decision: weir.Deny}, weir.ToolRule{Owner: owner, Tool: "Z", Decision: weir.Allow},
			weir.ToolRule{Owner: "other", Tool: "z", Decision: weir.Allow}, weir.ToolRule{Owner: owner, Tool: "a", Decision: weir.Ask})
		put(weir.ToolRule{Owner: owner, Tool: "z", Decision: weir.Ask})
		for o, want := range map[weir.OwnerID][]weir.ToolRule{
			owner:   {{Owner: owner, Tool: "Z", Decision: weir.Allow}, {Owner: owner, Tool: "a", Decision: weir.Ask}, {Owner: owner, Tool: "z", Decision: weir.Ask}},
			"other": {{Owner: "other", Tool: "z", Decision: weir.Allow}},
			"none":  nil,
		} {
			got, err := w.ToolRules(w.ctx, o)
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || d != "" {
				w.Errorf("rules of %s: %v (-want +got):\n%s", o, err, d)
			}
		}
		put(weir.ToolRule{Owner: owner, Tool: "a"}, weir.ToolRule{Owner: owner, Tool: "never set"})
		got, err := w.ToolRules(w.ctx, owner)
		if len(got) != 2 || slices.ContainsFunc(got, func(r weir.ToolRule) bool { return r.Tool == "a" }) || err != nil {
			w.Errorf("after one was taken back: %v, %v", got, err)
		}
		w.refused("decision_invalid", func(tx store.Tx) error {
			return tx.PutToolRule(w.ctx, weir.ToolRule{Owner: owner, Tool: "z", Decision: "x"})
		})
		for _, tool := range []string{"", "a\x00", "\xff", strings.Repeat("x", weir.MaxIDBytes+1)} {
			w.refused("tool_invalid", func(tx store.Tx) error {
				return tx.PutToolRule(w.ctx, weir.ToolRule{Owner: owner, Tool: tool, Decision: weir.Allow})
			})
		}
	}},
}
