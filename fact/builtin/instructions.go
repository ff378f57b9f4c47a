package builtin

import (
	"context"

	"weir"
	"weir/fact"
)

var placeholder = fact.Kept(weir.ClientFact{Key: "core/placeholder"})

// Instructions is the fact core/instructions. Global is the path of the
// AGENTS.md that goes before all others; "" for none.
func Instructions(global string) fact.Fact {
	return fact.Fact{
		Key: "core/instructions", Breadth: fact.OfWorkspace,
		Observe:  func(context.Context, fact.Subject) fact.Observation { return fact.Observation{State: fact.Absent} },
		Baseline: placeholder.Baseline, Update: placeholder.Update, Removed: placeholder.Removed,
	}
}
