package builtin

import (
	"encoding/json"
	"strings"
	"unicode"
)

// render decodes a value and says it. A value of another shape is an error, so
// that one from an older version is told anew.
func render[T any](value json.RawMessage, say func(T) string) (string, error) {
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.DisallowUnknownFields()
	var v T
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	return say(v), nil
}

// oneLine makes a name harmless in the middle of a text: control characters
// and line breaks become spaces, angle brackets go, 120 characters at most.
func oneLine(s string) string { return line(s, 120) }

func line(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "") {
		if n == most {
			break
		}
		switch {
		case r == '<' || r == '>', unicode.Is(unicode.Bidi_Control, r):
			continue
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}
