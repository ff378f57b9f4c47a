// Package toolserver is a server of tools for tests, over streamable HTTP and
// made with the official SDK of the Model Context Protocol. A test decides how
// long its tools run, and finds what ran in a file that is appended to, so that
// a call which ran twice is seen, whatever died in between.
//
// Its tools are
//
//	hold  {name}        runs until Release(name)
//	echo  {text}        returns the text
//	fill  {bytes}       returns that many bytes
//	git   {dir, args}   runs git, really
//
// A call that its client gives up ends. Close ends all.
package toolserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	URL string // of its endpoint

	notes string
	http  *httptest.Server
	end   chan struct{}

	mu    sync.Mutex
	holds map[string]*hold
}

// hold is one name that calls are held under.
type hold struct {
	began    chan struct{} // one element a call that began
	released chan struct{}
	text     string
}

// New starts a server for the time of a test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{notes: filepath.Join(t.TempDir(), "runs"), end: make(chan struct{}), holds: map[string]*hold{}}
	m := mcp.NewServer(&mcp.Implementation{Name: "toolserver", Version: "1"}, nil)
	mcp.AddTool(m, &mcp.Tool{Name: "hold", Description: "Runs until it is released."}, s.hold)
	mcp.AddTool(m, &mcp.Tool{Name: "echo", Description: "Returns its text."}, s.echo)
	mcp.AddTool(m, &mcp.Tool{Name: "fill", Description: "Returns that many bytes."}, s.fill)
	mcp.AddTool(m, &mcp.Tool{Name: "git", Description: "Runs git in a directory."}, s.git)
	s.http = httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	s.URL = s.http.URL
	t.Cleanup(func() {
		close(s.end)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Runs returns what ran, a line each: the tool and its argument, in the order
// in which they began.
func (s *Server) Runs() []string {
	raw, err := os.ReadFile(s.notes)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// Ran counts the runs whose line begins with this.
func (s *Server) Ran(line string) (n int) {
	for _, l := range s.Runs() {
		if strings.HasPrefix(l, line) {
			n++
		}
	}
	return n
}

// Began waits until a call of hold with this name has begun, once more than it
// was waited for before.
func (s *Server) Began(ctx context.Context, name string) error {
	select {
	case <-s.held(name).began:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no call is held under %q: %w", name, context.Cause(ctx))
	}
}

// Release lets the calls of hold with this name return a text, those that come
// later as well. It is done once a name.
func (s *Server) Release(name, text string) {
	h := s.held(name)
	h.text = text
	close(h.released)
}

func (s *Server) held(name string) *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds[name]
	if h == nil {
		h = &hold{began: make(chan struct{}, 1000), released: make(chan struct{})}
		s.holds[name] = h
	}
	return h
}

// note adds a line in one write.
func (s *Server) note(tool, what string) error {
	f, err := os.OpenFile(s.notes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(tool + " " + strings.ReplaceAll(what, "\n", " ") + "\n")
	return err
}

// result is a result that is nothing but text.
func result(text string, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

type named struct {
	Name string `json:"name"`
}

func (s *Server) hold(ctx context.Context, _ *mcp.CallToolRequest, in named) (*mcp.CallToolResult, any, error) {
	if err := s.note("hold", in.Name); err != nil {
		return nil, nil, err
	}
	h := s.held(in.Name)
	h.began <- struct{}{}
	select {
	case <-h.released:
		return result(h.text, nil)
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-s.end:
		return nil, nil, errors.New("the server ends")
	}
}

type texted struct {
	Text string `json:"text"`
}

func (s *Server) echo(_ context.Context, _ *mcp.CallToolRequest, in texted) (*mcp.CallToolResult, any, error) {
	return result(in.Text, s.note("echo", in.Text))
}

type filled struct {
	Bytes int `json:"bytes"`
}

func (s *Server) fill(_ context.Context, _ *mcp.CallToolRequest, in filled) (*mcp.CallToolResult, any, error) {
	if in.Bytes < 0 || in.Bytes > 64<<20 {
		return nil, nil, errors.New("that many cannot be had")
	}
	return result(strings.Repeat("0123456789abcde\n", in.Bytes/16+1)[:in.Bytes], s.note("fill", fmt.Sprint(in.Bytes)))
}

type gitArgs struct {
	Dir  string   `json:"dir"`
	Args []string `json:"args"`
}

func (s *Server) git(ctx context.Context, _ *mcp.CallToolRequest, in gitArgs) (*mcp.CallToolResult, any, error) {
	if err := s.note("git", strings.Join(in.Args, " ")); err != nil {
		return nil, nil, err
	}
	return result(Git(ctx, in.Dir, in.Args...))
}

// Git runs git in a directory, without anybody's configuration.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Max", "GIT_AUTHOR_EMAIL=max@example.org", "GIT_COMMITTER_NAME=Max", "GIT_COMMITTER_EMAIL=max@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Repository makes a repository with one commit and the branches, the first of
// which is checked out.
func Repository(t testing.TB, branches ...string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if _, err := Git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q", "-b", branches[0])
	run("commit", "-q", "--allow-empty", "-m", "first")
	for _, b := range branches[1:] {
		run("branch", "-q", b)
	}
	return dir
}
