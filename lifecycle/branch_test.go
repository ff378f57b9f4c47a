package lifecycle_test

import (
	"fmt"
	"slices"
	"testing"

	"weir"
	"weir/lifecycle"
)

var (
	open     = lifecycle.Wish{Level: point(weir.Open)}
	isolated = lifecycle.Wish{Level: point(weir.Isolated)}
)

func in(category string) lifecycle.Wish { return lifecycle.Wish{Category: &category} }

func TestABranchInheritsItsParentUpToTheCutAndNothingThatComesLater(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		parent := w.create(lifecycle.NewConversation{Title: "Ports", Workspace: "/srv", Model: "demo/demo"})
		call := &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartToolCall, Call: "c1", Name: "look", Input: []byte("{}")}}}
		ids := w.write(parent, says("which port?"), call, &weir.ToolResult{Call: "c1", Text: "5432"}, answers("5432"), says("thanks"), answers("sure"))

		child, err := w.Branch(t.Context(), person, parent, lifecycle.BranchRequest{At: ids[1]})
		w.must(err)
		if child.Kind != weir.Branch || child.Parent() != parent || child.Inherits() != 3 || child.HeadSeq != 3 {
			t.Errorf("the child is %+v, want a branch of %s that inherits 3 records", child, parent)
		}
		if child.Workspace != "/srv" || child.Model != "demo/demo" || child.Title != "Ports" {
			t.Errorf("the child is set up as %q %q %q", child.Workspace, child.Model, child.Title)
		}
		if want := []string{"which port?", "", "5432"}; !slices.Equal(w.words(child.ID), want) {
			t.Errorf("the child begins with %q, want %q: a call goes with its result", w.words(child.ID), want)
		}
		_, err = w.Rewind(t.Context(), person, parent, ids[0], w.conversation(parent).HeadSeq)
		w.must(err)
		w.write(child.ID, says("and the other one?"))
		if want := []string{"which port?", "", "5432", "and the other one?"}; !slices.Equal(w.words(child.ID), want) {
			t.Errorf("after the parent's rewind the child has %q, want %q", w.words(child.ID), want)
		}
	})
}

func TestABranchAtAnInheritedMessageInheritsOnlyWhatIsBeforeIt(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first := w.create(lifecycle.NewConversation{})
		ids := w.write(first, says("1"), answers("2"), says("3"), answers("4"))
		second, err := w.Branch(t.Context(), person, first, lifecycle.BranchRequest{At: ids[3]})
		w.must(err)
		w.write(second.ID, says("5"))
		third, err := w.Branch(t.Context(), person, second.ID, lifecycle.BranchRequest{At: ids[1]})
		w.must(err)
		if want := []string{"1", "2"}; !slices.Equal(w.words(third.ID), want) {
			t.Errorf("it begins with %q, want %q", w.words(third.ID), want)
		}
		if want := []weir.Inherited{{Conversation: first, Upto: 2}, {Conversation: second.ID, Upto: 2}}; !slices.Equal(third.Lineage, want) {
			t.Errorf("lineage %v, want %v", third.Lineage, want)
		}
		w.write(third.ID, says("mine"))
		if want := []string{"1", "2", "mine"}; !slices.Equal(w.words(third.ID), want) {
			t.Errorf("it goes on as %q, want %q", w.words(third.ID), want)
		}
	})
}

func TestABranchMayBeginAtAMessageThatARewindHid(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		ids := w.write(c, says("1"), answers("2"), says("3"))
		_, err := w.Rewind(t.Context(), person, c, ids[0], 3)
		w.must(err)
		child, err := w.Branch(t.Context(), person, c, lifecycle.BranchRequest{At: ids[2]})
		w.must(err)
		if child.HeadSeq != 3 {
			t.Errorf("the child inherits up to %d, want 3: the rewind came after", child.HeadSeq)
		}
	})
}

