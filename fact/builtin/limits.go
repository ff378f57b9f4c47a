package builtin

import (
	"context"
	"encoding/json"

	"weir/fact"
)

// Limits is the fact core/limits: the step allowance is used up. The turn
// puts its value in, whatever it is; by itself the fact is absent.
func Limits() fact.Fact {
	return fact.Fact{
		Key:      fact.Limits,
		Observe:  func(context.Context, fact.Subject) fact.Observation { return fact.Observation{State: fact.Absent} },
		Baseline: func(json.RawMessage) (string, error) { return usedUp, nil },
		Update:   func(_, _ json.RawMessage) (string, error) { return usedUp, nil },
		Removed:  func(json.RawMessage) (string, error) { return "You may call tools again.", nil },
	}
}

const usedUp = "The number of steps allowed for this piece of work is used up. No tool can be called in this answer: say what you found and what is left to do."
