package importer

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxTitle is the longest title, in code points.
const maxTitle = 80

// titleOf makes a title of a text: its first line that says anything, cut
// between grapheme clusters.
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if t := cutGraphemes(tidy(line)); t != "" {
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

func cutGraphemes(s string) string {
	kept, points := 0, 0
	for clusters := uniseg.NewGraphemes(s); clusters.Next(); {
		points += len(clusters.Runes())
		if points > maxTitle {
			break
		}
		_, kept = clusters.Positions()
	}
	if kept == 0 && s != "" { // one cluster, longer than any title
		return string([]rune(s)[:min(maxTitle, len([]rune(s)))])
	}
	return strings.TrimRight(s[:kept], " ")
}
