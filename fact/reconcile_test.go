package fact_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"weir"
	"weir/fact"
)

// bad is a fact that is always observed and cannot be rendered.
func bad(key string, how func(json.RawMessage) (string, error)) fact.Fact {
	f := constant(key, fact.Observed(1))
	f.Baseline = how
	f.Update = func(_, v json.RawMessage) (string, error) { return how(v) }
	return f
}

func TestAFactThatCannotBeRenderedStopsNoOther(t *testing.T) {
	ways := map[string]func(json.RawMessage) (string, error){
		"an error": func(json.RawMessage) (string, error) { return "text all the same", errors.New("no") },
		"no text":  func(json.RawMessage) (string, error) { return "", nil },
		"a panic":  func(json.RawMessage) (string, error) { panic("no") },
	}
	for name, how := range ways {
		s := compose(t, bad("a/bad", how), constant("b/fine", fact.Observed(2)))
		told := fact.Snapshot{"a/bad": {Value: json.RawMessage(`7`), Removal: "seven no more"}}
		updates, next, faults := s.Reconcile(fact.Situation{Observed: s.Observe(t.Context(), fact.Subject{}), Now: at(100), Snapshot: told})
		if len(updates) != 1 || updates[0].Text != "b/fine is 2" {
			t.Errorf("%s: told %v", name, updates)
		}
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), "a/bad") {
			t.Errorf("%s: the faults are %v", name, faults)
		}
		if next["a/bad"].Removal != "seven no more" || string(next["b/fine"].Value) != "2" {
			t.Errorf("%s: the snapshot is %v", name, next)
		}
		if _, _, err := s.Initialize(s.Observe(t.Context(), fact.Subject{})); err == nil || !strings.Contains(err.Error(), "a/bad") {
			t.Errorf("%s: a first baseline was made: %v", name, err)
		}
	}
}

func TestAFactWhoseRemovalCannotBeRenderedIsNotTold(t *testing.T) {
	f := constant("a/b", fact.Observed(1))
	f.Removed = func(json.RawMessage) (string, error) { return "", nil }
	s := compose(t, f)
	updates, next, faults := s.Reconcile(fact.Situation{Observed: s.Observe(t.Context(), fact.Subject{}), Now: at(1)})
	if len(updates) != 0 || len(next) != 0 || len(faults) != 1 {
		t.Errorf("told %v, faults %v", updates, faults)
	}
}

func TestATimeInTheFutureIsNow(t *testing.T) {
	s := compose(t, constant("a/x", fact.Observed(2)), constant("b/y", fact.Observed(2)))
	observed := s.Observe(t.Context(), fact.Subject{})
	observed[1].At = at(900)
	updates, _, _ := s.Reconcile(fact.Situation{
		Observed: observed, Now: at(100), Snapshot: fact.Snapshot{},
		Journal: []fact.Change{{Key: "a/x", Value: json.RawMessage(`2`), At: at(500)}},
	})
	if len(updates) != 2 || !updates[0].At.Equal(at(100)) || !updates[1].At.Equal(at(100)) {
		t.Errorf("told %v", updates)
	}
}

func TestTheSourcesOwnTimeCountsWhereItDatesTheChange(t *testing.T) {
	f := constant("a/x", fact.Observed(2))
	f.Dates = func(prev, v json.RawMessage) bool { return string(prev) == "1" && string(v) == "2" }
	s := compose(t, f)
	o := s.Observe(t.Context(), fact.Subject{})
	o[0].At = at(40)
	for prev, want := range map[string]int64{"1": 40, "5": 100} {
		updates, _, _ := s.Reconcile(fact.Situation{Observed: o, Now: at(100), Snapshot: fact.Snapshot{"a/x": {Value: json.RawMessage(prev), Removal: "-"}}})
		if len(updates) != 1 || updates[0].At.Unix() != want {
			t.Errorf("after %s: told %v, want it at %d", prev, updates, want)
		}
		if got := s.When(o[0], json.RawMessage(prev), at(100)); got.Unix() != want {
			t.Errorf("after %s: When says %d, want %d", prev, got.Unix(), want)
		}
	}
	// What the journal knows to be later than that is not undone by it.
	updates, _, _ := s.Reconcile(fact.Situation{Observed: o, Now: at(100),
		Snapshot: fact.Snapshot{"a/x": {Value: json.RawMessage(`9`), Removal: "-"}},
		Journal:  []fact.Change{{Key: "a/x", Value: json.RawMessage(`1`), At: at(60)}}})
	if len(updates) != 1 || updates[0].At.Unix() != 100 {
		t.Errorf("told %v", updates)
	}
}

