// Package strictpeer is a double of the model providers that is stricter than
// they are: an HTTP handler for POST /v1/messages and POST /v1/chat/completions
// that refuses, with the vendors' status codes, error shapes and words, every
// history they refuse, signs reasoning over the exact prefix and simulates the
// prefix cache. Every end-to-end test talks to it.
package strictpeer

import (
	"context"
	"net/http"
)

// The profiles.
const (
	Anthropic    = "anthropic"     // mid-conversation system messages
	AnthropicOld = "anthropic-old" // none
	OpenAIChat   = "openai-chat"
)

// Peer is the double. It is an [http.Handler] and safe for concurrent use.
type Peer struct{ profile string }

// New returns a peer of one of the profiles.
func New(profile string, options ...Option) *Peer { return &Peer{profile: profile} }

// Option changes how a peer behaves.
type Option func(*Peer)

// ServeHTTP implements [http.Handler].
func (p *Peer) ServeHTTP(w http.ResponseWriter, r *http.Request) { panic("not yet") }

// Request is a request that was accepted, as scripts see it.
type Request struct {
	N      int         // its place in order of arrival, from 0
	Header http.Header //
	Body   []byte      // exact
	Model  string      // as the endpoint calls it
	First  string      // text of the first user message
	Last   string      // all texts after the last assistant message, a blank line between
}

// Match says whether a script is for a request.
type Match func(*Request) bool

// Saying matches requests whose newest user side contains s.
func Saying(s string) Match { panic("not yet") }

// Opening matches requests of conversations whose first user message contains s.
func Opening(s string) Match { panic("not yet") }

// Act is one thing that an answer does. Act values are made by [Say], [Think],
// [Redacted], [Call], [Hold], [Fail], [Abort], [Cut], [Stop], [Pieces] and [Raw].
type Act struct{}

// Answer is what a peer does about one request, in order. Without a [Stop] it
// ends as such an answer would.
type Answer []Act

// Say streams text. Neighbours continue one block.
func Say(text string) Act { panic("not yet") }

// Think streams reasoning, signed where the dialect signs.
func Think(text string) Act { panic("not yet") }

// Call streams a tool call; the arguments are sent as they are, well formed or not.
func Call(id, name, arguments string) Act { panic("not yet") }

// Hold waits until the channel is closed or yields, or the client is gone.
func Hold(until <-chan struct{}) Act { panic("not yet") }

// Fail refuses with an HTTP status before any output, or breaks the stream with
// an error event after. An empty message is the vendor's usual one.
func Fail(status int, message string, retryAfter ...string) Act { panic("not yet") }

// Abort drops the connection, before or amid the output.
func Abort() Act { panic("not yet") }

// Cut ends the stream cleanly, without what should come.
func Cut() Act { panic("not yet") }

// Stop gives the reason the answer ends, in the dialect's word.
func Stop(reason string) Act { panic("not yet") }

// Pieces sets how many code points a delta carries from here on.
func Pieces(n int) Act { panic("not yet") }

// Script queues answers for the next requests, whoever asks.
func (p *Peer) Script(answers ...Answer) { panic("not yet") }

// When queues answers for requests that match; it is asked before Script.
func (p *Peer) When(match Match, answers ...Answer) { panic("not yet") }

// Otherwise sets the answer to requests for which nothing is queued. Without
// it the peer repeats deterministically what it was told last.
func (p *Peer) Otherwise(answer func(*Request) Answer) { panic("not yet") }

// Bodies returns every body that arrived, accepted or not, in order of arrival.
func (p *Peer) Bodies() [][]byte { panic("not yet") }

// Wait returns the bodies as soon as n have arrived.
func (p *Peer) Wait(ctx context.Context, n int) ([][]byte, error) { panic("not yet") }

// Exchange is one request and what was answered.
type Exchange struct {
	Header  http.Header
	Body    []byte
	Status  int    // 0 while it is being answered
	Refusal string // the message, when the peer refused by a rule
}

// Exchanges returns every exchange in order of arrival.
func (p *Peer) Exchanges() []Exchange { panic("not yet") }

// Refusals returns the messages of requests that were refused by a rule; a
// test of a correct client ends by seeing none.
func (p *Peer) Refusals() []string { panic("not yet") }
