package gate_test

import (
	"slices"
	"strings"
	"testing"

	"weir"
	"weir/store"
	"weir/test/stores"
)

// family makes the source and the target of one row of the matrix.
type family func(w *world) (source, target weir.ConversationID)

func chats(source, target like) family {
	return func(w *world) (weir.ConversationID, weir.ConversationID) {
		source.title, target.title = "Source", "Target"
		return w.make(source), w.make(target)
	}
}

// The matrix of gate.md §1, then deeper families.
var matrix = []struct {
	name    string
	family  family
	reasons []weir.Reason
}{
	{"open to open", chats(like{}, like{}), nil},
	{"open to isolated", chats(like{}, like{level: weir.Isolated}), nil},
	{"isolated to open", chats(like{level: weir.Isolated}, like{}), isolation},
	{"isolated to another island", chats(like{level: weir.Isolated}, like{level: weir.Isolated}), isolation},
	{"isolated to its own branch", child(like{level: weir.Isolated}, like{kind: weir.Branch}), nil},
	{"isolated to its own task", child(like{level: weir.Isolated}, like{kind: weir.Task}), nil},
	{"nested island to the island around it", reversed(child(like{level: weir.Isolated}, like{kind: weir.Branch, level: weir.Isolated})), isolation},
	{"island to a nested island in it", child(like{level: weir.Isolated}, like{kind: weir.Branch, level: weir.Isolated}), nil},
	{"category A to category A", chats(like{category: "A"}, like{category: "A"}), nil},
	{"category A to category B", chats(like{category: "A"}, like{category: "B"}), category},
	{"category A to none", chats(like{category: "A"}, like{}), category},
	{"none to category A", chats(like{}, like{category: "A"}), nil},

	{"isolated and A to open", chats(like{level: weir.Isolated, category: "A"}, like{}), both},
	{"isolated and A to isolated and B", chats(like{level: weir.Isolated, category: "A"}, like{level: weir.Isolated, category: "B"}), both},
	{"isolated and A to its task in A", child(like{level: weir.Isolated, category: "A"}, like{kind: weir.Task, category: "A"}), nil},
	{"isolated and A to its branch in B", child(like{level: weir.Isolated, category: "A"}, like{kind: weir.Branch, category: "B"}), category},
	{"open in A to isolated in A", chats(like{category: "A"}, like{level: weir.Isolated, category: "A"}), nil},
	{"an island's branch to the island", reversed(child(like{level: weir.Isolated}, like{kind: weir.Branch})), nil},
	{"an island's branch to open", func(w *world) (weir.ConversationID, weir.ConversationID) {
		island, _ := child(like{level: weir.Isolated}, like{kind: weir.Branch})(w)
		return w.make(like{title: "Branch", kind: weir.Branch, parent: island}), w.make(like{title: "Target"})
	}, isolation},
	{"one branch of an island to another", func(w *world) (weir.ConversationID, weir.ConversationID) {
		island := w.make(like{level: weir.Isolated})
		w.say(island, "first")
		return w.make(like{title: "One", kind: weir.Branch, parent: island}), w.make(like{title: "Target", kind: weir.Branch, parent: island})
	}, nil},
	{"one nested island to its sibling", func(w *world) (weir.ConversationID, weir.ConversationID) {
		island := w.make(like{level: weir.Isolated})
		w.say(island, "first")
		return w.make(like{title: "One", kind: weir.Branch, parent: island, level: weir.Isolated}),
			w.make(like{title: "Target", kind: weir.Branch, parent: island, level: weir.Isolated})
	}, isolation},
	{"the outer island to a branch of the nested one", func(w *world) (weir.ConversationID, weir.ConversationID) {
		outer, nested := child(like{level: weir.Isolated}, like{kind: weir.Branch, level: weir.Isolated})(w)
		return outer, w.make(like{title: "Target", kind: weir.Branch, parent: nested})
	}, nil},
	{"a branch of the nested island to the outer one", func(w *world) (weir.ConversationID, weir.ConversationID) {
		outer, nested := child(like{level: weir.Isolated}, like{kind: weir.Branch, level: weir.Isolated})(w)
		w.change(outer, weir.ConversationChange{Title: ptr("Target")})
		return w.make(like{title: "Deep", kind: weir.Branch, parent: nested}), outer
	}, isolation},
	{"an isolated branch of an open chat to that chat", reversed(child(like{}, like{kind: weir.Branch, level: weir.Isolated})), isolation},
	{"an open chat to its isolated task", child(like{}, like{kind: weir.Task, level: weir.Isolated}), nil},
	{"open to the main conversation", chats(like{}, like{kind: weir.Main}), nil},
	{"isolated to the main conversation", chats(like{level: weir.Isolated}, like{kind: weir.Main}), isolation},
}

