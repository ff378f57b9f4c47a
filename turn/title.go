package turn

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// titleLength is the longest automatic title, in code points.
const titleLength = 80

// titleOf makes a title of a first message: its first line that says anything,
// white space and control characters reduced to single spaces, cut between
// grapheme clusters.
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if t := cutGraphemes(tidy(line), titleLength); t != "" {
			return t
		}
	}
	return ""
}

func tidy(line string) string {
	return strings.Join(strings.FieldsFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// cutGraphemes keeps whole clusters of at most limit code points altogether. A
// first cluster that is longer by itself is cut, or nothing would be left.
func cutGraphemes(s string, limit int) string {
	kept, points := 0, 0
	clusters := uniseg.NewGraphemes(s)
	for clusters.Next() {
		points += len(clusters.Runes())
		if points > limit {
			break
		}
		_, kept = clusters.Positions()
	}
	if kept == 0 && s != "" {
		return string([]rune(s)[:min(limit, len([]rune(s)))])
	}
	return strings.TrimRight(s[:kept], " ")
}
