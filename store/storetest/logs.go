package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

var logs = []scenario{
	{"RecordsAreNumberedFromOneWithoutGaps", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		first := w.say(l, "one", "two")
		second := w.say(l, "three")
		if got := []weir.Seq{first[0].Seq, first[1].Seq, second[0].Seq}; !cmp.Equal(got, []weir.Seq{1, 2, 3}) {
			w.Errorf("numbered %v", got)
		}
		if d := cmp.Diff([]string{"a 1 one", "a 2 two", "a 3 three"}, w.log("a", weir.RecordQuery{})); d != "" {
			w.Error("(-want +got):\n", d)
		}
		if h := w.get("a").HeadSeq; h != 3 {
			w.Errorf("head is %d", h)
		}
	}},
	{"WhatAppendReturnsIsWhatIsReadBack", func(w *world) {
		w.conversation("a")
		rec := record("msg_1", &weir.UserMessage{Text: "hi", Shown: "hi!", References: []weir.Frozen{{Type: weir.Quote, Title: "t", Note: "n"}}})
		rec.Time = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600))
		appended := w.append(w.lease("a"), rec)
		c := w.get("a")
		read, err := w.Records(w.ctx, &c, weir.RecordQuery{})
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(appended, read); d != "" {
			w.Error("(-appended +read):\n", d)
		}
		one, err := w.Message(w.ctx, &c, "msg_1")
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(appended[0], one); d != "" {
			w.Error("(-appended +read by id):\n", d)
		}
		if want := rec.Time.Truncate(time.Microsecond); !one.Time.Equal(want) {
			w.Errorf("time is %v, want %v", one.Time, want)
		}
	}},
	{"EveryKindOfRecordComesBack", func(w *world) {
		w.conversation("a")
		bodies := []weir.Body{
			&weir.UserMessage{Text: "u"},
			&weir.AssistantMessage{Step: "s", Parts: []weir.Part{
				{Type: weir.PartReasoning, Raw: json.RawMessage(`{"signature":"a<b>&c\u2028","n":1.50}`)},
				{Type: weir.PartToolCall, Call: "c", Name: "n", Input: json.RawMessage(`{"x":[1,2e3]}`)}}},
			&weir.ToolResult{Call: "c", Text: "a\x00b is kept in a body"},
			&weir.RecallSnapshot{Text: "r"}, &weir.Update{Fact: "f", Text: "t"},
			&weir.Checkpoint{Generation: "g", Text: "t", Keep: [2]weir.Seq{1, 2}}, &weir.Notice{Text: "n"},
			&weir.Rewind{To: "m", From: 1, Upto: 2}, &weir.Undo{Rewind: 8}, &weir.Retitled{Title: "t"},
			&weir.VisibilitySet{Visibility: weir.Visibility{Level: weir.Isolated, Category: "c"}}, &weir.ModelSet{Model: "m"},
			&weir.AgentSet{Agent: "a"}, &weir.WorkspaceSet{Workspace: "w"},
			&weir.Epoch{Baseline: "b\n", SHA256: "d", Tools: json.RawMessage(`[]`), Snapshot: json.RawMessage(`{}`)},
			&weir.StepStart{Step: "s", Tail: "],\"x\":1}", Marks: []int64{1, 2}}, &weir.StepEnd{Step: "s", Outcome: weir.StepDone, Usage: &weir.Usage{Read: 1}},
			&weir.Approval{Call: "c", Decision: "allow"}, &weir.Redaction{From: 1, Upto: 2},
		}
		var records []weir.Record
		for i, b := range bodies {
			records = append(records, record(fmt.Sprint("msg_", i), b))
		}
		want := w.append(w.lease("a"), records...)
		c := w.get("a")
		got, err := w.Records(w.ctx, &c, weir.RecordQuery{})
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"ManyRecordsAtOnceKeepTheirOrder", func(w *world) {
		w.conversation("a")
		var many []weir.Record
		for i := range 1000 {
			many = append(many, said(fmt.Sprint(i)))
		}
		w.append(w.lease("a"), many...)
		lines := w.log("a", weir.RecordQuery{})
		if len(lines) != 1000 {
			w.Fatalf("%d records", len(lines))
		}
		for i, l := range lines {
			if want := fmt.Sprintf("a %d %d", i+1, i); l != want {
				w.Fatalf("record %d is %q, want %q", i, l, want)
			}
		}
	}},
	{"AppendsAtTheSameTimeLeaveNoGapAndNoDouble", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		la, lb := w.lease("a"), w.lease("b")
		var mu sync.Mutex
		got := map[string]string{} // line → text that was appended there
		each(w.T, 16, func(i int) {
			for j := range 20 {
				l := la
				if (i+j)%2 == 0 {
					l = lb
				}
				text := fmt.Sprint(i, "-", j)
				err := w.Update(w.ctx, func(tx store.Tx) error {
					rs, err := tx.Append(w.ctx, l.Conversation, l.Fence, nil, said(text), said(text+"x"))
					if err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					for _, r := range rs {
						got[fmt.Sprintf("%s %d", r.Conversation, r.Seq)] = r.Body.(*weir.UserMessage).Text
					}
					return nil
				})
				if err != nil {
					w.Error(err)
				}
			}
		})
		total := 0
		for _, id := range []weir.ConversationID{"a", "b"} {
			lines := w.log(id, weir.RecordQuery{})
			for i, l := range lines {
				where := fmt.Sprintf("%s %d", id, i+1)
				if l != where+" "+got[where] {
					w.Fatalf("stored %q, acknowledged %q as %q", l, where, got[where])
				}
			}
			total += len(lines)
		}
		if total != 16*20*2 {
			w.Errorf("%d records of %d", total, 16*20*2)
		}
	}},
	{"AppendWithAnOldHeadIsRefused", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "one")
		w.must(func(tx store.Tx) error {
			_, err := tx.Append(w.ctx, "a", l.Fence, ptr(weir.Seq(1)), said("two"))
			return err
		})
		w.refused(weir.CodeMoved, func(tx store.Tx) error {
			_, err := tx.Append(w.ctx, "a", l.Fence, ptr(weir.Seq(1)), said("three"))
			return err
		})
		if h := w.get("a").HeadSeq; h != 2 {
			w.Errorf("head is %d", h)
		}
	}},
	{"AKnownMessageIDIsRefusedWhole", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "one")
		w.refused("message_exists", func(tx store.Tx) error {
			_, err := tx.Append(w.ctx, "a", l.Fence, nil, said("two"), said("one"))
			return err
		})
		if d := cmp.Diff([]string{"a 1 one"}, w.log("a", weir.RecordQuery{})); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"AppendWithoutALeaseIsRefused", func(w *world) {
		w.conversation("a")
		for _, fence := range []int64{0, 1, -1} {
			w.refused(weir.CodeFenced, func(tx store.Tx) error {
				_, err := tx.Append(w.ctx, "a", fence, nil, said("x"))
				return err
			})
		}
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
			_, err := tx.Append(w.ctx, "none", 1, nil, said("x"))
			return err
		})
	}},
	{"ActivityMovesForwardWithWhatIsSaidOnly", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for _, step := range []struct {
			body weir.Body
			at   int
			want int
		}{
			{&weir.Notice{Text: "n"}, 50, 0},
			{&weir.UserMessage{Text: "u"}, 10, 10},
			{&weir.AssistantMessage{}, 20, 20},
			{&weir.UserMessage{Text: "an earlier one"}, 5, 20},
			{&weir.StepEnd{}, 60, 20},
		} {
			rec := record(fmt.Sprint("msg_", step.at), step.body)
			rec.Time = at(step.at)
			w.append(l, rec)
			if got := w.get("a").LastActive; !got.Equal(at(step.want)) {
				w.Errorf("after a %s at %d it was last active at %v, want %v", step.body.Kind(), step.at, got, at(step.want))
			}
		}
	}},
	{"ALogIsReadInParts", func(w *world) {
		w.conversation("a")
		w.append(w.lease("a"), said("1"), said("2"), record("n1", &weir.Notice{}), said("4"), record("t", &weir.Retitled{}), said("6"))
		user, marks := []weir.RecordKind{weir.KindUser}, []weir.RecordKind{weir.KindTitle, weir.KindModel}
		for _, c := range []struct {
			q    weir.RecordQuery
			want []string
		}{
			{weir.RecordQuery{Limit: 2}, []string{"a 1 1", "a 2 2"}},
			{weir.RecordQuery{Limit: 2, Newest: true}, []string{"a 5 title", "a 6 6"}},
			{weir.RecordQuery{After: 2, Before: 5}, []string{"a 3 notice", "a 4 4"}},
			{weir.RecordQuery{After: 1, Limit: 2, Kinds: user}, []string{"a 2 2", "a 4 4"}},
			{weir.RecordQuery{Before: 6, Limit: 2, Kinds: user, Newest: true}, []string{"a 2 2", "a 4 4"}},
			{weir.RecordQuery{Kinds: marks, Newest: true, Limit: 1}, []string{"a 5 title"}},
			{weir.RecordQuery{Kinds: marks, After: 5}, []string{}},
			{weir.RecordQuery{After: 6}, []string{}},
			{weir.RecordQuery{Before: 1}, []string{}},
		} {
			if d := cmp.Diff(c.want, w.log("a", c.q)); d != "" {
				w.Errorf("%+v (-want +got):\n%s", c.q, d)
			}
		}
	}},
	{"StructureIsWhatShapesTheSurface", func(w *world) {
		w.conversation("a")
		w.append(w.lease("a"),
			record("e", &weir.Epoch{Baseline: "a long text", SHA256: "digest", Tools: json.RawMessage(`[{}]`), Snapshot: json.RawMessage(`{}`)}),
			said("x"), record("t", &weir.Retitled{}), record("r", &weir.Rewind{From: 2, Upto: 2}), record("u", &weir.Undo{Rewind: 4}),
			record("s", &weir.StepStart{}), record("c", &weir.Checkpoint{Generation: "g", Text: "sum"}))
		c := w.get("a")
		got, err := w.Structure(w.ctx, &c)
		if err != nil {
			w.Fatal(err)
		}
		var seqs []weir.Seq
		var bodies []weir.Body
		for _, r := range got {
			seqs, bodies = append(seqs, r.Seq), append(bodies, r.Body)
		}
		if d := cmp.Diff([]weir.Seq{1, 4, 5, 7}, seqs); d != "" {
			w.Error("seqs (-want +got):\n", d)
		}
		if d := cmp.Diff([]weir.Body{&weir.Epoch{SHA256: "digest"}, &weir.Rewind{From: 2, Upto: 2}, &weir.Undo{Rewind: 4},
			&weir.Checkpoint{Generation: "g", Text: "sum"}}, bodies); d != "" {
			w.Error("bodies (-want +got):\n", d)
		}
	}},
}
