package builtin

import (
	"context"

	"weir/fact"
)

// Workspace is the fact core/workspace.
func Workspace() fact.Fact {
	return fact.Fact{
		Key: "core/workspace", Breadth: fact.OfWorkspace,
		Observe:  func(context.Context, fact.Subject) fact.Observation { return fact.Observation{State: fact.Absent} },
		Baseline: placeholder.Baseline, Update: placeholder.Update, Removed: placeholder.Removed,
	}
}
