package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/gate"
	"weir/mention"
	"weir/store"
	"weir/test/stores"
)

func TestCandidatesSayWhatMayPassAndHideNothingInTheirWords(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		target := w.make(like{title: "Target", workspace: "/home/max", category: "B"})
		open := w.make(like{title: "Quarterly\u202e ]plan\n", workspace: "/home/max"})
		walled := w.make(like{title: "quarterly walls", workspace: "/srv\x07", level: weir.Isolated, category: "A"})
		w.make(like{title: "Quarterly of Eve", owner: "eve"})
		w.make(like{title: "Quarterly main", kind: weir.Main})
		w.make(like{title: "Quarterly task", kind: weir.Task, parent: open})
		w.make(like{title: "Unrelated"})
		w.say(walled, "x")
		w.say(open, "x")

		got, err := w.g.Candidates(t.Context(), s, person, target, "quarterLY", 10)
		w.must(err)
		for i := range got {
			got[i].LastActive = w.conversation(got[i].Conversation).LastActive.Truncate(0)
		}
		want := []gate.Candidate{{
			Conversation: open, Title: `Quarterly\u202e ]plan\u000a`, Workspace: "/home/max", SameWorkspace: true, Level: weir.Open,
			LastActive: w.conversation(open).LastActive, Flow: "free", Recall: true,
			Mention: `@[Quarterly\\u202e \]plan\\u000a](` + mention.Encode(mention.Address{Conversation: open}) + ")",
		}, {
			Conversation: walled, Title: "quarterly walls", Workspace: `/srv\u0007`, Level: weir.Isolated, Category: "A",
			LastActive: w.conversation(walled).LastActive, Flow: "confirm",
			Mention: "@[quarterly walls](" + mention.Encode(mention.Address{Conversation: walled, Pointer: true}) + ")",
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCandidatesAgreeWithPreviews(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		island := w.make(like{title: "Island", level: weir.Isolated})
		w.say(island, "x")
		w.make(like{title: "Inside", kind: weir.Branch, parent: island})
		w.make(like{title: "Nested", kind: weir.Branch, parent: island, level: weir.Isolated})
		w.make(like{title: "A", category: "A"})
		w.make(like{title: "Open"})
		page, err := s.Conversations(t.Context(), weir.ConversationQuery{Owner: max, Limit: 100})
		w.must(err)
		for _, target := range page.Items {
			got, err := w.g.Candidates(t.Context(), s, person, target.ID, "", 0)
			w.must(err)
			if len(got) != len(page.Items)-1 || slices.ContainsFunc(got, func(c gate.Candidate) bool { return c.Conversation == target.ID }) {
				t.Errorf("%s has %d candidates", target.Title, len(got))
			}
			for _, c := range got {
				p, err := w.preview(target.ID, pointer(c.Conversation))
				w.must(err)
				if p.NeedsConfirmation != (c.Flow == "confirm") || p.NeedsConfirmation == c.Recall {
					t.Errorf("%s to %s: %+v, but the preview says %v", c.Title, target.Title, c, p.NeedsConfirmation)
				}
			}
		}
	})
}

func TestABadQueryIsRefusedAndALongListIsCut(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		target := w.make(like{title: "Target"})
		for _, words := range []string{"\x00", "\xff", strings.Repeat("a", 1001)} {
			if _, err := w.g.Candidates(t.Context(), s, person, target, words, 10); weir.KindOf(err) != weir.Invalid {
				t.Errorf("%.10q: %v", words, err)
			}
		}
		for range 55 {
			w.make(like{title: "many"})
		}
		for limit, want := range map[int]int{-1: 20, 0: 20, 7: 7, 50: 50, 1000: 50} {
			got, err := w.g.Candidates(t.Context(), s, person, target, "", limit)
			if err != nil || len(got) != want {
				t.Errorf("limit %d: %d candidates, %v", limit, len(got), err)
			}
		}
	})
}
