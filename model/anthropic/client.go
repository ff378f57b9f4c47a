// Package anthropic speaks the Anthropic Messages API to one endpoint.
//
// A body is sent exactly as it was made, with the headers it needs and nothing
// more; a request is tried once. Pieces are emitted in the order of the
// stream, on the caller's goroutine. An answer is complete when the provider
// gave its reason to stop and every block was closed, also if the connection
// is lost right after. Of an answer that broke off, what came is returned with
// the error: all text, and of calls and signed reasoning those that were
// whole. Signed reasoning keeps the provider's block in Part.Raw, spelled so
// that the store cannot change a byte of it.
//
// A Client is safe for concurrent use and owns no goroutine.
package anthropic

import (
	"context"
	"net/http"
	"strings"
	"time"

	"weir/model"
	"weir/model/internal/wire"
)

// DefaultBaseURL is the vendor's own endpoint.
const DefaultBaseURL = "https://api.anthropic.com"

// Client speaks to one endpoint. Its fields are not changed after first use.
type Client struct {
	BaseURL string       // without /v1; empty: [DefaultBaseURL]
	Key     string       // sent as x-api-key unless empty
	HTTP    *http.Client // its transport dials; nil: the standard one

	HeaderTimeout time.Duration // until the answer begins; 0: ten minutes
	IdleTimeout   time.Duration // between two reads of the stream; 0: five minutes
}

// New returns a client of the endpoint at baseURL, which is without /v1 and
// the vendor's own when empty. A nil hc means the standard HTTP client.
func New(baseURL, apiKey string, hc *http.Client) model.Client {
	return &Client{BaseURL: baseURL, Key: strings.TrimSpace(apiKey), HTTP: hc}
}

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if c.Key != "" {
		header.Set("X-Api-Key", c.Key)
	}
	if b := betas(body); len(b) > 0 {
		header.Set("Anthropic-Beta", strings.Join(b, ","))
	}
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	a := &assembly{emit: emit}
	err := wire.Do(ctx, wire.Call{
		Base: base, Path: "v1/messages", Header: header, Secret: c.Key, Body: body, HTTP: c.HTTP,
		HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, Classify: classify,
	}, a.read)
	return a.answer(err == nil), err
}
