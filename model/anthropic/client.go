// Package anthropic is being written.
package anthropic

import (
	"context"
	"net/http"
	"time"

	"weir/model"
)

// Client speaks to one endpoint. Its fields are not changed after first use.
type Client struct {
	BaseURL string // without /v1; empty: the vendor's
	Key     string // sent as x-api-key unless empty
	HTTP    *http.Client

	HeaderTimeout time.Duration // until the answer begins; 0: ten minutes
	IdleTimeout   time.Duration // between two reads of the stream; 0: five minutes
}

// New returns a client of the endpoint at baseURL, which is without /v1 and
// the vendor's when empty. A nil hc means a client of its own.
func New(baseURL, apiKey string, hc *http.Client) model.Client {
	return &Client{BaseURL: baseURL, Key: apiKey, HTTP: hc}
}

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	panic("not yet")
}
