package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/flow"
	"weir/lifecycle"
	"weir/test/stores"
)

func TestWhatIsSetOnAConversationTakesEffectAtOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		c := w.create(lifecycle.NewConversation{})
		got, err := w.Change(t.Context(), person, c, lifecycle.Change{
			Title: point("x</framework>"), Workspace: point("/srv"), Model: point("demo/demo"), Agent: point("a"), Archived: point(true),
			Visibility: isolated,
		})
		w.must(err)
		if got.Title != "x</framework>" || !got.TitleSet || got.Workspace != "/srv" || got.Model != "demo/demo" || got.Agent != "a" ||
			!got.Archived || len(got.Island) != 1 {
			t.Errorf("got %+v", got)
		}
		for _, ch := range []lifecycle.Change{{Title: point("")}, {Model: point("no")}, {Visibility: in("a\nb")}, {Title: point("ok"), Agent: point("\n")}} {
			if _, err := w.Change(t.Context(), person, c, ch); weir.KindOf(err) != weir.Invalid && weir.KindOf(err) != weir.Unprocessable {
				t.Errorf("%+v: %v", ch, err)
			}
		}
		if got := w.conversation(c); got.Title != "x</framework>" {
			t.Errorf("a refused change left the title %q", got.Title)
		}
	})
}

// family is a conversation with a child, a grandchild with a wall of its own
// and one input waiting in the child.
func (w *world) family(v lifecycle.Wish) (top, child, walled weir.ConversationID) {
	top = w.create(lifecycle.NewConversation{Title: "top", Visibility: v})
	at := w.write(top, says("hello"))[0]
	c, err := w.Branch(w.Context(), person, top, lifecycle.BranchRequest{At: at})
	w.must(err)
	g, err := w.Branch(w.Context(), person, c.ID, lifecycle.BranchRequest{At: at, Visibility: isolated})
	w.must(err)
	w.pend(c.ID, "waiting")
	return top, c.ID, g.ID
}

func TestTakingAWallDownAsksNamesTheDescendantsAndIsOnRecord(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		top, child, walled := w.family(isolated)
		before := len(w.flows(weir.FlowQuery{}))
		ask := lifecycle.Change{Visibility: open, Title: point("renamed")}
		_, err := w.Change(t.Context(), person, top, ask)
		fault := w.refused(err, "confirmation_required")
		sentence := fault.Extra["confirmation"].(string)
		if fault.Extra["descendants"] != 2 || !strings.Contains(sentence, "2 conversations") || !strings.Contains(sentence, "“top”") {
			t.Errorf("it asks %q and names %v descendants", sentence, fault.Extra["descendants"])
		}
		if c := w.conversation(top); c.Title != "top" || len(c.Island) != 1 || len(w.flows(weir.FlowQuery{})) != before {
			t.Errorf("after the refusal it is %+v", c)
		}
		ask.Confirmed, ask.Seen = true, fault.Extra["digest"].(string)
		_, err = w.Change(t.Context(), robot, top, ask)
		w.refused(err, "confirmation_required")
		got, err := w.Change(t.Context(), person, top, ask)
		w.must(err)
		if len(got.Island) != 0 || got.Title != "renamed" || len(w.conversation(child).Island) != 0 {
			t.Errorf("the wall still stands: %v", got.Island)
		}
		if path := w.conversation(walled).Island; !slices.Equal(path, []weir.ConversationID{walled}) {
			t.Errorf("the grandchild's own wall: %v", path)
		}
		opened := map[weir.ConversationID]int{}
		for _, f := range w.flows(weir.FlowQuery{Crossings: true}) {
			if f.Form != weir.FlowVisibility || f.Confirmation != sentence || f.Source != f.Target || flow.CanFlow(f.SourceScope, f.TargetScope) {
				t.Errorf("a crossing row is %+v", f)
			}
			opened[f.Source]++
		}
		if opened[top] != 1 || opened[child] != 2 || opened[walled] != 1 {
			t.Errorf("rows by conversation %v, want one each and one more for the input that waits in the child", opened)
		}
	})
}

func TestAConfirmationCountsForTheDescendantsThatWereShown(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		top, child, _ := w.family(isolated)
		_, err := w.Change(t.Context(), person, top, lifecycle.Change{Visibility: open})
		seen := w.refused(err, "confirmation_required").Extra["digest"].(string)
		_, err = w.Branch(t.Context(), person, child, lifecycle.BranchRequest{At: w.log(child)[0].ID})
		w.must(err)
		_, err = w.Change(t.Context(), person, top, lifecycle.Change{Visibility: open, Confirmed: true, Seen: seen})
		if fault := w.refused(err, "confirmation_stale"); fault.Extra["descendants"] != 3 {
			t.Errorf("it names %v descendants now, want 3", fault.Extra["descendants"])
		}
	})
}

