// Package wire is what the dialects have in common on the wire: one POST whose
// answer is an event stream, its deadlines, and what is said when it fails.
//
// The body goes out exactly as it was given, once; nothing here tries again.
// Redirects are not followed, because a body and a key are not for whoever an
// endpoint points at. Everything runs on the caller's goroutine. An answer may
// take as long as it likes while something comes: the deadlines are for its
// beginning and for the pause between two reads.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"weir/model"
	"weir/model/internal/sse"
)

// Call is one request.
type Call struct {
	Base   string // address of the endpoint
	Path   string // added to it
	Query  string // behind that, unless empty
	Header http.Header
	Secret string // never shown
	Body   []byte
	HTTP   *http.Client // nil: the standard one

	HeaderTimeout time.Duration // 0: ten minutes, for a local server reads a long prompt before it answers
	IdleTimeout   time.Duration // 0: five minutes

	// Classify reads a vendor's error document. Status is 200 for one that
	// came where a stream was due; nil means that it is not an error document.
	Classify func(status int, body []byte) *model.Error
}

// maxErrorBody is how much of an error document is read.
const maxErrorBody = 64 << 10

// The reasons for which this package ends a request.
var (
	errNoHeader = errors.New("wire: the answer did not begin in time")
	errIdle     = errors.New("wire: the stream paused for too long")
)

// Do sends the request and hands the stream to read. Its error is read's, or
// a *model.Error.
func Do(ctx context.Context, c Call, read func(*Stream) error) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	parent := ctx
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	s := &Stream{parent: parent, ctx: ctx, cancel: cancel, endpoint: endpointAt(c.Base, c.Secret), idle: or(c.IdleTimeout, 5*time.Minute), sent: c.Body}

	timer := time.AfterFunc(or(c.HeaderTimeout, 10*time.Minute), func() { cancel(errNoHeader) })
	resp, err := c.client().Do(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		return s.broken(err)
	}
	defer resp.Body.Close()
	s.body = resp.Body
	s.events = sse.NewReader(s, sse.Limits{})
	if fault := c.refused(resp, s); fault != nil {
		return fault
	}
	if err := read(s); err != nil {
		return err
	}
	s.drain()
	return nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

func (c *Call) request() (*http.Request, error) {
	base, err := url.Parse(strings.TrimSpace(c.Base))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, c.unusable()
	}
	if strings.ContainsFunc(c.Secret, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, &model.Error{Failure: model.FailAuth,
			Public: fmt.Sprintf("The key for the endpoint at %s holds characters that no key has; check the variable that api_key_env names.", endpointAt(c.Base, c.Secret).at)}
	}
	req, err := http.NewRequest(http.MethodPost, c.address(base), bytes.NewReader(c.Body))
	if err != nil {
		return nil, c.unusable()
	}
	req.Header = c.Header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity") // a compressed stream comes late and in lumps
	req.Header.Set("User-Agent", "weir")
	return req, nil
}

// address is where the request goes.
func (c *Call) address(base *url.URL) string {
	u := base.JoinPath(c.Path)
	if c.Query != "" {
		u.RawQuery = c.Query
	}
	return u.String()
}

// unusable names an address to which nothing can be sent. What is wrong with
// it is not repeated in the parser's words: they hold all of it.
func (c *Call) unusable() error {
	return &model.Error{Failure: model.FailUnknown, Public: fmt.Sprintf(
		"The address “%s” is not one of http:// or https:// that can be used; correct the provider's base_url.", endpointAt(c.Base, c.Secret).at)}
}

