package storetest

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

// active inserts a conversation that was last active at a second.
func (w *world) active(id weir.ConversationID, seconds int, options ...func(*weir.Conversation)) weir.Conversation {
	w.Helper()
	return w.conversation(id, append(options, func(c *weir.Conversation) { c.LastActive = at(seconds) })...)
}

func titled(title string) func(*weir.Conversation) {
	return func(c *weir.Conversation) { c.Title = title }
}

func in(workspace string) func(*weir.Conversation) {
	return func(c *weir.Conversation) { c.Workspace = workspace }
}

// walkAll reads a whole list page by page, running between after each page.
func (w *world) walkAll(q weir.ConversationQuery, between func(page int)) []weir.ConversationID {
	w.Helper()
	var got []weir.ConversationID
	for n := 1; ; n++ {
		page, err := w.Conversations(w.ctx, q)
		if err != nil {
			w.Fatal(err)
		}
		if q.Limit > 0 && len(page.Items) > q.Limit {
			w.Fatalf("a page of %d items", len(page.Items))
		}
		got = append(got, ids(page.Items)...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return got
		}
		if between != nil {
			between(n)
		}
	}
}

var lists = []scenario{
	{"TheNewestActivityComesFirstAndTiesGoById", func(w *world) {
		w.active("b", 5)
		w.active("a", 5)
		w.active("B", 5)
		w.active("é", 5)
		w.active("old", 1)
		w.active("new", 9)
		want := []weir.ConversationID{"new", "B", "a", "b", "é", "old"}
		for _, limit := range []int{0, 1, 2, 4} {
			if d := cmp.Diff(want, w.walkAll(weir.ConversationQuery{Owner: owner, Limit: limit}, nil)); d != "" {
				w.Errorf("pages of %d (-want +got):\n%s", limit, d)
			}
		}
	}},
	{"AListIsFilteredByOwnerKindArchivedAndDeleted", func(w *world) {
		w.active("chat", 5)
		w.active("archived", 4, func(c *weir.Conversation) { c.Archived = true })
		w.active("main", 3, func(c *weir.Conversation) { c.Kind = weir.Main })
		w.active("gone", 2)
		w.active("foreign", 1, func(c *weir.Conversation) { c.Owner = "own_2" })
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "gone", 0) })
		for _, c := range []struct {
			q    weir.ConversationQuery
			want []weir.ConversationID
		}{
			{weir.ConversationQuery{}, []weir.ConversationID{"chat", "archived", "main"}},
			{weir.ConversationQuery{Archived: ptr(false)}, []weir.ConversationID{"chat", "main"}},
			{weir.ConversationQuery{Archived: ptr(true)}, []weir.ConversationID{"archived"}},
			{weir.ConversationQuery{Kind: weir.Main}, []weir.ConversationID{"main"}},
		} {
			c.q.Owner = owner
			if d := cmp.Diff(c.want, w.walkAll(c.q, nil)); d != "" {
				w.Errorf("%+v (-want +got):\n%s", c.q, d)
			}
		}
	}},
	{"AWalkMeetsWhatDoesNotChangeOnceWhileOthersMove", func(w *world) {
		var still []weir.ConversationID
		for i := range 30 {
			id := weir.ConversationID(fmt.Sprintf("c%02d", i))
			w.active(id, 100-i/3) // groups of three share a time
			if i%5 != 0 {
				still = append(still, id)
			}
		}
		moved := 0
		got := w.walkAll(weir.ConversationQuery{Owner: owner, Limit: 4}, func(page int) {
			// Every fifth moves to the top, behind or before the walker, and new ones come.
			id := weir.ConversationID(fmt.Sprintf("c%02d", moved%6*5))
			l := w.takeover(id, fmt.Sprint("n", page))
			rec := said(fmt.Sprint("x", page))
			rec.Time = at(1000 + page)
			w.append(l, rec)
			w.must(func(tx store.Tx) error { return tx.ReleaseLease(w.ctx, l) })
			w.active(weir.ConversationID(fmt.Sprint("new", page)), 2000+page)
			moved++
		})
		seen := map[weir.ConversationID]int{}
		for _, id := range got {
			if seen[id]++; seen[id] > 1 {
				w.Errorf("%s was met twice", id)
			}
		}
		met := slices.DeleteFunc(slices.Clone(got), func(id weir.ConversationID) bool { return !slices.Contains(still, id) })
		if d := cmp.Diff(still, met); d != "" {
			w.Error("what did not change (-want +got):\n", d)
		}
	}},
	{"WordsAreFoundInTitleIdAndWorkspaceWithoutCase", func(w *world) {
		w.active("cnv_Alpha", 9, titled("Deploying NGINX behind the proxy"), in("/srv/Web"))
		w.active("cnv_beta", 8, titled("评审会议：明天下午三点"), in("/srv/db"))
		w.active("cnv_gamma", 7, titled("Straße ΣΊΣΥΦΟΣ İstanbul K"), in(""))
		w.active("cnv_delta", 6, titled("会议"), in("/home/x"))
		w.active("cnv_eps", 5, titled("func (s *Store) getURL_v2()"))
		w.active("cnv_zeta", 4, titled("100% _under_ [x] a\\b 'quoted' \"double\""))
		for words, want := range map[string][]weir.ConversationID{
			"nginx":           {"cnv_Alpha"},
			"PROXY nginx":     {"cnv_Alpha"},
			"proxy db":        {},
			"ginx":            {"cnv_Alpha"},
			"alpha":           {"cnv_Alpha"},
			"ALPHA /srv":      {"cnv_Alpha"},
			"web":             {"cnv_Alpha"},
			"评审会议":            {"cnv_beta"},
			"会议":              {"cnv_beta", "cnv_delta"},
			"会":               {"cnv_beta", "cnv_delta"},
			"会议 db":           {"cnv_beta"},
			"db":              {"cnv_beta"},
			"STRASSE":         {},
			"STRAßE":          {"cnv_gamma"},
			"straẞe":          {"cnv_gamma"},
			"σίσυφος":         {"cnv_gamma"},
			"ΣΊΣΥΦΟς":         {"cnv_gamma"},
			"i̇stanbul":       {},
			"İstanbul":        {"cnv_gamma"},
			"\u212a":          {"cnv_gamma"}, // the Kelvin sign is a K
			"geturl_V2":       {"cnv_eps"},
			"*store)":         {"cnv_eps"},
			"(s":              {"cnv_eps"},
			"%":               {"cnv_zeta"},
			"_under_":         {"cnv_zeta"},
			"[x]":             {"cnv_zeta"},
			`a\b`:             {"cnv_zeta"},
			`'quoted'`:        {"cnv_zeta"},
			`"double"`:        {"cnv_zeta"},
			"proxy/srv":       {},
			"nothing-of-this": {},
			"cnv_":            {"cnv_Alpha", "cnv_beta", "cnv_gamma", "cnv_delta", "cnv_eps", "cnv_zeta"},
			"":                {"cnv_Alpha", "cnv_beta", "cnv_gamma", "cnv_delta", "cnv_eps", "cnv_zeta"},
			" \t\n":           {"cnv_Alpha", "cnv_beta", "cnv_gamma", "cnv_delta", "cnv_eps", "cnv_zeta"},
		} {
			for _, limit := range []int{0, 1} {
				got := w.walkAll(weir.ConversationQuery{Owner: owner, Words: words, Limit: limit}, nil)
				if d := cmp.Diff(want, append([]weir.ConversationID{}, got...)); d != "" {
					w.Errorf("%q (-want +got):\n%s", words, d)
				}
			}
		}
	}},
	{"AChangedTitleIsFoundByItsNewWordsOnly", func(w *world) {
		w.active("a", 1, titled("first name"), in("/one"))
		w.must(func(tx store.Tx) error {
			return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{Title: ptr("second"), Workspace: ptr("/two")})
		})
		for words, n := range map[string]int{"first": 0, "/one": 0, "second": 1, "/two": 1} {
			if got := w.walkAll(weir.ConversationQuery{Owner: owner, Words: words}, nil); len(got) != n {
				w.Errorf("%q finds %v", words, got)
			}
		}
	}},
	{"ATextIsNoSearch", func(w *world) {
		many := ""
		for i := range 100 {
			many += fmt.Sprintf("w%02d ", i)
		}
		_, err := w.Conversations(w.ctx, weir.ConversationQuery{Owner: owner, Words: many})
		wantCode(w, err, "query_invalid")
		_, err = w.Conversations(w.ctx, weir.ConversationQuery{Owner: owner, Words: "a\x00b"})
		wantCode(w, err, "text_invalid")
	}},
}
