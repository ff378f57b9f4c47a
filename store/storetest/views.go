package storetest

import (
	"sync"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func view(c weir.ConversationID, seq weir.Seq, lowering, bytes string) weir.View {
	return weir.View{Conversation: c, Seq: seq, Lowering: lowering, Bytes: []byte(bytes), Mark: -1}
}

func (w *world) putViews(l weir.Lease, views ...weir.View) {
	w.Helper()
	w.must(func(tx store.Tx) error { return tx.PutViews(w.ctx, l.Fence, l.Conversation, views...) })
}

// bytesOf reads views as "seq bytes".
func (w *world) viewsOf(id weir.ConversationID, lowering string, from, upto weir.Seq) []weir.View {
	w.Helper()
	c := w.get(id)
	views, err := w.Views(w.ctx, &c, lowering, from, upto)
	if err != nil {
		w.Fatal(err)
	}
	return views
}

var views = []scenario{
	{"TheFirstWriteOfAViewWins", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "one", "two")
		first := weir.View{Conversation: "a", Seq: 1, Lowering: "x", Bytes: []byte("\x00\xff first"), Mark: 3}
		w.putViews(l, first)
		w.putViews(l, view("a", 1, "x", "second"), view("a", 2, "x", "new"))
		if d := cmp.Diff([]weir.View{first, view("a", 2, "x", "new")}, w.viewsOf("a", "x", 1, 9)); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"ViewsOfOneLoweringAreReadInOrderAndInPart", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "1", "2", "3", "4")
		w.putViews(l, view("a", 3, "x", "c"), view("a", 1, "x", "a"), view("a", 2, "y", "other"), view("a", 4, "x", "d"))
		if d := cmp.Diff([]weir.View{view("a", 1, "x", "a"), view("a", 3, "x", "c"), view("a", 4, "x", "d")}, w.viewsOf("a", "x", 1, 4)); d != "" {
			w.Error("all (-want +got):\n", d)
		}
		if d := cmp.Diff([]weir.View{view("a", 3, "x", "c")}, w.viewsOf("a", "x", 2, 3)); d != "" {
			w.Error("a part (-want +got):\n", d)
		}
		if got := w.viewsOf("a", "z", 1, 4); len(got) != 0 {
			w.Errorf("views of an unknown lowering: %v", got)
		}
	}},
	{"ABranchSharesTheViewsOfWhatItInherits", func(w *world) {
		_, _, leaf, _ := family(w)
		_ = leaf
		root := w.get("root")
		l := weir.Lease{Conversation: "leaf", Fence: 1}
		w.putViews(l, view("root", 1, "x", "r1"), view("root", 3, "x", "r3"), view("middle", 4, "x", "m4"), view("leaf", 5, "x", "l5"))
		w.putViews(weir.Lease{Conversation: root.ID, Fence: 1}, view("root", 4, "x", "r4"), view("root", 1, "x", "late"))
		if d := cmp.Diff([]weir.View{view("root", 1, "x", "r1"), view("root", 3, "x", "r3"), view("middle", 4, "x", "m4"), view("leaf", 5, "x", "l5")},
			w.viewsOf("leaf", "x", 1, 5)); d != "" {
			w.Error("leaf (-want +got):\n", d)
		}
		if d := cmp.Diff([]weir.View{view("root", 1, "x", "r1"), view("root", 3, "x", "r3"), view("root", 4, "x", "r4")}, w.viewsOf("root", "x", 1, 5)); d != "" {
			w.Error("root (-want +got):\n", d)
		}
	}},
	{"TwoWhoFreezeTheSameAtOnceAgreeAfterwards", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		w.say(l, "one")
		var mu sync.Mutex
		seen := map[string]int{}
		each(w.T, 8, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error {
				return tx.PutViews(w.ctx, l.Fence, "a", view("a", 1, "x", string(rune('a'+i))))
			})
			if err != nil {
				w.Error(err)
			}
			got := w.viewsOf("a", "x", 1, 1)
			mu.Lock()
			defer mu.Unlock()
			seen[string(got[0].Bytes)]++
		})
		if len(seen) != 1 {
			w.Errorf("seen %v", seen)
		}
	}},
	{"ManyViewsAtOnce", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		var all []weir.View
		for i := range 500 {
			all = append(all, view("a", weir.Seq(i+1), "x", "bytes"))
		}
		w.putViews(l, all...)
		if d := cmp.Diff(all, w.viewsOf("a", "x", 1, 1000)); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
}
