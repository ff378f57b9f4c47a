package storetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func flow(source, target weir.ConversationID, in weir.InputID) *weir.Flow {
	return &weir.Flow{Time: at(1), Owner: owner, Door: "api", Form: weir.FlowQuote, Source: source, Target: target, Input: in}
}

func (w *world) record(all ...*weir.Flow) {
	w.Helper()
	w.must(func(tx store.Tx) error { return tx.AppendFlows(w.ctx, all...) })
}

func flowIDs(all []weir.Flow) []int64 {
	list := []int64{}
	for _, f := range all {
		list = append(list, f.ID)
	}
	return list
}

var flows = []scenario{
	{"AFlowComesBackAsItWasPut", func(w *world) {
		f := &weir.Flow{
			Time: at(1), Owner: owner, Door: "web", Form: weir.FlowQuote, Source: "a", Message: "m", Generation: "g",
			SourceScope: weir.Scope{Path: []weir.ConversationID{"a"}, Category: "x"}, Target: "b", Input: "i",
			TargetScope: weir.Scope{Path: []weir.ConversationID{}}, Crossing: true,
			Reasons: []weir.Reason{weir.ReasonIsolation, weir.ReasonCategory}, Confirmation: "Really?", TextMAC: "mac", TextLength: 12,
		}
		w.record(f)
		page, err := w.Flows(w.ctx, weir.FlowQuery{Owner: owner})
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff([]weir.Flow{*f}, page.Items); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"AnOutcomeIsARowOfItsOwn", func(w *world) {
		q, other := flow("a", "b", "i"), flow("a", "b", "j")
		w.record(q, other)
		o := flow("a", "b", "i")
		o.Form, o.Of, o.Result, o.Seq = weir.FlowOutcome, q.ID, weir.FlowDelivered, 5
		w.record(o)
		of, err := w.FlowsOf(w.ctx, "b", "i")
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff([]weir.Flow{*q}, of); d != "" {
			w.Error("flows of the input (-want +got):\n", d)
		}
		page, err := w.Flows(w.ctx, weir.FlowQuery{Owner: owner, Target: "b"})
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff([]weir.Flow{*o, *other, *q}, page.Items); d != "" {
			w.Error("all (-want +got):\n", d)
		}
	}},
	{"FlowsAreListedBySourceTargetAndCrossing", func(w *world) {
		ab, ac, bc := flow("a", "b", ""), flow("a", "c", ""), flow("b", "c", "")
		ac.Crossing = true
		foreign := flow("a", "b", "")
		foreign.Owner = "own_2"
		w.record(ab, ac, bc, foreign)
		for _, c := range []struct {
			q    weir.FlowQuery
			want []int64
		}{
			{weir.FlowQuery{}, []int64{bc.ID, ac.ID, ab.ID}},
			{weir.FlowQuery{Source: "a"}, []int64{ac.ID, ab.ID}},
			{weir.FlowQuery{Target: "c"}, []int64{bc.ID, ac.ID}},
			{weir.FlowQuery{Source: "b", Target: "c"}, []int64{bc.ID}},
			{weir.FlowQuery{Crossings: true}, []int64{ac.ID}},
			{weir.FlowQuery{Source: "b", Crossings: true}, []int64{}},
		} {
			c.q.Owner = owner
			page, err := w.Flows(w.ctx, c.q)
			if err != nil {
				w.Fatal(err)
			}
			if d := cmp.Diff(c.want, flowIDs(page.Items)); d != "" {
				w.Errorf("%+v (-want +got):\n%s", c.q, d)
			}
		}
	}},
	{"FlowsArePagedWithoutLossWhileMoreAreAdded", func(w *world) {
		var want []int64
		for i := range 7 {
			f := flow("a", "b", weir.InputID(fmt.Sprint(i)))
			w.record(f)
			want = append([]int64{f.ID}, want...)
		}
		var got []int64
		q := weir.FlowQuery{Owner: owner, Limit: 3}
		for {
			page, err := w.Flows(w.ctx, q)
			if err != nil {
				w.Fatal(err)
			}
			got = append(got, flowIDs(page.Items)...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
			w.record(flow("a", "b", "later"))
		}
		if d := cmp.Diff(want, got); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"FlowsOutliveTheConversationsTheyName", func(w *world) {
		w.conversation("a")
		w.record(flow("a", "b", "i"))
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "a", 0) })
		if page, err := w.Flows(w.ctx, weir.FlowQuery{Owner: owner, Source: "a"}); err != nil || len(page.Items) != 1 {
			w.Errorf("%d flows, %v", len(page.Items), err)
		}
	}},
	{"AForeignCursorIsRefused", func(w *world) {
		for _, cursor := range []string{"x", "!", "bm8", "WyJhIl0", "WyIxIiwiMiJd", "bnVsbA"} {
			_, err := w.Flows(w.ctx, weir.FlowQuery{Owner: owner, Cursor: cursor})
			wantCode(w, err, "cursor_invalid")
		}
		for _, cursor := range []string{"x", "!", "WyIxIl0", "WyJhIiwiYiJd", "WyIxIiwiXHUwMDAwIl0"} {
			_, err := w.Conversations(w.ctx, weir.ConversationQuery{Owner: owner, Cursor: cursor})
			wantCode(w, err, "cursor_invalid")
		}
	}},
}
