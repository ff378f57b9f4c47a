package modelview

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"weir"
)

// toolDefinition is one tool of an epoch's neutral form.
type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func neutralTools(e *weir.Epoch) ([]toolDefinition, error) {
	if len(bytes.TrimSpace(e.Tools)) == 0 {
		return nil, nil
	}
	var tools []toolDefinition
	if err := json.Unmarshal(e.Tools, &tools); err != nil {
		return nil, &weir.Error{Kind: weir.Internal, Code: "internal", Op: "modelview: tools of the epoch", Err: err}
	}
	for i := range tools {
		if len(tools[i].InputSchema) == 0 {
			tools[i].InputSchema = json.RawMessage(`{"type":"object"}`)
		}
	}
	return tools, nil
}

// hasTools reports whether a head lists tools. In a string the quotation marks
// would be escaped.
func hasTools(head []byte) bool { return bytes.Contains(head, []byte(`,"tools":[{`)) }

// separator is what stands before the i-th of several: first, or a comma.
func separator(i int, first string) string {
	if i == 0 {
		return first
	}
	return ","
}

// quoted returns what stands between prefix and the next quotation mark.
func quoted(b []byte, prefix string) (string, bool) {
	if !bytes.HasPrefix(b, []byte(prefix)) {
		return "", false
	}
	b = b[len(prefix):]
	if i := bytes.IndexByte(b, '"'); i >= 0 {
		b = b[:i]
	}
	return string(b), true
}

// objectEnd returns the length of the JSON object that b begins with.
func objectEnd(b []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// callsAmong returns the ids of those of the objects, joined by commas, that
// begin with call.
func callsAmong(objects []byte, call string) []string {
	if !bytes.Contains(objects, []byte(call)) {
		return nil
	}
	var ids []string
	for rest := objects; len(rest) > 0 && rest[0] == '{'; {
		if id, ok := quoted(rest, call); ok {
			ids = append(ids, id)
		}
		rest = bytes.TrimPrefix(rest[objectEnd(rest):], []byte(","))
	}
	return ids
}

// cacheKeySize is the longest prompt_cache_key in bytes.
const cacheKeySize = 64

// cacheKeyMember is the member of a tail that OpenAI's caches go by.
func cacheKeyMember(key string) string {
	if len(key) > cacheKeySize {
		key = digest([]byte(key))
	}
	return `,"prompt_cache_key":` + string(appendString(nil, key))
}

// digest is SHA-256 in hex.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
