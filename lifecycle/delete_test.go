package lifecycle_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"weir"
	"weir/lifecycle"
)

func TestADeletedConversationLeavesATombstoneAndNothingToRead(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{Title: "secret", Visibility: isolated})
		w.write(c, says("1"), answers("2"))
		w.pend(c, "waiting")
		d, err := w.Delete(t.Context(), person, c, "")
		w.must(err)
		if !slices.Equal(d.Deleted, []weir.ConversationID{c}) {
			t.Errorf("deleted %v", d.Deleted)
		}
		got := w.conversation(c)
		if !got.Deleted || got.Title != "" || len(got.Island) != 1 || got.Kind != weir.Chat {
			t.Errorf("the tombstone is %+v", got)
		}
		if rs, err := w.s.Records(t.Context(), &got, weir.RecordQuery{}); err != nil || len(rs) != 0 {
			t.Errorf("%d records are left (%v)", len(rs), err)
		}
		if in, err := w.s.Inputs(t.Context(), c, 10); err != nil || len(in) != 0 {
			t.Errorf("%d inputs are left (%v)", len(in), err)
		}
		_, err = w.Delete(t.Context(), person, c, "")
		w.refused(err, weir.CodeConversationNotFound)
	})
}

func TestLivingBranchesAreListedAndChosenAbout(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		top, child, walled := w.family(isolated)
		_, err := w.Delete(t.Context(), person, top, "")
		if fault := w.refused(err, "branches_undecided"); fault.Extra["count"] != 2 {
			t.Errorf("the refusal says %v", fault.Extra)
		}
		_, err = w.Delete(t.Context(), person, top, "both")
		w.refused(err, "branches_invalid")
		if w.conversation(top).Deleted {
			t.Fatal("a refused delete deleted")
		}
		_, err = w.Delete(t.Context(), person, top, lifecycle.KeepBranches)
		w.must(err)
		if want := []string{"hello"}; !slices.Equal(w.words(child), want) {
			t.Errorf("the kept branch has %q, want %q", w.words(child), want)
		}
		if path := w.conversation(walled).Island; !slices.Equal(path, []weir.ConversationID{top, walled}) {
			t.Errorf("the grandchild's path is %v; deletion must not change it", path)
		}
		d, err := w.Delete(t.Context(), person, child, lifecycle.DeleteBranches)
		w.must(err)
		if want := []weir.ConversationID{walled, child}; !slices.Equal(d.Deleted, want) {
			t.Errorf("deleted %v, want %v, deepest first", d.Deleted, want)
		}
		// With the last branch goes what the tombstone had kept for it.
		gone := w.conversation(top)
		rs, err := w.s.Records(t.Context(), &gone, weir.RecordQuery{})
		w.must(err)
		if len(rs) != 0 {
			t.Errorf("the first one still has %d records that nobody inherits", len(rs))
		}
	})
}

func TestWhoDeletesIsToldWhereQuotesWentAndStay(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		source := w.create(lifecycle.NewConversation{Title: "source"})
		said := w.write(source, says("secret-7421"))[0]
		quote := weir.Reference{Type: weir.Quote, Conversation: source, Message: said}
		kept, dropped, gone := w.create(lifecycle.NewConversation{Title: "kept"}), w.create(lifecycle.NewConversation{}), w.create(lifecycle.NewConversation{})
		in := w.pend(kept, "look", quote, weir.Reference{Type: weir.Pointer, Conversation: source})
		w.pend(dropped, "look", quote)
		w.pend(gone, "look", quote)
		_, err := w.Delete(t.Context(), person, dropped, "")
		w.must(err)
		_, err = w.Delete(t.Context(), person, gone, "")
		w.must(err)
		withdrawn := 0
		for _, f := range w.flows(weir.FlowQuery{Source: source}) {
			if f.Form == weir.FlowOutcome && f.Result == weir.FlowWithdrawn {
				withdrawn++
			}
		}
		if withdrawn != 2 {
			t.Errorf("%d outcomes say that a deleted target never got its quote, want 2", withdrawn)
		}
		d, err := w.Delete(t.Context(), person, source, "")
		w.must(err)
		if len(d.Copies) != 1 || d.Copies[0].Target != kept || d.Copies[0].Title != "kept" || d.Copies[0].Input != in {
			t.Errorf("copies %+v, want the one in %s", d.Copies, kept)
		}
		stored, err := w.s.Input(t.Context(), kept, in)
		w.must(err)
		if len(stored.References) != 2 || stored.References[0].Text != "secret-7421" {
			t.Errorf("what was handed over is %+v now", stored.References)
		}
	})
}

// Of a branch and a deletion that come at the same time, the one that is later
// knows of the other: never is a branch left whose records are gone unasked.
func TestABranchAndADeletionAtTheSameTimeSeeEachOther(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for range 15 {
			c := w.create(lifecycle.NewConversation{})
			at := w.write(c, says("hello"))[0]
			var both sync.WaitGroup
			var branched, deleted error
			both.Go(func() {
				_, branched = w.Branch(context.Background(), person, c, lifecycle.BranchRequest{At: at})
			})
			both.Go(func() { _, deleted = w.Delete(context.Background(), person, c, "") })
			both.Wait()
			switch {
			case branched == nil && weir.CodeOf(deleted) == "branches_undecided":
			case deleted == nil && weir.CodeOf(branched) == weir.CodeConversationNotFound:
			default:
				t.Fatalf("branch: %v; delete: %v", branched, deleted)
			}
		}
	})
}
