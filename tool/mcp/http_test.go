package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"weir/tool"
	"weir/tool/mcp"
)

// site is a server of the official SDK over HTTP.
type site struct {
	*httptest.Server
	peer *sdk.Server
	seen atomic.Value // the last Authorization
}

func newSite(t *testing.T, o *sdk.StreamableHTTPOptions) *site {
	t.Helper()
	s := &site{peer: newPeer("sdk")}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.peer }, o)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.seen.Store(r.Header.Get("Authorization"))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func at(url string) mcp.Config {
	return mcp.Config{Name: "peer", URL: url, Headers: map[string]string{"Authorization": "Bearer sesame-1234"}}
}

func TestToolsOverHTTPRun(t *testing.T) {
	for name, o := range map[string]*sdk.StreamableHTTPOptions{
		"streams": nil, "no session": {Stateless: true}, "plain JSON": {JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, o)
			w := newWorld(t, at(s.URL))
			w.says(t, "peer__echo", `{"text":"over there"}`, "over there", false)
			w.says(t, "peer__fail", `{}`, "no such page", true)
			if got := s.seen.Load(); got != "Bearer sesame-1234" {
				t.Errorf("the server saw %q", got)
			}
			w.client.Stop()
		})
	}
}

func TestAChangedListIsFollowedOverHTTP(t *testing.T) {
	w := newWorld(t, at(newSite(t, nil).URL))
	w.says(t, "peer__grow", `{}`, "grown", false)
	w.log.await(t, "is ready", 2)
	w.says(t, "peer__grown", `{}`, "I am new.", false)
	w.client.Stop()
}

func TestAnInterruptedCallIsToldToTheServerOverHTTP(t *testing.T) {
	s := newSite(t, nil)
	begun, told := make(chan struct{}), make(chan struct{})
	addText(s.peer, "wait", func(ctx context.Context, _ *sdk.CallToolRequest) (string, error) {
		close(begun)
		<-ctx.Done()
		close(told)
		return "", ctx.Err()
	})
	w := newWorld(t, at(s.URL))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if got := w.Run(ctx, "peer__wait", tool.Call{Input: json.RawMessage(`{}`)}); got.Text != "interrupted; it may or may not have taken effect" {
		t.Errorf("%+v", got)
	}
	<-told
	w.client.Stop()
}

func TestAServerThatForgotTheSessionIsGreetedAgain(t *testing.T) {
	s := newSite(t, nil)
	w := newWorld(t, at(s.URL))
	for session := range s.peer.Sessions() {
		session.Close()
	}
	w.run(t, "peer__echo", `{"text":"x"}`) // may find out
	w.log.await(t, "is ready", 2)
	w.says(t, "peer__echo", `{"text":"x"}`, "x", false)
	w.client.Stop()
}

func TestAServerThatGoesAndComesBackIsFoundAgain(t *testing.T) {
	var down atomic.Bool
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newPeer("sdk") }, &sdk.StreamableHTTPOptions{Stateless: true})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "the token sesame-1234 is bad", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	w := newWorld(t, at(s.URL))
	down.Store(true)
	if got := w.run(t, "peer__echo", `{"text":"x"}`); !got.IsError || !strings.Contains(got.Text, "401") {
		t.Errorf("%+v", got)
	}
	w.log.await(t, "it is tried again", 1)
	if v := w.server(); v.State != tool.ServerFailed || v.Reason != "it answered with HTTP status 401" {
		t.Errorf("%+v", v)
	}
	w.says(t, "peer__echo", `{"text":"x"}`, "The server peer is not running; try again later.", true)
	down.Store(false)
	w.log.await(t, "is ready", 2)
	w.says(t, "peer__echo", `{"text":"x"}`, "x", false)
	if strings.Contains(w.log.String(), "sesame") {
		t.Error("a secret is in the log")
	}
	w.client.Stop()
}

