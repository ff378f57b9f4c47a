package fact

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir"
)

// Entry is what a snapshot keeps of a fact: the value the model was last told.
type Entry struct {
	Value json.RawMessage `json:"value"`
}

// Blocked says which required facts the first baseline waits for.
type Blocked struct{ Keys []string }

func (b *Blocked) Error() string { return "fact: waiting for " + strings.Join(b.Keys, ", ") }

// Initialize renders the first baseline from one observation: the parts of the
// present facts, a blank line between them, in the order in which the facts
// were composed; and the snapshot, per key what was told. It fails with
// *[Blocked] when a required fact is unavailable.
func (s *Set) Initialize(observed []Observation) (baseline string, snapshot json.RawMessage, err error) {
	byKey := make(map[string]Observation, len(observed))
	for _, o := range observed {
		byKey[o.Key] = o
	}
	var missing []string
	var parts []string
	told := map[string]Entry{} // encoding/json sorts keys, so the bytes are fixed
	for _, f := range s.facts {
		o, ok := byKey[f.Key]
		if !ok || o.State == Unavailable {
			if f.Required {
				missing = append(missing, f.Key)
			}
			continue
		}
		if o.State == Absent {
			continue
		}
		part, err := f.Baseline(o.Value)
		if err != nil {
			return "", nil, fmt.Errorf("fact: render %s: %w", f.Key, err)
		}
		if part == "" {
			return "", nil, fmt.Errorf("fact: %s renders to nothing", f.Key)
		}
		parts = append(parts, part)
		told[f.Key] = Entry{Value: o.Value}
	}
	if missing != nil {
		return "", nil, &Blocked{Keys: missing}
	}
	baseline = strings.Join(parts, "\n\n")
	if len(baseline) > MaxBaseline {
		return "", nil, weir.Fault(weir.Unprocessable, "baseline_too_long",
			"What the model has to be told before the first message is longer than 256 KiB; shorten the instructions.")
	}
	snapshot, err = json.Marshal(told)
	return baseline, snapshot, err
}
