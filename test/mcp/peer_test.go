// Package mcp_test drives Weir's MCP client against a server that stands on
// another SDK, built from the module beside it.
package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir/tool"
	"weir/tool/mcp"
)

// program is the built server.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mcppeer-*")
	if err == nil {
		program = filepath.Join(dir, "mcppeer.exe") // a name that every system runs
		c := exec.Command("go", "build", "-o", program, ".")
		c.Dir = filepath.Join("..", "mcppeer")
		c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		c.Stderr = os.Stderr
		err = c.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/mcppeer cannot be built:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func connect(t *testing.T, c mcp.Config) (*tool.Registry, *lines) {
	t.Helper()
	log := &lines{more: make(chan struct{}, 1)}
	client, err := mcp.New([]mcp.Config{c}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r.AddSource(client)
	client.Start(t.Context())
	t.Cleanup(client.Stop)
	if err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, log
}

// overHTTP starts the server on a port of its own.
func overHTTP(t *testing.T) mcp.Config {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "-http", "127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // killed: its end is no fault
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Config{Name: "other", URL: strings.TrimSpace(address)}
}

func each(t *testing.T, test func(t *testing.T, c mcp.Config)) {
	t.Run("over standard input and output", func(t *testing.T) {
		test(t, mcp.Config{Name: "other", Command: []string{program}})
	})
	t.Run("over HTTP", func(t *testing.T) { test(t, overHTTP(t)) })
}

func says(t *testing.T, r *tool.Registry, name, input, want string, isError bool) {
	t.Helper()
	got := r.Run(t.Context(), name, tool.Call{ID: "c", Input: json.RawMessage(input)})
	if got.Text != want || got.IsError != isError {
		t.Errorf("%s(%s) = %q (error: %t, %v), want %q", name, input, got.Text, got.IsError, got.Err, want)
	}
}

func TestToolsOfAnotherSDKRun(t *testing.T) {
	each(t, func(t *testing.T, c mcp.Config) {
		r, log := connect(t, c)
		if v := r.Servers()[0]; v.State != tool.ServerReady || len(v.Tools) != 7 || len(v.LeftOut) != 0 {
			t.Fatalf("%+v\n%s", v, log)
		}
		says(t, r, "other__echo", `{"text":"<b>ü</b>"}`, "<b>ü</b>", false)
		says(t, r, "other__fail", `{}`, "no such page", true)
		says(t, r, "other__image", `{}`, "a picture\n[an image, image/png, 4 bytes, that cannot be shown here]", false)
		got := r.Run(t.Context(), "other__refuse", tool.Call{Input: json.RawMessage(`{}`)})
		if !got.IsError || !strings.Contains(got.Text, "not today") {
			t.Errorf("%+v", got)
		}
	})
}

func TestItsChangedListIsFollowed(t *testing.T) {
	each(t, func(t *testing.T, c mcp.Config) {
		r, log := connect(t, c)
		says(t, r, "other__grow", `{}`, "grown", false)
		log.await(t, "is ready", 2)
		says(t, r, "other__grown", `{}`, "I am new.", false)
		says(t, r, "other__fail", `{}`, `The tool "other__fail" is not available: the server other does not offer it.`, true)
	})
}

func TestItIsToldOfAnInterrupt(t *testing.T) {
	r, log := connect(t, mcp.Config{Name: "other", Command: []string{program}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan tool.Result)
	go func() { done <- r.Run(ctx, "other__hang", tool.Call{Input: json.RawMessage(`{}`)}) }()
	log.await(t, "hanging", 1)
	cancel()
	if got := <-done; got.Text != "interrupted; it may or may not have taken effect" {
		t.Errorf("%+v", got)
	}
	log.await(t, "told to stop", 1)
}

func TestItIsStartedAgainWhenItDies(t *testing.T) {
	r, log := connect(t, mcp.Config{Name: "other", Command: []string{program}})
	says(t, r, "other__die", `{}`, "The connection to the server other was lost during the call, which may or may not have taken effect.", true)
	log.await(t, "is ready", 2)
	says(t, r, "other__echo", `{"text":"back"}`, "back", false)
}

// lines is a log that can be waited for.
type lines struct {
	mu   sync.Mutex
	text string
	more chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.text += string(p)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
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
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	for strings.Count(l.String(), what) < n {
		select {
		case <-l.more:
		case <-end.C:
			t.Fatalf("the log does not say %q %d times:\n%s", what, n, l)
		}
	}
}
