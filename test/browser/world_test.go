package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weir"
	"weir/app"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
)

const token = "a-long-random-word"

// world is the whole product, reached over a line that can be cut.
type world struct {
	testing.TB
	run  *app.Running
	peer *strictpeer.Peer
	line *line
}

// start runs the product; seeds fill its store before that.
func start(t testing.TB, seeds ...func(context.Context, store.Store, weir.OwnerID) error) *world {
	t.Helper()
	return startWith(t, func(*app.Config) {}, seeds...)
}

// startWith is start with something else configured.
func startWith(t testing.TB, configure func(*app.Config), seeds ...func(context.Context, store.Store, weir.OwnerID) error) *world {
	t.Helper()
	t.Setenv("WEIR_TEST_PEER_KEY", "peer-key")
	peer := strictpeer.New(strictpeer.Anthropic)
	provider := httptest.NewServer(peer)
	t.Cleanup(provider.Close)
	config := app.Config{
		Listen: "127.0.0.1:0", Data: t.TempDir(), Token: token, Owner: app.Owner{Name: "Max"},
		DefaultModel: "peer/claude",
		Providers:    []app.Provider{{ID: "peer", Dialect: "anthropic", BaseURL: provider.URL, APIKeyEnv: "WEIR_TEST_PEER_KEY"}},
		Models: []app.Model{{"id": "peer/claude", "provider": "peer", "name": "claude-strict",
			"context_window": 200_000, "max_output": 4096, "mid_system": "native"}},
	}
	configure(&config)
	for _, fill := range seeds {
		seed(t, config, fill)
	}
	run, err := app.Start(context.Background(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, run: run, peer: peer}
	t.Cleanup(func() {
		if _, metrics := w.api("GET", "/metrics", nil); !bytes.Contains(metrics, []byte("\nweir_prefix_defects_total 0\n")) {
			t.Error("a request does not extend the one before it, and nothing says why")
		}
		if err := run.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.line = newLine(t, strings.TrimPrefix(run.URL, "http://"))
	return w
}

// seed starts once, so that there is an owner, and fills the store after that.
func seed(t testing.TB, config app.Config, fill func(context.Context, store.Store, weir.OwnerID) error) {
	t.Helper()
	ctx := t.Context()
	run, err := app.Start(ctx, config, nil)
	if err == nil {
		err = run.Stop()
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, config.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner, err := s.Setting(ctx, "owner")
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(ctx, s, weir.OwnerID(owner)); err != nil {
		t.Fatal(err)
	}
}

// object is a JSON object of the API.
type object = map[string]any

// api asks the API as the owner and returns the answer's status and body.
func (w *world) api(method, path string, body any) (int, []byte) {
	w.Helper()
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			w.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequest(method, w.run.URL+path, in)
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Fatal(err)
	}
	return answer.StatusCode, data
}

// must asks the API and fails on a refusal.
func (w *world) must(method, path string, body any) object {
	w.Helper()
	status, data := w.api(method, path, body)
	if status > 299 {
		w.Fatalf("%s %s: %d %s", method, path, status, data)
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		w.Fatalf("%s %s: %s: %v", method, path, data, err)
	}
	return o
}

func at(conversation string, rest ...string) string {
	path := "/v1/conversations/" + url.PathEscape(conversation)
	for _, x := range rest {
		path += "/" + url.PathEscape(x)
	}
	return path
}

// conversation makes one; category may be empty.
func (w *world) conversation(id, title, level, category string) {
	w.Helper()
	visibility := object{"level": level}
	if category != "" {
		visibility["category"] = category
	}
	w.must("POST", "/v1/conversations", object{"id": id, "title": title, "visibility": visibility})
}

// says sends a message, waits for the answer and returns the two messages' ids.
func (w *world) says(conversation, text, answer string) (said, answered string) {
	w.Helper()
	w.peer.When(strictpeer.Saying(text), strictpeer.Answer{strictpeer.Say(answer)})
	w.must("POST", at(conversation, "messages"), object{"text": text})
	return w.settled(conversation, text)
}

// settled follows a conversation until the message with this text is answered.
func (w *world) settled(conversation, text string) (said, answered string) {
	w.Helper()
	return w.settledAfter(conversation, 0, text)
}

// settledAfter is settled for what comes after a seq.
func (w *world) settledAfter(conversation string, after int, text string) (said, answered string) {
	w.Helper()
	w.follow(conversation, after, func(items []object) bool {
		said, answered = "", ""
		for _, i := range items {
			if i["kind"] == "user" && i["text"] == text {
				said = i["id"].(string)
			}
			if i["kind"] == "assistant" && said != "" {
				answered = i["id"].(string)
			}
		}
		return answered != ""
	})
	return said, answered
}

// follow reads a conversation's events until what came satisfies done.
func (w *world) follow(conversation string, after int, done func([]object) bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", w.run.URL+at(conversation, "events")+"?after="+strconv.Itoa(after), nil)
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	var items []object
	dec := newEventReader(answer.Body)
	for {
		name, data, err := dec.next()
		if err != nil {
			w.Fatalf("the events of %s ended before what was waited for: %v", conversation, err)
		}
		if name != "item" {
			continue
		}
		var i object
		if err := json.Unmarshal(data, &i); err != nil {
			w.Fatal(err)
		}
		items = append(items, i)
		if done(items) {
			return
		}
	}
}

// timeline returns all items of a conversation.
func (w *world) timeline(conversation string) []object {
	w.Helper()
	_, data := w.api("GET", at(conversation, "messages")+"?limit=500", nil)
	var page struct{ Items []object }
	if err := json.Unmarshal(data, &page); err != nil {
		w.Fatalf("%s: %v", data, err)
	}
	return page.Items
}

// users returns the texts that people said in a conversation.
func (w *world) users(conversation string) []string {
	w.Helper()
	var texts []string
	for _, i := range w.timeline(conversation) {
		if i["kind"] == "user" {
			texts = append(texts, i["text"].(string))
		}
	}
	return texts
}

// line passes connections on to the server, until it is cut.
type line struct {
	URL    string
	mu     sync.Mutex
	cut    bool
	deaf   bool          // requests get through, answers do not
	slow   chan struct{} // answers wait until it is closed
	conns  map[net.Conn]struct{}
	wg     sync.WaitGroup
	listen net.Listener
}

func newLine(t testing.TB, to string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &line{URL: "http://" + l.Addr().String(), conns: map[net.Conn]struct{}{}, listen: l}
	ln.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ln.wg.Go(func() { ln.pass(c, to) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		ln.Cut()
		ln.wg.Wait()
	})
	return ln
}

func (l *line) pass(in net.Conn, to string) {
	defer in.Close()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	if !l.keep(in, out) {
		return
	}
	defer l.drop(in, out)
	l.wg.Go(func() {
		io.Copy(out, in)
		out.Close()
		in.Close()
	})
	buf := make([]byte, 32<<10)
	for {
		n, err := out.Read(buf)
		if err != nil || !l.lets() {
			return
		}
		if _, err := in.Write(buf[:n]); err != nil {
			return
		}
	}
}

// lets waits while the line is slow, and says whether an answer may go on.
func (l *line) lets() bool {
	l.mu.Lock()
	slow := l.slow
	l.mu.Unlock()
	if slow != nil {
		<-slow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.deaf
}

// Slow holds every answer back until the line is cut or mended.
func (l *line) Slow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = make(chan struct{})
}

func (l *line) release() {
	if l.slow != nil {
		close(l.slow)
		l.slow = nil
	}
}

// Deafen loses every answer from here on, together with its connection.
func (l *line) Deafen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
}

func (l *line) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return false
	}
	for _, c := range conns {
		l.conns[c] = struct{}{}
	}
	return true
}

func (l *line) drop(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		delete(l.conns, c)
	}
}

// Cut breaks all connections and lets none through.
func (l *line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.release()
	for c := range l.conns {
		c.Close()
	}
}

// Mend lets everything through again.
func (l *line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.deaf = false, false
	l.release()
}
