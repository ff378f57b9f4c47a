package fact_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"weir/fact"
)

// world is a situation of small numbers: values 0 to 3 or none, times 0 to 30,
// the boundary at 20, so that some entries of the journal are in the future.
type world struct {
	facts []fact.Fact
	sit   fact.Situation
}

const boundaryAt = 20

func drawWorld(t *rapid.T) world {
	w := world{sit: fact.Situation{Now: at(boundaryAt), Snapshot: fact.Snapshot{}}}
	value := rapid.Custom(func(t *rapid.T) json.RawMessage {
		if n := rapid.IntRange(-1, 3).Draw(t, "value"); n >= 0 {
			return json.RawMessage(strconv.Itoa(n))
		}
		return nil
	})
	keys := []string{"a/a", "a/b", "b/a", "z/z"}
	for _, k := range keys {
		if v := value.Draw(t, k); v != nil {
			w.sit.Snapshot[k] = fact.Entry{Value: v, Removal: "no longer " + k + "=" + string(v)}
		}
		if rapid.IntRange(0, 5).Draw(t, "registered") == 0 {
			continue
		}
		o := fact.Observation{Key: k, State: fact.Absent}
		if v := value.Draw(t, k); v != nil {
			o.State, o.Value = fact.Present, v
		}
		if rapid.IntRange(0, 5).Draw(t, "available") == 0 {
			o = fact.Observation{Key: k, State: fact.Unavailable}
		}
		w.facts = append(w.facts, constant(k, o))
		w.sit.Observed = append(w.sit.Observed, o)
	}
	for range rapid.IntRange(0, 12).Draw(t, "entries") {
		w.sit.Journal = append(w.sit.Journal, fact.Change{
			Key: rapid.SampledFrom(keys).Draw(t, "key"), Value: value.Draw(t, "to"), At: at(rapid.Int64Range(0, 30).Draw(t, "at")),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "tools") {
		from := rapid.Int64Range(0, boundaryAt).Draw(t, "from")
		w.sit.Tools = append(w.sit.Tools, fact.Run{From: at(from), Upto: at(rapid.Int64Range(from, boundaryAt).Draw(t, "upto"))})
	}
	return w
}

func (w *world) reconcile(t *rapid.T) ([]fact.Told, fact.Snapshot) {
	s, err := fact.Compose(w.facts...)
	if err != nil {
		t.Fatal(err)
	}
	told, next, faults := s.Reconcile(w.sit)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return told, next
}

// moment is what one fact went through in the time there was: its value in each
// whole unit of time, and since when it had it.
type moment struct {
	value string // "" for none
	since int64
}

func (w *world) moments(o fact.Observation) []moment {
	now := moment{}
	if e, ok := w.sit.Snapshot[o.Key]; ok {
		now = moment{value: string(e.Value), since: -1}
	}
	var all []moment
	for unit := range int64(boundaryAt) {
		for _, c := range w.sit.Journal { // in the order of noticing, among equal times
			if c.Key == o.Key && c.At.Unix() == unit && string(c.Value) != now.value {
				now = moment{string(c.Value), unit}
			}
		}
		all = append(all, now)
	}
	for _, c := range w.sit.Journal { // what is in the future counts as now
		if c.Key == o.Key && c.At.Unix() >= boundaryAt && string(c.Value) != now.value {
			now = moment{string(c.Value), boundaryAt}
		}
	}
	if string(o.Value) != now.value {
		now = moment{string(o.Value), boundaryAt}
	}
	return append(all, now) // the last holds at the boundary
}

// expected are the values that held while a tool ran and the last, none twice
// in a row: found by looking at every unit of time.
func (w *world) expected(o fact.Observation) []moment {
	var held []moment
	all := w.moments(o)
	for unit, m := range all {
		running := slices.ContainsFunc(w.sit.Tools, func(r fact.Run) bool {
			return r.From.Unix() <= int64(unit) && int64(unit) < r.Upto.Unix()
		})
		if running || unit == len(all)-1 {
			held = append(held, m)
		}
	}
	last := string(w.sit.Snapshot[o.Key].Value)
	var out []moment
	for _, m := range held {
		if m.value != last {
			out = append(out, m)
		}
		last = m.value
	}
	return out
}

func TestWhatIsToldIsWhatHeldWhileAToolRanAndTheLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		told, _ := w.reconcile(t)
		for _, o := range w.sit.Observed {
			if o.State == fact.Unavailable {
				continue
			}
			var got []moment
			for _, u := range told {
				if u.Key == o.Key {
					m := moment{since: u.At.Unix()}
					if u.Entry != nil {
						m.value = string(u.Entry.Value)
					}
					got = append(got, m)
				}
			}
			if diff := cmp.Diff(w.expected(o), got, cmp.AllowUnexported(moment{})); diff != "" {
				t.Fatalf("%s: %s", o.Key, diff)
			}
		}
	})
}

func TestTellingIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		_, next := w.reconcile(t)
		w.sit.Snapshot, w.sit.Journal = next, nil
		again, after := w.reconcile(t)
		if len(again) > 0 {
			t.Fatalf("told once more: %v", again)
		}
		if diff := cmp.Diff(next, after); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAJournalReadAgainIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		_, next := w.reconcile(t)
		w.sit.Snapshot, w.sit.Tools = next, nil
		if again, _ := w.reconcile(t); len(again) > 0 {
			t.Fatalf("told once more: %v", again)
		}
	})
}

func TestTheSnapshotIsWhatWasObserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		told, next := w.reconcile(t)
		want := fact.Snapshot{}
		for _, o := range w.sit.Observed {
			old, known := w.sit.Snapshot[o.Key]
			switch o.State {
			case fact.Unavailable:
				if known {
					want[o.Key] = old
				}
			case fact.Present:
				want[o.Key] = fact.Entry{Value: o.Value, Removal: o.Key + " no longer applies (was " + string(o.Value) + ")"}
				if unsaid(told, o.Key) && known {
					want[o.Key] = old
				}
			}
		}
		if diff := cmp.Diff(want, next); diff != "" {
			t.Fatal(diff)
		}
		// The log alone gives the same one.
		from := fact.Snapshot{}
		for k, e := range w.sit.Snapshot {
			from[k] = e
		}
		for _, u := range told {
			fact.Apply(from, u.Record(0))
		}
		if diff := cmp.Diff(next, from); diff != "" {
			t.Fatal(diff)
		}
	})
}

func unsaid(told []fact.Told, key string) bool {
	return !slices.ContainsFunc(told, func(u fact.Told) bool { return u.Key == key })
}

func TestUpdatesComeInTheOrderOfHappening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		told, _ := w.reconcile(t)
		for i, u := range told {
			if u.Text == "" || u.At.After(w.sit.Now) {
				t.Fatalf("an update without text, or from the future: %v", u)
			}
			if i == 0 {
				continue
			}
			if p := told[i-1]; p.At.After(u.At) || p.At.Equal(u.At) && p.Key > u.Key {
				t.Fatalf("%v comes before %v", p, u)
			}
		}
	})
}

// Neither the order of facts and observations matters, nor the order in which
// changes of different facts were noticed.
func TestTheOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		want, _ := w.reconcile(t)
		w.facts = rapid.Permutation(w.facts).Draw(t, "facts")
		w.sit.Observed = rapid.Permutation(w.sit.Observed).Draw(t, "observed")
		w.sit.Tools = rapid.Permutation(w.sit.Tools).Draw(t, "tools")
		rank := map[string]int{}
		for i, k := range rapid.Permutation([]string{"a/a", "a/b", "b/a", "z/z"}).Draw(t, "keys") {
			rank[k] = i
		}
		slices.SortStableFunc(w.sit.Journal, func(a, b fact.Change) int { return rank[a.Key] - rank[b.Key] })
		got, _ := w.reconcile(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestThereAndBackWithoutToolsSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.sit.Tools = nil
		for i, o := range w.sit.Observed { // all is as it was told
			e, ok := w.sit.Snapshot[o.Key]
			w.sit.Observed[i] = fact.Observation{Key: o.Key, State: fact.Absent}
			if ok {
				w.sit.Observed[i] = fact.Observation{Key: o.Key, State: fact.Present, Value: e.Value}
			}
		}
		told, _ := w.reconcile(t)
		for _, u := range told {
			if slices.ContainsFunc(w.facts, func(f fact.Fact) bool { return f.Key == u.Key }) {
				t.Fatalf("told %v", u)
			}
		}
	})
}

func TestAnUnavailableFactStopsNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		want, _ := w.reconcile(t)
		if len(w.facts) == 0 {
			t.Skip()
		}
		hidden := rapid.SampledFrom(w.sit.Observed).Draw(t, "hidden").Key
		for i, o := range w.sit.Observed {
			if o.Key == hidden {
				w.sit.Observed[i] = fact.Observation{Key: hidden, State: fact.Unavailable}
			}
		}
		got, _ := w.reconcile(t)
		want = slices.DeleteFunc(slices.Clone(want), func(u fact.Told) bool { return u.Key == hidden })
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func texts(told []fact.Told) string {
	var b strings.Builder
	for _, u := range told {
		fmt.Fprintf(&b, "%d %s\n", u.At.Unix(), u.Text)
	}
	return b.String()
}