func TestABranchAsksExactlyWhenItLeavesItsParentsCategory(t *testing.T) {
	cases := []struct {
		parent  lifecycle.Wish
		child   lifecycle.Wish
		asks    bool
		path    int // walls around the child
		belongs string
	}{
		{open, lifecycle.Wish{}, false, 0, ""},
		{open, isolated, false, 1, ""},
		{open, in("A"), false, 0, "A"},
		{isolated, lifecycle.Wish{}, false, 1, ""},
		{isolated, open, false, 1, ""}, // it stays inside its parent's wall
		{isolated, isolated, false, 2, ""},
		{in("A"), lifecycle.Wish{}, false, 0, "A"},
		{in("A"), isolated, false, 1, "A"}, // what is left out stays
		{in("A"), in("A"), false, 0, "A"},
		{in("A"), in("B"), true, 0, "B"},
		{in("A"), in(""), true, 0, ""},
	}
	eachWorld(t, func(t *testing.T, w *world) {
		for i, c := range cases {
			parent := w.create(lifecycle.NewConversation{Title: fmt.Sprint("parent ", i), Visibility: c.parent})
			at := w.write(parent, says("hello"))[0]
			ask := lifecycle.BranchRequest{At: at, Visibility: c.child}
			child, err := w.Branch(t.Context(), person, parent, ask)
			if !c.asks {
				w.must(err)
			} else {
				fault := w.refused(err, "confirmation_required")
				if n := len(w.flows(weir.FlowQuery{Source: parent})); n != 0 {
					t.Fatalf("%d: %d flow rows after a refusal", i, n)
				}
				ask.Confirmed, ask.Seen = true, "made up"
				_, err = w.Branch(t.Context(), person, parent, ask)
				w.refused(err, "confirmation_stale")
				ask.Seen = fault.Extra["digest"].(string)
				_, err = w.Branch(t.Context(), robot, parent, ask)
				w.refused(err, "confirmation_required")
				child, err = w.Branch(t.Context(), person, parent, ask)
				w.must(err)
			}
			if len(child.Island) != c.path || child.Visibility.Category != c.belongs {
				t.Errorf("%d: the child's scope is %v, want %d walls and category %q", i, child.Scope(), c.path, c.belongs)
			}
			rows := w.flows(weir.FlowQuery{Source: parent})
			if len(rows) != 1 || rows[0].Form != weir.FlowBranch || rows[0].Crossing != c.asks || rows[0].Target != child.ID || rows[0].Message != at {
				t.Fatalf("%d: flow rows %+v, want one of the branch, crossing %v", i, rows, c.asks)
			}
			if c.asks && (rows[0].Confirmation == "" || len(rows[0].Reasons) != 1) {
				t.Errorf("%d: the crossing is recorded as %+v", i, rows[0])
			}
		}
	})
}

func TestACutNamesAMessageOfThisConversationThatSomeoneSaid(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c, other := w.create(lifecycle.NewConversation{}), w.create(lifecycle.NewConversation{})
		elsewhere := w.write(other, says("elsewhere"))[0]
		openCall := &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartToolCall, Call: "c9", Name: "look"}}}
		ids := w.write(c, says("1"), answers("2"), &weir.Notice{Text: "n"}, &weir.Retitled{Title: "t"}, openCall)
		for name, at := range map[string]weir.MessageID{
			"of another conversation": elsewhere, "made up": "msg_x", "empty": "", "not an id": "a\x00b",
			"a notice": ids[2], "a hidden kind": ids[3], "a call without its result": ids[4],
		} {
			_, err := w.Branch(t.Context(), person, c, lifecycle.BranchRequest{At: at})
			if weir.CodeOf(err) != "cut_invalid" {
				t.Errorf("a branch at a message %s: %v", name, err)
			}
			_, err = w.Rewind(t.Context(), person, c, at, 5)
			if weir.CodeOf(err) != "cut_invalid" {
				t.Errorf("a rewind to a message %s: %v", name, err)
			}
		}
		if n := len(w.log(c)); n != 5 {
			t.Errorf("the log has %d records after refusals, want 5", n)
		}
	})
}
