package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	separator = "__"
	maxName   = 64
	hashed    = 8 // hexadecimal digits of a shortened name's hash
)

// offeredName makes the name under which a tool is offered. A name that fits
// as it is stays; any other is made to fit, and told apart from its like by a
// hash of the original, so that the same tool always has the same name.
func offeredName(server, original string) string {
	prefix := server + separator
	fits := strings.Map(func(r rune) rune {
		if r < 128 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, original)
	if fits == original && original != "" && len(prefix)+len(original) <= maxName {
		return prefix + original
	}
	sum := sha256.Sum256([]byte(original))
	room := maxName - len(prefix) - 1 - hashed
	return prefix + fits[:min(len(fits), room)] + "_" + hex.EncodeToString(sum[:])[:hashed]
}

// serverOf returns the server whose tool would have the name.
func serverOf(name string) string {
	server, _, found := strings.Cut(name, separator)
	if !found {
		return ""
	}
	return server
}

// nameAll gives each tool a name of its own: those that fit as they are come
// first, then the rest in the order of their originals. It returns the
// originals that got none, each with the reason.
func nameAll(server string, originals []string) (names map[string]string, refused map[string]string) {
	names, refused = map[string]string{}, map[string]string{}
	taken := map[string]bool{}
	sorted := slices.Sorted(slices.Values(originals))
	for _, exact := range []bool{true, false} {
		for _, o := range slices.Compact(sorted) {
			name := offeredName(server, o)
			if exact != (name == server+separator+o) {
				continue
			}
			if taken[name] {
				refused[o] = "another tool has the name " + name
				continue
			}
			taken[name], names[o] = true, name
		}
	}
	return names, refused
}
