package lifecycle_test

import (
	"strings"
	"testing"

	"weir"
	"weir/lifecycle"
)

func TestAConversationIsMadeAsItWasAskedFor(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c, err := w.Create(t.Context(), person, lifecycle.NewConversation{
			ID: "mine/with a slash", Title: "Ports", Workspace: "/srv", Model: "demo/demo", Agent: "helper",
			Visibility: lifecycle.Wish{Level: point(weir.Isolated), Category: point("客户")},
		})
		w.must(err)
		if c.ID != "mine/with a slash" || c.Owner != max || c.Kind != weir.Chat || !c.TitleSet || c.Generation == "" ||
			c.State != weir.Idle || len(c.Island) != 1 || c.Visibility.Category != "客户" || c.Agent != "helper" {
			t.Errorf("got %+v", c)
		}
		if len(w.signals.got) != 1 || !w.signals.got[0].State {
			t.Errorf("watchers were told %v", w.signals.got)
		}
		plain, err := w.Create(t.Context(), person, lifecycle.NewConversation{})
		w.must(err)
		if plain.TitleSet || plain.Visibility.Level != weir.Open || !strings.HasPrefix(string(plain.ID), "cnv_") {
			t.Errorf("without wishes: %+v", plain)
		}
	})
}

func TestWhatAConversationMayNotBe(t *testing.T) {
	long := func(n int) string { return strings.Repeat("界", n) }
	cases := map[string]struct {
		n    lifecycle.NewConversation
		code string
	}{
		"a task":                       {lifecycle.NewConversation{Kind: weir.Task}, "kind_invalid"},
		"a branch of nothing":          {lifecycle.NewConversation{Kind: weir.Branch}, "kind_invalid"},
		"with an id that has a NUL":    {lifecycle.NewConversation{ID: "a\x00b"}, "id_invalid"},
		"with too long an id":          {lifecycle.NewConversation{ID: weir.ConversationID(strings.Repeat("x", 513))}, "id_invalid"},
		"with an id of dots":           {lifecycle.NewConversation{ID: ".."}, "id_invalid"},
		"half open":                    {lifecycle.NewConversation{Visibility: lifecycle.Wish{Level: point(weir.Level("half"))}}, "visibility_invalid"},
		"of a category of two lines":   {lifecycle.NewConversation{Visibility: in("a\nb")}, "visibility_invalid"},
		"of a category with a U+2028":  {lifecycle.NewConversation{Visibility: in("a\u2028b")}, "visibility_invalid"},
		"of a category of 121":         {lifecycle.NewConversation{Visibility: in(long(121))}, "visibility_invalid"},
		"of an invisible category":     {lifecycle.NewConversation{Visibility: in("\u200b")}, "visibility_invalid"},
		"of a filler for a category":   {lifecycle.NewConversation{Visibility: in("\u3164")}, "visibility_invalid"},
		"of a category turned around":  {lifecycle.NewConversation{Visibility: in("\u202ex")}, "visibility_invalid"},
		"of a category of tags":        {lifecycle.NewConversation{Visibility: in("\U000e0041")}, "visibility_invalid"},
		"of a decomposed category":     {lifecycle.NewConversation{Visibility: in("cafe\u0301")}, "visibility_invalid"},
		"of a blank category":          {lifecycle.NewConversation{Visibility: in(" ")}, "visibility_invalid"},
		"with a title of white space":  {lifecycle.NewConversation{Title: " \n"}, "title_invalid"},
		"with a title that has a NUL":  {lifecycle.NewConversation{Title: "a\x00"}, "title_invalid"},
		"with a title that is no text": {lifecycle.NewConversation{Title: "\xff"}, "title_invalid"},
		"with too long a title":        {lifecycle.NewConversation{Title: long(501)}, "title_invalid"},
		"with a model nobody knows":    {lifecycle.NewConversation{Model: "gpt-9"}, "model_unknown"},
		"with a workspace of NUL":      {lifecycle.NewConversation{Workspace: "\x00"}, "workspace_invalid"},
		"with an agent of two lines":   {lifecycle.NewConversation{Agent: "a\nb"}, "agent_invalid"},
	}
	eachWorld(t, func(t *testing.T, w *world) {
		for name, c := range cases {
			if _, err := w.Create(t.Context(), person, c.n); weir.CodeOf(err) != c.code {
				t.Errorf("a conversation %s: %v, want %s", name, err, c.code)
			}
		}
		w.create(lifecycle.NewConversation{ID: "x", Visibility: in(long(120))})
		_, err := w.Create(t.Context(), person, lifecycle.NewConversation{ID: "x"})
		w.refused(err, "conversation_exists")
		w.create(lifecycle.NewConversation{Kind: weir.Main})
		_, err = w.Create(t.Context(), person, lifecycle.NewConversation{Kind: weir.Main})
		w.refused(err, "main_exists")
		page, err := w.s.Conversations(t.Context(), weir.ConversationQuery{Owner: max})
		w.must(err)
		if len(page.Items) != 2 {
			t.Errorf("%d conversations are stored, want the two that were made", len(page.Items))
		}
	})
}

func TestWhatIsNotYoursIsNotThere(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{Title: "mine"})
		at := w.write(c, says("hello"), answers("hi"))[0]
		gone := w.create(lifecycle.NewConversation{})
		_, err := w.Delete(t.Context(), person, gone, "")
		w.must(err)
		verbs := map[string]func(weir.Actor, weir.ConversationID) error{
			"branch": func(a weir.Actor, id weir.ConversationID) error {
				_, err := w.Branch(t.Context(), a, id, lifecycle.BranchRequest{At: at})
				return err
			},
			"rewind": func(a weir.Actor, id weir.ConversationID) error {
				_, err := w.Rewind(t.Context(), a, id, at, 2)
				return err
			},
			"undo": func(a weir.Actor, id weir.ConversationID) error {
				_, err := w.UndoRewind(t.Context(), a, id, nil)
				return err
			},
			"change": func(a weir.Actor, id weir.ConversationID) error {
				_, err := w.Change(t.Context(), a, id, lifecycle.Change{Title: point("x"), Visibility: isolated})
				return err
			},
			"delete": func(a weir.Actor, id weir.ConversationID) error {
				_, err := w.Delete(t.Context(), a, id, "")
				return err
			},
		}
		for name, verb := range verbs {
			missing := verb(person, "cnv_made_up")
			w.refused(missing, weir.CodeConversationNotFound)
			for who, err := range map[string]error{"a stranger's": verb(stranger, c), "a deleted one": verb(person, gone), "no id": verb(person, "a\x00")} {
				if err == nil || err.Error() != missing.Error() {
					t.Errorf("%s of %s: %v, want exactly %v", name, who, err, missing)
				}
			}
		}
		if got := w.conversation(c); got.Title != "mine" || got.HeadSeq != 2 {
			t.Errorf("a stranger changed it to %+v", got)
		}
	})
}
