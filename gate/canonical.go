package gate

import (
	"strconv"
	"unicode/utf8"

	"weir"
)

// canonical writes JSON in the one spelling of RFC 8785, as far as digests
// need it: null, small integers, strings, arrays and scopes. Two values are
// equal exactly when their bytes are.
type canonical []byte

func (c *canonical) add(values ...any) {
	*c = append(*c, '[')
	for i, v := range values {
		if i > 0 {
			*c = append(*c, ',')
		}
		c.value(v)
	}
	*c = append(*c, ']')
}

func (c *canonical) value(v any) {
	switch v := v.(type) {
	case nil:
		*c = append(*c, "null"...)
	case int:
		*c = strconv.AppendInt(*c, int64(v), 10)
	case string:
		*c = appendString(*c, v)
	case []string:
		values := make([]any, len(v))
		for i, s := range v {
			values[i] = s
		}
		c.add(values...)
	case weir.Scope:
		c.scope(v)
	default:
		panic("gate: no canonical spelling for this type")
	}
}

// scope writes an object; its members stand in order of their names.
func (c *canonical) scope(s weir.Scope) {
	*c = append(*c, '{')
	if s.Category != "" {
		*c = append(*c, `"category":`...)
		*c = appendString(*c, s.Category)
		*c = append(*c, ',')
	}
	*c = append(*c, `"path":`...)
	c.value(plain(s.Path))
	*c = append(*c, '}')
}

// appendString spells a string as ECMAScript's JSON.stringify does. Bytes that
// are no UTF-8 cannot be spelt and read as U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\b':
			b = append(b, '\\', 'b')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\f':
			b = append(b, '\\', 'f')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// plain returns strings of any string type as strings.
func plain[S ~string](in []S) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}
