// Package gemini speaks Google's generateContent to one model of one endpoint.
//
// The name of the model is part of the address, so a client is for one model.
// A body is sent exactly as it was made; a request is tried once. Pieces are
// emitted in the order of the stream, on the caller's goroutine. An answer is
// complete when the provider gave its reason to finish; there is no other end.
// Of an answer that broke off, what came is returned with the error: all text,
// all signatures and all calls, which come whole.
//
// Where a part is signed, Part.Raw holds {"thoughtSignature":…}: of a text, of
// which the signed piece is a part of its own on the wire, and of a call. Where
// the signed piece is the end of a text that had begun before, Raw names that
// end too, {"thoughtSignature":…,"text":…}, so that a word is not torn apart
// for a person and the wire gets its parts back. Summaries of thoughts are
// reasoning to be shown and never sent back.
//
// Usage is normalised: this dialect counts cached tokens into the prompt and
// thoughts apart from the answer.
//
// A Client is safe for concurrent use and owns no goroutine.
package gemini

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"weir/model"
	"weir/model/internal/wire"
)

// DefaultBaseURL is the vendor's own endpoint.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Client speaks to one model. Its fields are not changed after first use.
type Client struct {
	BaseURL string       // with its version; empty: [DefaultBaseURL]
	Key     string       // sent as x-goog-api-key unless empty
	Name    string       // what the endpoint calls the model
	HTTP    *http.Client // its transport dials; nil: the standard one

	HeaderTimeout time.Duration // until the answer begins; 0: ten minutes
	IdleTimeout   time.Duration // between two reads of the stream; 0: five minutes
}

// New returns a client of a model at the endpoint at baseURL, which has its
// version and is the vendor's own when empty. A nil hc means the standard HTTP
// client.
func New(baseURL, apiKey, name string, hc *http.Client) model.Client {
	return &Client{BaseURL: baseURL, Key: strings.TrimSpace(apiKey), Name: name, HTTP: hc}
}

// For returns the client of another model of the same endpoint.
func (c *Client) For(name string) *Client {
	other := *c
	other.Name = name
	return &other
}

// Stream implements [model.Client].
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	path, err := pathOf(c.Name)
	if err != nil {
		return model.Answer{}, err
	}
	header := http.Header{}
	if c.Key != "" {
		header.Set("X-Goog-Api-Key", c.Key)
	}
	a := &assembly{emit: emit}
	err = wire.Do(ctx, wire.Call{
		Base: cmp.Or(c.BaseURL, DefaultBaseURL), Path: path, Query: "alt=sse", Header: header, Secret: c.Key, Body: body, HTTP: c.HTTP,
		HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout, Classify: classify,
	}, a.read)
	return a.answer(err == nil), err
}

// pathOf is where a model's method is. A name with a slash says itself what
// kind of model it is: tunedModels/….
func pathOf(name string) (string, error) {
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if p == "" || p == "." || p == ".." {
			return "", &model.Error{Failure: model.FailUnknown, Public: "The model's name cannot stand in an address; correct it in the configuration, or choose another model."}
		}
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/") + ":streamGenerateContent", nil
}