var (
	isolation = []weir.Reason{weir.ReasonIsolation}
	category  = []weir.Reason{weir.ReasonCategory}
	both      = []weir.Reason{weir.ReasonIsolation, weir.ReasonCategory}
)

func child(parent, c like) family {
	return func(w *world) (weir.ConversationID, weir.ConversationID) {
		parent.title, c.title = "Parent", "Target"
		parent := w.make(parent)
		w.say(parent, "first")
		c.parent = parent
		return parent, w.make(c)
	}
}

func reversed(f family) family {
	return func(w *world) (weir.ConversationID, weir.ConversationID) {
		a, b := f(w)
		w.change(a, weir.ConversationChange{Title: ptr("Target")})
		return b, a
	}
}

func ptr[T any](v T) *T { return &v }

func TestEveryCellOfTheMatrixIsAskedAboutOrNot(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for _, c := range matrix {
			if strings.Contains(c.name, "main") {
				continue // at most one of an owner: below
			}
			t.Run(c.name, func(t *testing.T) { checkCell(newWorld(t, s), c.family, c.reasons) })
		}
	})
	for _, c := range matrix {
		if strings.Contains(c.name, "main") {
			stores.Each(t, func(t *testing.T, s store.Store) { checkCell(newWorld(t, s), c.family, c.reasons) })
		}
	}
}

func checkCell(w *world, f family, reasons []weir.Reason) {
	source, target := f(w)
	for _, ref := range []weir.Reference{quote(source, w.answer(source, "the port is 8417")), pointer(source)} {
		p, err := w.preview(target, ref)
		w.must(err)
		if p.NeedsConfirmation != (len(reasons) > 0) || !slices.Equal(p.Reasons, reasons) || (p.Confirmation != "") != p.NeedsConfirmation {
			w.Fatalf("%s: preview %+v, want the reasons %v", ref.Type, p, reasons)
		}
		if p.NeedsConfirmation && !strings.Contains(p.Confirmation, "“Target”") {
			w.Errorf("%s: the question does not name the target: %s", ref.Type, p.Confirmation)
		}
		before := w.count(target)
		in, err := w.send(person, target, "hi", weir.Mentions{}, ref)
		if p.NeedsConfirmation {
			w.refused(err, "confirmation_required", target, before)
			ref.Confirmed, ref.Seen = true, p.Digest
			in, err = w.send(person, target, "hi", weir.Mentions{}, ref)
		}
		w.must(err)
		if after := w.count(target); after != [2]int{before[0] + 1, before[1] + 1} {
			w.Errorf("%s: one input and one flow row should be there: %v, then %v", ref.Type, before, after)
		}
		flows := w.flows(weir.FlowQuery{Target: target})
		row, frozen := flows[len(flows)-1], in.References[0]
		if row.Crossing != p.NeedsConfirmation || !slices.Equal(row.Reasons, reasons) || row.Confirmation != p.Confirmation {
			w.Errorf("%s: flow row %+v, want the reasons %v", ref.Type, row, reasons)
		}
		if frozen.NeededConfirmation != p.NeedsConfirmation || !slices.Equal(frozen.Reasons, reasons) || frozen.Confirmation != p.Confirmation {
			w.Errorf("%s: frozen as %+v, want the reasons %v", ref.Type, frozen, reasons)
		}
	}
}

func TestMainAndTasksAreNoSourceForAnyForm(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		target := w.make(like{title: "Target"})
		parent := w.make(like{title: "Parent"})
		for _, source := range []weir.ConversationID{w.make(like{kind: weir.Main}), w.make(like{kind: weir.Task, parent: parent})} {
			said := w.say(source, "secret")
			branch := w.make(like{kind: weir.Branch, parent: source})
			own := w.say(branch, "said in the branch")
			for _, ref := range []weir.Reference{quote(source, said), pointer(source), quote(branch, said)} {
				_, err := w.send(person, target, "hi", weir.Mentions{}, ref)
				w.refused(err, "reference_not_quotable", target, [2]int{})
			}
			// What was written in the branch itself is the branch's.
			for _, ref := range []weir.Reference{quote(branch, own), pointer(branch)} {
				if _, err := w.preview(target, ref); err != nil {
					t.Errorf("%+v of a branch: %v", ref, err)
				}
			}
		}
	})
}
