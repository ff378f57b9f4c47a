package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"weir"
)

// statusOf is the one table from kinds of errors to HTTP.
func statusOf(k weir.ErrorKind) int {
	switch k {
	case weir.Invalid:
		return http.StatusBadRequest
	case weir.Unauthenticated:
		return http.StatusUnauthorized
	case weir.Forbidden:
		return http.StatusForbidden
	case weir.NotFound:
		return http.StatusNotFound
	case weir.Conflict:
		return http.StatusConflict
	case weir.Gone:
		return http.StatusGone
	case weir.TooLarge:
		return http.StatusRequestEntityTooLarge
	case weir.Unsupported:
		return http.StatusUnsupportedMediaType
	case weir.Unprocessable:
		return http.StatusUnprocessableEntity
	case weir.Limited:
		return http.StatusTooManyRequests
	case weir.Upstream:
		return http.StatusBadGateway
	case weir.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem is what a client gets instead of what it asked for (RFC 9457).
type problem struct {
	Status int
	Code   string
	Detail string
	Extra  map[string]any
}

const internalDetail = "Something went wrong inside the server. Try again; if it stays, the server's log says more under this request's id."

// problemOf is what err looks like from outside.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var e *weir.Error
	if errors.As(err, &e) {
		return &problem{Status: statusOf(e.Kind), Code: e.Code, Detail: e.Public, Extra: e.Extra}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &problem{Status: http.StatusServiceUnavailable, Code: "deadline",
			Detail: "The server did not get done in time. Try again."}
	}
	return &problem{Status: http.StatusInternalServerError, Code: "internal"}
}

// MarshalJSON writes the fixed members in their order, then the others by name.
func (p *problem) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	member := func(name string, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":`)
		b.Write(data)
		return nil
	}
	detail := p.Detail
	if detail == "" {
		detail = internalDetail
	}
	fixed := []struct {
		name string
		v    any
	}{
		{"type", "urn:weir:problem:" + p.Code}, {"title", http.StatusText(p.Status)},
		{"status", p.Status}, {"detail", detail}, {"code", p.Code},
	}
	for _, m := range fixed {
		if err := member(m.name, m.v); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if slices.ContainsFunc(fixed, func(m struct {
			name string
			v    any
		}) bool {
			return m.name == name
		}) {
			continue
		}
		if err := member(name, p.Extra[name]); err != nil {
			return nil, err
		}
	}
	return slices.Concat([]byte{'{'}, b.Bytes(), []byte{'}'}), nil
}

func (p *problem) Error() string { return p.Code }

// GetStatus is for huma.
func (p *problem) GetStatus() int { return p.Status }

// ContentType is for huma.
func (p *problem) ContentType(string) string { return "application/problem+json" }

// Schema documents a problem: the fixed members; others depend on the code.
func (p *problem) Schema(huma.Registry) *huma.Schema {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	return &huma.Schema{
		Type:                 huma.TypeObject,
		Description:          "RFC 9457 problem. Some codes bring members of their own, such as previews, confirmation and digest.",
		AdditionalProperties: true,
		Required:             []string{"type", "title", "status", "detail", "code"},
		Properties: map[string]*huma.Schema{
			"type":   text("URN of the code."),
			"title":  text("Words for the status."),
			"status": {Type: huma.TypeInteger, Description: "HTTP status."},
			"detail": text("One sentence that says what to do."),
			"code":   text("Stable, snake_case."),
		},
	}
}

// refuse answers with what err looks like from outside.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := s.noted(r.Context(), err)
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"type":"urn:weir:problem:internal","title":"Internal Server Error","status":500,"code":"internal"}`)
		p = &problem{Status: http.StatusInternalServerError}
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Encoding")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(body, '\n'))
	}
}

// noted turns err into a problem and notes its code for the log; the cause of
// a fault of ours goes there too, and nowhere else.
func (s *server) noted(ctx context.Context, err error) *problem {
	p := problemOf(err)
	note := noteOf(ctx)
	note.code = p.Code
	if p.Status == http.StatusInternalServerError && ctx.Err() == nil {
		var e *weir.Error
		op, cause := "", err
		if errors.As(err, &e) {
			op, cause = e.Op, e.Err
		}
		s.cfg.Log.ErrorContext(ctx, "request failed", slog.String("request", note.id),
			slog.String("code", p.Code), slog.String("op", op), slog.Any("cause", cause))
	}
	return p
}

// The refusals of the API itself.

func bodyInvalid(format string, args ...any) *weir.Error {
	return weir.Fault(weir.Invalid, "body_invalid", format, args...)
}

func parameterInvalid(format string, args ...any) *weir.Error {
	return weir.Fault(weir.Invalid, "parameter_invalid", format, args...)
}

func noConversation() *weir.Error {
	return weir.Fault(weir.NotFound, weir.CodeConversationNotFound,
		"There is no such conversation. Look it up in the list.")
}

func noMessage() *weir.Error {
	return weir.Fault(weir.NotFound, weir.CodeMessageNotFound, "There is no such message in this conversation.")
}

func noStep() *weir.Error {
	return weir.Fault(weir.NotFound, weir.CodeStepNotFound, "There is no such step in this conversation.")
}

func noInput() *weir.Error {
	return weir.Fault(weir.NotFound, weir.CodeInputNotFound, "There is no such input in this conversation.")
}

func noCall() *weir.Error {
	return weir.Fault(weir.NotFound, "call_not_found", "No such call waits for a decision in this conversation.")
}

func noArtefact() *weir.Error {
	return weir.Fault(weir.NotFound, "artefact_not_found", "There is no such artefact in this conversation.")
}

func mayNotDecide() *weir.Error {
	return weir.Fault(weir.Forbidden, "may_not_decide",
		"Only a person may decide about a tool's calls; sign in with the owner's token or on the page.")
}
