package storetest

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func step(l weir.Lease, id weir.StepID, seq weir.Seq) *weir.Step {
	return &weir.Step{
		Conversation: l.Conversation, ID: id, Seq: seq, Fence: l.Fence, State: weir.StepRunning,
		Purpose: "answer", Provider: "p", Model: "m", Ledger: weir.Ledger{Bytes: 10, SHA256: "d", Reason: weir.BreakFirst}, StartedAt: at(1),
	}
}

func (w *world) due() []weir.ConversationID {
	w.Helper()
	ids, err := w.Due(w.ctx, 100)
	if err != nil {
		w.Fatal(err)
	}
	if ids == nil {
		ids = []weir.ConversationID{}
	}
	return ids
}

var steps = []scenario{
	{"WhatWasRefusedIsFoundAlsoByABranch", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for i, code := range append(weir.RefusedCodes(), "", "provider_auth") {
			s := step(l, weir.StepID(fmt.Sprint("stp_", i)), weir.Seq(i+1))
			w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, s) })
			s.State, s.Code = weir.StepFailed, code
			w.must(func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, s) })
		}
		branch := weir.Conversation{ID: "b", Lineage: []weir.Inherited{{Conversation: "a", Upto: 3}}}
		for c, n := range map[*weir.Conversation]int{{ID: "a"}: len(weir.RefusedCodes()), &branch: 3, {ID: "c"}: 0} {
			got, err := w.RefusedSteps(w.ctx, c)
			if err != nil || len(got) != n {
				w.Errorf("%s: %v, %d steps, want %d", c.ID, err, len(got), n)
			}
			for i := range got {
				if got[i].Code != weir.RefusedCodes()[i] {
					w.Errorf("%s: step %d has the code %s", c.ID, i, got[i].Code)
				}
			}
		}
	}},
	{"ALessonIsKeptOnce", func(w *world) {
		first := weir.Lesson{Model: "a/b", Objection: "system", At: at(1)}
		more := []weir.Lesson{first, {Model: "a/b", Objection: "system", At: at(2)}, {Model: "a/a", Objection: "roles", At: at(3)}}
		for _, l := range more {
			w.must(func(tx store.Tx) error { return tx.PutLesson(w.ctx, l) })
		}
		got, err := w.Lessons(w.ctx)
		if d := cmp.Diff([]weir.Lesson{more[2], first}, got); err != nil || d != "" {
			w.Errorf("%v (-want +got):\n%s", err, d)
		}
	}},
	{"AStepComesBackAsItWasPutAndSettlesOnce", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		s := step(l, "stp_1", 3)
		s.Chained = 2
		w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, s) })
		for _, read := range []func() (weir.Step, error){
			func() (weir.Step, error) { return w.Step(w.ctx, "a", "stp_1") },
			func() (weir.Step, error) { return w.UnsettledStep(w.ctx, "a") },
		} {
			if got, err := read(); err != nil || !cmp.Equal(*s, got) {
				w.Errorf("%v (-want +got):\n%s", err, cmp.Diff(*s, got))
			}
		}
		s.Attempts, s.Usage, s.Partial, s.Resumptions = 2, &weir.Usage{Fresh: 1, Read: 2, Write: 3, Output: 4}, "so far", 1
		s.Code, s.Reason, s.NextTry = "c", "r", at(9).Add(time.Microsecond)
		w.must(func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, s) })
		if got, err := w.UnsettledStep(w.ctx, "a"); err != nil || !cmp.Equal(*s, got) {
			w.Errorf("waiting for its next attempt: %v (-want +got):\n%s", err, cmp.Diff(*s, got))
		}
		s.Code, s.Reason, s.NextTry, s.EndedAt = "d", "s", time.Time{}, at(9)
		s.State = weir.StepFailed
		w.must(func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, s) })
		if got, err := w.Step(w.ctx, "a", "stp_1"); err != nil || !cmp.Equal(*s, got) {
			w.Errorf("%v (-want +got):\n%s", err, cmp.Diff(*s, got))
		}
		_, err := w.UnsettledStep(w.ctx, "a")
		wantCode(w, err, weir.CodeStepNotFound)
		w.refused(weir.CodeMoved, func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, s) })
		w.refused(weir.CodeStepNotFound, func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, step(l, "stp_9", 9)) })
	}},
	{"OneStepRunsAtATime", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, step(l, "stp_1", 1)) })
		w.refused(weir.CodeBusy, func(tx store.Tx) error { return tx.InsertStep(w.ctx, step(l, "stp_2", 2)) })
	}},
	{"AnInterruptIsSeenByTheNextWriteAndStays", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		ask := func() (asked bool) {
			w.must(func(tx store.Tx) error {
				var err error
				asked, err = tx.AskInterrupt(w.ctx, "a")
				return err
			})
			return asked
		}
		if ask() {
			w.Error("an idle conversation was interrupted")
		}
		s := step(l, "stp_1", 1)
		w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, s) })
		if !ask() || !ask() {
			w.Error("a running step was not interrupted")
		}
		for range 2 {
			s.Partial += "x"
			s.Interrupt = false
			w.must(func(tx store.Tx) error { return tx.UpdateStep(w.ctx, l.Fence, s) })
			if !s.Interrupt {
				w.Error("the write did not tell of the interrupt")
			}
		}
		if got, err := w.Step(w.ctx, "a", "stp_1"); err != nil || !got.Interrupt || got.Partial != "xx" {
			w.Errorf("stored is %+v, %v", got, err)
		}
	}},
	{"StepsAreListedNewestFirst", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for i := 1; i <= 4; i++ {
			s := step(l, weir.StepID(fmt.Sprint(i)), weir.Seq(i*10))
			s.State = weir.StepDone
			w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, s) })
		}
		for _, c := range []struct {
			before weir.Seq
			limit  int
			want   []weir.StepID
		}{{0, 0, []weir.StepID{"4", "3", "2", "1"}}, {0, 2, []weir.StepID{"4", "3"}}, {30, 1, []weir.StepID{"2"}}, {10, 5, []weir.StepID{}}} {
			all, err := w.Steps(w.ctx, "a", c.before, c.limit)
			if err != nil {
				w.Fatal(err)
			}
			got := []weir.StepID{}
			for _, s := range all {
				got = append(got, s.ID)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				w.Errorf("before %d (-want +got):\n%s", c.before, d)
			}
		}
	}},
	{"DueIsWhatWaitsOrRanAndNobodyHolds", func(w *world) {
		for _, id := range []weir.ConversationID{"idle", "input", "step", "held", "ended"} {
			w.conversation(id)
		}
		w.admit(input("input", "i", "x"))
		w.admit(input("held", "i", "x"))
		in := input("ended", "i", "x")
		w.admit(in)
		in.State = weir.Promoted
		w.must(func(tx store.Tx) error { return tx.UpdateInput(w.ctx, in, 1) })
		ls, le, held := w.lease("step"), w.lease("ended"), w.lease("held")
		running, done := step(ls, "s", 1), step(le, "s", 1)
		done.State = weir.StepDone
		w.must(func(tx store.Tx) error {
			if err := tx.InsertStep(w.ctx, running); err != nil {
				return err
			}
			return tx.InsertStep(w.ctx, done)
		})
		if d := cmp.Diff([]weir.ConversationID{"input"}, w.due()); d != "" {
			w.Error("while held (-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error {
			if err := tx.ReleaseLease(w.ctx, ls); err != nil {
				return err
			}
			return tx.ReleaseLease(w.ctx, le)
		})
		if d := cmp.Diff([]weir.ConversationID{"input", "step"}, w.due()); d != "" {
			w.Error("after release (-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error {
			return tx.ChangeActivity(w.ctx, "input", weir.Activity{State: ptr(weir.Waiting)})
		})
		if d := cmp.Diff([]weir.ConversationID{"step"}, w.due()); d != "" {
			w.Error("while one waits for a person (-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error {
			return tx.ChangeActivity(w.ctx, "input", weir.Activity{State: ptr(weir.Idle)})
		})
		w.must(func(tx store.Tx) error { _, err := tx.RenewLease(w.ctx, held, time.Millisecond); return err })
		for len(w.due()) != 3 { // the lease runs out by the database's clock
			if w.ctx.Err() != nil {
				w.Fatal("the lease never ran out")
			}
		}
		if one, err := w.Due(w.ctx, 1); err != nil || len(one) != 1 {
			w.Errorf("limited to one: %v, %v", one, err)
		}
	}},
}
