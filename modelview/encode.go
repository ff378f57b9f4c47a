package modelview

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string: the short escapes, the rest of the
// control characters as \u00xx, everything else as it is. Bytes that are not
// UTF-8 cannot come from the store; here they would become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// appendEscaped writes what stands between the quotes.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendControl(dst, c)
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendObject writes the arguments of a tool call as a JSON object. What is
// not an object (see model.Arguments) is put into one, because every endpoint
// wants an object there.
func appendObject(dst []byte, input json.RawMessage) []byte {
	input = bytes.TrimSpace(input)
	switch {
	case len(input) == 0:
		return append(dst, "{}"...)
	case isObject(input):
		return appendJSON(dst, input)
	}
	text := string(input)
	if input[0] == '"' {
		var s string
		if json.Unmarshal(input, &s) == nil {
			text = s
		}
	}
	dst = append(dst, `{"malformed_arguments":`...)
	dst = appendString(dst, text)
	return append(dst, '}')
}

// isObject reports whether raw is one JSON object.
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' && json.Valid(raw) }

// appendJSON writes valid JSON compactly. Members keep their order and values
// their spelling, except for strings: escapes that stand for <, > and & only
// because a Go encoder was in the way become the character, and an escaped
// half of a surrogate pair, which providers refuse, becomes U+FFFD.
func appendJSON(dst []byte, raw []byte) []byte {
	inString := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case !inString:
			if c == '"' {
				inString = true
			}
			if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				dst = append(dst, c)
			}
			i++
		case c == '"':
			inString = false
			dst = append(dst, c)
			i++
		case c == '\\':
			var n int
			dst, n = appendEscape(dst, raw[i:])
			i += n
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// appendEscape writes the escape that esc begins with and returns its length.
func appendEscape(dst, esc []byte) ([]byte, int) {
	if esc[1] != 'u' {
		return append(dst, esc[0], esc[1]), 2
	}
	unit := codeUnit(esc)
	switch {
	case unit == '<' || unit == '>' || unit == '&':
		return append(dst, byte(unit)), 6
	case unit >= 0xD800 && unit < 0xDC00:
		if low := codeUnit(esc[6:]); low >= 0xDC00 && low < 0xE000 {
			return append(dst, esc[:12]...), 12
		}
		return append(dst, "\uFFFD"...), 6
	case unit >= 0xDC00 && unit < 0xE000:
		return append(dst, "\uFFFD"...), 6
	}
	return append(dst, esc[:6]...), 6
}

// codeUnit returns what the \uXXXX at the start of s stands for, -1 for none.
func codeUnit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var unit rune
	for _, c := range s[2:6] {
		d := strings.IndexByte(hexDigits, c|0x20)
		if c <= '9' {
			d = int(c - '0')
		}
		if d < 0 || d > 15 {
			return -1
		}
		unit = unit<<4 | rune(d)
	}
	return unit
}

// blank reports whether providers would call s empty: nothing in it but space.
func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) && (r < 0x1c || r > 0x1f) {
			return false
		}
	}
	return true
}