func TestAnAddressThatDoesNotAnswerAsItShouldSaysWhy(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent.Close()
	flood := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		line := []byte(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n\n")
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	huge := func(kind, before string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, before)
			part := []byte(strings.Repeat("t", 64<<10))
			for r.Context().Err() == nil {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		reason  string
	}{
		"nobody there":    {nil, "it cannot be reached"},
		"a web page":      {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>sesame") }, "the connection to it was lost"},
		"not found":       {http.NotFound, "it answered with HTTP status 404"},
		"broken":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "it answered with HTTP status 500"},
		"a flood":         {flood, "it sent more than it may and was cut off"},
		"a long answer":   {huge("application/json", `{"jsonrpc":"2.0","id":1,"result":"`), "it sent a message of more than 16 MiB"},
		"a long event":    {huge("text/event-stream", "data: "), "it sent a message of more than 16 MiB"},
		"a refusal in it": {func(w http.ResponseWriter, r *http.Request) { refuse(w, r) }, "it refused (error -32099)"},
	} {
		t.Run(name, func(t *testing.T) {
			url := "http://" + silent.Addr().String() + "/?key=sesame-1234"
			if c.handler != nil {
				s := httptest.NewServer(c.handler)
				defer s.Close()
				url = s.URL + "/?key=sesame-1234"
			}
			w := newWorld(t, at(url))
			if v := w.server(); v.State != tool.ServerFailed || v.Reason != c.reason {
				t.Errorf("%+v", v)
			}
			if strings.Contains(fmt.Sprint(w.Servers(), w.log), "sesame-1234") {
				t.Errorf("a secret is shown: %s", w.log)
			}
			w.client.Stop()
		})
	}
}

func refuse(w http.ResponseWriter, r *http.Request) {
	var m message
	_ = json.NewDecoder(r.Body).Decode(&m)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32099,"message":"sesame-1234 is no key"}}`, m.ID)
}

func TestAnAddressThatNeverAnswersHoldsNothingUp(t *testing.T) {
	asked := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the end of the request seen
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	c, err := mcp.New([]mcp.Config{at(s.URL)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Start(t.Context())
	<-asked
	begun := time.Now()
	c.Stop()
	if d := time.Since(begun); d > 5*time.Second {
		t.Errorf("the end took %s", d)
	}
}

func TestHeadersAreNotCarriedToAnotherHost(t *testing.T) {
	var got atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.Header.Get("Authorization")) }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	w := newWorld(t, at(s.URL))
	if w.server().State != tool.ServerFailed || got.Load() != nil {
		t.Errorf("%+v; the other host got %v", w.server(), got.Load())
	}
	w.client.Stop()
}

func TestConfigurationsThatCannotWorkAreRefusedByTheirKey(t *testing.T) {
	for _, c := range []struct {
		config mcp.Config
		key    string
	}{
		{mcp.Config{Command: []string{"x"}}, "name"},
		{mcp.Config{Name: "a__b", Command: []string{"x"}}, "name"},
		{mcp.Config{Name: "a_", Command: []string{"x"}}, "name"},
		{mcp.Config{Name: strings.Repeat("a", 33), Command: []string{"x"}}, "name"},
		{mcp.Config{Name: "a"}, "command"},
		{mcp.Config{Name: "a", Command: []string{" "}}, "command"},
		{mcp.Config{Name: "a", Command: []string{"x", "\x00"}}, "command"},
		{mcp.Config{Name: "a", Command: []string{"x"}, URL: "http://h"}, "url"},
		{mcp.Config{Name: "a", URL: "ftp://h"}, "url"},
		{mcp.Config{Name: "a", URL: "http://me:sesame-1234@h/"}, "url"},
		{mcp.Config{Name: "a", URL: "http://h", Env: map[string]string{"A": "b"}}, "env"},
		{mcp.Config{Name: "a", Command: []string{"x"}, Env: map[string]string{"A=": "b"}}, "env"},
		{mcp.Config{Name: "a", Command: []string{"x"}, Headers: map[string]string{"A": "b"}}, "headers"},
		{mcp.Config{Name: "a", URL: "http://h", Headers: map[string]string{"A b": "c"}}, "headers"},
		{mcp.Config{Name: "a", URL: "http://h", Headers: map[string]string{"A": "sesame-1234\r\nB: c"}}, "headers"},
		{mcp.Config{Name: "a", URL: "http://h", Headers: map[string]string{"mcp-session-id": "c"}}, "headers"},
		{mcp.Config{Name: "a", URL: "http://h", Headers: map[string]string{"content-type": "c"}}, "headers"},
		{mcp.Config{Name: "a", Command: []string{"x"}, Approval: "perhaps"}, "approval"},
		{mcp.Config{Name: "a", Command: []string{"x"}, Timeout: -1}, "timeout"},
	} {
		f := c.config.Check()
		if f == nil || f.Key != c.key || strings.Contains(f.Error(), "sesame-1234") {
			t.Errorf("%+v: %v, want a fault of %s", c.config, f, c.key)
		}
		if _, err := mcp.New([]mcp.Config{c.config}, nil); err == nil {
			t.Errorf("%+v is taken", c.config)
		}
	}
	same := mcp.Config{Name: "a", Command: []string{"x"}}
	if _, err := mcp.New([]mcp.Config{same, same}, nil); err == nil {
		t.Error("two servers of one name are taken")
	}
}

func TestServersAreListedByName(t *testing.T) {
	var configs []mcp.Config
	for _, name := range []string{"c", "a", "b"} {
		configs = append(configs, mcp.Config{Name: name, Command: []string{"no-such-program-here"}})
	}
	var names []string
	for _, v := range newWorld(t, configs...).Servers() {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("listed as %v", names)
	}
}
