package api_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"weir"
	"weir/api"
)

// ask asks for a file as a browser or another client does, and reads the answer.
func (d *door) ask(path string, header ...string) (*http.Response, string) {
	d.Helper()
	r, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity") // the client adds its own otherwise
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		d.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		d.Fatal(err)
	}
	return answer, string(body)
}

const browsers = "text/html,application/xhtml+xml,*/*;q=0.8"

var script = strings.Repeat("say('hello');\n", 100)

func withPage(cfg *api.Config, _ *rooms) {
	cfg.Web = fstest.MapFS{
		"index.html": {Data: []byte("<p>the page</p>")},
		"404.html":   {Data: []byte("<p>not here</p>")},
		"icon.svg":   {Data: []byte("<svg/>")},
		"app.js":     {Data: []byte(script)},
	}
}

func TestABrowserThatGoesAstrayIsLedBackAndAClientGetsAProblem(t *testing.T) {
	d := serve(t, withPage)
	for _, c := range []struct{ path, accept, kind, says string }{
		{"/nowhere", browsers, "text/html; charset=utf-8", "not here"},
		{"/404.html", browsers, "text/html; charset=utf-8", "not here"},
		{"/nowhere", "*/*", "application/problem+json", "address_unknown"},
		{"/v1/nowhere", browsers, "application/problem+json", "address_unknown"},
		{"/v1", browsers, "application/problem+json", "address_unknown"},
	} {
		answer, body := d.ask(c.path, "Accept", c.accept)
		if answer.StatusCode != 404 || answer.Header.Get("Content-Type") != c.kind || !strings.Contains(body, c.says) {
			t.Errorf("GET %s for %s: %d %s %s", c.path, c.accept, answer.StatusCode, answer.Header.Get("Content-Type"), body)
		}
	}
	if answer, body := d.ask("/favicon.ico"); answer.StatusCode != 200 || body != "<svg/>" || answer.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("GET /favicon.ico: %d %q", answer.StatusCode, body)
	}
}

func TestAFileGoesCompressedToWhoTakesThatAndIsSentOnce(t *testing.T) {
	d := serve(t, withPage)
	plain, body := d.ask("/app.js")
	if body != script || plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("plain: %q %v", body, plain.Header)
	}
	zipped, body := d.ask("/app.js", "Accept-Encoding", "br, gzip")
	if zipped.Header.Get("Content-Encoding") != "gzip" || len(body) >= len(script) {
		t.Fatalf("zipped: %d bytes, %v", len(body), zipped.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != script {
		t.Errorf("unzipped it reads %q, %v", got, err)
	}
	if plain.Header.Get("Etag") == zipped.Header.Get("Etag") {
		t.Error("two representations share a tag")
	}
	for _, x := range []struct{ coding, tag string }{{"identity", plain.Header.Get("Etag")}, {"gzip", zipped.Header.Get("Etag")}} {
		again, body := d.ask("/app.js", "Accept-Encoding", x.coding, "If-None-Match", x.tag)
		if again.StatusCode != 304 || body != "" || again.Header.Get("Content-Encoding") != "" {
			t.Errorf("again with %s: %d %q", x.coding, again.StatusCode, body)
		}
	}
	if refused, body := d.ask("/app.js", "Accept-Encoding", "gzip;q=0"); refused.Header.Get("Content-Encoding") != "" || body != script {
		t.Error("compressed for who refuses that")
	}
}

// strangers knows nobody, and every link was used.
type strangers struct{ accounts }

func (s *strangers) SignIn(_ context.Context, _ string, _ bool) (*http.Cookie, error) {
	return nil, weir.Fault(weir.Unauthenticated, "link_used", "Used.")
}

func TestAUsedSignInLinkLeadsABrowserToThePage(t *testing.T) {
	d := serve(t, func(cfg *api.Config, r *rooms) {
		withPage(cfg, r)
		s := &strangers{}
		s.closed = true
		cfg.Account = s
	})
	answer, _ := d.ask("/sign-in?code=old", "Accept", browsers)
	if answer.StatusCode != 303 || answer.Header.Get("Location") != "/?signin=used" {
		t.Errorf("a browser gets %d %v", answer.StatusCode, answer.Header)
	}
	if answer, body := d.ask("/sign-in?code=old", "Accept", "application/json"); answer.StatusCode != 401 || !strings.Contains(body, "link_used") {
		t.Errorf("a client gets %d %s", answer.StatusCode, body)
	}
}
