// Package fact knows what a model is told with authority: facts, one reading
// of them all, and the baseline that an epoch begins with.
//
// Promises. Order: facts are told in the order in which they were composed.
// Loss: a baseline is either complete or not made at all, with the name of
// what is missing. Concurrency: a Set does not change once made; Observe reads
// its facts at the same time, each under a deadline of its own. All else is
// pure: the same observation gives the same bytes.
package fact

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"weir"
)

// Subject is what an observation is about.
type Subject struct {
	Conversation weir.Conversation
	Model        string // catalogue id of the model that answers
}

// Fact is one independently observed thing.
type Fact struct {
	Key      string // namespace/name
	Required bool   // the first baseline waits for it
	// Observe reads the value now, within the deadline of ctx. It puts no time
	// of observation into it, and lists in a fixed order.
	Observe func(ctx context.Context, s Subject) Observation
	// Baseline renders a value that Observe gave, purely, to non-empty text.
	Baseline func(value json.RawMessage) (string, error)
}

// Availability says how an observation went.
type Availability string

// The ways an observation can go.
const (
	Present     Availability = "present"
	Absent      Availability = "absent"      // known not to be there
	Unavailable Availability = "unavailable" // could not be told
)

// Observation is one reading of one fact.
type Observation struct {
	Key   string
	State Availability
	Value json.RawMessage // of a present one
	Err   error           // of an unavailable one, for the log
}

// Observed makes an observation of a value.
func Observed(v any) Observation {
	raw, err := json.Marshal(v)
	if err != nil {
		return Observation{State: Unavailable, Err: err}
	}
	return Observation{State: Present, Value: raw}
}

// Limits of what facts may say.
const (
	MaxFact     = 64 << 10
	MaxBaseline = 256 << 10
)

const keyPattern = `^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._/-]*$`

// Set is the facts that are told, in order.
type Set struct {
	facts    []Fact
	deadline time.Duration
}

// Compose makes a set. A bad or doubled key is a programming error and refused.
func Compose(facts ...Fact) (*Set, error) {
	valid := regexp.MustCompile(keyPattern)
	seen := map[string]bool{}
	for _, f := range facts {
		switch {
		case !valid.MatchString(f.Key):
			return nil, fmt.Errorf("fact: key %q does not match %s", f.Key, keyPattern)
		case seen[f.Key]:
			return nil, fmt.Errorf("fact: %q is there twice", f.Key)
		case f.Observe == nil || f.Baseline == nil:
			return nil, fmt.Errorf("fact: %q cannot be observed or rendered", f.Key)
		}
		seen[f.Key] = true
	}
	return &Set{facts: facts, deadline: 2 * time.Second}, nil
}
