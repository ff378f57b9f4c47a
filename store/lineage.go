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
	inherits := c.Inherits()
	parts := make([]segment, 0, len(c.Lineage)+1)
	var from weir.Seq
	for _, a := range c.Lineage {
		// A cut inside what an ancestor itself inherited ends all parts there.
		end := min(a.Upto, inherits)
		parts = append(parts, segment{a.Conversation, from, end})
		from = max(from, end)
	}
	parts = append(parts, segment{c.ID, inherits, math.MaxInt64})
	for i := range parts {
		parts[i].after, parts[i].upto = max(parts[i].after, after), min(parts[i].upto, upto)
	}
	return slices.DeleteFunc(parts, func(s segment) bool { return s.after >= s.upto })
}
