package store

import (
	"math"
	"slices"

	"weir"
)

// segment is the part of a log that is stored under one conversation: its own
// records with after < seq <= upto.
type segment struct {
	conversation weir.ConversationID
	after, upto  weir.Seq
}

// segments splits c's log, oldest part first, within after < seq <= upto.
func segments(c *weir.Conversation, after, upto weir.Seq) []segment {
	parts := make([]segment, len(c.Lineage)+1)
	last := len(c.Lineage)
	parts[last] = segment{c.ID, c.Inherits(), math.MaxInt64}
	for i := last - 1; i >= 0; i-- {
		a := c.Lineage[i]
		var inherits weir.Seq // what a did not write itself
		if i > 0 {
			inherits = c.Lineage[i-1].Upto
		}
		// A cut further in, inside what an ancestor inherited, ends all parts there.
		parts[i] = segment{a.Conversation, inherits, min(a.Upto, parts[i+1].after)}
		parts[i].after = min(parts[i].after, parts[i].upto)
	}
	for i := range parts {
		parts[i].after, parts[i].upto = max(parts[i].after, after), min(parts[i].upto, upto)
	}
	return slices.DeleteFunc(parts, func(s segment) bool { return s.after >= s.upto })
}