func TestAFactTakenAwayIsDatedByTheJournal(t *testing.T) {
	s := compose(t)
	told := fact.Snapshot{"api/x": {Value: json.RawMessage(`1`), Removal: "gone"}, "old/y": {Value: json.RawMessage(`1`)}}
	for name, c := range map[string]struct {
		journal []fact.Change
		want    int64
	}{
		"a removal":               {[]fact.Change{{Key: "api/x", At: at(70)}}, 70},
		"nothing":                 {nil, 100},
		"a value only":            {[]fact.Change{{Key: "api/x", Value: json.RawMessage(`2`), At: at(70)}}, 100},
		"there and back and away": {[]fact.Change{{Key: "api/x", At: at(50)}, {Key: "api/x", Value: json.RawMessage(`2`), At: at(60)}, {Key: "api/x", At: at(70)}}, 70},
	} {
		updates, next, _ := s.Reconcile(fact.Situation{Now: at(100), Snapshot: told, Journal: c.journal})
		if len(updates) != 2 || len(next) != 0 {
			t.Fatalf("%s: told %v", name, updates)
		}
		for _, u := range updates {
			switch {
			case u.Key == "api/x" && (u.Text != "gone" || u.At.Unix() != c.want):
				t.Errorf("%s: told %v", name, u)
			case u.Text == "":
				t.Errorf("%s: an entry without words for it was taken back without words", name)
			}
		}
	}
}

