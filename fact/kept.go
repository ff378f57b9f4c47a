package fact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"weir"
)

// Kept is the fact that a client keeps. It is always there: what takes it away
// takes away the fact itself.
func Kept(k weir.ClientFact) Fact {
	said := func(v json.RawMessage) string {
		if own, err := Canonical(k.Value); err == nil && k.Text != "" && bytes.Equal(own, v) {
			return k.Text
		}
		return ""
	}
	breadth := OfConversation
	if strings.HasPrefix(string(k.Scope), "owner:") {
		breadth = OfOwner
	}
	return Fact{
		Key:     k.Key,
		Breadth: breadth,
		Observe: func(context.Context, Subject) Observation {
			return Observation{State: Present, Value: k.Value, At: k.At}
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return cmp.Or(said(v), k.Key+" is "+inLine(v)), nil
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return cmp.Or(said(v), k.Key+" is now "+inLine(v)), nil
		},
		Removed: func(json.RawMessage) (string, error) {
			return k.Key + " no longer applies.", nil
		},
	}
}

// KeptOnes are the facts that clients keep, sorted by key. Where a conversation
// and its owner have the same key, the conversation's counts.
func KeptOnes(all []weir.ClientFact) []Fact {
	facts := make([]Fact, 0, len(all))
	for _, k := range all {
		facts = append(facts, Kept(k))
	}
	slices.SortStableFunc(facts, func(a, b Fact) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Breadth, b.Breadth))
	})
	return slices.CompactFunc(facts, func(a, b Fact) bool { return a.Key == b.Key })
}

// inLine writes a JSON value so that it stays one line wherever it is shown.
func inLine(v json.RawMessage) string {
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`, "\u0085", `\u0085`).Replace(string(v))
}
