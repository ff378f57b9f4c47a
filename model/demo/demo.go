// Package demo is being written.
package demo

import (
	"context"

	"weir/model"
)

// Client is the built-in model.
type Client struct{}

// New returns the built-in model.
func New() model.Client { return &Client{} }

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	panic("not yet")
}
