// Package strict reads the bodies of model requests and refuses what the
// vendors refuse, with their status codes and words. Where vendors differ or
// are said to, it is the stricter one; what it takes, all take.
//
// A body is read once, in time linear in its length, and nothing of it is
// copied: the result keeps where in the body everything stands, so that
// signatures and caches can be reckoned over the exact bytes. Reading has no
// state and is safe for concurrent use. A history is checked rule by rule in a
// fixed order and the first fault is given, as the vendors mostly do.
//
// Words that provider-facts.md records are the vendors' own; the rest follow
// their form.
package strict

import (
	"fmt"
	"net/http"
)

// MaxBody is the largest body that is taken.
const MaxBody = 32 << 20

// Refusal is why a request is not taken. It is an error.
type Refusal struct {
	Status  int
	Type    string // the vendor's type of error
	Code    string // of the OpenAI dialect
	Param   string // of the OpenAI dialect
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// invalid is a refusal with status 400.
func invalid(format string, args ...any) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// tooLarge is the refusal of a body over [MaxBody].
func tooLarge() *Refusal {
	return &Refusal{Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size"}
}

// Span is a range of bytes of a body.
type Span struct{ Start, End int }
