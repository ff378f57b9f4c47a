package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"weir"
	"weir/fact"
)

// visibility names no conversation: whether one is walled in does not say by whom.
type visibility struct {
	Level    weir.Level `json:"level"`
	Category string     `json:"category,omitempty"`
	Walled   bool       `json:"walled"` // in an island, its own or one around it
}

// Visibility is the fact core/visibility: what the conversation may show and
// to whom, without naming others.
func Visibility() fact.Fact {
	return fact.Fact{
		Key: "core/visibility",
		Observe: func(_ context.Context, s fact.Subject) fact.Observation {
			c := &s.Conversation
			level := c.Visibility.Level
			if level == "" {
				level = weir.Open
			}
			return fact.Observed(visibility{
				Level:    level,
				Category: oneLine(c.Visibility.Category),
				Walled:   level == weir.Isolated || len(c.Island) > 0,
			})
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return render(v, func(s visibility) string { return "This conversation " + s.say() })
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return render(v, func(s visibility) string { return "From here on this conversation " + s.say() })
		},
		Removed: func(json.RawMessage) (string, error) {
			return "What was said about who may read this conversation no longer applies.", nil
		},
	}
}

func (s visibility) say() string {
	text := "is open: other conversations may read it."
	switch {
	case s.Level == weir.Isolated:
		text = "is isolated: what is said here stays here and in what descends from it, unless a person lets a piece of it out."
	case s.Walled:
		text = "belongs to an isolated one: what is said here stays inside that, unless a person lets a piece of it out."
	}
	if s.Category != "" {
		text += fmt.Sprintf(" Its category is %q: only conversations of the same category may read it, unless a person lets a piece of it out.", s.Category)
	}
	return text
}
