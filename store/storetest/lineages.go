package storetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"weir"
)

// family is a root of five records, a branch of it at 3 with its own 4 and 5,
// a branch of that at 4 with its own 5, and a task that inherits nothing.
func family(w *world) (root, middle, leaf, task weir.Conversation) {
	root = w.conversation("root")
	lr := w.lease("root")
	w.say(lr, "r1", "r2", "r3")
	middle = w.branch("middle", root, 3)
	lm := w.lease("middle")
	w.say(lm, "m4", "m5")
	w.branch("leaf", middle, 4)
	w.say(w.lease("leaf"), "l5")
	w.say(lr, "r4", "r5") // after the branch was made
	w.branch("task", middle, 0, func(c *weir.Conversation) { c.Kind = weir.Task })
	w.say(w.lease("task"), "t1")
	return w.get("root"), w.get("middle"), w.get("leaf"), w.get("task")
}

var lineages = []scenario{
	{"ABranchReadsItsAncestorsUpToTheCutAndThenItself", func(w *world) {
		family(w)
		for id, want := range map[weir.ConversationID][]string{
			"root":   {"root 1 r1", "root 2 r2", "root 3 r3", "root 4 r4", "root 5 r5"},
			"middle": {"root 1 r1", "root 2 r2", "root 3 r3", "middle 4 m4", "middle 5 m5"},
			"leaf":   {"root 1 r1", "root 2 r2", "root 3 r3", "middle 4 m4", "leaf 5 l5"},
			"task":   {"task 1 t1"},
		} {
			if d := cmp.Diff(want, w.log(id, weir.RecordQuery{})); d != "" {
				w.Errorf("log of %s (-want +got):\n%s", id, d)
			}
			if h := w.get(id).HeadSeq; h != weir.Seq(len(want)) {
				w.Errorf("head of %s is %d", id, h)
			}
		}
	}},
	{"PartsOfABranchAreReadAcrossTheCut", func(w *world) {
		family(w)
		for _, c := range []struct {
			q    weir.RecordQuery
			want []string
		}{
			{weir.RecordQuery{After: 2, Limit: 2}, []string{"root 3 r3", "middle 4 m4"}},
			{weir.RecordQuery{Newest: true, Limit: 3}, []string{"root 3 r3", "middle 4 m4", "leaf 5 l5"}},
			{weir.RecordQuery{Before: 4, Newest: true, Limit: 2}, []string{"root 2 r2", "root 3 r3"}},
			{weir.RecordQuery{After: 3, Before: 5}, []string{"middle 4 m4"}},
		} {
			if d := cmp.Diff(c.want, w.log("leaf", c.q)); d != "" {
				w.Errorf("%+v (-want +got):\n%s", c.q, d)
			}
		}
	}},
	{"ACutInsideWhatAnAncestorInheritedEndsThere", func(w *world) {
		_, middle, _, _ := family(w)
		w.branch("early", middle, 2)
		w.say(w.lease("early"), "e3")
		if d := cmp.Diff([]string{"root 1 r1", "root 2 r2", "early 3 e3"}, w.log("early", weir.RecordQuery{})); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"AnInheritedMessageIsAMessageOfTheBranchAndALaterOneIsNot", func(w *world) {
		root, middle, leaf, task := family(w)
		for _, c := range []struct {
			of    weir.Conversation
			id    weir.MessageID
			found bool
		}{
			{leaf, "msg_r3", true}, {leaf, "msg_m4", true}, {leaf, "msg_l5", true},
			{leaf, "msg_r4", false}, {leaf, "msg_m5", false}, {leaf, "msg_t1", false},
			{middle, "msg_r3", true}, {middle, "msg_l5", false},
			{root, "msg_r5", true}, {root, "msg_m4", false},
			{task, "msg_r1", false}, {task, "msg_t1", true},
		} {
			r, err := w.Message(w.ctx, &c.of, c.id)
			if c.found && (err != nil || r.ID != c.id) {
				w.Errorf("%s in %s: %v, %v", c.id, c.of.ID, r.ID, err)
			}
			if !c.found {
				wantCode(w, err, weir.CodeMessageNotFound)
			}
		}
	}},
	{"StructureOfABranchEndsAtTheCut", func(w *world) {
		root := w.conversation("root")
		l := w.lease("root")
		w.append(l, record("e1", &weir.Epoch{SHA256: "x"}), said("a"), record("w1", &weir.Rewind{From: 2, Upto: 2}), said("b"))
		branch := w.branch("branch", root, 4)
		w.append(l, record("u1", &weir.Undo{Rewind: 3}))
		w.append(w.lease("branch"), record("w2", &weir.Rewind{From: 4, Upto: 4}))
		branch = w.get("branch")
		got, err := w.Structure(w.ctx, &branch)
		if err != nil {
			w.Fatal(err)
		}
		var lines []string
		for _, r := range got {
			lines = append(lines, line(r))
		}
		if d := cmp.Diff([]string{"root 1 epoch", "root 3 rewind", "branch 5 rewind"}, lines); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"ADeepLineIsReadWhole", func(w *world) {
		c := w.conversation("c0")
		want := []string{}
		for i := range 12 {
			w.say(w.lease(c.ID), fmt.Sprint("x", i))
			want = append(want, fmt.Sprintf("c%d %d x%d", i, i+1, i))
			c = w.branch(weir.ConversationID(fmt.Sprint("c", i+1)), c, weir.Seq(i+1))
		}
		if d := cmp.Diff(want, w.log(c.ID, weir.RecordQuery{})); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
}
