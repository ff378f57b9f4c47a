// Package wiretest helps to test the wires: servers that say exactly what
// they are told, bytes that come in any pieces, and streams that pause.
package wiretest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"weir/model"
)

// Server answers every request with a status, a header and a body.
func Server(t testing.TB, status int, header http.Header, body string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for k, v := range header {
			w.Header()[k] = v
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// Pieces is a transport whose response bodies come in pieces of the sizes in
// Sizes, over and over.
type Pieces struct {
	Next  http.RoundTripper
	Sizes []int
}

// RoundTrip implements [http.RoundTripper].
func (p *Pieces) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.Next.RoundTrip(r)
	if err == nil && len(p.Sizes) > 0 {
		resp.Body = &pieces{ReadCloser: resp.Body, sizes: p.Sizes}
	}
	return resp, err
}

type pieces struct {
	io.ReadCloser
	sizes []int
	n     int
}

func (p *pieces) Read(b []byte) (int, error) {
	size := p.sizes[p.n%len(p.sizes)]
	p.n++
	return p.ReadCloser.Read(b[:min(len(b), max(size, 1))])
}

// Pipe is a transport without a network: what is written to its W is the body
// of the one response, which begins when Begin is closed. It works in a
// synctest bubble, where time passes only while all wait.
type Pipe struct {
	Begin   chan struct{}
	W       *io.PipeWriter
	Drained bool // the body was read to its end
	r       *io.PipeReader
}

// NewPipe returns a pipe.
func NewPipe() *Pipe {
	r, w := io.Pipe()
	return &Pipe{Begin: make(chan struct{}), W: w, r: r}
}

// RoundTrip implements [http.RoundTripper].
func (p *Pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-p.Begin:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	stop := make(chan struct{})
	go func() {
		select {
		case <-r.Context().Done():
			p.r.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: &closer{pipe: p, close: sync.OnceFunc(func() { close(stop); p.r.Close() })},
	}, nil
}

type closer struct {
	pipe  *Pipe
	close func()
}

func (c *closer) Read(b []byte) (int, error) {
	n, err := c.pipe.r.Read(b)
	c.pipe.Drained = c.pipe.Drained || err == io.EOF
	return n, err
}

func (c *closer) Close() error { c.close(); return nil }

// Seen collects what was emitted: the texts of neighbouring events of a kind
// are joined.
type Seen struct {
	Text, Reasoning string
	Calls           []Call
	Events          int
}

// Call is a call as it was emitted.
type Call struct{ ID, Name, Input string }

// Emit takes an event.
func (s *Seen) Emit(e model.Event) error {
	s.Events++
	s.Text += e.Text
	s.Reasoning += e.Reasoning
	if e.Call != nil {
		s.Calls = append(s.Calls, Call{ID: e.Call.Call, Name: e.Call.Name})
	}
	if e.CallInput != "" {
		s.Calls[len(s.Calls)-1].Input += e.CallInput
	}
	return nil
}

// Events joins data lines to a stream.
func Events(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}
