package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"weir"
)

// patience is how long a call waits for a server that is only starting.
const patience = 10 * time.Second

// Registry holds the tools that may be offered and called: its own, and those
// of its sources at the moment.
type Registry struct {
	tools   map[string]Tool
	defs    []Definition // by name
	sources []Source
	limits  Limits
	runs    sync.WaitGroup

	mu   sync.Mutex
	last *list // for as long as the sources give the same
}

// NewRegistry makes a registry of tools. A bad or doubled name and a schema
// that is not a JSON object are programming errors and refused.
func NewRegistry(l Limits, tools ...Tool) (*Registry, error) {
	r := &Registry{tools: map[string]Tool{}, limits: l.orDefaults()}
	for _, t := range tools {
		d := t.Definition()
		if _, twice := r.tools[d.Name]; twice {
			return nil, fmt.Errorf("tool: %q is there twice", d.Name)
		}
		if why := r.limits.fault(d); why != "" {
			return nil, fmt.Errorf("tool: %q: %s", d.Name, why)
		}
		r.tools[d.Name] = t
		r.defs = append(r.defs, d)
	}
	slices.SortFunc(r.defs, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// Definitions lists the tools of the moment by name. The caller must not
// change the list.
func (r *Registry) Definitions() []Definition { return r.now().defs }

// Offered is the list as JSON, to be frozen with an epoch; nil for no tools.
func (r *Registry) Offered() (json.RawMessage, error) {
	defs := r.Definitions()
	if len(defs) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(defs); err != nil {
		return nil, fmt.Errorf("tool: encode the definitions: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Alone reports whether calls of the named tool run beside no others.
func (r *Registry) Alone(name string) bool {
	t, _ := r.find(name)
	a, ok := t.(Alone)
	return ok && a.Alone()
}

// Run runs one call and returns its one result, at the latest at the deadline
// or when ctx ends. The tool is the one that has the name when the call
// begins; a change of the tools meanwhile does not touch it.
func (r *Registry) Run(ctx context.Context, name string, c Call) Result {
	t, ok := r.await(ctx, name)
	if !ok {
		return r.missing(name)
	}
	if !isObject(c.Input) {
		return fault("The arguments are not a JSON object, so %q was not run. Call it again with valid arguments.", name)
	}
	ctx, cancel := context.WithTimeout(ctx, r.limits.Deadline)
	defer cancel()
	done := make(chan Result, 1) // buffered: a late result has nobody to wait for
	r.runs.Add(1)
	go func() {
		defer r.runs.Done()
		done <- r.run(ctx, t, name, c)
	}()
	select {
	case res := <-done:
		return res
	case <-ctx.Done():
	}
	select { // a result that came at the same moment counts
	case res := <-done:
		return res
	default:
	}
	return r.unfinished(ctx, name)
}

// unfinished is the result of a call that ctx ended.
func (r *Registry) unfinished(ctx context.Context, name string) Result {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault("%q did not finish within %s; it may or may not have taken effect.", name, r.limits.Deadline)
	}
	return Interrupted()
}

// await finds a tool, and gives a server that claims its name and is only
// starting a moment to list it.
func (r *Registry) await(ctx context.Context, name string) (Tool, bool) {
	t, ok := r.find(name)
	if ok || !slices.ContainsFunc(r.sources, func(s Source) bool { c, claimed := s.Claim(name); return claimed && !c.Lacks }) {
		return t, ok
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.Ready(ctx) != nil {
		return nil, false
	}
	return r.find(name)
}

func (r *Registry) missing(name string) Result {
	for _, s := range r.sources {
		if c, ok := s.Claim(name); ok && c.Reason != "" {
			return fault("The tool %q is not available: %s", clean(name), c.Reason)
		}
	}
	return fault("The tool %q is not available.", clean(name))
}

// Interrupted is the result of a call that was begun and whose end nobody saw.
func Interrupted() Result {
	return Result{Text: "interrupted; it may or may not have taken effect", IsError: true}
}

// Wait waits until tools that outlived their calls have ended, or ctx has.
func (r *Registry) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { r.runs.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Registry) run(ctx context.Context, t Tool, name string, c Call) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = fault("%q failed.", name)
			res.Err = fmt.Errorf("tool: %s panicked: %v", name, p)
		}
	}()
	res, err := t.Run(ctx, c)
	var known *weir.Error
	switch {
	case err == nil:
	case errors.As(err, &known) && known.Public != "":
		res = Result{Text: known.Public, IsError: true}
	case ctx.Err() != nil:
		res = r.unfinished(ctx, name)
	default:
		res = fault("%q failed.", name)
	}
	res.Text, res.Full = bounded(res.Text, r.limits.ResultBytes, c.Artefact)
	res.Err = err
	return res
}

func fault(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// clean makes a name that came from a model fit to be shown on one line.
func clean(name string) string { return Bound(strings.ToValidUTF8(name, "\uFFFD"), 64) }

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
