package toolserver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestToolsRunAsLongAsATestWantsAndAreCounted(t *testing.T) {
	s, dir := New(t), Repository(t, "main", "dev")
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(name string, args map[string]any) string {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil || r.IsError {
			t.Fatal(err, r)
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	done := make(chan string, 1)
	go func() { done <- call("hold", map[string]any{"name": "a"}) }()
	if err := s.Began(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		t.Fatalf("it did not wait: %q", got)
	default:
	}
	call("git", map[string]any{"dir": dir, "args": []string{"checkout", "-q", "dev"}})
	s.Release("a", "let go")
	if got := <-done; got != "let go" {
		t.Errorf("%q", got)
	}
	if got := call("git", map[string]any{"dir": dir, "args": []string{"branch", "--show-current"}}); strings.TrimSpace(got) != "dev" {
		t.Errorf("the branch is %q", got)
	}
	if got := len(call("fill", map[string]any{"bytes": 40000})); got != 40000 {
		t.Errorf("%d bytes", got)
	}
	want := []string{"hold a", "git checkout -q dev", "git branch --show-current", "fill 40000"}
	if got := s.Runs(); !slices.Equal(got, want) || s.Ran("git") != 2 {
		t.Errorf("ran %q, want %q", got, want)
	}
}

func TestAHeldCallEndsWhenItsClientGivesUp(t *testing.T) {
	s := New(t)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "hold", Arguments: map[string]any{"name": "b"}})
		done <- err
	}()
	if err := s.Began(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("it returned")
	}
}
