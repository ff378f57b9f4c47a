// Package strictpeer is a double of the model providers that is stricter than
// they are: an HTTP handler for the one method of its profile's dialect that
// refuses, with the vendors' status codes, error shapes and words, every
// history they refuse, signs reasoning over the exact prefix and simulates the
// prefix cache. Every end-to-end test talks to it.
//
// Bodies are recorded in the order in which they arrived whole, before they
// are judged. A script is consumed only by a request that was accepted. One
// peer may serve any number of requests at once; an answer that holds ends
// when its client goes.
package strictpeer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"weir/model"
	"weir/model/strict"
)

// Peer is the double. It is an [http.Handler] and safe for concurrent use.
type Peer struct {
	profile string
	key     string
	minimum int // tokens a cached prefix has at least
	step    int // tokens by which a cached prefix of the openai dialect grows
	jinja   bool
	obey    bool
	now     func() time.Time
	log     io.Writer
	signer  signer
	cache   markCache
	recent  recentPrompts
	thought thoughts
	breaks  breakCache
	made    made

	mu        sync.Mutex
	exchanges []*Exchange
	arrived   chan struct{} // closed and replaced when a body arrives
	queues    []*queue
	script    []Answer
	otherwise func(*Request) Answer
	list      []model.Listed // of GET /v1/models; nil: there is none
	calls     int            // ids of calls that were made
}

// Option changes how a peer behaves.
type Option func(*Peer)

// Key makes the peer demand this API key.
func Key(key string) Option { return func(p *Peer) { p.key = key } }

// CacheMinimum sets how many tokens a prefix must have to be cached. Without
// it that is as the vendor has it.
func CacheMinimum(tokens int) Option { return func(p *Peer) { p.minimum, p.step = tokens, 1 } }

// Jinja makes a template's refusal a fault of the server's, with status 500, as
// llama.cpp and Ollama have it. Who tries such a request again never stops.
func Jinja() Option { return func(p *Peer) { p.jinja = true } }

// Log makes the peer write a line about every request.
func Log(w io.Writer) Option { return func(p *Peer) { p.log = w } }

// Clock sets the clock by which cached prefixes grow old.
func Clock(now func() time.Time) Option { return func(p *Peer) { p.now = now } }

// New returns a peer of one of the profiles. Any other is a mistake in the
// test and panics.
func New(profile string, options ...Option) *Peer {
	p := &Peer{profile: profile, now: time.Now, log: io.Discard, arrived: make(chan struct{}),
		signer: signer("strictpeer"), cache: markCache{entries: map[digest]time.Time{}}, thought: thoughts{always: map[digest]bool{}},
		breaks: breakCache{entries: map[digest]time.Time{}}, made: made{after: map[string]string{}}}
	p.caches()
	for _, o := range options {
		o(p)
	}
	return p
}

// Keeps returns how many tokens of a prompt of so many the peer's cache keeps:
// none below its minimum, and whole steps.
func (p *Peer) Keeps(tokens int) int {
	if kept := tokens / p.step * p.step; kept >= p.minimum {
		return kept
	}
	return 0
}

// Exchange is one request and what was answered.
type Exchange struct {
	Header  http.Header
	Body    []byte
	Status  int    // 0 while it is being answered
	Refusal string // the message, when the peer refused by a rule
}

// Exchanges returns every exchange in order of arrival.
func (p *Peer) Exchanges() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Exchange, len(p.exchanges))
	for i, e := range p.exchanges {
		out[i] = *e
	}
	return out
}

// Bodies returns every body that arrived, accepted or not, in order of arrival.
func (p *Peer) Bodies() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies()
}

func (p *Peer) bodies() [][]byte {
	out := make([][]byte, len(p.exchanges))
	for i, e := range p.exchanges {
		out[i] = e.Body
	}
	return out
}

// Refusals returns the messages of requests that were refused by a rule; a
// test of a correct client ends by seeing none.
func (p *Peer) Refusals() []string {
	var out []string
	for _, e := range p.Exchanges() {
		if e.Refusal != "" {
			out = append(out, e.Refusal)
		}
	}
	return out
}

// Wait returns the bodies as soon as at least n have arrived.
func (p *Peer) Wait(ctx context.Context, n int) ([][]byte, error) {
	for {
		p.mu.Lock()
		bodies, arrived := p.bodies(), p.arrived
		p.mu.Unlock()
		if len(bodies) >= n {
			return bodies, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return bodies, context.Cause(ctx)
		}
	}
}

// record notes a body that arrived.
func (p *Peer) record(h http.Header, body []byte) (int, *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &Exchange{Header: h.Clone(), Body: body}
	p.exchanges = append(p.exchanges, e)
	close(p.arrived)
	p.arrived = make(chan struct{})
	return len(p.exchanges) - 1, e
}

func (p *Peer) settle(e *Exchange, status int, refusal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.Status, e.Refusal = status, refusal
	fmt.Fprintln(p.log, len(e.Body), "bytes:", status, refusal)
}

// dialect is what differs between protocols.
type dialect interface {
	// judge refuses the request or makes what answers it.
	judge(r *http.Request, body []byte) (*Request, sink, error)
	// refuse writes an error document.
	refuse(w http.ResponseWriter, r *strict.Refusal)
}

// sink turns acts into what the dialect sends.
type sink interface {
	begin() error
	act(a Act, pieces int) error
	fault(status int, message string) error
	end(reason string) error
	whole(a Answer) any // the response that is not streamed
	streams() bool
	out(io.Writer)
}

// ServeHTTP implements [http.Handler].
func (p *Peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, pattern := p.speaks()
	if p.serveList(w, r, d) {
		return
	}
	if ok, _ := path.Match(pattern, r.URL.Path); !ok {
		d.refuse(w, &strict.Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"})
		return
	}
	if r.Method != http.MethodPost {
		d.refuse(w, &strict.Refusal{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Message: "Method Not Allowed"})
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, strict.MaxBody+1))
	if err != nil {
		return // the client is gone
	}
	n, e := p.record(r.Header, body)
	request, sink, err := d.judge(r, body)
	if err == nil && !isJSON(r.Header) {
		err = &strict.Refusal{Status: http.StatusUnsupportedMediaType, Type: "invalid_request_error", Message: "Content-Type must be application/json"}
	}
	var refusal *strict.Refusal
	if errors.As(err, &refusal) {
		p.settle(e, refusal.Status, refusal.Message)
		d.refuse(w, refusal)
		return
	}
	request.N, request.Header, request.Body = n, e.Header, body
	p.perform(w, r, e, d, sink, p.answer(request))
}

func isJSON(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.TrimSpace(media) == "application/json"
}
