package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Codes that the SDK gives to faults of its own, not of the server.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
)

// answered returns the error that a server answered with, if it did.
func answered(err error) (*jsonrpc.Error, bool) {
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code == codeClientClosing || e.Code == codeServerClosing || e.Code == codeRejected {
		return nil, false
	}
	return e, true
}

// reason says in words of our own why a server is not there. Nothing that the
// server said, and no address, header, argument or variable is repeated.
func (l *link) reason(err error) string {
	var path *fs.PathError
	var network *net.OpError
	refused, said := answered(err)
	status := l.status()
	switch {
	case l.meter.flooded():
		return "it sent more than it may and was cut off"
	case tooLong(err):
		return fmt.Sprintf("it sent a message of more than %d MiB", maxMessageBytes>>20)
	case said:
		return fmt.Sprintf("it refused (error %d)", refused.Code)
	case status >= 400 && status != 404 && status != 405:
		return fmt.Sprintf("it answered with HTTP status %d", status)
	case errors.Is(err, sdk.ErrSessionMissing):
		return "it ended the session"
	case status >= 400:
		return fmt.Sprintf("it answered with HTTP status %d", status)
	case l.conn == nil && (errors.Is(err, exec.ErrNotFound) || errors.As(err, &path)):
		return "its program cannot be started; look at its command"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case l.process != nil:
		if end := l.process.end(); end != "" {
			return "it ended (" + end + ")"
		}
	case errors.As(err, &network):
		return "it cannot be reached"
	}
	return "the connection to it was lost"
}

// tooLong knows the SDK's limits by their words; it has no names for them.
func tooLong(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, errTooLong.Error()) ||
		strings.Contains(text, "exceeded the configured maximum line length") || strings.Contains(text, "SSE event exceeded")
}
