package lifecycle_test

import (
	"testing"
	"time"

	"weir"
	"weir/lifecycle"
	"weir/store"
	"weir/transcript"
)

func (w *world) shape(id weir.ConversationID) *transcript.Shape {
	w.Helper()
	c := w.conversation(id)
	rs, err := w.s.Structure(w.Context(), &c)
	w.must(err)
	return transcript.Fold(rs)
}

func TestARewindHidesWhatCameAfterAndAnUndoGivesItBack(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"), answers("4"))
		r, err := w.Rewind(t.Context(), person, c, ids[1], 4)
		w.must(err)
		if b := r.Body.(*weir.Rewind); r.Seq != 5 || b.From != 3 || b.Upto != 4 || b.To != ids[1] {
			t.Fatalf("the rewind is %d %+v, want one at 5 that hides 3 to 4", r.Seq, b)
		}
		if s := w.shape(c); !s.Hidden(3) || !s.Hidden(4) || s.Hidden(2) {
			t.Error("3 and 4 should be hidden, and 2 not")
		}
		u, err := w.UndoRewind(t.Context(), person, c, point(weir.Seq(5)))
		w.must(err)
		if s := w.shape(c); u.Seq != 6 || s.Hidden(3) {
			t.Errorf("after the undo at %d, 3 is hidden: %v", u.Seq, s.Hidden(3))
		}
		_, err = w.UndoRewind(t.Context(), person, c, nil)
		w.refused(err, "nothing_to_undo")
		if n := len(w.log(c)); n != 6 {
			t.Errorf("the log has %d records; nothing is ever deleted or added by a refusal", n)
		}
	})
}

func TestARewindIsRefusedWhenThePersonHasNotSeenTheNewest(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"))
		for _, seq := range []weir.Seq{2, 4, 0, -1} {
			_, err := w.Rewind(t.Context(), person, c, ids[0], seq)
			if e := w.refused(err, weir.CodeMoved); e.Extra["head_seq"] != weir.Seq(3) {
				t.Errorf("the refusal carries %v, want the newest seq", e.Extra)
			}
		}
		_, err := w.UndoRewind(t.Context(), person, c, point(weir.Seq(2)))
		w.refused(err, weir.CodeMoved)
	})
}

func TestARewindInterruptsAStepAndHidesItsLateAnswer(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"))
		late := func(body weir.Body) func(store.Tx, int64) error {
			return func(tx store.Tx, fence int64) error {
				now := time.Now()
				_, err := tx.Append(t.Context(), c, fence, nil, weir.Record{ID: weir.NewMessageID(now), Time: now, Generation: "g", Body: body})
				return err
			}
		}
		w.settle = late(answers("too late"))
		r, err := w.Rewind(t.Context(), person, c, ids[1], 3)
		w.must(err)
		if b := r.Body.(*weir.Rewind); b.From != 3 || b.Upto != 4 {
			t.Errorf("it hides %d to %d, want 3 to 4: the answer that came of the interrupt too", b.From, b.Upto)
		}
		w.settle = late(says("somebody else"))
		_, err = w.Rewind(t.Context(), person, c, ids[0], 5)
		w.refused(err, weir.CodeMoved)
	})
}

func TestAnUndoComesTooLateOnceTheConversationWentOn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"))
		_, err := w.Rewind(t.Context(), person, c, ids[0], 2)
		w.must(err)
		w.write(c, &weir.Retitled{Title: "not a message"})
		_, err = w.UndoRewind(t.Context(), person, c, nil)
		w.must(err)
		_, err = w.Rewind(t.Context(), person, c, ids[0], w.conversation(c).HeadSeq)
		w.must(err)
		w.write(c, says("something else"))
		_, err = w.UndoRewind(t.Context(), person, c, nil)
		w.refused(err, "undo_too_late")
	})
}

func TestWhatARewindHasHiddenIsNoTargetAndHidingNothingIsNoRewind(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"))
		_, err := w.Rewind(t.Context(), person, c, ids[0], 3)
		w.must(err)
		_, err = w.Rewind(t.Context(), person, c, ids[1], 4)
		w.refused(err, "cut_invalid")
		_, err = w.Rewind(t.Context(), person, c, ids[0], 4)
		w.refused(err, "cut_invalid")
	})
}

func TestABranchCanBeRewoundIntoWhatItInheritedAndItsParentStays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"), answers("4"))
		child, err := w.Branch(t.Context(), person, c, lifecycle.BranchRequest{At: ids[3]})
		w.must(err)
		w.write(child.ID, says("5"))
		_, err = w.Rewind(t.Context(), person, child.ID, ids[1], 5)
		w.must(err)
		if !w.shape(child.ID).Hidden(3) || w.shape(c).Hidden(3) {
			t.Error("3 should be hidden in the branch alone")
		}
		if g := w.conversation(child.ID).Generation; g != child.Generation {
			t.Errorf("the branch is in generation %q now, want its own, %q", g, child.Generation)
		}
	})
}
