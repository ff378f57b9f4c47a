package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"weir"
	"weir/tool"
)

// maxRefusalBytes bounds what a model reads of a server's refusal.
const maxRefusalBytes = 2 << 10

// remote is a tool of a server.
type remote struct {
	server     *server
	original   string // the server's name for it
	definition tool.Definition
}

func (r *remote) Definition() tool.Definition { return r.definition }

// Consent is what the configuration says of the server's tools; the server
// has no say in it.
func (r *remote) Consent() tool.Consent { return r.server.consent() }

func (s *server) consent() tool.Consent {
	if s.config.Approval == "" {
		return weir.Ask
	}
	return s.config.Approval
}

// Run sends the call as the model made it and waits for its answer. When ctx
// ends first, the server is told that nobody waits any more.
func (r *remote) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	l := r.server.connection()
	if l == nil {
		return tool.Result{Text: upper(r.server.absent()), IsError: true}, nil
	}
	l.calls.Add(1)
	defer l.calls.Add(-1)
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if t := r.server.config.Timeout; t > 0 {
		defer time.AfterFunc(t, func() { cancel(errTimeout) }).Stop()
	}
	defer context.AfterFunc(l.open, func() { cancel(errClosed) })()
	res, err := l.session.CallTool(call, &sdk.CallToolParams{Name: r.original, Arguments: c.Input})
	if err == nil {
		return resultOf(res), nil
	}
	return r.failed(call, l, err)
}

// Why a call is given up that its caller still waits for.
var (
	errTimeout = errors.New("mcp: the call takes longer than it may")
	errClosed  = errors.New("mcp: the connection has ended")
)

// failed says what became of a call that brought no result.
func (r *remote) failed(ctx context.Context, l *link, err error) (tool.Result, error) {
	name := r.server.config.Name
	if refused, said := answered(err); said {
		return tool.Result{Text: "The server refused the call: " + tool.Bound(refused.Message, maxRefusalBytes), IsError: true}, nil
	}
	switch context.Cause(ctx) {
	case nil, errClosed:
	case errTimeout:
		return tool.Result{}, weir.Fault(weir.Upstream, "tool_timeout", "The server %s did not answer within %s; the call may or may not have taken effect.", name, r.server.config.Timeout)
	default:
		return tool.Result{}, ctx.Err() // the caller no longer waits
	}
	signal(l.suspect)
	fault := weir.Fault(weir.Upstream, "tool_connection", "The connection to the server %s was lost during the call, which may or may not have taken effect.", name)
	if status := l.status(); status >= 400 {
		fault.Public = fmt.Sprintf("The server %s answered the call with HTTP status %d.", name, status)
	}
	fault.Op = r.server.scrub.text(err.Error())
	return tool.Result{}, fault
}

func upper(s string) string {
	if s == "" { // it came back between two looks
		s = "the connection was just made; try again."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
