package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir"
)

// Consent says whether calls of a tool run unasked: one of [weir.Allow],
// [weir.Ask] and [weir.Deny].
type Consent = weir.Decision

// Asks is for tools whose calls do not simply run.
type Asks interface{ Consent() Consent }

// Source is a supplier of tools that come and go, such as the servers of a
// protocol. What it says of its tools is data from outside: the registry
// offers what keeps to the [Limits] and leaves the rest out with a reason.
type Source interface {
	// Tools lists the tools of the moment. A list once given does not change:
	// when the tools do, it is another slice. A tool in it may be called as
	// long as anyone holds it.
	Tools() []Tool
	// Servers lists where they come from, by name.
	Servers() []Server
	// Ready waits until no server is starting for the first time, or ctx ends.
	Ready(ctx context.Context) error
	// Claim tells whose a name is that no tool of the moment has, so that a
	// call of one that is not there yet, or no longer, is neither run unasked
	// nor refused without a reason.
	Claim(name string) (c Claim, ok bool)
}

// Claim is what a source knows of a name that no tool of the moment has.
type Claim struct {
	Consent Consent
	Reason  string // why it is not there; empty: nothing is known
	Lacks   bool   // its server is there and has no such tool: nothing is to be waited for
}

// The states of a server.
const (
	ServerStarting = "starting"
	ServerReady    = "ready"
	ServerFailed   = "failed" // it is tried again
)

// Server is one supplier of tools as a person may see it.
type Server struct {
	Name    string
	State   string   // starting, ready, failed
	Reason  string   // why it is not ready; fit to show
	Tools   []string // offered, by name
	LeftOut []string // tools that are not offered, each with the reason; fit to show
}

// AddSource adds a source. It is called before the registry is used.
func (r *Registry) AddSource(s Source) { r.sources = append(r.sources, s) }

// Ready waits until no source has a server that starts for the first time, or
// ctx ends.
func (r *Registry) Ready(ctx context.Context) error {
	for _, s := range r.sources {
		if err := s.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Servers lists the sources' servers by name, with what is left out of theirs.
func (r *Registry) Servers() []Server {
	if len(r.sources) == 0 {
		return nil
	}
	left := r.now().left
	var all []Server
	for _, s := range r.sources {
		for _, v := range s.Servers() {
			v.Tools, v.LeftOut = slices.Clone(v.Tools), slices.Clone(v.LeftOut)
			v.Tools = slices.DeleteFunc(v.Tools, func(name string) bool {
				why, out := left[name]
				if out {
					v.LeftOut = append(v.LeftOut, why)
				}
				return out
			})
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Consent says whether a call of the named tool runs unasked. A name that
// nobody claims is allowed: its call runs nothing.
func (r *Registry) Consent(name string) Consent {
	if t, ok := r.find(name); ok {
		if a, ok := t.(Asks); ok {
			return a.Consent()
		}
		return weir.Allow
	}
	for _, s := range r.sources {
		if c, ok := s.Claim(name); ok {
			return c.Consent
		}
	}
	return weir.Allow
}

// Lacks reports whether it is known that nothing has the name, with the result
// of a call of it: there is nothing to be asked or waited for.
func (r *Registry) Lacks(name string) (Result, bool) {
	if _, ok := r.find(name); ok {
		return Result{}, false
	}
	for _, s := range r.sources {
		if c, ok := s.Claim(name); ok && !c.Lacks {
			return Result{}, false
		}
	}
	return r.missing(name), true
}

// list is what is offered at one moment.
type list struct {
	from  [][]Tool // the sources' lists that it was made of
	tools map[string]Tool
	defs  []Definition      // by name
	left  map[string]string // name to the reason
}

// now composes the list of the moment: the registry's own tools, then those
// of the sources in their order, as far as they keep to the limits.
func (r *Registry) now() *list {
	from := make([][]Tool, len(r.sources))
	for i, s := range r.sources {
		from[i] = s.Tools()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && slices.EqualFunc(r.last.from, from, same) {
		return r.last
	}
	l := &list{from: from, tools: maps.Clone(r.tools), defs: slices.Clone(r.defs), left: map[string]string{}}
	for _, tools := range from {
		for _, t := range tools {
			r.admit(l, t)
		}
	}
	slices.SortFunc(l.defs, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	r.last = l
	return l
}

// same reports whether two lists are one slice.
func same(a, b []Tool) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (r *Registry) admit(l *list, t Tool) {
	d := t.Definition()
	_, twice := l.tools[d.Name]
	switch {
	case twice:
		return // the first one keeps the name; sources see to theirs
	case len(l.defs) >= r.limits.Tools:
		l.left[d.Name] = fmt.Sprintf("%s: more than %d tools are offered", clean(d.Name), r.limits.Tools)
		return
	}
	if why := r.limits.fault(d); why != "" {
		l.left[d.Name] = clean(d.Name) + ": " + why
		return
	}
	l.tools[d.Name] = t
	l.defs = append(l.defs, d)
}

// find returns the tool that has the name at the moment.
func (r *Registry) find(name string) (Tool, bool) {
	t, ok := r.now().tools[name]
	return t, ok
}
