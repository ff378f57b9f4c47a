package strictpeer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a request that was accepted, as scripts see it.
type Request struct {
	N      int // its place in order of arrival, from 0
	Header http.Header
	Body   []byte // exact
	Model  string // as the endpoint calls it
	First  string // text of the first user message
	Last   string // all texts after the last assistant message, a blank line between
	Tools  []string
	Free   bool // the model may call tools, if there are any
}

// Match says whether a script is for a request.
type Match func(*Request) bool

// Saying matches requests whose newest user side contains s.
func Saying(s string) Match { return func(r *Request) bool { return strings.Contains(r.Last, s) } }

// Opening matches requests of conversations whose first user message contains s.
func Opening(s string) Match { return func(r *Request) bool { return strings.Contains(r.First, s) } }

// Act is one thing that an answer does. Acts are made by [Say], [Think],
// [Redacted], [Call], [Use], [Hold], [Fail], [Abort], [Reset], [Cut], [Stop],
// [Pieces] and [Raw].
type Act struct {
	kind           kind
	text, id, name string
	n              int
	until          <-chan struct{}
}

type kind int

const (
	say kind = iota
	think
	redacted
	call
	hold
	fail
	abort
	reset
	cut
	stop
	pieces
	raw
)

// Answer is what a peer does about one request, in order. Without a [Stop] it
// ends as such an answer would, with its usage and the end of the stream.
type Answer []Act

// Say streams text. Neighbours continue one block.
func Say(text string) Act { return Act{kind: say, text: text} }

// Think streams reasoning, signed where the dialect signs; it may be empty.
func Think(text string) Act { return Act{kind: think, text: text} }

// Redacted is reasoning that the vendor hides, where the dialect has it.
func Redacted() Act { return Act{kind: redacted} }

// Call streams a tool call; the arguments are sent as they are, well formed or
// not.
func Call(id, name, arguments string) Act {
	return Act{kind: call, id: id, name: name, text: arguments}
}

// Use is a [Call] with an id of the peer's own, which no other call has.
func Use(name, arguments string) Act { return Act{kind: call, name: name, text: arguments, n: own} }

// own marks a call whose id the peer makes.
const own = 1

// Hold waits until the channel is closed or yields, or the client is gone.
// What came before has been sent; held first, not even the header has.
func Hold(until <-chan struct{}) Act { return Act{kind: hold, until: until} }

// Fail refuses with an HTTP status before any output, or breaks the stream with
// an error event after. An empty message is the vendor's usual one. The
// optional word is the Retry-After header.
func Fail(status int, message string, retryAfter ...string) Act {
	return Act{kind: fail, n: status, text: message, id: strings.Join(retryAfter, "")}
}

// Abort drops the connection, before or amid the output. What came before has
// been sent.
func Abort() Act { return Act{kind: abort} }

// Reset drops the connection so that the client is told of it by a reset, before
// or amid the output. What came before has been sent.
func Reset() Act { return Act{kind: reset} }

// Cut ends the response cleanly and without what should come: the end of the
// block, the reason, the usage, the end of the stream.
func Cut() Act { return Act{kind: cut} }

// Stop gives the reason the answer ends, in the dialect's word.
func Stop(reason string) Act { return Act{kind: stop, text: reason} }

// Pieces sets how many code points a delta carries from here on; 8 at first.
func Pieces(n int) Act { return Act{kind: pieces, n: n} }

// Raw writes bytes into the stream as they are.
func Raw(text string) Act { return Act{kind: raw, text: text} }

// queue is the answers that are left for the requests that match.
type queue struct {
	match   Match
	answers []Answer
}

// Script queues answers for the next requests, whoever asks.
func (p *Peer) Script(answers ...Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = append(p.script, answers...)
}

// When queues answers for requests that match. Such queues are asked before
// Script, in the order in which they were made.
func (p *Peer) When(match Match, answers ...Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queues = append(p.queues, &queue{match, answers})
}

// Otherwise sets the answer to requests for which nothing is queued. Without
// it the peer repeats the beginning of what it was told last.
func (p *Peer) Otherwise(answer func(*Request) Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.otherwise = answer
}

// answer takes the answer to a request from the queues, and names the calls in
// it that have no name yet.
func (p *Peer) answer(r *Request) Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := slices.Clone(p.choose(r))
	for i := range a {
		if a[i].kind == call && a[i].n == own {
			p.calls++
			a[i].id = fmt.Sprintf("toolu_strictpeer_%d", p.calls)
		}
	}
	return a
}

func (p *Peer) choose(r *Request) Answer {
	for _, q := range p.queues {
		if len(q.answers) > 0 && q.match(r) {
			a := q.answers[0]
			q.answers = q.answers[1:]
			return a
		}
	}
	if len(p.script) > 0 {
		a := p.script[0]
		p.script = p.script[1:]
		return a
	}
	if p.otherwise != nil {
		return p.otherwise(r)
	}
	if p.obey {
		if a := p.commanded(r); a != nil {
			return a
		}
	}
	return p.echo(r)
}

// echo is the answer without a script. It reasons first where reasoning must
// come back, so that every later request proves that its prefix did not move.
func (p *Peer) echo(r *Request) Answer {
	said := []rune(r.Last)
	if len(said) > 200 {
		said = said[len(said)-200:]
	}
	text := "You said: " + string(said)
	return p.musing("They said something. I repeat it.", Say(text))
}

// musing is an answer that begins with a thought where reasoning is returned.
func (p *Peer) musing(thought string, acts ...Act) Answer {
	if rules, chat := chatRules(p.profile); chat && !rules.Reasoning {
		return acts
	}
	return append(Answer{Think(thought)}, acts...)
}

// split cuts text into pieces of n code points.
func split(text string, n int) []string {
	if n < 1 {
		n = 1
	}
	var out []string
	count, from := 0, 0
	for i := range text {
		if count == n {
			out, from, count = append(out, text[from:i]), i, 0
		}
		count++
	}
	return append(out, text[from:])
}

// merged joins neighbouring texts and keeps what a response that is not
// streamed can hold; the last value is the reason to stop, if one was given.
func merged(a Answer) (parts Answer, reason string) {
	for _, act := range a {
		switch act.kind {
		case say, think:
			if n := len(parts); n > 0 && parts[n-1].kind == act.kind {
				parts[n-1].text += act.text
				continue
			}
			parts = append(parts, act)
		case redacted, call:
			parts = append(parts, act)
		case stop:
			reason = act.text
		}
	}
	return parts, reason
}