func TestAConfirmationDoesNotCountForWhatHasBeenSaidSince(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for place, speaks := range map[string]int{"in the conversation": 0, "in one that is opened with it": 1} {
			top, child, _ := w.family(isolated)
			_, err := w.Change(t.Context(), person, top, lifecycle.Change{Visibility: open})
			seen := w.refused(err, "confirmation_required").Extra["digest"].(string)
			w.write([]weir.ConversationID{top, child}[speaks], &weir.UserMessage{Text: "something new"})
			_, err = w.Change(t.Context(), person, top, lifecycle.Change{Visibility: open, Confirmed: true, Seen: seen})
			if weir.CodeOf(err) != "confirmation_stale" {
				t.Errorf("%s: %v", place, err)
			}
		}
	})
}

func TestACategoryGoesDownToTheDescendantsThatHadTheOldOne(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		top, child, walled := w.family(lifecycle.Wish{})
		_, err := w.Change(t.Context(), person, walled, lifecycle.Change{Visibility: in("own")})
		w.must(err)
		_, err = w.Change(t.Context(), person, top, lifecycle.Change{Visibility: in("A")}) // stricter: no question
		w.must(err)
		if got := w.conversation(child).Visibility.Category; got != "A" {
			t.Errorf("the child's category is %q, want A", got)
		}
		if got := w.conversation(walled).Visibility.Category; got != "own" {
			t.Errorf("the grandchild's category is %q; it had one of its own", got)
		}
		_, err = w.Change(t.Context(), person, top, lifecycle.Change{Visibility: in("B"), KeepCategories: true})
		if fault := w.refused(err, "confirmation_required"); fault.Extra["descendants"] != 0 {
			t.Errorf("with categories kept %v descendants are opened, want none", fault.Extra["descendants"])
		}
	})
}

// Whatever the tree and the change: a person is asked exactly when something
// in it becomes readable from further away, a refusal changes nothing, and
// afterwards every scope is what the rule says.
func TestAChangeAsksExactlyWhenItOpensSomething(t *testing.T) {
	s := stores.SQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, s)
		wish := func(label string) lifecycle.Wish {
			var v lifecycle.Wish
			if rapid.Bool().Draw(rt, label+" level") {
				v.Level = point(rapid.SampledFrom([]weir.Level{weir.Open, weir.Isolated}).Draw(rt, label+" level"))
			}
			if rapid.Bool().Draw(rt, label+" category") {
				v.Category = point(rapid.SampledFrom([]string{"", "A", "B"}).Draw(rt, label+" category"))
			}
			return v
		}
		root := w.create(lifecycle.NewConversation{Visibility: wish("root")})
		at := w.write(root, says("hello"))[0]
		tree := []weir.ConversationID{root}
		for range rapid.IntRange(0, 6).Draw(rt, "branches") {
			from := rapid.SampledFrom(tree).Draw(rt, "from")
			b := lifecycle.BranchRequest{At: at, Visibility: wish("branch")}
			c, err := w.Branch(t.Context(), person, from, b)
			if weir.CodeOf(err) == "confirmation_required" {
				b.Confirmed, b.Seen = true, w.refused(err, "confirmation_required").Extra["digest"].(string)
				c, err = w.Branch(t.Context(), person, from, b)
			}
			w.must(err)
			tree = append(tree, c.ID)
		}
		before := map[weir.ConversationID]weir.Scope{}
		for _, id := range tree {
			c := w.conversation(id)
			before[id] = c.Scope()
		}
		target := rapid.SampledFrom(tree).Draw(rt, "changed")
		ch := lifecycle.Change{Visibility: wish("change"), KeepCategories: rapid.Bool().Draw(rt, "keep")}
		_, err := w.Change(t.Context(), person, target, ch)
		asked := weir.CodeOf(err) == "confirmation_required"
		if asked {
			for _, id := range tree {
				c := w.conversation(id)
				if s := c.Scope(); s.Category != before[id].Category || !slices.Equal(s.Path, before[id].Path) {
					rt.Fatalf("a refused change moved %s", id)
				}
			}
			ch.Confirmed, ch.Seen = true, w.refused(err, "confirmation_required").Extra["digest"].(string)
			_, err = w.Change(t.Context(), person, target, ch)
		}
		w.must(err)
		opened := false
		for _, id := range tree {
			c := w.conversation(id)
			opened = opened || !flow.CanFlow(before[id], c.Scope())
			for _, f := range w.flows(weir.FlowQuery{Source: id, Target: id}) {
				if f.TargetScope.Category != c.Visibility.Category || !slices.Equal(f.TargetScope.Path, c.Island) {
					rt.Fatalf("the row says %v, and it is %v", f.TargetScope, c.Scope())
				}
			}
		}
		if opened != asked {
			rt.Fatalf("asked: %v, opened: %v", asked, opened)
		}
	})
}
