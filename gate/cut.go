package gate

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxQuote is the longest quote, in code points.
const maxQuote = 32_000

// cutSlack is how many code points a cut may give up to end between two
// grapheme clusters.
const cutSlack = 16

// cut returns s if it has at most limit code points, else its first limit
// ones, or up to cutSlack fewer where that does not tear a grapheme cluster.
// It reads no more of s than that and takes linear time.
func cut(s string, limit int) string {
	head := firstRunes(s, limit+1)
	if utf8.RuneCountInString(head) <= limit {
		return s
	}
	// The boundary after the limit depends on one more rune, no further.
	hard := firstRunes(head, limit)
	soft, at, runes, state := len(hard), 0, 0, -1
	found := false
	for rest := head; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		runes += utf8.RuneCountInString(cluster)
		if runes > limit {
			break
		}
		if runes > limit-cutSlack {
			soft, found = at, true
		}
	}
	if !found {
		return hard
	}
	return head[:soft]
}

// firstRunes returns at most the first n code points of s.
func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