// client returns the given client, changed so that it follows no redirect.
func (c *Call) client() *http.Client {
	var hc http.Client
	if c.HTTP != nil {
		hc = *c.HTTP
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &hc
}

// refused returns what is wrong with a response that is not the stream.
func (c *Call) refused(resp *http.Response, s *Stream) *model.Error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusOK && media != "application/json" && media != "text/html":
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &model.Error{Failure: model.FailRefused, Status: resp.StatusCode, Public: fmt.Sprintf(
			"The endpoint at %s answered POST %s with a redirect, which is not followed; correct its base_url.", s.endpoint.at, resp.Request.URL.Path)}
	}
	body, err := io.ReadAll(io.LimitReader(s, maxErrorBody))
	if err != nil && s.parent.Err() != nil {
		return s.broken(err)
	}
	fault := c.Classify(resp.StatusCode, body)
	switch {
	case fault == nil && resp.StatusCode < 300:
		fault = &model.Error{Failure: model.FailRefused, Elsewhere: true, Public: fmt.Sprintf(
			"The endpoint at %s answered POST %s with %q instead of an event stream; check its base_url.", s.endpoint.at, resp.Request.URL.Path, media)}
	case fault == nil:
		fault = &model.Error{Failure: ByStatus(resp.StatusCode)}
		fallthrough
	default:
		fault.Objection, fault.Own = objection(fault.Failure, fault.Public, s.sent)
		fault.Public = s.endpoint.says(fault.Failure, resp.StatusCode, fault.Public)
	}
	fault.Status = resp.StatusCode
	fault.RetryAfter = max(fault.RetryAfter, RetryAfter(resp.Header, time.Now()))
	if id := resp.Header.Get("Request-Id") + resp.Header.Get("X-Request-Id"); id != "" && len(id) < 200 {
		fault.Err = fmt.Errorf("request id %q", id)
	}
	return fault
}

// Stream is the event stream of an answer.
type Stream struct {
	parent, ctx context.Context
	cancel      context.CancelCauseFunc
	body        io.Reader
	events      *sse.Reader
	idle        time.Duration
	endpoint    endpoint
	sent        []byte // the request
}

// Next returns the next event, [io.EOF] where the stream ends by itself, or
// a *model.Error.
func (s *Stream) Next() (sse.Event, error) {
	e, err := s.events.Next()
	switch {
	case err == nil, err == io.EOF:
		return e, err
	case errors.Is(err, sse.ErrTooLong):
		return e, &model.Error{Failure: model.FailTooMuch, Err: err, Public: "The answer was larger than is taken and was cut off; ask for less."}
	}
	return e, s.broken(err)
}

// Hurry shortens the pause that is allowed from here on.
func (s *Stream) Hurry(idle time.Duration) { s.idle = min(s.idle, idle) }

// Read reads from the body under the idle deadline. The clock runs only while
// something is waited for, not while the receiver works.
func (s *Stream) Read(b []byte) (int, error) {
	timer := time.AfterFunc(s.idle, func() { s.cancel(errIdle) })
	defer timer.Stop()
	return s.body.Read(b)
}

// drain reads the end of a body that is complete, so that its connection can
// serve again. It waits for no one.
func (s *Stream) drain() {
	s.Hurry(100 * time.Millisecond)
	io.Copy(io.Discard, io.LimitReader(s, maxErrorBody))
}

// broken says how a connection failed.
func (s *Stream) broken(err error) *model.Error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // its text without the address, which may hold a secret
	}
	fault := &model.Error{Failure: model.FailBroken, Err: err}
	cause := context.Cause(s.ctx)
	switch {
	case s.parent.Err() != nil:
		fault.Err = context.Cause(s.parent)
		fault.Public = "The request was cancelled."
	case errors.Is(cause, errNoHeader):
		fault.Err = cause
		fault.Public = "The endpoint at " + s.endpoint.at + " did not begin to answer in time; try again."
	case errors.Is(cause, errIdle):
		fault.Err = cause
		fault.Public = "The endpoint at " + s.endpoint.at + " stopped sending in the middle of its answer; try again."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		fault.Public = "The endpoint at " + s.endpoint.at + " closed the connection before its answer was complete; try again."
	default:
		fault.Public = s.endpoint.says(model.FailBroken, 0, err.Error())
	}
	return fault
}

// Fault makes an error that a provider announced in the middle of its stream.
func (s *Stream) Fault(failure model.Failure, message string) *model.Error {
	o, own := objection(failure, message, s.sent)
	return &model.Error{Failure: failure, Status: http.StatusOK, Objection: o, Own: own,
		Public: s.endpoint.says(failure, http.StatusOK, message)}
}

// Incomplete is the error of a stream that ended before its answer did.
func (s *Stream) Incomplete() *model.Error { return s.broken(io.ErrUnexpectedEOF) }

// Garbled is the error of an event that cannot be understood.
func (s *Stream) Garbled(err error) *model.Error {
	return &model.Error{Failure: model.FailBroken, Status: http.StatusOK, Err: err,
		Public: "The endpoint at " + s.endpoint.at + " sent something in its answer that cannot be understood; check its base_url and dialect."}
}
