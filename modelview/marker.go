package modelview

import (
	"strings"
	"unicode"
)

// Where an endpoint takes no system message in mid-conversation, an update is
// marked text on the user's side. What the marker means is stated in the
// baseline, which is the same for all endpoints and outlives a switch between
// them; so that no other text can pass for one, the marker's "<" is escaped
// wherever else it stands on the user's side, in every mode, whatever space or
// invisible characters stand before its name.
const (
	markerName  = "system-update"
	markerOpen  = "<" + markerName + ">"
	markerClose = "</" + markerName + ">"
)

// marked returns an update's text inside the marker.
func marked(text string) string {
	return markerOpen + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text) + markerClose
}

// unmarked returns text in which nothing is a marker.
func unmarked(text string) string {
	start, from := 0, 0
	var b strings.Builder
	for {
		i := strings.IndexByte(text[from:], '<')
		if i < 0 {
			break
		}
		i += from
		from = i + 1
		if !opensMarker(text[from:]) {
			continue
		}
		b.WriteString(text[start:i])
		b.WriteString("&lt;")
		start = from
	}
	if start == 0 {
		return text
	}
	b.WriteString(text[start:])
	return b.String()
}

// opensMarker reports whether rest, which follows a "<", reads as the marker.
func opensMarker(rest string) bool {
	rest = strings.TrimLeftFunc(rest, func(r rune) bool {
		return r == '/' || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zs, unicode.Mn)
	})
	return len(rest) >= len(markerName) && strings.EqualFold(rest[:len(markerName)], markerName)
}
