// Package wires gives tests the product's own client for each profile of the
// strict peer, over a socket or without one. It keeps nothing and owns no
// goroutine; what it returns is as safe as those clients are.
package wires

import (
	"net/http"
	"net/http/httptest"

	"weir/model"
	"weir/model/anthropic"
	"weir/model/gemini"
	"weir/model/openai"
)

// Client returns the client of a model at a peer whose root is at base. A
// dialect without one is a mistake in the test and panics.
func Client(p model.Profile, base string, hc *http.Client) model.Client {
	switch p.Dialect {
	case model.Anthropic:
		return anthropic.New(base, "key", hc)
	case model.OpenAIChat:
		return openai.New(base+"/v1", "key", hc)
	case model.OpenAIResponses:
		return openai.NewResponses(base+"/v1", "key", hc)
	case model.Gemini:
		return gemini.New(base+"/v1beta", "key", p.Name, hc)
	}
	panic("wires: no client for the dialect " + string(p.Dialect))
}

// Direct returns the client of a model at a peer in the same process, to which
// no network leads. An answer is read when it has ended.
func Direct(p model.Profile, peer http.Handler) model.Client {
	return Client(p, "http://peer", &http.Client{Transport: direct{peer}})
}

// direct carries requests to a handler.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}
