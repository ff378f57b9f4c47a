package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir"
	"weir/account"
	"weir/api"
	"weir/gate"
	"weir/lifecycle"
	"weir/live"
	"weir/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rooms stands in for the store and the services behind the API, where a test
// needs them to fail in a way of its own. What is not overridden is not there.
type rooms struct {
	api.Store
	api.Turns
	api.Facts
	api.Lifecycle

	mu      sync.Mutex
	records []weir.Record
	fault   error // of every change
	panics  any
	partial string
	title   string
	step    *weir.Step // that has not settled
	calls   []weir.Call
}

var now = time.Date(2026, 11, 30, 12, 0, 0, 123_456_789, time.UTC)

func (r *rooms) Conversation(_ context.Context, id weir.ConversationID) (weir.Conversation, error) {
	if id != "c" {
		return weir.Conversation{}, weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return weir.Conversation{ID: "c", Owner: "o", Kind: weir.Chat, Title: "T" + r.title, State: weir.Idle, HeadSeq: weir.Seq(len(r.records)), CreatedAt: now, LastActive: now}, nil
}

func (r *rooms) Structure(context.Context, *weir.Conversation) ([]weir.Record, error) {
	return nil, nil
}

func (r *rooms) Inputs(context.Context, weir.ConversationID, int) ([]weir.Input, error) {
	return nil, nil
}

func (r *rooms) UnsettledStep(context.Context, weir.ConversationID) (weir.Step, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.step != nil {
		return *r.step, nil
	}
	return weir.Step{}, weir.Fault(weir.NotFound, weir.CodeStepNotFound, "")
}

func (r *rooms) Calls(context.Context, weir.ConversationID, weir.StepID) ([]weir.Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls), nil
}

func (r *rooms) Step(_ context.Context, _ weir.ConversationID, id weir.StepID) (weir.Step, error) {
	return weir.Step{ID: id, Seq: 1, StartedAt: now}, nil
}

func (r *rooms) Records(_ context.Context, _ *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []weir.Record
	for _, rec := range r.records {
		if rec.Seq > q.After && (q.Limit == 0 || len(out) < q.Limit) {
			out = append(out, rec)
		}
	}
	return out, nil
}

func (r *rooms) Partial(weir.ConversationID) (weir.StepID, string) {
	if r.partial == "" {
		return "", ""
	}
	return "stp", r.partial
}

func (r *rooms) Change(context.Context, weir.Actor, weir.ConversationID, lifecycle.Change) (weir.Conversation, error) {
	if r.panics != nil {
		panic(r.panics)
	}
	return weir.Conversation{}, r.fault
}

func (r *rooms) Answer(context.Context, weir.OwnerID, string, string) (weir.IdempotentAnswer, error) {
	return weir.IdempotentAnswer{}, weir.Fault(weir.NotFound, "answer_not_found", "")
}

func (r *rooms) RememberAnswer(context.Context, weir.OwnerID, string, string, weir.IdempotentAnswer) error {
	return nil
}

func (r *rooms) say(texts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range texts {
		seq := weir.Seq(len(r.records) + 1)
		r.records = append(r.records, weir.Record{Conversation: "c", Seq: seq, ID: "m", Time: now, Body: &weir.UserMessage{Text: text}})
	}
}

var (
	_ api.Turns     = (*turn.Engine)(nil)
	_ api.Facts     = (*turn.Engine)(nil)
	_ api.Lifecycle = (*lifecycle.Service)(nil)
	_ api.Gate      = (*gate.Gate)(nil)
	_ api.Account   = (*account.Account)(nil)
	_ api.Live      = (*live.Hub)(nil)
)

// accounts lets everyone in until it is closed.
type accounts struct {
	api.Account
	mu     sync.Mutex
	closed bool
}

func (a *accounts) Actor(*http.Request) (weir.Actor, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return weir.Actor{}, weir.Fault(weir.Unauthenticated, "session_over", "Sign in again.")
	}
	return weir.Actor{Owner: "o"}, nil
}

type door struct {
	testing.TB
	*rooms
	url      string
	hub      *live.Hub
	accounts *accounts
	log      *bytes.Buffer
}

func serve(t testing.TB, change func(*api.Config, *rooms)) *door {
	d := &door{TB: t, rooms: &rooms{}, hub: live.NewHub(), accounts: &accounts{}, log: &bytes.Buffer{}}
	cfg := api.Config{
		Store: d.rooms, Turns: d.rooms, Facts: d.rooms, Lifecycle: d.rooms, Gate: struct{ api.Gate }{}, Answers: d.rooms, Account: d.accounts, Live: d.hub,
		Rebuild: func(context.Context, *weir.Conversation, *weir.Record) ([]byte, error) { return nil, errors.New("no") },
		Log:     slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg, d.rooms)
	}
	h, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	server := httptest.NewUnstartedServer(h)
	server.Config = api.NewServer(ctx, h)
	server.Start()
	d.url = server.URL
	t.Cleanup(func() { end(); server.Close(); http.DefaultClient.CloseIdleConnections() })
	return d
}

func (d *door) do(method, path, body string) (int, map[string]any) {
	d.Helper()
	r, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		d.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, data)
	}
	return resp.StatusCode, v
}

// lines opens a stream and returns it, line by line.
func (d *door) lines(path string) (*bufio.Reader, func()) {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	r, _ := http.NewRequestWithContext(ctx, "GET", d.url+path, nil)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 {
		d.Fatalf("%s: %s", path, resp.Status)
	}
	return bufio.NewReader(resp.Body), func() { cancel(); resp.Body.Close() }
}

// until reads lines up to one that begins with a prefix.
func (d *door) until(r *bufio.Reader, prefix string) (before []string) {
	d.Helper()
	for {
		line, err := r.ReadString('\n')
		if strings.HasPrefix(line, prefix) {
			return before
		}
		if err != nil {
			d.Fatalf("the stream ended (%v) after %q, before %q", err, before, prefix)
		}
		before = append(before, strings.TrimSuffix(line, "\n"))
	}
}
