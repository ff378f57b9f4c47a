package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

var conversations = []scenario{
	{"AConversationComesBackAsItWasPut", func(w *world) {
		put := weir.Conversation{
			ID: "cnv/1 ?#%é", Owner: owner, Title: "Ports & <tags>", TitleSet: true, Kind: weir.Chat,
			Visibility: weir.Visibility{Level: weir.Isolated, Category: "work"},
			Workspace:  "/home/me", Model: "m", Agent: "a", Archived: true, CreatedAt: at(0), Generation: "gen_1",
			Origin: &weir.Origin{Product: "claude-code", File: "a.jsonl", ImportedAt: at(5)},
		}
		c := put
		w.must(func(tx store.Tx) error { return tx.InsertConversation(w.ctx, &c) })
		want := put
		want.Island, want.State, want.LastActive = []weir.ConversationID{put.ID}, weir.Idle, at(0)
		if d := cmp.Diff(want, c); d != "" {
			w.Error("filled in (-want +got):\n", d)
		}
		if d := cmp.Diff(want, w.get(put.ID)); d != "" {
			w.Error("read back (-want +got):\n", d)
		}
	}},
	{"AnUnknownConversationIsNotFound", func(w *world) {
		_, err := w.Conversation(w.ctx, "cnv_none")
		wantCode(w, err, weir.CodeConversationNotFound)
	}},
	{"AKnownIDIsRefusedAndTheTransactionCanGoOn", func(w *world) {
		w.conversation("a")
		w.must(func(tx store.Tx) error {
			err := tx.InsertConversation(w.ctx, &weir.Conversation{ID: "a", Owner: owner, Kind: weir.Chat, Generation: "g", Title: "other"})
			wantCode(w, err, "conversation_exists")
			return tx.InsertConversation(w.ctx, &weir.Conversation{ID: "b", Owner: owner, Kind: weir.Chat, Generation: "g"})
		})
		if got := w.get("a").Title; got != "" {
			w.Errorf("the known one is now called %q", got)
		}
		w.get("b")
	}},
	{"AnOwnerHasOneMainConversation", func(w *world) {
		isMain := func(c *weir.Conversation) { c.Kind = weir.Main }
		w.conversation("m", isMain)
		w.conversation("other", isMain, func(c *weir.Conversation) { c.Owner = "own_2" })
		w.refused("main_exists", func(tx store.Tx) error {
			return tx.InsertConversation(w.ctx, &weir.Conversation{ID: "m2", Owner: owner, Kind: weir.Main, Generation: "g"})
		})
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "m", 0) })
		w.conversation("m3", isMain)
	}},
	{"OfManyInsertsOfOneIDOneSucceeds", func(w *world) {
		var wins, refusals sync.Map
		each(w.T, 16, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error {
				return tx.InsertConversation(w.ctx, &weir.Conversation{ID: "one", Owner: owner, Kind: weir.Chat, Generation: "g", CreatedAt: at(i)})
			})
			if err == nil {
				wins.Store(i, true)
			} else {
				wantCode(w, err, "conversation_exists")
				refusals.Store(i, true)
			}
		})
		if n := size(&wins); n != 1 {
			w.Errorf("%d inserts of one id succeeded", n)
		}
	}},
	{"OnlyWhatIsNamedChanges", func(w *world) {
		before := w.conversation("a", func(c *weir.Conversation) {
			c.Title, c.Workspace, c.Model, c.Agent = "t", "w", "m", "a"
			c.Visibility = weir.Visibility{Level: weir.Isolated, Category: "x"}
		})
		w.must(func(tx store.Tx) error {
			return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{Title: ptr("new"), TitleSet: ptr(true)})
		})
		want := before
		want.Title, want.TitleSet = "new", true
		if d := cmp.Diff(want, w.get("a")); d != "" {
			w.Error("(-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error {
			return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{
				Visibility: &weir.Visibility{Level: weir.Open}, Workspace: ptr(""), Model: ptr("m2"), Agent: ptr(""), Archived: ptr(true),
			})
		})
		want.Visibility, want.Island = weir.Visibility{Level: weir.Open}, []weir.ConversationID{}
		want.Workspace, want.Model, want.Agent, want.Archived = "", "m2", "", true
		if d := cmp.Diff(want, w.get("a")); d != "" {
			w.Error("(-want +got):\n", d)
		}
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
			return tx.ChangeConversation(w.ctx, "none", weir.ConversationChange{Title: ptr("x")})
		})
	}},
	{"ActivityChangesByItself", func(w *world) {
		want := w.conversation("a")
		w.must(func(tx store.Tx) error {
			return tx.ChangeActivity(w.ctx, "a", weir.Activity{State: ptr(weir.Waiting), WaitingFor: ptr("call_1")})
		})
		want.State, want.WaitingFor = weir.Waiting, "call_1"
		if d := cmp.Diff(want, w.get("a")); d != "" {
			w.Error("(-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error {
			return tx.ChangeActivity(w.ctx, "a", weir.Activity{Generation: ptr(weir.GenerationID("gen_2"))})
		})
		want.Generation = "gen_2"
		if d := cmp.Diff(want, w.get("a")); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"AnIslandIsMadeOfTheWallsOfAncestors", func(w *world) {
		walled := func(c *weir.Conversation) { c.Visibility.Level = weir.Isolated }
		a := w.conversation("z-outer", walled)
		b := w.branch("m-middle", a, 0)
		c := w.branch("a-inner", b, 0, walled)
		d := w.branch("k-leaf", c, 0)
		want := map[weir.ConversationID][]weir.ConversationID{
			a.ID: {a.ID}, b.ID: {a.ID}, c.ID: {a.ID, c.ID}, d.ID: {a.ID, c.ID},
		}
		for id, path := range want {
			if d := cmp.Diff(path, w.get(id).Island); d != "" {
				w.Errorf("island of %s (-want +got):\n%s", id, d)
			}
		}
		page, err := w.Conversations(w.ctx, weir.ConversationQuery{Owner: owner})
		if err != nil {
			w.Fatal(err)
		}
		for _, c := range page.Items {
			if d := cmp.Diff(want[c.ID], c.Island); d != "" {
				w.Errorf("island of %s in a list (-want +got):\n%s", c.ID, d)
			}
		}
		w.must(func(tx store.Tx) error {
			return tx.ChangeConversation(w.ctx, a.ID, weir.ConversationChange{Visibility: &weir.Visibility{Level: weir.Open}})
		})
		if d := cmp.Diff([]weir.ConversationID{c.ID}, w.get(d.ID).Island); d != "" {
			w.Error("after the outer wall came down (-want +got):\n", d)
		}
	}},
	{"DescendantsAreAllOfThem", func(w *world) {
		a := w.conversation("a")
		b := w.branch("b", a, 0)
		w.branch("c", b, 0)
		w.branch("d", a, 0)
		w.conversation("e")
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "c", 0) })
		for id, want := range map[weir.ConversationID][]weir.ConversationID{"a": {"b", "c", "d"}, "b": {"c"}, "c": {}, "e": {}} {
			all, err := w.Descendants(w.ctx, id)
			if err != nil {
				w.Fatal(err)
			}
			if d := cmp.Diff(want, ids(all)); d != "" {
				w.Errorf("descendants of %s (-want +got):\n%s", id, d)
			}
		}
	}},
	{"ABranchOfAnUnknownConversationIsRefused", func(w *world) {
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
			return tx.InsertConversation(w.ctx, &weir.Conversation{
				ID: "b", Owner: owner, Kind: weir.Branch, Generation: "g", Lineage: []weir.Inherited{{Conversation: "none", Upto: 1}},
			})
		})
	}},
}

func ids(all []weir.Conversation) []weir.ConversationID {
	list := []weir.ConversationID{}
	for _, c := range all {
		list = append(list, c.ID)
	}
	return list
}

// each runs fn n times at once and waits.
func each(t *testing.T, n int, fn func(i int)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}
