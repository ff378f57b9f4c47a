package fact

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir"
)

// Blocked says which required facts the first baseline waits for.
type Blocked struct{ Keys []string }

func (b *Blocked) Error() string { return "fact: waiting for " + strings.Join(b.Keys, ", ") }

// Initialize renders the first baseline from one observation: the parts of the
// present facts, a blank line between them, in the order in which the facts
// were composed; and the snapshot of what it tells. It fails with *[Blocked]
// when a required fact is unavailable, and with the key of a fact whose
// renderer fails.
func (s *Set) Initialize(observed []Observation) (baseline string, snap Snapshot, err error) {
	byKey := index(observed)
	var missing, parts []string
	snap = Snapshot{}
	for _, f := range s.facts {
		o := byKey[f.Key]
		switch o.State {
		case Absent:
			continue
		case Present:
		default:
			if f.Required {
				missing = append(missing, f.Key)
			}
			continue
		}
		part, e, err := f.admit(o.Value)
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, part)
		snap[f.Key] = e
	}
	if missing != nil {
		return "", nil, &Blocked{Keys: missing}
	}
	baseline, err = join(parts)
	if err != nil {
		return "", nil, err
	}
	return baseline, snap, nil
}

// Rebaseline renders the baseline of a new epoch. It never blocks: a fact that
// is unavailable, or whose renderer fails on what was observed, is restated
// from its entry in the snapshot, and left out when it has none that can be
// restated. What is no longer a fact of s is left out.
func (s *Set) Rebaseline(observed []Observation, told Snapshot) (baseline string, snap Snapshot, err error) {
	byKey := index(observed)
	var parts []string
	snap = Snapshot{}
	for _, f := range s.facts {
		o := byKey[f.Key]
		if o.State == Absent {
			continue
		}
		if o.State == Present {
			if part, e, err := f.admit(o.Value); err == nil {
				parts = append(parts, part)
				snap[f.Key] = e
				continue
			}
		}
		if old, ok := told[f.Key]; ok {
			if part, e, err := f.restate(old); err == nil {
				parts = append(parts, part)
				snap[f.Key] = e
			}
		}
	}
	baseline, err = join(parts)
	if err != nil {
		return "", nil, err
	}
	return baseline, snap, nil
}

// admit renders what a baseline says of a value and the entry that goes with it.
func (f *Fact) admit(value json.RawMessage) (part string, e Entry, err error) {
	if value, err = bounded(value); err != nil {
		return "", Entry{}, fmt.Errorf("fact: %s: %w", f.Key, err)
	}
	if part, err = f.baseline(value); err != nil {
		return "", Entry{}, err
	}
	e, err = f.entry(value)
	return part, e, err
}

// restate renders what was told before. The words kept for its removal stay.
func (f *Fact) restate(old Entry) (part string, e Entry, err error) {
	if part, e, err = f.admit(old.Value); err == nil && old.Removal != "" {
		e = old
	}
	return part, e, err
}

func index(observed []Observation) map[string]Observation {
	byKey := make(map[string]Observation, len(observed))
	for _, o := range observed {
		byKey[o.Key] = o
	}
	return byKey
}

func join(parts []string) (string, error) {
	baseline := strings.Join(parts, "\n\n")
	if len(baseline) > MaxBaseline {
		return "", weir.Fault(weir.Unprocessable, "baseline_too_long",
			"What the model has to be told before the first message is longer than 256 KiB; shorten the instructions, or delete facts that clients keep.")
	}
	return baseline, nil
}
