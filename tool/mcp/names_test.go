package mcp

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryNameFitsIsUniqueAndDoesNotDependOnItsNeighbours(t *testing.T) {
	fits := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[a-zA-Z0-9]{1,15}([_-][a-zA-Z0-9]{1,16})?`).Draw(t, "server")
		original := rapid.OneOf(rapid.StringN(1, 80, -1), rapid.StringMatching(`[a_.]{1,4}`), rapid.StringMatching(`[a-z]{40,70}`))
		originals := rapid.SliceOfN(original, 1, 20).Draw(t, "originals")
		names, refused := nameAll(server, originals)
		seen := map[string]string{}
		for _, o := range originals {
			name, named := names[o]
			if _, out := refused[o]; named == out {
				t.Fatalf("%q is named %q and refused with %q", o, name, refused[o])
			}
			if !named {
				continue
			}
			if !fits.MatchString(name) || !strings.HasPrefix(name, server+separator) || serverOf(name) != server {
				t.Fatalf("%q of %q is named %q", o, server, name)
			}
			if other, twice := seen[name]; twice && other != o {
				t.Fatalf("%q and %q are both named %q", o, other, name)
			}
			seen[name] = o
			if alone, _ := nameAll(server, []string{o}); alone[o] != name {
				t.Fatalf("%q is named %q here and %q alone", o, name, alone[o])
			}
		}
	})
}

func TestATakenNameIsRefusedWithAReason(t *testing.T) {
	odd := "a.b"
	taken := strings.TrimPrefix(offeredName("s", odd), "s"+separator)
	names, refused := nameAll("s", []string{odd, taken})
	if names[taken] != offeredName("s", odd) || names[odd] != "" || refused[odd] != "another tool has the name "+names[taken] {
		t.Errorf("named %v, refused %v", names, refused)
	}
}
