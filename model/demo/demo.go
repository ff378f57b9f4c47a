// Package demo is the built-in model: deterministic, offline, and honest about
// being no language model. It reads bodies of the Anthropic dialect by the
// strictest rules there are and refuses what a provider would refuse. It says
// which quotes, pointers, recalls and updates it sees, and answers with the
// sentences of its context that hold the words of the question; where there
// are none it says so and what one can try.
//
// The same body always gets the same answer, in the same pieces, emitted in
// order on the caller's goroutine. Work is linear in the body. A Client has no
// state and is safe for concurrent use.
package demo

import (
	"context"
	"errors"
	"net/http"
	"time"

	"weir"
	"weir/model"
	"weir/model/strict"
)

// Client is the built-in model.
type Client struct {
	// Pace is a pause before each piece, so that people see an answer come.
	Pace time.Duration
}

// New returns the built-in model.
func New() model.Client { return &Client{} }

// bytesPerToken is the rule by which usage is counted: a token is four bytes,
// rounded up, of the body without its cache marks, and of the answer. Nothing
// is cached, so all of the body is fresh.
const bytesPerToken = 4

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	q, err := strict.Anthropic(body, strict.Rules{})
	if err != nil {
		return model.Answer{}, refused(err)
	}
	size := len(body)
	for _, m := range q.Marks {
		size -= m.End - m.Start
	}
	answer := model.Answer{Usage: weir.Usage{Fresh: tokens(size)}, Finish: model.FinishEnd}
	text, cut := limited(reply(read(q)), q.MaxTokens)
	if cut {
		answer.Finish = model.FinishLength
	}
	said := ""
	for _, piece := range pieces(text) {
		err := c.wait(ctx)
		if err == nil {
			err = emit(model.Event{Text: piece})
			said += piece
		}
		if err != nil {
			answer.Finish = model.FinishUnknown
			return finished(answer, said), err
		}
	}
	return finished(answer, said), nil
}

func finished(a model.Answer, said string) model.Answer {
	if said != "" {
		a.Parts = []weir.Part{{Type: weir.PartText, Text: said}}
	}
	a.Usage.Output = tokens(len(said))
	return a
}

// wait pauses before a piece and ends when the request is cancelled.
func (c *Client) wait(ctx context.Context) error {
	if c.Pace > 0 {
		timer := time.NewTimer(c.Pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return &model.Error{Failure: model.FailBroken, Public: "The request was cancelled.", Err: context.Cause(ctx)}
	}
	return nil
}

func refused(err error) error {
	var r *strict.Refusal
	if !errors.As(err, &r) {
		return &model.Error{Failure: model.FailRefused, Public: "The demo model could not read the request.", Err: err}
	}
	failure := model.FailRefused
	if r.Status == http.StatusRequestEntityTooLarge {
		failure = model.FailTooLong
	}
	return &model.Error{Failure: failure, Status: r.Status, Public: r.Message}
}

// limited cuts an answer to what max_tokens allows.
func limited(text string, most int64) (string, bool) {
	if tokens(len(text)) <= most {
		return text, false
	}
	keep := 0
	for i, r := range text {
		if end := i + len(string(r)); tokens(end) <= most {
			keep = end
		}
	}
	return text[:keep], true
}

// pieces cuts a text behind each run of spaces: a word a piece.
func pieces(text string) []string {
	var out []string
	from := 0
	for i := 1; i < len(text); i++ {
		if isSpace(text[i-1]) && !isSpace(text[i]) {
			out = append(out, text[from:i])
			from = i
		}
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' }
