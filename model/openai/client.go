// Package openai is being written.
package openai

import (
	"context"
	"net/http"
	"time"

	"weir/model"
)

// Client speaks to one endpoint. Its fields are not changed after first use.
type Client struct {
	BaseURL string // with /v1 where the endpoint has one; empty: the vendor's
	Key     string // sent as a bearer token unless empty
	HTTP    *http.Client

	HeaderTimeout time.Duration // until the answer begins; 0: ten minutes
	IdleTimeout   time.Duration // between two reads of the stream; 0: five minutes
}

// New returns a client of the endpoint at baseURL, to which only
// /chat/completions is added. A nil hc means a client of its own.
func New(baseURL, apiKey string, hc *http.Client) model.Client {
	return &Client{BaseURL: baseURL, Key: apiKey, HTTP: hc}
}

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	panic("not yet")
}
