package importer

import (
	"bytes"
	"unicode/utf8"
)

var replacement = []byte("\ufffd")

// repair returns the line as text: what is not valid UTF-8, escapes of lone
// surrogates and escaped or raw NULs are replaced by U+FFFD and counted. Go's
// JSON decoder would replace the first two without a word, and only in strings
// that it decodes.
func (c *Repaired) repair(b []byte) []byte {
	if utf8.Valid(b) && !bytes.Contains(b, []byte(`\u`)) && bytes.IndexByte(b, 0) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\' && i+1 < len(b):
			unit, size := escapedUnit(b[i:])
			low, _ := escapedUnit(b[min(i+size, len(b)):])
			switch {
			case isHigh(unit) && isLow(low):
				size += 6
				out = append(out, b[i:i+size]...)
			case isHigh(unit) || isLow(unit):
				c.LoneSurrogates++
				out = append(out, replacement...)
			case unit == 0:
				c.NUL++
				out = append(out, replacement...)
			default:
				out = append(out, b[i:i+size]...)
			}
			i += size
		case b[i] == 0:
			c.NUL++
			out = append(out, replacement...)
			i++
		case b[i] < utf8.RuneSelf:
			out = append(out, b[i])
			i++
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				c.InvalidUTF8++
				out = append(out, replacement...)
			} else {
				out = append(out, b[i:i+size]...)
			}
			i += size
		}
	}
	return out
}

func isHigh(unit int) bool { return 0xd800 <= unit && unit < 0xdc00 }
func isLow(unit int) bool  { return 0xdc00 <= unit && unit < 0xe000 }

// escapedUnit returns the value and size of the \u escape at the front of b.
// Of any other escape it returns -1 and 2, of no escape -1 and 0.
func escapedUnit(b []byte) (unit, size int) {
	if len(b) < 2 || b[0] != '\\' {
		return -1, 0
	}
	if b[1] != 'u' || len(b) < 6 {
		return -1, 2
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			unit = unit<<4 | int(c-'0')
		case 'a' <= c && c <= 'f':
			unit = unit<<4 | int(c-'a'+10)
		case 'A' <= c && c <= 'F':
			unit = unit<<4 | int(c-'A'+10)
		default:
			return -1, 2
		}
	}
	return unit, 6
}
