// Package mention holds the in-text spelling of references: the codec of
// their URIs, and the scanner that finds them in what a person wrote.
//
//	uri     = "weir:" payload [ "#pointer" ]
//	mention = "@[" label "](" uri ")", or a bare uri
//
// A text is read in one pass, in time linear in its length whatever it holds,
// and any string is a text: nothing here panics. What Markdown shows as code
// holds no mentions, so code is found first, as CommonMark finds it; a label may therefore hold whole code spans, and
// what looks like a mention but reaches into a code span is none. Inline
// constructs, mentions among them, end with their paragraph.
//
// Everything is a pure function; values may be shared among goroutines once
// made.
package mention

import (
	"strings"
	"unicode"

	"weir"
)

const codeInvalid = "reference_invalid"

// Mention is one reference in a text.
type Mention struct {
	Start, End int    // byte offsets in the text
	Label      string // without its escapes; of a bare URI the conversation's id
	Reference  weir.Reference
	Explicit   bool // @[label](uri) rather than a bare URI
}

// Scan is what a text holds, in the order of the text, without overlaps.
type Scan struct {
	Mentions []Mention
	Escapes  []int // offsets of the backslash of each \@[ outside code
}

// Parse finds the mentions of a text. An explicit form whose weir: URI does
// not decode is an error with code reference_invalid; the scan is complete all
// the same and takes the bad form for text, so a sender who lets no mention
// count need not care.
func Parse(text string) (Scan, error) {
	var sc scanner
	eachParagraph(text, func(from, upto int) { sc.paragraph(text[:upto], from) })
	if len(sc.bad) > 0 {
		return sc.scan, weir.Fault(weir.Invalid, codeInvalid,
			"A mention in the text has an address that cannot be read; choose its conversation again or remove it.").
			With("offset", sc.bad[0])
	}
	return sc.scan, nil
}

// Shown returns the text as the model and the timeline have it. A mention
// whose ordinal is accepted reads @label, on one line; all others stay as they
// are, byte for byte. The backslash of an escaped \@[ always goes, accepted
// mentions or not: it belongs to the spelling of a text, not to what is said.
//
// Where the label is empty, label (which may be nil) names the conversation;
// its answer "" stands for the conversation's id.
func (s *Scan) Shown(text string, accepted func(ordinal int) bool, label func(ordinal int, m Mention) string) string {
	var b strings.Builder
	done, escapes := 0, s.Escapes
	unescape := func(upto int) {
		for len(escapes) > 0 && escapes[0] < upto {
			b.WriteString(text[done:escapes[0]])
			done = escapes[0] + 1
			escapes = escapes[1:]
		}
	}
	for i, m := range s.Mentions {
		if !accepted(i) {
			continue
		}
		unescape(m.Start)
		b.WriteString(text[done:m.Start])
		b.WriteByte('@')
		b.WriteString(oneLine(m.name(i, label)))
		done = m.End
	}
	if unescape(len(text)); done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

func (m *Mention) name(ordinal int, label func(int, Mention) string) string {
	if m.Label != "" {
		return m.Label
	}
	if label != nil {
		if s := label(ordinal, *m); s != "" {
			return s
		}
	}
	return string(m.Reference.Conversation)
}

// Markup spells a mention: Parse finds it again, with the label on one line,
// wherever no code and no other mention is open. A backtick without a partner
// in the label is shown as an apostrophe, lest it find one in the text around.
func Markup(label string, a Address) string {
	var b strings.Builder
	b.WriteString("@[")
	for _, r := range closedCode(oneLine(label)) {
		if r == '\\' || r == ']' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteString("](")
	b.WriteString(Encode(a))
	b.WriteByte(')')
	return b.String()
}

// oneLine puts a space for every line break and control character.
func oneLine(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
