package fact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Change is a value that a fact took, or its removal.
type Change struct {
	Key   string
	Value json.RawMessage // nil: removed
	At    time.Time
}

// Run is the span in which a tool ran.
type Run struct{ From, Upto time.Time }

// Situation is all that the outcome of a boundary depends on. The entries of
// the journal come in the order in which they were noticed.
type Situation struct {
	Observed []Observation
	Journal  []Change // since the last boundary
	Tools    []Run    // of the last step
	Now      time.Time
	Snapshot Snapshot
}

// Told is one update: what the model is told, when that happened, and what the
// snapshot keeps of it.
type Told struct {
	Key, Text string
	At        time.Time
	Entry     *Entry // nil: dropped
}

// Reconcile says what the model has to be told now, in the order in which it
// happened, ties by key, and the snapshot after it. Of the values a fact went
// through, those are told that held while a tool ran, and the last one; never
// one twice in a row. A fact that was observed with a value that cannot be
// rendered counts as unavailable: its entry stays, the fault is reported.
func (s *Set) Reconcile(sit Situation) (updates []Told, next Snapshot, faults []error) {
	observed := index(sit.Observed)
	journal, faults := perFact(&sit)
	next = sit.Snapshot.clone()
	registered := make(map[string]bool, len(s.facts))
	admit := func(told []Told, err error) {
		if err != nil {
			faults = append(faults, err)
			return
		}
		for _, t := range told {
			if t.Entry == nil {
				delete(next, t.Key)
			} else {
				next[t.Key] = *t.Entry
			}
		}
		updates = append(updates, told...)
	}
	for i := range s.facts {
		f := &s.facts[i]
		registered[f.Key] = true
		admit(f.reconcile(&sit, observed[f.Key], journal[f.Key]))
	}
	for key, e := range sit.Snapshot {
		if !registered[key] {
			admit([]Told{withdrawn(&sit, key, e, journal[key])}, nil)
		}
	}
	slices.SortStableFunc(updates, func(a, b Told) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key))
	})
	return updates, next, faults
}

// reconcile says what is to be told of one fact.
func (f *Fact) reconcile(sit *Situation, o Observation, journal []Change) ([]Told, error) {
	switch o.State {
	case Present:
		v, err := bounded(o.Value)
		if err != nil {
			return nil, fmt.Errorf("fact: %s: %w", f.Key, err)
		}
		o.Value = v
	case Absent:
		o.Value = nil
	default:
		return nil, nil
	}
	entry, known := sit.Snapshot[f.Key]
	var told json.RawMessage
	if known {
		told = entry.canonical()
		entry.Value = told
	}
	went := merge(told, f.observe(sit, told, o, journal))
	return f.tell(merge(told, chosen(went, sit.Tools)), entry, known)
}

// observe ends a fact's journal with what was observed, if that is news.
func (f *Fact) observe(sit *Situation, told json.RawMessage, o Observation, journal []Change) []Change {
	last := Change{Value: told}
	if n := len(journal); n > 0 {
		last = journal[n-1]
	}
	if same(last.Value, o.Value) {
		return journal
	}
	at := f.when(o, last.Value, sit.Now)
	if !at.After(last.At) { // what came before it is known to be later
		at = sit.Now
	}
	return append(journal, Change{Key: f.Key, Value: o.Value, At: at})
}

// tell renders a fact's values after the one that was told.
func (f *Fact) tell(values []Change, entry Entry, known bool) ([]Told, error) {
	var out []Told
	for _, c := range values {
		t := Told{Key: f.Key, At: c.At}
		var err error
		switch {
		case c.Value == nil:
			t.Text, err = f.farewell(entry)
		case known && f.knows(entry.Value):
			t.Text, err = f.update(entry.Value, c.Value)
		default:
			t.Text, err = f.baseline(c.Value)
		}
		if err != nil {
			return nil, err
		}
		if c.Value != nil {
			if entry, err = f.entry(c.Value); err != nil {
				return nil, err
			}
			e := entry
			t.Entry = &e
		}
		known = c.Value != nil
		out = append(out, t)
	}
	return out, nil
}

// farewell is the text kept with a value; older snapshots have none.
func (f *Fact) farewell(e Entry) (string, error) {
	if e.Removal != "" {
		return e.Removal, nil
	}
	return f.removed(e.Value)
}

// withdrawn takes back what was told of a fact that nobody observes any longer.
// The values it went through meanwhile can no longer be rendered.
func withdrawn(sit *Situation, key string, e Entry, journal []Change) Told {
	if n := len(journal); n == 0 || journal[n-1].Value != nil {
		journal = append(journal, Change{Key: key, At: sit.Now})
	}
	t := Told{Key: key, Text: e.Removal}
	if t.Text == "" {
		t.Text = "What was said about " + key + " no longer applies."
	}
	for _, c := range chosen(merge(e.canonical(), journal), sit.Tools) {
		if c.Value == nil {
			t.At = c.At
			break
		}
	}
	return t
}

// perFact sorts the journal's entries by fact and time, in canonical form.
// What is no JSON is left out and reported; no time is later than now.
func perFact(sit *Situation) (map[string][]Change, []error) {
	var faults []error
	by := map[string][]Change{}
	for _, c := range sit.Journal {
		if c.Value != nil {
			v, err := bounded(c.Value)
			if err != nil {
				faults = append(faults, fmt.Errorf("fact: an entry of the journal for %s: %w", c.Key, err))
				continue
			}
			c.Value = v
		}
		if c.At.IsZero() || c.At.After(sit.Now) {
			c.At = sit.Now
		}
		by[c.Key] = append(by[c.Key], c)
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b Change) int { return a.At.Compare(b.At) })
	}
	return by, faults
}

// chosen keeps the values that held while a tool ran, and the last one.
func chosen(values []Change, tools []Run) []Change {
	var out []Change
	for i, c := range values {
		if i == len(values)-1 || overlaps(tools, c.At, values[i+1].At) {
			out = append(out, c)
		}
	}
	return out
}

// overlaps reports whether a tool ran in the span, for more than a moment.
func overlaps(tools []Run, from, upto time.Time) bool {
	return slices.ContainsFunc(tools, func(r Run) bool {
		begin, end := from, upto
		if r.From.After(begin) {
			begin = r.From
		}
		if r.Upto.Before(end) {
			end = r.Upto
		}
		return begin.Before(end)
	})
}

// merge drops the values that say again what was said right before.
func merge(told json.RawMessage, values []Change) []Change {
	var out []Change
	for _, c := range values {
		if !same(told, c.Value) {
			out = append(out, c)
		}
		told = c.Value
	}
	return out
}

// same compares two values in canonical form; nil is no value.
func same(a, b json.RawMessage) bool {
	return (a == nil) == (b == nil) && bytes.Equal(a, b)
}

// canonical is the entry's value to compare with. One that is no JSON is equal
// to nothing, and still a value.
func (e Entry) canonical() json.RawMessage {
	if v, err := Canonical(e.Value); err == nil {
		return v
	}
	return append(json.RawMessage{}, e.Value...)
}
