package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bound cuts text to at most limit bytes: its head and its tail, with a line
// between them that says how much is left out. Cuts fall between code points;
// bytes that are not UTF-8 become replacement characters first, because a
// request is JSON.
func Bound(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	// The line is made for the largest number it may have to carry, so that
	// the whole stays within the limit.
	room := limit - len(omission(len(text)))
	if room <= 0 {
		return text[:floor(text, max(limit, 0))]
	}
	head := floor(text, room*3/4)
	tail := ceil(text, len(text)-(room-head))
	return text[:head] + omission(tail-head) + text[tail:]
}

func omission(n int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", n) }

func floor(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func ceil(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}
