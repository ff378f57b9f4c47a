package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"weir"
)

// Bound cuts text to at most limit bytes: its head and its tail, with a line
// between them that says how much is left out. Cuts fall between code points;
// bytes that are not UTF-8 become replacement characters first, because a
// request is JSON.
func Bound(text string, limit int) string { return cut(text, limit, "") }

// bounded cuts a result, and gives the whole of what it had to cut: the model
// is told the artefact under which the caller keeps it.
func bounded(text string, limit int, artefact string) (short, full string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text, ""
	}
	where := ""
	if artefact != "" {
		where = "; the whole result is kept as artefact " + artefact
		if len(text) > weir.MaxArtefactBytes {
			where = fmt.Sprintf("; of %d bytes the first and last of %d MiB are kept as artefact %s", len(text), weir.MaxArtefactBytes>>20, artefact)
		}
	}
	return cut(text, limit, where), Bound(text, weir.MaxArtefactBytes)
}

func cut(text string, limit int, where string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	omission := func(n int) string { return fmt.Sprintf("\n[… %d bytes left out%s …]\n", n, where) }
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
