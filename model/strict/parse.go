package strict

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how deep values may be nested.
const maxDepth = 128

// Parse reads one JSON value that fills the body. It is stricter than
// encoding/json: the body is UTF-8, and no escape is half a surrogate pair.
func Parse(body []byte) (Value, error) {
	p := parser{in: body}
	v, err := p.value(0)
	if err == nil {
		p.space()
		if p.at < len(body) {
			err = p.fault("unexpected data after the end")
		}
	}
	if err != nil {
		return Value{}, invalid("The request body is not valid JSON: %s", err)
	}
	return v, nil
}

type parser struct {
	in []byte
	at int
}

func (p *parser) fault(what string) error {
	line := 1 + bytes.Count(p.in[:p.at], []byte("\n"))
	column := p.at - bytes.LastIndexByte(p.in[:p.at], '\n')
	return fmt.Errorf("%s: line %d column %d (char %d)", what, line, column, p.at)
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte there, 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at == len(p.in) {
		return 0
	}
	return p.in[p.at]
}

func (p *parser) value(depth int) (v Value, err error) {
	if depth > maxDepth {
		return v, p.fault("nested too deep")
	}
	c := p.next()
	v.Start = p.at
	switch {
	case c == '{':
		v.Kind = Object
		err = p.object(&v, depth)
	case c == '[':
		v.Kind = Array
		err = p.array(&v, depth)
	case c == '"':
		v.Kind = String
		v.Escaped, err = p.text()
	case c == '-' || (c >= '0' && c <= '9'):
		v.Kind = Number
		err = p.number()
	case c == 't':
		v.Kind, err = Bool, p.literal("true")
	case c == 'f':
		v.Kind, err = Bool, p.literal("false")
	case c == 'n':
		v.Kind, err = Null, p.literal("null")
	default:
		err = p.fault("unexpected character")
	}
	v.End = p.at
	return v, err
}

func (p *parser) object(v *Value, depth int) error {
	p.at++
	if p.next() == '}' {
		p.at++
		return nil
	}
	for {
		if p.next() != '"' {
			return p.fault("expected the name of a member")
		}
		m := Member{Span: Span{Start: p.at}}
		name := Value{Kind: String, Span: m.Span}
		var err error
		if name.Escaped, err = p.text(); err != nil {
			return err
		}
		name.End = p.at
		m.Name = name.Text(p.in)
		if p.next() != ':' {
			return p.fault("expected a colon")
		}
		p.at++
		if m.Value, err = p.value(depth + 1); err != nil {
			return err
		}
		m.End = p.at
		v.Members = append(v.Members, m)
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return nil
		default:
			return p.fault("expected a comma or the end of the object")
		}
	}
}

func (p *parser) array(v *Value, depth int) error {
	p.at++
	if p.next() == ']' {
		p.at++
		return nil
	}
	for {
		e, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Elements = append(v.Elements, e)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.fault("expected a comma or the end of the array")
		}
	}
}

// text reads a string and reports whether there are escapes in it.
func (p *parser) text() (escaped bool, err error) {
	start := p.at
	p.at++
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			if !utf8.Valid(p.in[start:p.at]) {
				return escaped, p.fault("invalid UTF-8 in string")
			}
			p.at++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return escaped, err
			}
		case c < ' ':
			return escaped, p.fault("control character in string")
		default:
			p.at++
		}
	}
	return escaped, p.fault("unterminated string")
}

func (p *parser) escape() error {
	rest := p.in[p.at+1:]
	if len(rest) == 0 {
		return p.fault("unterminated string")
	}
	if rest[0] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) < 0 {
			return p.fault("invalid escape")
		}
		p.at += 2
		return nil
	}
	r := hex4(rest[1:])
	switch {
	case r < 0:
		return p.fault("invalid escape")
	case r >= 0xDC00 && r < 0xE000:
		return p.fault("no high surrogate in string")
	case r >= 0xD800 && r < 0xDC00:
		low := rest[5:]
		if len(low) < 6 || low[0] != '\\' || low[1] != 'u' || hex4(low[2:]) < 0xDC00 || hex4(low[2:]) > 0xDFFF {
			return p.fault("no low surrogate in string")
		}
		p.at += 6
	}
	p.at += 6
	return nil
}

func (p *parser) literal(word string) error {
	if !bytes.HasPrefix(p.in[p.at:], []byte(word)) {
		return p.fault("unexpected character")
	}
	p.at += len(word)
	return nil
}

func (p *parser) number() error {
	if p.in[p.at] == '-' {
		p.at++
	}
	lead := p.at
	if p.digits() == 0 || (p.in[lead] == '0' && p.at-lead > 1) {
		return p.fault("invalid number")
	}
	if p.at < len(p.in) && p.in[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return p.fault("invalid number")
		}
	}
	if p.at < len(p.in) && (p.in[p.at] == 'e' || p.in[p.at] == 'E') {
		p.at++
		if p.at < len(p.in) && (p.in[p.at] == '+' || p.in[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return p.fault("invalid number")
		}
	}
	return nil
}

func (p *parser) digits() int {
	from := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	return p.at - from
}
