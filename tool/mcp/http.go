package mcp

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
)

// wire is the HTTP side of one connection: it adds the headers, holds answers
// to their limits, and ends all that is under way when the connection does.
type wire struct {
	base    *http.Transport
	origin  *url.URL
	headers map[string]string
	meter   *meter
	failed  atomic.Int64    // the last status that was a refusal; 0 after one that was not
	ended   context.Context // when it is done nothing goes on
}

func newWire(ended context.Context, c Config, m *meter) (*wire, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("mcp: the address is not one") // the cause repeats it
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxResponseHeaderBytes = 64 << 10
	return &wire{base: base, origin: u, headers: c.Headers, meter: m, ended: ended}, nil
}

func (w *wire) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if !w.home(r.URL) || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// home reports whether an address is of the configured origin.
func (w *wire) home(u *url.URL) bool { return u.Scheme == w.origin.Scheme && u.Host == w.origin.Host }

// RoundTrip sends one request. Headers go to the configured origin only.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(w.ended, cancel)
	end := func() { stop(); cancel() }
	r = r.Clone(ctx)
	if w.home(r.URL) {
		for name, value := range w.headers {
			r.Header.Set(name, value)
		}
	}
	res, err := w.base.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	switch {
	case res.StatusCode < 400:
		w.failed.Store(0)
	case r.Method == http.MethodPost: // a refused stream or farewell is no failure
		w.failed.Store(int64(res.StatusCode))
	}
	body := &metered{ReadCloser: res.Body, meter: w.meter, limit: maxMessageBytes}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		body.byLines, body.limit = true, 0 // each event has a limit instead
	}
	res.Body = &ending{body, end}
	return res, nil
}

// ending is a body whose end lets go of the request.
type ending struct {
	*metered
	end func()
}

func (b *ending) Close() error {
	defer b.end()
	return b.metered.Close()
}
