package fact_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"weir"
	"weir/fact"
)

func TestWhatABoundaryWasTheFirstToNoticeIsNoNewsAfterwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		s, err := fact.Compose(w.facts...)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := w.reconcile(t)
		news := s.Unnoticed(w.sit)
		for _, c := range news {
			for _, o := range w.sit.Observed {
				if o.Key == c.Key && (o.State == fact.Unavailable || string(o.Value) != string(c.Value) || c.At.After(w.sit.Now)) {
					t.Fatalf("%v was noticed in %v", c, o)
				}
			}
		}
		w.sit.Journal = append(w.sit.Journal, news...)
		if again := s.Unnoticed(w.sit); len(again) > 0 {
			t.Fatalf("noticed once more: %v", again)
		}
		if fact.Overtaken(w.sit.Observed, news) {
			t.Fatal("an observation was overtaken by what it noticed itself")
		}
		got, _ := w.reconcile(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("told otherwise for being in the journal: %s", diff)
		}
	})
}

func TestWhatAnEntryToComeSaysOtherwiseIsNoticedOnce(t *testing.T) {
	s := compose(t, constant("a/x", fact.Observed("main")))
	for name, journal := range map[string][]fact.Change{
		"last":                  {{Key: "a/x", Value: json.RawMessage(`"dev"`), At: at(500)}},
		"without a time":        {{Key: "a/x", Value: json.RawMessage(`"dev"`)}},
		"before one of its own": {{Key: "a/x", Value: json.RawMessage(`"dev"`), At: at(500)}, {Key: "a/x", Value: json.RawMessage(`"main"`), At: at(90)}},
		"before one that agrees": {{Key: "a/x", Value: json.RawMessage(`"dev"`), At: at(500)}, {Key: "a/y", Value: json.RawMessage(`1`), At: at(500)},
			{Key: "a/x", Value: json.RawMessage(`"dev"`), At: at(600)}},
	} {
		known := len(journal)
		for boundary := int64(100); boundary < 110; boundary++ {
			news := s.Unnoticed(fact.Situation{
				Observed: s.Observe(t.Context(), fact.Subject{}), Journal: journal, Now: at(boundary),
				Snapshot: fact.Snapshot{"a/x": {Value: json.RawMessage(`"main"`)}},
			})
			journal = append(journal, news...)
		}
		if got := string(journal[len(journal)-1].Value); len(journal) > known+1 || got != `"main"` {
			t.Errorf("%s: %d entries more, the newest says %s", name, len(journal)-known, got)
		}
	}
}

func TestAnObservationIsOvertakenByWhatSaysOtherwise(t *testing.T) {
	observed := []fact.Observation{
		{Key: "a/value", State: fact.Present, Value: json.RawMessage(`{"a":1,"b":2}`)},
		{Key: "a/absent", State: fact.Absent}, {Key: "a/unknown", State: fact.Unavailable},
	}
	entry := func(key, v string) fact.Change {
		c := fact.Change{Key: key}
		if v != "" {
			c.Value = json.RawMessage(v)
		}
		return c
	}
	for name, c := range map[string]struct {
		newer []fact.Change
		want  bool
	}{
		"nothing":                     {nil, false},
		"the same, written otherwise": {[]fact.Change{entry("a/value", `{"b":2,"a":1}`)}, false},
		"another value":               {[]fact.Change{entry("a/value", `3`)}, true},
		"its removal":                 {[]fact.Change{entry("a/value", "")}, true},
		"there and back":              {[]fact.Change{entry("a/value", `3`), entry("a/value", `{"a":1,"b":2}`)}, false},
		"a coming":                    {[]fact.Change{entry("a/absent", `3`)}, true},
		"a going of what is absent":   {[]fact.Change{entry("a/absent", "")}, false},
		"of what was not observed":    {[]fact.Change{entry("a/unknown", `3`)}, false},
		"a new fact":                  {[]fact.Change{entry("b/new", `3`)}, true},
		"the going of an old one":     {[]fact.Change{entry("b/new", "")}, false},
	} {
		if got := fact.Overtaken(observed, c.newer); got != c.want {
			t.Errorf("%s: overtaken is %v", name, got)
		}
	}
	entries := []weir.Change{{Seq: 3, Fact: "a/value"}, {Seq: 5, Fact: "a/unknown"}, {Seq: 7, Fact: "a/value"}}
	if got := fact.Considered(observed, 2, entries); got != 3 {
		t.Errorf("it is considered up to %d, though a fact of entry 5 could not be observed", got)
	}
	if got := fact.Considered(observed[:2], 2, entries); got != 7 {
		t.Errorf("it is considered up to %d", got)
	}
}
