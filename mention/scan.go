// Package mention holds the in-text spelling of references.
package mention

import "weir"

// Mention is one reference in a text.
type Mention struct {
	Start, End int    // byte offsets in the text
	Label      string // unescaped; a bare URI's is its id
	Reference  weir.Reference
	Explicit   bool // @[label](uri) rather than a bare URI
}

// Scan is what Parse found.
type Scan struct {
	Mentions []Mention
	Escapes  []int // offsets of the backslash of \@[
}

// Parse finds the mentions of a text.
func Parse(text string) (Scan, error) { panic("not yet") }

// Shown returns the text as the model and the timeline have it.
func (s *Scan) Shown(text string, accepted func(ordinal int) bool, label func(ordinal int, m Mention) string) string {
	panic("not yet")
}

// Markup spells a mention.
func Markup(label string, a Address) string { panic("not yet") }
