package strict

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a JSON value.
type Kind byte

// The types.
const (
	Null   Kind = 'n'
	Bool   Kind = 'b'
	Number Kind = '0'
	String Kind = 's'
	Array  Kind = 'a'
	Object Kind = 'o'
)

// Value is a JSON value and where it stands in its body.
type Value struct {
	Span
	Kind     Kind
	Escaped  bool     // a string with escapes in it
	Elements []Value  // of an array
	Members  []Member // of an object, in their order
}

// Member is one member of an object. Its span is from its name to the end of
// its value.
type Member struct {
	Span
	Name  string
	Value Value
}

// Get returns the value of the first member with a name, or nil.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Raw returns the bytes of a value.
func (v *Value) Raw(body []byte) []byte {
	if v == nil {
		return nil
	}
	return body[v.Start:v.End]
}

// Is reports whether a value is there and of a kind.
func (v *Value) Is(k Kind) bool { return v != nil && v.Kind == k }

// Text returns the text of a string, "" of anything else.
func (v *Value) Text(body []byte) string {
	if !v.Is(String) {
		return ""
	}
	inner := body[v.Start+1 : v.End-1]
	if !v.Escaped {
		return string(inner)
	}
	return unescape(inner)
}

// Int returns the value of a number that is an integer.
func (v *Value) Int(body []byte) (int64, bool) {
	if !v.Is(Number) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw(body)), 10, 64)
	return n, err == nil
}

// True reports whether a value is the literal true.
func (v *Value) True(body []byte) bool { return v.Is(Bool) && body[v.Start] == 't' }

// unescape reads the inside of a string that is known to be well formed.
func unescape(inner []byte) string {
	var out strings.Builder
	out.Grow(len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			out.WriteByte(inner[i])
			continue
		}
		i++
		switch inner[i] {
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'u':
			r := hex4(inner[i+1:])
			i += 4
			if r >= 0xD800 && r < 0xDC00 {
				r = (r-0xD800)<<10 + hex4(inner[i+3:]) - 0xDC00 + 0x10000
				i += 6
			}
			out.WriteRune(r)
		default:
			out.WriteByte(inner[i])
		}
	}
	return out.String()
}

// hex4 reads four hexadecimal digits, or returns -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// ended reports whether s ends in white space.
func ended(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(" \t\r\n", r)
}
