// Package openai speaks the OpenAI Chat Completions API, as OpenAI and the
// many servers that resemble it do, to one endpoint; and, by a client of its
// own, the Responses API.
//
// A body is sent exactly as it was made; a request is tried once. Pieces are
// emitted in the order of the stream, on the caller's goroutine; where a
// server mixes the arguments of several calls, those of an earlier call are
// not emitted, only answered with. An answer is complete when the server gave
// its reason to finish, with or without [DONE]. Of an answer that broke off,
// the text that came is returned with the error, and no call: only the end of
// the answer says that arguments are whole.
//
// Reasoning that came as reasoning_content keeps that member in Part.Raw, for
// the vendors that want it back.
//
// Usage is normalised: this dialect counts cached tokens into the prompt, Weir
// counts them apart.
//
// Of the Responses API nothing that the vendor keeps is used. An answer is
// complete with the event that says so and nothing else; of one that broke off,
// the text that came is returned, and the reasoning and the calls that were
// whole. Part.Raw keeps a reasoning item that came with its encrypted content,
// and beside texts and calls the ids and the phase that go back with them.
//
// A client is safe for concurrent use and owns no goroutine.
package openai

import (
	"context"
	"net/http"
	"strings"
	"time"

	"weir/model"
	"weir/model/internal/wire"
)

// DefaultBaseURL is the vendor's own endpoint.
const DefaultBaseURL = "https://api.openai.com/v1"

// Client speaks to one endpoint. Its fields are not changed after first use.
type Client struct {
	BaseURL string       // with /v1 where the endpoint has one; empty: [DefaultBaseURL]
	Key     string       // sent as a bearer token unless empty
	HTTP    *http.Client // its transport dials; nil: the standard one

	HeaderTimeout time.Duration // until the answer begins; 0: ten minutes
	IdleTimeout   time.Duration // between two reads of the stream; 0: five minutes
}

// New returns a client of the endpoint at baseURL, to which only
// /chat/completions is added; the vendor's own when empty. A nil hc means the
// standard HTTP client.
func New(baseURL, apiKey string, hc *http.Client) model.Client {
	return &Client{BaseURL: baseURL, Key: strings.TrimSpace(apiKey), HTTP: hc}
}

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	a := &assembly{emit: emit}
	err := c.post(ctx, "chat/completions", body, a.read)
	return a.answer(err == nil), err
}

// post sends a body to a path of the endpoint and hands the stream to read.
func (c *Client) post(ctx context.Context, path string, body []byte, read func(*wire.Stream) error) error {
	header := http.Header{}
	if c.Key != "" {
		header.Set("Authorization", "Bearer "+c.Key)
	}
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	return wire.Do(ctx, wire.Call{
		Base: base, Path: path, Header: header, Secret: c.Key, Body: body, HTTP: c.HTTP,
		HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, Classify: classify,
	}, read)
}
