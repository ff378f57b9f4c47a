package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits bound what one call may take, and what may be offered. The zero value
// means the defaults.
type Limits struct {
	Deadline         time.Duration // of a call; 10 minutes
	ResultBytes      int           // to the model; 32 KiB
	Tools            int           // offered at once; 128, which is all that OpenAI takes
	DescriptionBytes int           // 16 KiB
	SchemaBytes      int           // 64 KiB
}

func (l Limits) orDefaults() Limits {
	if l.Deadline <= 0 {
		l.Deadline = 10 * time.Minute
	}
	for _, d := range []struct {
		of    *int
		value int
	}{{&l.ResultBytes, 32 << 10}, {&l.Tools, 128}, {&l.DescriptionBytes, 16 << 10}, {&l.SchemaBytes, 64 << 10}} {
		if *d.of <= 0 {
			*d.of = d.value
		}
	}
	return l
}

// fault says why a definition cannot be offered, or nothing. One that a
// provider refuses would make every request fail that lists it.
func (l Limits) fault(d Definition) string {
	if !validName(d.Name) {
		return "its name is not 1 to 64 letters, digits, _ and -, a letter or _ first"
	}
	return l.content(d)
}

// Check says why a definition cannot be offered within the default limits,
// whatever its name, or nothing. Sources ask it before they keep one.
func Check(d Definition) string { return Limits{}.orDefaults().content(d) }

func (l Limits) content(d Definition) string {
	switch {
	case len(d.Description) > l.DescriptionBytes:
		return fmt.Sprintf("its description is over %d bytes", l.DescriptionBytes)
	case !utf8.ValidString(d.Description) || strings.ContainsRune(d.Description, 0):
		return "its description is not UTF-8 text"
	case len(d.InputSchema) > l.SchemaBytes:
		return fmt.Sprintf("its input schema is over %d bytes", l.SchemaBytes)
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(d.InputSchema, &top) != nil || top == nil {
		return "its input schema is not a JSON object"
	}
	if string(top["type"]) != `"object"` {
		return `its input schema is not of "type": "object"`
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if _, there := top[key]; there {
			return "its input schema has " + key + " at the top, which providers refuse"
		}
	}
	if deep(d.InputSchema) {
		return fmt.Sprintf("its input schema has more than %d levels, which providers refuse", schemaLevels)
	}
	return property(top["properties"])
}

// schemaLevels is how deep a schema may go.
const schemaLevels = 64

// deep reports whether valid JSON has more levels than a schema may have.
func deep(schema json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(schema))
	for level := 0; ; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if level++; level > schemaLevels {
				return true
			}
		case json.Delim('}'), json.Delim(']'):
			level--
		}
	}
}

// property says which of a tool's arguments has a name that Anthropic refuses,
// or nothing.
func property(properties json.RawMessage) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(properties, &all) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !validProperty(name) {
			return fmt.Sprintf("its argument %q has a name that is not 1 to 64 letters, digits, _, - and ., which providers refuse", name)
		}
	}
	return ""
}

func validProperty(name string) bool {
	return len(name) >= 1 && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	})
}

// validName reports whether every provider takes the name for a tool's.
func validName(name string) bool {
	for _, b := range []byte(name) {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '_' && b != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64 && name[0] != '-' && (name[0] < '0' || name[0] > '9') // the first is Gemini's rule
}
