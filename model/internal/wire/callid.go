package wire

import (
	"crypto/rand"
	"strings"
)

// maxCallID is the longest id of a tool call that is kept.
const maxCallID = 256

// CallID returns the id of a tool call, or one of our own where the provider
// gave none or one that cannot be an id. A call must have an id, because its
// result is found by it.
func CallID(id string) string {
	if id == "" || len(id) > maxCallID {
		return "call_" + strings.ToLower(rand.Text())
	}
	return id
}