func TestANewEpochNeverBlocks(t *testing.T) {
	need := constant("a/need", fact.Observation{State: fact.Unavailable})
	need.Required = true
	broken := bad("b/broken", func(v json.RawMessage) (string, error) {
		if string(v) == "1" {
			return "", errors.New("no")
		}
		return "b/broken was " + string(v), nil
	})
	s := compose(t, need, broken, constant("c/never", fact.Observation{State: fact.Unavailable}),
		constant("d/gone", fact.Observation{State: fact.Absent}), constant("e/new", fact.Observed(5)))
	baseline, snap, err := s.Rebaseline(s.Observe(t.Context(), fact.Subject{}), fact.Snapshot{
		"a/need": {Value: json.RawMessage(`{"y":1,"x":2}`), Removal: "old words"}, "b/broken": {Value: json.RawMessage(`3`), Removal: "r"},
		"d/gone": {Value: json.RawMessage(`4`), Removal: "r"}, "z/nobody": {Value: json.RawMessage(`4`), Removal: "r"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a/need is {\"x\":2,\"y\":1}\n\nb/broken was 3\n\ne/new is 5"; baseline != want {
		t.Errorf("the baseline is %q", baseline)
	}
	if len(snap) != 3 || snap["a/need"].Removal != "old words" {
		t.Errorf("the snapshot is %v", snap)
	}
}

func TestASnapshotFollowsUpdates(t *testing.T) {
	s, err := fact.Parse(json.RawMessage(`{"a/b":{"value":null,"removed_text":"r"}}`))
	if err != nil || string(s["a/b"].Value) != "null" {
		t.Fatal(s, err)
	}
	told := fact.Told{Key: "c/d", Text: "x", At: at(1), Entry: &fact.Entry{Value: json.RawMessage(`null`), Removal: "q"}}
	raw, err := json.Marshal(told.Record(7)) // as the log keeps it
	if err != nil {
		t.Fatal(err)
	}
	var u weir.Update
	if err := json.Unmarshal(raw, &u); err != nil {
		t.Fatal(err)
	}
	fact.Apply(s, &u)
	if got := s["c/d"]; string(got.Value) != "null" || got.Removal != "q" || u.Noticed != 7 {
		t.Errorf("the entry is %v", got)
	}
	gone := fact.Told{Key: "a/b", Text: "gone"}
	fact.Apply(s, gone.Record(8))
	fact.Apply(s, &weir.Update{Text: "of an older log"})
	if _, ok := s["a/b"]; ok || len(s) != 1 {
		t.Errorf("the snapshot is %v", s)
	}
	for _, nothing := range []string{"", "null", "{}"} {
		if s, err := fact.Parse(json.RawMessage(nothing)); err != nil || s == nil || len(s) != 0 {
			t.Errorf("%q gives %v, %v", nothing, s, err)
		}
	}
	if _, err := fact.Parse(json.RawMessage(`[]`)); err == nil {
		t.Error("a list was taken for a snapshot")
	}
}

func TestTheJournalOfAConversationIsItsOwn(t *testing.T) {
	of := func(key string, b fact.Breadth) fact.Fact {
		f := constant(key, fact.Observed(1))
		f.Breadth = b
		return f
	}
	s := compose(t, of("core/workspace", fact.OfWorkspace), of("core/date", fact.OfOwner), of("core/agent", fact.OfConversation))
	about := fact.Subject{Conversation: weir.Conversation{ID: "c", Owner: "o", Workspace: "/w"}, Moved: at(50)}
	entry := func(scope weir.ChangeScope, key, v string, n int64) weir.Change {
		return weir.Change{Scope: scope, Fact: key, Value: json.RawMessage(v), At: at(n)}
	}
	got := s.Journal(about, []weir.Change{
		entry("workspace:/w", "core/workspace", `1`, 30), // before it came
		entry("workspace:/w", "core/workspace", `2`, 40),
		entry("owner:o", "core/date", `3`, 41),
		entry("workspace:/w", "core/workspace", `4`, 60),
		entry("owner:o", "core/workspace", `5`, 61), // of another breadth
		entry("conversation:c", "core/date", `5`, 61),
		entry("conversation:c", "core/workspace", `8`, 61), // it moved
		entry("owner:o", "api/gone", `6`, 62),
		entry("conversation:c", "api/gone", `7`, 63),
	})
	want := []struct {
		v string
		n int64
	}{{"2", 50}, {"3", 41}, {"4", 60}, {"8", 61}, {"6", 62}, {"7", 63}}
	if len(got) != len(want) {
		t.Fatalf("the journal is %v", got)
	}
	for i, w := range want {
		if string(got[i].Value) != w.v || got[i].At.Unix() != w.n {
			t.Errorf("entry %d is %s at %d, want %v", i, got[i].Value, got[i].At.Unix(), w)
		}
	}
	for key, want := range map[string]weir.ChangeScope{"core/date": "owner:o", "core/workspace": "workspace:/w", "core/agent": "conversation:c", "x/y": "conversation:c"} {
		if got := s.ScopeOf(key, about); got != want {
			t.Errorf("%s stands in %s", key, got)
		}
	}
}

func TestWhatAClientKeepsIsToldInItsWords(t *testing.T) {
	own := weir.ClientFact{Scope: weir.OfConversation("c"), Key: "api/flag", Value: json.RawMessage(`{"b":1, "a":2}`), Text: "The flag is up.", At: at(9)}
	owners := weir.ClientFact{Scope: weir.OfOwner("o"), Key: "api/flag", Value: json.RawMessage(`0`)}
	plain := weir.ClientFact{Scope: weir.OfOwner("o"), Key: "api/also", Value: json.RawMessage("\"a\u2028b\"")}
	facts := fact.KeptOnes([]weir.ClientFact{owners, own, plain})
	s, err := compose(t).With(facts...)
	if err != nil {
		t.Fatal(err)
	}
	baseline, _, err := s.Initialize(s.Observe(t.Context(), fact.Subject{}))
	if want := "api/also is \"a\\u2028b\"\n\nThe flag is up."; err != nil || baseline != want {
		t.Errorf("the baseline is %q, %v", baseline, err)
	}
	kept := fact.Kept(own)
	if text, _ := kept.Update(json.RawMessage(`1`), json.RawMessage(`5`)); text != "api/flag is now 5" {
		t.Errorf("a value it had in between is told as %q", text)
	}
	if kept.Breadth != fact.OfConversation || fact.Kept(plain).Breadth != fact.OfOwner {
		t.Error("the scope is not the breadth")
	}
	if _, err := s.With(constant("api/flag", fact.Observed(1))); err == nil {
		t.Error("a doubled key was taken")
	}
	if got := kept.Observe(t.Context(), fact.Subject{}).At; !got.Equal(at(9)) {
		t.Errorf("it holds since %s", got)
	}
}
