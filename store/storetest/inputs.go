package storetest

import (
	"fmt"
	"sync"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func input(c weir.ConversationID, id weir.InputID, text string) *weir.Input {
	return &weir.Input{
		Conversation: c, ID: id, Owner: owner, Kind: weir.InputUser, Delivery: weir.Steer, State: weir.Pending, Revision: 1,
		Text: text, Digest: "digest of " + text, AdmittedAt: at(1),
	}
}

func (w *world) admit(in *weir.Input) {
	w.Helper()
	w.must(func(tx store.Tx) error { return tx.InsertInput(w.ctx, in) })
}

func inputIDs(all []weir.Input) []weir.InputID {
	list := []weir.InputID{}
	for _, in := range all {
		list = append(list, in.ID)
	}
	return list
}

var inputs = []scenario{
	{"AnInputComesBackAsItWasPut", func(w *world) {
		w.conversation("a")
		in := input("a", "inp_1", "see @[x](weir:…)")
		in.Shown, in.Delivery, in.Kind = "see @x", weir.Queue, weir.InputNotice
		in.Asked = []weir.Reference{{Type: weir.Quote, Conversation: "b", Message: "m", Confirmed: true, Seen: "d"}}
		in.Mentions = weir.Mentions{Only: []int{0, 2}}
		in.References = []weir.Frozen{{Type: weir.Quote, Conversation: "b", Text: "<quoted>", Note: "note", Time: at(3), SourceScope: weir.Scope{Path: []weir.ConversationID{"b"}}}}
		w.admit(in)
		if in.Position != 1 {
			w.Errorf("position is %d", in.Position)
		}
		got, err := w.Input(w.ctx, "a", "inp_1")
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(*in, got); d != "" {
			w.Error("(-want +got):\n", d)
		}
		_, err = w.Input(w.ctx, "a", "inp_2")
		wantCode(w, err, weir.CodeInputNotFound)
		w.conversation("b")
		_, err = w.Input(w.ctx, "b", "inp_1")
		wantCode(w, err, weir.CodeInputNotFound)
	}},
	{"AKnownInputIDIsAConflictAndTheFirstStays", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		w.admit(input("a", "inp_1", "first"))
		w.admit(input("b", "inp_1", "another inbox"))
		w.refused(weir.CodeInputConflict, func(tx store.Tx) error { return tx.InsertInput(w.ctx, input("a", "inp_1", "second")) })
		if got, err := w.Input(w.ctx, "a", "inp_1"); err != nil || got.Text != "first" {
			w.Errorf("stored is %q, %v", got.Text, err)
		}
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error { return tx.InsertInput(w.ctx, input("none", "inp_1", "x")) })
	}},
	{"OfManySendsOfOneInputOneIsStored", func(w *world) {
		w.conversation("a")
		var stored sync.Map
		each(w.T, 16, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error { return tx.InsertInput(w.ctx, input("a", "inp_1", fmt.Sprint(i))) })
			if err == nil {
				stored.Store(i, true)
			} else {
				wantCode(w, err, weir.CodeInputConflict)
			}
		})
		if size(&stored) != 1 {
			w.Errorf("%d were stored", size(&stored))
		}
	}},
	{"PositionsGrowInTheOrderOfAdmission", func(w *world) {
		w.conversation("a")
		each(w.T, 8, func(i int) {
			for j := range 5 {
				if err := w.Update(w.ctx, func(tx store.Tx) error {
					return tx.InsertInput(w.ctx, input("a", weir.InputID(fmt.Sprint("inp_", i, "_", j)), "x"))
				}); err != nil {
					w.Error(err)
				}
			}
		})
		all, err := w.PendingInputs(w.ctx, "a")
		if err != nil {
			w.Fatal(err)
		}
		last := map[byte]int{}
		for i, in := range all {
			if in.Position != int64(i+1) {
				w.Fatalf("input %d has position %d", i, in.Position)
			}
			var who, nth int
			fmt.Sscanf(string(in.ID), "inp_%d_%d", &who, &nth)
			if nth < last[byte(who)] {
				w.Errorf("%s comes after a later one of the same sender", in.ID)
			}
			last[byte(who)] = nth
		}
		if len(all) != 40 {
			w.Errorf("%d inputs", len(all))
		}
	}},
	{"AnEditNeedsTheCurrentRevision", func(w *world) {
		w.conversation("a")
		in := input("a", "inp_1", "one")
		w.admit(in)
		edit := *in
		edit.Text, edit.Shown, edit.Revision, edit.Delivery, edit.Digest = "two", "t", 2, weir.Queue, "d2"
		edit.Mentions = weir.Mentions{All: true}
		w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, &edit, 1) })
		w.refused(weir.CodeMoved, func(tx store.Tx) error {
			late := *in
			late.Text, late.Revision = "lost", 2
			return tx.UpdateInput(w.ctx, &late, 1)
		})
		got, err := w.Input(w.ctx, "a", "inp_1")
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(edit, got); d != "" {
			w.Error("(-want +got):\n", d)
		}
		w.refused(weir.CodeInputNotFound, func(tx store.Tx) error { return tx.UpdateInput(w.ctx, input("a", "none", "x"), 1) })
	}},
	{"WhatAnInputHasBecomeIsFinal", func(w *world) {
		w.conversation("a")
		for state, code := range map[weir.InputState]string{
			weir.Promoted: weir.CodeInputPromoted, weir.Rejected: weir.CodeMoved, weir.Withdrawn: weir.CodeMoved,
		} {
			in := input("a", weir.InputID(state), "x")
			w.admit(in)
			ended := *in
			ended.State, ended.PromotedSeq, ended.Code, ended.Reason = state, 7, "c", "r"
			w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, &ended, 1) })
			w.refused(code, func(tx store.Tx) error { return tx.UpdateInput(w.ctx, in, 1) })
			if got, err := w.Input(w.ctx, "a", in.ID); err != nil || !cmp.Equal(got, ended) {
				w.Errorf("stored is %+v, %v", got, err)
			}
		}
	}},
	{"OfAPromotionAndAnEditAtOnceOneWins", func(w *world) {
		w.conversation("a")
		for i := range 10 {
			id := weir.InputID(fmt.Sprint("inp_", i))
			w.admit(input("a", id, "one"))
			results := make([]error, 2)
			each(w.T, 2, func(who int) {
				results[who] = w.Update(w.ctx, func(tx store.Tx) error {
					in, err := tx.Input(w.ctx, "a", id)
					if err != nil {
						return err
					}
					if in.State != weir.Pending || in.Revision != 1 {
						return weir.Fault(weir.Conflict, weir.CodeMoved, "seen in time")
					}
					if who == 0 {
						in.State = weir.Promoted
					} else {
						in.Text, in.Revision = "two", 2
					}
					return tx.UpdateInput(w.ctx, &in, 1)
				})
			})
			if (results[0] == nil) == (results[1] == nil) {
				w.Errorf("promotion: %v, edit: %v", results[0], results[1])
			}
		}
	}},
	{"TheInboxShowsWhatIsPendingAndRecentlyRejected", func(w *world) {
		w.conversation("a")
		states := map[int]weir.InputState{1: weir.Pending, 2: weir.Rejected, 3: weir.Promoted, 4: weir.Rejected, 5: weir.Withdrawn, 6: weir.Pending}
		for i := 1; i <= 6; i++ {
			in := input("a", weir.InputID(fmt.Sprint(i)), "x")
			w.admit(in)
			if states[i] != weir.Pending {
				in.State = states[i]
				w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, in, 1) })
			}
		}
		all, err := w.Inputs(w.ctx, "a", 3) // the newest three are 4, 5 and 6
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff([]weir.InputID{"1", "4", "6"}, inputIDs(all)); d != "" {
			w.Error("inbox (-want +got):\n", d)
		}
		pending, err := w.PendingInputs(w.ctx, "a")
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff([]weir.InputID{"1", "6"}, inputIDs(pending)); d != "" {
			w.Error("pending (-want +got):\n", d)
		}
	}},
	{"ReorderedInputsExchangeThePlacesTheyHold", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		before := map[weir.InputID]weir.Input{}
		for i, id := range []weir.InputID{"1", "2", "3", "4", "5", "6"} {
			in := input("a", id, "x")
			w.admit(in)
			w.admit(input("b", id, "x"))
			if i == 2 {
				in.State = weir.Promoted
				w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, in, 1) })
			}
			before[id] = *in
		}
		reorder := func(ids ...weir.InputID) func(store.Tx) error {
			return func(tx store.Tx) error { return tx.ReorderInputs(w.ctx, "a", ids) }
		}
		w.must(reorder("5", "2", "4"))
		for id, place := range map[weir.InputID][2]int64{"1": {1, 1}, "2": {4, 2}, "3": {3, 1}, "4": {5, 2}, "5": {2, 2}, "6": {6, 1}} {
			want := before[id]
			want.Position, want.Revision = place[0], place[1]
			got, err := w.Input(w.ctx, "a", id)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				w.Errorf("input %s: %v (-want +got):\n%s", id, err, d)
			}
		}
		w.must(reorder())
		w.must(reorder("2", "1"))
		w.refused(weir.CodeInputPromoted, reorder("6", "3"))
		w.refused(weir.CodeInputNotFound, reorder("6", "none", "1"))
		w.refused("order_invalid", reorder("6", "1", "6"))
		w.refused(weir.CodeMoved, func(tx store.Tx) error { // an edit that did not see it
			in := before["2"]
			in.Revision = 2
			return tx.UpdateInput(w.ctx, &in, 1)
		})
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error { return tx.ReorderInputs(w.ctx, "none", nil) })
		gone := before["6"]
		gone.State = weir.Withdrawn
		w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, &gone, 1) })
		w.refused(weir.CodeMoved, reorder("1", "6"))
		for c, want := range map[weir.ConversationID][]weir.InputID{"a": {"2", "5", "1", "4"}, "b": {"1", "2", "3", "4", "5", "6"}} {
			pending, err := w.PendingInputs(w.ctx, c)
			if d := cmp.Diff(want, inputIDs(pending)); err != nil || d != "" {
				w.Errorf("pending of %s: %v (-want +got):\n%s", c, err, d)
			}
		}
		w.admit(input("a", "7", "x"))
		if got, err := w.Input(w.ctx, "a", "7"); err != nil || got.Position != 7 {
			w.Errorf("the next has position %d, %v", got.Position, err)
		}
	}},
	{"PositionsStayDenseHoweverManyReorderAndAdmitAtOnce", func(w *world) {
		w.conversation("a")
		var ids []weir.InputID
		for i := range 6 {
			ids = append(ids, weir.InputID(fmt.Sprint(i)))
			w.admit(input("a", ids[i], "x"))
		}
		each(w.T, 8, func(i int) {
			for j := range 5 {
				err := w.Update(w.ctx, func(tx store.Tx) error {
					switch i % 3 {
					case 0:
						return tx.InsertInput(w.ctx, input("a", weir.InputID(fmt.Sprint("new ", i, j)), "x"))
					case 1:
						return tx.ReorderInputs(w.ctx, "a", []weir.InputID{ids[(i+j)%6], ids[(i+j+1)%6], ids[(i+j+3)%6]})
					}
					in, err := tx.Input(w.ctx, "a", ids[(i*j)%6])
					if err != nil {
						return err
					}
					in.Revision++
					return tx.UpdateInput(w.ctx, &in, in.Revision-1)
				})
				if err != nil && weir.CodeOf(err) != weir.CodeMoved {
					w.Error(err)
				}
			}
		})
		pending, err := w.PendingInputs(w.ctx, "a")
		if err != nil || len(pending) != 6+15 {
			w.Errorf("%d inputs, %v", len(pending), err)
		}
		for i, in := range pending {
			if in.Position != int64(i+1) {
				w.Fatalf("input %d has position %d", i, in.Position)
			}
		}
	}},
}
