package fact

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"weir"
)

// Unnoticed returns, in the order in which they happened, the changes that an
// observation shows and the journal does not have yet: where the newest entry
// of a fact, or without one the snapshot, says otherwise than what was
// observed. The limits are the turn's own and stand in no journal.
func (s *Set) Unnoticed(sit Situation) []Change {
	sit.Journal = dated(sit.Journal, sit.Now)
	journal, _ := perFact(&sit)
	var out []Change
	for _, o := range sit.Observed {
		if o.Key == Limits || o.State == Unavailable {
			continue
		}
		var newest Change
		if e, ok := sit.Snapshot[o.Key]; ok {
			newest.Value = e.canonical()
		}
		if entries := journal[o.Key]; len(entries) > 0 {
			newest = entries[len(entries)-1]
		}
		c := Change{Key: o.Key, At: s.When(o, newest.Value, sit.Now)}
		if o.State == Present {
			v, err := bounded(o.Value)
			if err != nil {
				continue // it counts as unavailable
			}
			c.Value = v
		}
		if !same(newest.Value, c.Value) {
			if !c.At.After(newest.At) {
				c.At = sit.Now
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// dated gives the entries that have no time yet, because it is missing or to
// come, that of the entry noticed next about the same fact, and only the last
// one now: else they would be the newest again at each boundary, whatever was
// noticed since.
func dated(journal []Change, now time.Time) []Change {
	out := slices.Clone(journal)
	next := map[string]time.Time{}
	for i := range slices.Backward(out) {
		c := &out[i]
		if c.At.IsZero() || c.At.After(now) {
			c.At = now
			if t, ok := next[c.Key]; ok {
				c.At = t
			}
		}
		next[c.Key] = c.At
	}
	return out
}

// Overtaken reports whether entries that the journal has got since an
// observation began say otherwise than what was observed.
func Overtaken(observed []Observation, newer []Change) bool {
	now := index(observed)
	newest := map[string]Change{}
	for _, c := range newer {
		newest[c.Key] = c
	}
	for key, c := range newest {
		o, known := now[key]
		switch {
		case !known || o.State == Absent:
			if c.Value != nil {
				return true
			}
		case o.State == Present:
			entry, seen := Entry{Value: c.Value}, Entry{Value: o.Value}
			if c.Value == nil || !same(entry.canonical(), seen.canonical()) {
				return true
			}
		}
	}
	return false
}

// Considered says up to which of the journal's entries, which come in their
// order, a boundary has taken everything in: what concerns a fact that could
// not be observed is for a later one.
func Considered(observed []Observation, upto int64, entries []weir.Change) int64 {
	unseen := map[string]bool{}
	for _, o := range observed {
		unseen[o.Key] = o.State == Unavailable
	}
	for _, e := range entries {
		if unseen[e.Fact] {
			break
		}
		upto = max(upto, e.Seq)
	}
	return upto
}

// Says reports whether value, nil for none, is what was last told of a fact.
func (s Snapshot) Says(key string, value json.RawMessage) bool {
	e, ok := s[key]
	if !ok || value == nil {
		return !ok && value == nil
	}
	return same(e.canonical(), Entry{Value: value}.canonical())
}
