// Package flow decides whether content of one conversation may reach the
// readers of another without asking a person. It is the only rule there is:
// quotes, pointers, recalls, tasks, tools, candidates and exports all ask it.
//
// The rule in words: would the target's own readers have been able to read
// the source anyway? It is a preorder (reflexive and transitive), pure, and
// safe for any number of goroutines.
package flow

import (
	"slices"

	"weir"
)

// CanFlow reports whether content of from may reach to unasked: every wall
// around the source is around the target too, and the source has no category
// or the target's.
func CanFlow(from, to weir.Scope) bool { return len(Explain(from, to)) == 0 }

// Explain returns why content of from may not reach to unasked, in the order
// isolation, category; nil exactly when it may. (When people have accounts,
// the readers of the two scopes are compared here as well.)
func Explain(from, to weir.Scope) []weir.Reason {
	var reasons []weir.Reason
	if !within(to.Path, from.Path) {
		reasons = append(reasons, weir.ReasonIsolation)
	}
	if from.Category != "" && from.Category != to.Category {
		reasons = append(reasons, weir.ReasonCategory)
	}
	return reasons
}

// within reports whether a conversation on this island path is inside all the
// walls given, or has just those.
func within(path, walls []weir.ConversationID) bool {
	return len(walls) <= len(path) && slices.Equal(walls, path[:len(walls)])
}
