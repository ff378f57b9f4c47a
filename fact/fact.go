// Package fact knows what a model is told with authority: facts, one reading
// of them all, the baseline that an epoch begins with, and the updates that
// follow it.
//
// Promises. Order: a baseline has the facts in the order in which they were
// composed; updates come in the order in which the changes happened. Loss: a
// baseline is either complete or not made at all, with the name of what is
// missing; a fact that cannot be observed keeps what was told of it and holds
// up no other. Concurrency: a Set does not change once made; Observe reads its
// facts at the same time, each under a deadline of its own. All else is pure:
// the same observation, journal and snapshot give the same bytes.
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
	Model        string    // catalogue id of the model that answers
	Moved        time.Time // when the conversation came to its workspace; zero: it was always there
}

// Breadth says whom a fact's changes concern, and so in which scope of the
// change journal they stand.
type Breadth uint8

// The breadths.
const (
	OfConversation Breadth = iota
	OfOwner
	OfWorkspace
)

// Fact is one independently observed thing. The renderers are pure and give
// non-empty text; the values they get are in canonical form.
type Fact struct {
	Key      string        // namespace/name
	Required bool          // the first baseline waits for it
	Breadth  Breadth       // the journal scope of its changes
	Deadline time.Duration // of one reading; 0 for [DefaultDeadline]
	// Observe reads the value now, within the deadline of ctx. It puts no time
	// of observation into it, and lists in a fixed order.
	Observe func(ctx context.Context, s Subject) Observation
	// Baseline renders a value to whom nothing was told of it before. An error
	// says that the value is not one of this fact's.
	Baseline func(value json.RawMessage) (string, error)
	// Update renders the whole new state, not what differs.
	Update func(prev, value json.RawMessage) (string, error)
	// Removed says that what was told no longer applies.
	Removed func(prev json.RawMessage) (string, error)
	// Dates says whether an observation's At is when value took the place of
	// prev (nil: of nothing); otherwise the change has no time of its own, and
	// counts from when it is noticed. Nil: it always is.
	Dates func(prev, value json.RawMessage) bool
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
	At    time.Time       // since when, by the source's own time; zero: it has none
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

// Failed makes an observation of a fact that could not be told.
func Failed(err error) Observation { return Observation{State: Unavailable, Err: err} }

// Limits is the key of the fact whose value the turn itself puts in: present
// when the step allowance is used up.
const Limits = "core/limits"

// Limits of what facts may say.
const (
	MaxFact         = 64 << 10
	MaxBaseline     = 256 << 10
	DefaultDeadline = 2 * time.Second
)

const keyPattern = `^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._/-]*$`

// ValidKey reports whether key is namespace/name as a fact's must be.
func ValidKey(key string) bool { return regexp.MustCompile(keyPattern).MatchString(key) }

// Set is the facts that are told, in order.
type Set struct {
	facts []Fact
	late  *late
}

// Compose makes a set. A bad or doubled key is a programming error and refused.
func Compose(facts ...Fact) (*Set, error) {
	return compose(&late{}, facts)
}

// With makes a set that has more facts, after those of s.
func (s *Set) With(more ...Fact) (*Set, error) {
	return compose(s.late, append(s.facts[:len(s.facts):len(s.facts)], more...))
}

// Only makes a set of those facts of s that have one of the keys.
func (s *Set) Only(keys ...string) *Set {
	some := &Set{late: s.late}
	for _, f := range s.facts {
		for _, k := range keys {
			if f.Key == k {
				some.facts = append(some.facts, f)
				break
			}
		}
	}
	return some
}

func compose(l *late, facts []Fact) (*Set, error) {
	valid := regexp.MustCompile(keyPattern)
	seen := map[string]bool{}
	for _, f := range facts {
		switch {
		case !valid.MatchString(f.Key):
			return nil, fmt.Errorf("fact: key %q does not match %s", f.Key, keyPattern)
		case seen[f.Key]:
			return nil, fmt.Errorf("fact: %q is there twice", f.Key)
		case f.Observe == nil || f.Baseline == nil || f.Update == nil || f.Removed == nil:
			return nil, fmt.Errorf("fact: %q cannot be observed or rendered", f.Key)
		}
		seen[f.Key] = true
	}
	return &Set{facts: facts, late: l}, nil
}
