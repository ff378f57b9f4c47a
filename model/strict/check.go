package strict

import (
	"slices"
	"strconv"
	"strings"
)

// place is where in a body something stands, as errors name it.
type place struct {
	up    *place
	name  string
	index int // used when name is empty
}

func (p *place) in(name string) *place { return &place{up: p, name: name} }
func (p *place) at(index int) *place   { return &place{up: p, index: index} }

// String spells a place as the Anthropic API does: messages.0.content.
func (p *place) String() string {
	var parts []string
	for ; p != nil; p = p.up {
		if p.name == "" {
			parts = append(parts, strconv.Itoa(p.index))
		} else {
			parts = append(parts, p.name)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// checker holds what is gathered on the way through an Anthropic body.
type checker struct {
	body  []byte
	rules Rules
	marks []Span // cache_control members, each with one comma
	found int    // marks, the one at the root included
	short bool   // a mark of five minutes was seen
}

// object checks that v is an object, and each of its members by field, which
// gives extra for a name it does not know.
func (c *checker) object(v *Value, p *place, field func(name string, v *Value, p *place) *Refusal, required ...string) *Refusal {
	if !v.Is(Object) {
		return invalid("%s: Input should be a valid dictionary", p)
	}
	for i := range v.Members {
		m := &v.Members[i]
		inner := p.in(m.Name)
		for j := range i {
			if v.Members[j].Name == m.Name {
				return invalid("%s: Duplicate member", inner)
			}
		}
		if r := field(m.Name, &m.Value, inner); r != nil {
			return r
		}
	}
	for _, name := range required {
		if v.Get(name) == nil {
			return invalid("%s: Field required", p.in(name))
		}
	}
	return nil
}

// markable is like object for a value that may carry a cache mark.
func (c *checker) markable(v *Value, p *place, field func(name string, v *Value, p *place) *Refusal, required ...string) *Refusal {
	return c.object(v, p, func(name string, m *Value, p *place) *Refusal {
		if name == "cache_control" {
			return c.mark(v, m, p)
		}
		return field(name, m, p)
	}, required...)
}

// mark checks and notes a cache mark of owner.
func (c *checker) mark(owner, v *Value, p *place) *Refusal {
	if v.Is(Null) {
		return nil
	}
	ttl := "5m"
	r := c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		switch name {
		case "type":
			return c.oneOf(v, p, "ephemeral")
		case "ttl":
			ttl = v.Text(c.body)
			return c.oneOf(v, p, "5m", "1h")
		}
		return extra(p)
	}, "type")
	if r != nil {
		return r
	}
	if ttl == "1h" && c.short {
		return invalid("%s: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "+
			"Note that blocks are processed in the following order: `tools`, `system`, `messages`.", p.in("ttl"))
	}
	c.short = c.short || ttl == "5m"
	c.found++
	c.marks = append(c.marks, cut(owner, "cache_control"))
	return nil
}

// cut is the span of a member with the one comma that goes with it.
func cut(owner *Value, name string) Span {
	for i := range owner.Members {
		m := &owner.Members[i]
		switch {
		case m.Name != name:
		case i > 0:
			return Span{owner.Members[i-1].End, m.End}
		case len(owner.Members) > 1:
			return Span{m.Start, owner.Members[1].Start}
		default:
			return m.Span
		}
	}
	return Span{}
}

func extra(p *place) *Refusal { return invalid("%s: Extra inputs are not permitted", p) }

func (c *checker) str(v *Value, p *place) *Refusal {
	if !v.Is(String) {
		return invalid("%s: Input should be a valid string", p)
	}
	return nil
}

// named checks a string that may not be empty.
func (c *checker) named(v *Value, p *place) *Refusal {
	if r := c.str(v, p); r != nil {
		return r
	}
	if v.End-v.Start == 2 {
		return invalid("%s: String should have at least 1 character", p)
	}
	return nil
}

func (c *checker) boolean(v *Value, p *place) *Refusal {
	if !v.Is(Bool) {
		return invalid("%s: Input should be a valid boolean", p)
	}
	return nil
}

func (c *checker) dictionary(v *Value, p *place) *Refusal {
	if !v.Is(Object) {
		return invalid("%s: Input should be a valid dictionary", p)
	}
	return nil
}

func (c *checker) list(v *Value, p *place) *Refusal {
	if !v.Is(Array) {
		return invalid("%s: Input should be a valid list", p)
	}
	return nil
}

func (c *checker) atLeast(v *Value, p *place, least int64) *Refusal {
	n, ok := v.Int(c.body)
	if !ok {
		return invalid("%s: Input should be a valid integer", p)
	}
	if n < least {
		return invalid("%s: Input should be greater than or equal to %d", p, least)
	}
	return nil
}

func (c *checker) oneOf(v *Value, p *place, words ...string) *Refusal {
	if v.Is(String) && slices.Contains(words, v.Text(c.body)) {
		return nil
	}
	return invalid("%s: Input should be %s", p, alternatives(words))
}

// alternatives spells 'a', 'b' or 'c'.
func alternatives(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return quoted[0]
}

// isName reports whether s is 1 to 64 of the letters every vendor takes in the
// name of a tool, and isID the same for ids, which may be longer.
func isName(s string) bool { return len(s) <= 64 && isID(s) }

// isProperty reports whether an argument of a tool may be called s.
func isProperty(s string) bool { return isName(strings.ReplaceAll(s, ".", "_")) }

func isID(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// blank reports whether a string value holds nothing but white space.
func (c *checker) blank(v *Value) bool {
	inner := c.body[v.Start+1 : v.End-1]
	if !v.Escaped && len(inner) > 0 && inner[0] > ' ' && inner[0] < 0x80 {
		return false // the common case, without a copy
	}
	return strings.TrimSpace(v.Text(c.body)) == ""
}
