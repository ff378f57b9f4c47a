package gate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"weir"
)

// maxName is the longest title or name inside other words, in code points.
const maxName = 120

// oneLine reduces a title or name to one harmless line for the words that a
// model reads: control characters and line breaks become spaces, < and > and
// what nobody can see are dropped.
func oneLine(s string) string {
	var b strings.Builder
	eachRune(s, func(r rune, hidden bool) {
		switch {
		case breaksLine(r):
			b.WriteByte(' ')
		case r == '<' || r == '>' || hidden:
		default:
			b.WriteRune(r)
		}
	})
	return cut(b.String(), maxName)
}

// Named returns a title or label in quotation marks, as it may stand inside a
// sentence that a person reads: one line, 120 characters at most, what cannot
// be seen spelt out, and nothing in it that could seem to end it.
func Named(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '<' || r == '>':
			return -1
		case r == '“' || r == '”' || r == '„' || r == '‟':
			return '"'
		case breaksLine(r):
			return ' '
		}
		return r
	}, s)
	return "“" + escaped(s, maxName) + "”"
}

// excerpt returns the beginning of a text for a person to judge, line breaks
// and tabs as they are and everything else that cannot be seen spelt out.
func excerpt(text string) string {
	// Twice the excerpt is enough, however many \r\n become one character.
	head := strings.ReplaceAll(firstRunes(text, 2*weir.ExcerptLength), "\r\n", "\n")
	return spelt(cut(head, weir.ExcerptLength), weir.ExcerptLength, "\n\t")
}

// escaped spells out whatever in a line cannot be seen.
func escaped(s string, limit int) string { return spelt(cut(s, limit), limit, "") }

// spelt returns at most limit code points of s, with all that cannot be seen
// as \uXXXX except the control characters in keep. No spelling is cut in two.
func spelt(s string, limit int, keep string) string {
	var b strings.Builder
	eachRune(s, func(r rune, hidden bool) {
		piece := string(r)
		if hidden || unicode.IsControl(r) && !strings.ContainsRune(keep, r) {
			piece = spelling(r)
		}
		limit -= utf8.RuneCountInString(piece)
		if limit >= 0 {
			b.WriteString(piece)
		} else {
			limit = -1 // nothing shorter may follow what had no room
		}
	})
	return b.String()
}

func spelling(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// eachRune calls f for every rune of s and says whether a reader of s could
// not know that it is there. Bytes that are no UTF-8 come as U+FFFD.
func eachRune(s string, f func(r rune, hidden bool)) {
	prev := rune(-1)
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		f(r, isHidden(prev, r, next))
		prev = r
	}
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// isHidden reports whether r shows nothing: format and bidi controls, line
// and paragraph separators, tags, variation selectors, fillers. Joiners stay
// where emoji and scripts need them, and the selectors of text or emoji style
// after what they style; taking them away would change what is seen.
func isHidden(prev, r, next rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == zwj && isPicture(prev, true) && isPicture(next, false):
		return false
	case (r == zwj || r == zwnj) && isJoining(prev) && isJoining(next):
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return !unicode.In(prev, unicode.S, unicode.N, unicode.P)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isPicture reports whether r may stand before or after a joiner in an emoji.
func isPicture(r rune, before bool) bool {
	if before && (r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff) {
		return true // styled or coloured
	}
	return r > 0xff && unicode.In(r, unicode.So, unicode.Sm)
}

// isJoining reports whether r is of a script in which joiners shape letters.
func isJoining(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.L, unicode.M) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
