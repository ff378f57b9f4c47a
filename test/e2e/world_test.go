package e2e

import (
	"bytes"
	"context"
	"encoding/json"

	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/app"
	"weir/test/pgcluster"
	"weir/test/strictpeer/strictpeer"
)

const token = "a-long-random-word"

// patience is how long a test waits for what has to happen by itself.
const patience = 30 * time.Second

// world is the whole product, started as it is started for people, with a
// strict peer in the place of a provider.
type world struct {
	testing.TB
	run  *app.Running
	peer *strictpeer.Peer
	cfg  app.Config
	http *http.Client
	log  *logBuffer
}

// logBuffer collects all that the server logs.
type logBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// each runs fn against a server on SQLite and one on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, start(t, "")) })
	t.Run("postgres", func(t *testing.T) { fn(t, start(t, pgcluster.Database(t))) })
}

func start(t testing.TB, where string) *world {
	t.Helper()
	t.Setenv("WEIR_E2E_KEY", "sk-test")
	peer := strictpeer.New("anthropic")
	provider := httptest.NewServer(peer)
	t.Cleanup(provider.Close)
	w := &world{TB: t, peer: peer, log: &logBuffer{}, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(w.http.CloseIdleConnections)
	w.cfg = app.Config{
		Listen: "127.0.0.1:0", Data: t.TempDir(), Store: where, Token: token, Owner: app.Owner{Name: "Max"},
		DefaultModel: "peer/claude",
		Providers:    []app.Provider{{ID: "peer", Dialect: "anthropic", BaseURL: provider.URL, APIKeyEnv: "WEIR_E2E_KEY"}},
		Models:       []app.Model{{"id": "peer/claude", "provider": "peer", "name": "claude-strict", "context_window": 200_000, "max_output": 4096, "mid_system": "native"}},
	}
	w.boot()
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) boot() {
	w.Helper()
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	run, err := app.Start(context.Background(), w.cfg, log)
	if err != nil {
		w.Fatal(err)
	}
	w.run = run
}

func (w *world) stop() {
	w.Helper()
	if n := w.metric("weir_prefix_defects_total"); n != 0 {
		w.Errorf("%v requests do not extend the one before them, and nothing says why", n)
	}
	if err := w.run.Stop(); err != nil {
		w.Error(err)
	}
}

// restart stops the server and starts it again on the same data.
func (w *world) restart() {
	w.Helper()
	w.stop()
	w.boot()
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	w      *world
	what   string
	status int
	header http.Header
	body   []byte
}

// ask is a request to be made; zero values mean what is usual.
type ask struct {
	method, path string
	body         any // string or []byte as they are, else as JSON
	header       map[string]string
	anonymous    bool
	host         string
}

func (w *world) do(a ask) answer {
	w.Helper()
	var body io.Reader
	switch b := a.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case []byte:
		body = bytes.NewReader(b)
	default:
		data, err := json.Marshal(b)
		w.must(err)
		body = bytes.NewReader(data)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, a.method, w.run.URL+a.path, body)
	w.must(err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if !a.anonymous {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range a.header {
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	r.Host = a.host
	got, err := w.http.Do(r)
	w.must(err)
	defer got.Body.Close()
	data, err := io.ReadAll(got.Body)
	w.must(err)
	return answer{w, a.method + " " + a.path, got.StatusCode, got.Header, data}
}

func (w *world) get(path string) answer { w.Helper(); return w.do(ask{method: "GET", path: path}) }
func (w *world) post(path string, body any) answer {
	w.Helper()
	return w.do(ask{method: "POST", path: path, body: body})
}
func (w *world) patch(path string, body any) answer {
	w.Helper()
	return w.do(ask{method: "PATCH", path: path, body: body})
}

// is fails unless the answer has the status.
func (a answer) is(status int) answer {
	a.w.Helper()
	if a.status != status {
		a.w.Fatalf("%s: %d %s, want %d", a.what, a.status, short(a.body), status)
	}
	return a
}

// problem fails unless the answer is a problem with that status and code.
func (a answer) problem(status int, code string) map[string]any {
	a.w.Helper()
	a.is(status)
	p := a.object()
	if p["code"] != code || p["status"] != float64(status) || p["detail"] == "" || p["title"] == "" || p["type"] == "" {
		a.w.Fatalf("%s: %s, want a problem with code %s", a.what, short(a.body), code)
	}
	if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
		a.w.Fatalf("%s: a problem as %q", a.what, ct)
	}
	return p
}

func (a answer) object() map[string]any {
	a.w.Helper()
	var m map[string]any
	if err := json.Unmarshal(a.body, &m); err != nil {
		a.w.Fatalf("%s: %s: %v", a.what, short(a.body), err)
	}
	return m
}

// into decodes the answer.
func (a answer) into(v any) {
	a.w.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.w.Fatalf("%s: %s: %v", a.what, short(a.body), err)
	}
}

func (a answer) id() string {
	a.w.Helper()
	s, _ := a.object()["id"].(string)
	return s
}

func short(b []byte) string {
	if len(b) > 600 {
		return string(b[:600]) + "…"
	}
	return string(b)
}

// at is the path of a conversation and what is below it.
func at(id string, rest ...string) string {
	p := "/v1/conversations/" + url.PathEscape(id)
	for _, s := range rest {
		p += "/" + url.PathEscape(s)
	}
	return p
}

// create makes a conversation and returns its id.
func (w *world) create(body any) string {
	w.Helper()
	return w.post("/v1/conversations", body).is(201).id()
}

type m = map[string]any

// say sends a message and waits for its answer; it returns the ids of both.
func (w *world) say(c, text string, refs ...any) (asked, answered string) {
	w.Helper()
	head := w.head(c)
	body := m{"text": text}
	if len(refs) > 0 {
		body["references"] = refs
	}
	input := w.post(at(c, "messages"), body).is(202).object()["input"].(m)["id"]
	s := w.watch(c, head)
	defer s.close()
	// The snapshot may have seen it all done already.
	for idle := false; !idle || answered == ""; {
		e := s.next()
		switch {
		case e.item["input"] == input:
			asked = e.item["id"].(string)
		case e.item["kind"] == "assistant" && asked != "":
			answered = e.item["id"].(string)
		case e.item["kind"] == "step_end":
			w.Fatalf("the step failed: %v", e.item)
		}
		if e.name == "state" || e.name == "snapshot" {
			idle = e.data["state"] == "idle"
		}
	}
	// The state may be that of before the input was promoted, and the answer
	// one whose tools run now.
	w.rests(c)
	for _, i := range w.timeline(c, "") {
		if i["kind"] == "assistant" {
			answered = i["id"].(string)
		}
	}
	return asked, answered
}

func (w *world) head(c string) int {
	w.Helper()
	return int(w.get(at(c)).is(200).object()["head_seq"].(float64))
}

// texts of the timeline, in order.
func (w *world) timeline(c string, query string) []m {
	w.Helper()
	var page struct{ Items []m }
	w.get(at(c, "messages") + query).is(200).into(&page)
	return page.Items
}

func quote(c, message string) m { return m{"type": "quote", "conversation": c, "message": message} }
func pointer(c string) m        { return m{"type": "pointer", "conversation": c} }

func with(ref m, more m) m {
	out := m{}
	for k, v := range ref {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func (w *world) dial() *net.TCPConn {
	w.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.run.URL, "http://"))
	w.must(err)
	w.Cleanup(func() { conn.Close() })
	w.must(conn.SetDeadline(time.Now().Add(patience)))
	return conn.(*net.TCPConn)
}
