package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"weir/fact"
)

// Server is a source of tools, as the model is told of it.
type Server struct {
	Name  string   `json:"name"`
	State string   `json:"state"` // starting, ready, failed
	Tools []string `json:"tools,omitempty"`
}

// Guidance is which tools there are: Weir's own, and those of the servers.
type Guidance struct {
	Tools   []string `json:"tools,omitempty"`
	Servers []Server `json:"servers,omitempty"`
}

// Tools is the fact core/tools: which tools there are and which servers are
// not there. Absent when there are neither.
func Tools(guidance func() Guidance) fact.Fact {
	return fact.Fact{
		Key: "core/tools",
		Observe: func(context.Context, fact.Subject) fact.Observation {
			g := guidance().tidy()
			if len(g.Tools) == 0 && len(g.Servers) == 0 {
				return fact.Observation{State: fact.Absent}
			}
			return fact.Observed(g)
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return render(v, func(g Guidance) string { return "About tools. " + g.say() })
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return render(v, func(g Guidance) string { return "The tools have changed. " + g.say() })
		},
		Removed: func(json.RawMessage) (string, error) { return "There are no tools any longer.", nil },
	}
}

// tidy copies g, sorted and harmless.
func (g Guidance) tidy() Guidance {
	names := func(in []string) []string {
		var out []string
		for _, n := range in {
			if n = oneLine(n); n != "" {
				out = append(out, n)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	t := Guidance{Tools: names(g.Tools)}
	for _, s := range g.Servers {
		t.Servers = append(t.Servers, Server{Name: oneLine(s.Name), State: oneLine(s.State), Tools: names(s.Tools)})
	}
	slices.SortFunc(t.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func (g Guidance) say() string {
	var parts []string
	if len(g.Tools) > 0 {
		parts = append(parts, "Tools of Weir itself: "+strings.Join(g.Tools, ", ")+".")
	}
	for _, s := range g.Servers {
		parts = append(parts, s.say())
	}
	return strings.Join(append(parts, "Only a tool that is listed with this request can be called."), " ")
}

func (s Server) say() string {
	switch {
	case s.State == "starting":
		return "The server " + s.Name + " is starting; its tools cannot be called yet."
	case s.State == "failed":
		return "The server " + s.Name + " has failed; its tools cannot be called until it is back."
	case len(s.Tools) == 0:
		return "The server " + s.Name + " has no tools."
	}
	return "The server " + s.Name + " has the tools " + strings.Join(s.Tools, ", ") + "."
}
