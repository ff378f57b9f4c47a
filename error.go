package weir

import (
	"errors"
	"fmt"
)

// ErrorKind classes an error by what its receiver can do about it. The list
// only grows; doors map it to their own codes (HTTP status, exit code) in one
// table each.
type ErrorKind uint8

// The kinds of errors.
const (
	Internal        ErrorKind = iota // a fault of ours; nothing of it is shown
	Invalid                          // malformed
	Unauthenticated                  // who are you
	Forbidden                        // known, and not allowed
	NotFound                         // not there, or not for you
	Conflict                         // the world moved on, or a decision is missing
	Gone                             // was there
	TooLarge                         // over a size limit
	Unsupported                      // a media type we do not take
	Unprocessable                    // well formed, and against a rule
	Limited                          // too much, too fast
	Upstream                         // a provider or a source failed
	Unavailable                      // try again later
)

// Error is what reaches a person, and what stays in the log.
type Error struct {
	Kind   ErrorKind
	Code   string         // stable, snake_case
	Op     string         // where, for the log
	Public string         // one sentence that is safe to show and says what to do
	Extra  map[string]any // members of the problem document beside the fixed ones; safe to show
	Err    error          // cause, for the log only
}

func (e *Error) Error() string {
	s := e.Code
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Public != "" {
		s += ": " + e.Public
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Fault makes an error of a kind with a stable code and a text fit to show.
func Fault(kind ErrorKind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Public: fmt.Sprintf(format, args...)}
}

// With adds a member to the problem document and returns e.
func (e *Error) With(name string, value any) *Error {
	if e.Extra == nil {
		e.Extra = map[string]any{}
	}
	e.Extra[name] = value
	return e
}

// CodeOf returns the stable code of the first *Error in err's tree, or
// "internal" for any other error, or "" for nil.
func CodeOf(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return "internal"
}

// KindOf returns the kind of the first *Error in err's tree, else [Internal].
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// The codes that more than one room gives.
const (
	CodeConversationNotFound = "conversation_not_found"
	CodeMessageNotFound      = "message_not_found"
	CodeInputNotFound        = "input_not_found"
	CodeStepNotFound         = "step_not_found"
	CodeFenced               = "fenced"   // another holder has the lease
	CodeMoved                = "moved_on" // if_seq or revision is no longer current
	CodeInputConflict        = "input_conflict"
	CodeInputPromoted        = "input_promoted"
	CodeBusy                 = "conversation_busy"
)
