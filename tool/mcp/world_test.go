package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/tool"
	"weir/tool/mcp"
)

// world is a registry over a client of the given servers.
type world struct {
	*tool.Registry
	client *mcp.Client
	log    *lines
}

func newWorld(t *testing.T, configs ...mcp.Config) *world {
	t.Helper()
	w := &world{log: &lines{}}
	c, err := mcp.New(configs, slog.New(slog.NewTextHandler(w.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	w.client = c
	w.Registry, err = tool.NewRegistry(tool.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w.AddSource(c)
	c.Start(t.Context())
	t.Cleanup(c.Stop)
	if err := w.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// child is a server of this binary, of a kind that peer knows.
func child(kind string) mcp.Config {
	return mcp.Config{Name: "peer", Command: []string{os.Args[0]}, Env: map[string]string{peerVar: kind, "TOKEN": "sesame-1234"}}
}

func (w *world) run(t *testing.T, name, input string) tool.Result {
	t.Helper()
	return w.Run(t.Context(), name, tool.Call{ID: "c", Input: json.RawMessage(input)})
}

// says runs a call whose text is known.
func (w *world) says(t *testing.T, name, input, want string, isError bool) {
	t.Helper()
	if got := w.run(t, name, input); got.Text != want || got.IsError != isError {
		t.Errorf("%s(%s) = %q (error: %t, %v), want %q", name, input, got.Text, got.IsError, got.Err, want)
	}
}

func (w *world) server() tool.Server { return w.Servers()[0] }

func (w *world) offers(name string) bool {
	for _, d := range w.Definitions() {
		if d.Name == name {
			return true
		}
	}
	return false
}

// lines is a log that can be waited for.
type lines struct {
	mu   sync.Mutex
	text string
	more chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(p)
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// await waits until the log says something for the nth time.
func (l *lines) await(t *testing.T, what string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		l.mu.Lock()
		if strings.Count(l.text, what) >= n {
			l.mu.Unlock()
			return
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("the log does not say %q %d times:\n%s", what, n, l)
		}
	}
}

func allowed(c mcp.Config) mcp.Config { c.Approval = weir.Allow; return c }

// hashOf is the tail of a name that had to be changed.
func hashOf(original string) string {
	sum := sha256.Sum256([]byte(original))
	return hex.EncodeToString(sum[:4])
}
