package fact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of what Canonical takes.
const (
	maxCanonicalBytes = 1 << 20
	maxCanonicalDepth = 64
)

// Canonical writes a JSON value in the one form of RFC 8785: no white space,
// members sorted by the UTF-16 units of their names, numbers as ECMAScript
// writes a double, strings with the fewest escapes. It refuses what that form
// is not defined for: members with the same name, numbers beyond a double,
// text that is not UTF-8, halves of surrogate pairs; and what is over 1 MiB or
// nested deeper than 64.
func Canonical(value json.RawMessage) (json.RawMessage, error) {
	if len(value) > maxCanonicalBytes {
		return nil, errors.New("fact: a JSON value over 1 MiB")
	}
	if !utf8.Valid(value) {
		return nil, errors.New("fact: a JSON value that is not UTF-8")
	}
	c := canon{in: value, out: make([]byte, 0, len(value))}
	err := c.value(0)
	if err == nil {
		if c.space(); c.at < len(c.in) {
			err = c.fault("more after the value")
		}
	}
	if err != nil {
		return nil, err
	}
	return c.out, nil
}

// bounded is Canonical with the limit of a fact's value.
func bounded(value json.RawMessage) (json.RawMessage, error) {
	v, err := Canonical(value)
	if err == nil && len(v) > MaxFact {
		return nil, errors.New("fact: a value over 64 KiB")
	}
	return v, err
}

type canon struct {
	in  []byte
	at  int
	out []byte
}

func (c *canon) fault(what string) error {
	return fmt.Errorf("fact: JSON at byte %d: %s", c.at, what)
}

func (c *canon) space() {
	for c.at < len(c.in) {
		switch c.in[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// next passes space and returns the byte after it, 0 at the end.
func (c *canon) next() byte {
	c.space()
	if c.at == len(c.in) {
		return 0
	}
	return c.in[c.at]
}

func (c *canon) value(depth int) error {
	if depth > maxCanonicalDepth {
		return c.fault("nested too deep")
	}
	switch b := c.next(); b {
	case '{':
		return c.object(depth)
	case '[':
		return c.array(depth)
	case '"':
		s, err := c.text()
		c.quote(s)
		return err
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *canon) word(w string) error {
	if !bytes.HasPrefix(c.in[c.at:], []byte(w)) {
		return c.fault("not a value")
	}
	c.at += len(w)
	c.out = append(c.out, w...)
	return nil
}

func (c *canon) array(depth int) error {
	c.at++
	c.out = append(c.out, '[')
	for n := 0; ; n++ {
		done, err := c.sep(n, ']')
		if err != nil || done {
			return err
		}
		if n > 0 {
			c.out = append(c.out, ',')
		}
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
}

// sep passes what stands before the n-th element: nothing or a comma, or the
// end, which it writes.
func (c *canon) sep(n int, end byte) (done bool, err error) {
	switch b := c.next(); {
	case b == end:
		c.at++
		c.out = append(c.out, end)
		return true, nil
	case n == 0:
		return false, nil
	case b == ',':
		c.at++
		return false, nil
	}
	return false, c.fault("neither a comma nor the end")
}

type member struct {
	units      []uint16 // of its name
	from, upto int      // of its bytes in out
}

// object writes the members in the order they come and then sorts their bytes.
func (c *canon) object(depth int) error {
	c.at++
	c.out = append(c.out, '{')
	begin := len(c.out)
	var members []member
	for n := 0; ; n++ {
		done, err := c.sep(n, '}')
		if err != nil {
			return err
		}
		if done {
			return c.sort(begin, members)
		}
		m, err := c.member(depth)
		if err != nil {
			return err
		}
		members = append(members, m)
	}
}

func (c *canon) member(depth int) (member, error) {
	if c.next() != '"' {
		return member{}, c.fault("a member without a name")
	}
	m := member{from: len(c.out)}
	name, err := c.text()
	if err != nil {
		return m, err
	}
	m.units = utf16.Encode([]rune(name))
	c.quote(name)
	if c.next() != ':' {
		return m, c.fault("a member without a value")
	}
	c.at++
	c.out = append(c.out, ':')
	err = c.value(depth + 1)
	m.upto = len(c.out)
	return m, err
}

// sort puts the members in order that were written from begin on; the closing
// brace stands after them.
func (c *canon) sort(begin int, members []member) error {
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	sorted := make([]byte, 0, len(c.out)-begin+len(members))
	for i, m := range members {
		if i > 0 {
			if slices.Equal(members[i-1].units, m.units) {
				return c.fault("two members with the same name")
			}
			sorted = append(sorted, ',')
		}
		sorted = append(sorted, c.out[m.from:m.upto]...)
	}
	c.out = append(append(c.out[:begin], sorted...), '}')
	return nil
}

func (c *canon) number() error {
	begin := c.at
	for c.at < len(c.in) && (c.in[c.at] >= '0' && c.in[c.at] <= '9' || bytes.IndexByte([]byte("+-.eE"), c.in[c.at]) >= 0) {
		c.at++
	}
	lit := c.in[begin:c.at]
	if !json.Valid(lit) { // ours alone would take 01 and .5
		c.at = begin
		return c.fault("not a value")
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		return c.fault("a number beyond a double")
	}
	c.out = appendNumber(c.out, f)
	return nil
}

// appendNumber writes a double as ECMAScript's Number::toString does.
func appendNumber(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0') // -0 too
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Go writes at least two digits of an exponent: e-07.
	if n := len(out); out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out = append(out[:n-2], out[n-1])
	}
	return out
}

// text reads a string.
func (c *canon) text() (string, error) {
	c.at++
	var s []byte
	for c.at < len(c.in) {
		switch b := c.in[c.at]; {
		case b == '"':
			c.at++
			return string(s), nil
		case b < 0x20:
			return "", c.fault("a control character in a string")
		case b == '\\':
			r, err := c.escape()
			if err != nil {
				return "", err
			}
			s = utf8.AppendRune(s, r)
		default:
			s = append(s, b)
			c.at++
		}
	}
	return "", c.fault("a string without an end")
}

func (c *canon) escape() (rune, error) {
	if c.at+1 >= len(c.in) {
		return 0, c.fault("a string without an end")
	}
	b := c.in[c.at+1]
	if b != 'u' {
		i := bytes.IndexByte([]byte(`"\/bfnrt`), b)
		if i < 0 {
			return 0, c.fault("an unknown escape")
		}
		c.at += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := c.unit(c.at)
	if !ok {
		return 0, c.fault("an unknown escape")
	}
	n := 6
	if utf16.IsSurrogate(r) {
		low, _ := c.unit(c.at + 6)
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return 0, c.fault("half of a surrogate pair")
		}
		n = 12
	}
	c.at += n
	return r, nil
}

// unit reads \uXXXX at an offset.
func (c *canon) unit(at int) (rune, bool) {
	if at+6 > len(c.in) || c.in[at] != '\\' || c.in[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range c.in[at+2 : at+6] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// quote writes a string.
func (c *canon) quote(s string) {
	c.out = append(c.out, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			c.out = append(c.out, '\\', b)
		case b >= 0x20:
			c.out = append(c.out, b)
		default:
			if j := bytes.IndexByte([]byte("\b\t\n\f\r"), b); j >= 0 {
				c.out = append(c.out, '\\', "btnfr"[j])
			} else {
				c.out = fmt.Appendf(c.out, `\u%04x`, b)
			}
		}
	}
	c.out = append(c.out, '"')
}
