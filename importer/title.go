package importer

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// A title is at most so long, in grapheme clusters, which people see as
// characters, and in code points, of which a cluster may hold any number.
const (
	maxTitle       = 80
	maxTitlePoints = 400
)

// titleOf makes a title of a text: its first line that says anything, cut
// behind a word, or between grapheme clusters, when it is longer than a title.
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if t := shortened(tidy(line)); t != "" {
			return t
		}
	}
	return ""
}

// tidy reduces white space and control characters to single spaces.
func tidy(line string) string {
	return strings.Join(strings.FieldsFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// shortened returns a tidy line as it is, or cut to the length of a title with
// an ellipsis at its end. It is cut behind the last word that fits, unless that
// would take more than half of it away.
func shortened(s string) string {
	kept, word := 0, 0 // where it may be cut
	seen, points := 0, 0
	for clusters := uniseg.NewGraphemes(s); clusters.Next(); {
		from, upto := clusters.Positions()
		if clusters.Str() == " " && seen < maxTitle && points < maxTitlePoints && seen >= maxTitle/2 {
			word = from
		}
		seen++
		points += len(clusters.Runes())
		if seen > maxTitle || points > maxTitlePoints {
			return cutAt(s, kept, word)
		}
		if seen < maxTitle && points < maxTitlePoints {
			kept = upto
		}
	}
	return s
}

func cutAt(s string, kept, word int) string {
	switch {
	case word > 0:
		kept = word
	case kept == 0: // one cluster, longer than any title
		kept = len(string([]rune(s)[:maxTitlePoints-1]))
	}
	return strings.TrimRight(s[:kept], " ,;:") + "…"
}
