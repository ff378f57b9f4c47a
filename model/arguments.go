package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Arguments makes the input of a tool call of the text a model wrote as its
// arguments. Where the text is a JSON object, it is that object, compact, with
// its members in their order and spelling. Anything else (broken JSON, another
// type, an escape that stands for no character, more levels than endpoints
// read) becomes a JSON string that
// holds the raw text, because a broken RawMessage could not be stored and
// would void every later request. So the input of a stored call is an object
// or a string, and a string means: settle this call as an error; see
// [Malformed]. Empty text is the empty object, which is how some endpoints
// spell a call without arguments.
func Arguments(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return json.RawMessage(`{}`)
	}
	if trimmed[0] == '{' && json.Valid([]byte(trimmed)) && utf8.ValidString(trimmed) && !loneSurrogate(trimmed) && !deep(trimmed) {
		return Stable([]byte(trimmed))
	}
	raw, _ := json.Marshal(text)
	return raw
}

// maxDepth is how many levels arguments may have. Endpoints bound the levels of
// a whole request, some at 128.
const maxDepth = 64

// deep reports whether valid JSON has more levels than arguments may have.
func deep(s string) bool {
	level := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if level++; level > maxDepth {
				return true
			}
		case '}', ']':
			level--
		}
	}
	return false
}

// Malformed returns the raw text of arguments that were not a JSON object.
func Malformed(input json.RawMessage) (text string, malformed bool) {
	if len(input) == 0 || input[0] != '"' {
		return "", false
	}
	if err := json.Unmarshal(input, &text); err != nil {
		return string(input), true
	}
	return text, true
}

// Stable spells valid JSON so that encoding/json writes it back byte for byte
// when it stands as a RawMessage in a larger value, with or without HTML
// escaping: compact, and with <, >, &, U+2028 and U+2029 escaped. Bytes that a
// provider signed must not change their spelling between the wire, the store
// and the wire again.
func Stable(raw []byte) json.RawMessage {
	var compact, escaped bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return json.RawMessage(raw)
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return escaped.Bytes()
}

// loneSurrogate reports whether valid JSON contains an escaped surrogate
// without its other half. encoding/json takes it, providers refuse it.
func loneSurrogate(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		unit := surrogate(s, i)
		switch {
		case unit == 0:
			i++
		case unit >= 0xDC00:
			return true
		default:
			if surrogate(s, i+6) < 0xDC00 {
				return true
			}
			i += 11
		}
	}
	return false
}

// surrogate returns the surrogate that the escape at i stands for, or 0.
func surrogate(s string, i int) rune {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0
	}
	var unit rune
	for _, c := range []byte(s[i+2 : i+6]) {
		unit <<= 4
		switch {
		case c <= '9':
			unit += rune(c - '0')
		case c >= 'a':
			unit += rune(c-'a') + 10
		default:
			unit += rune(c-'A') + 10
		}
	}
	if unit < 0xD800 || unit > 0xDFFF {
		return 0
	}
	return unit
}
