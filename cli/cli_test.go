package cli_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"weir/app"
	"weir/cli"
	"weir/client"
	"weir/model"
	"weir/test/strictpeer/strictpeer"
	"weir/test/toolserver"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir": func() {
			streams := cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: os.Getenv("WEIR_TEST_TERMINAL") != ""}
			os.Exit(cli.Main(context.Background(), app.Version, os.Args[1:], streams, app.Commands()...))
		},
	})
}

// world is a configuration with the demo model as the default, a strict peer
// beside it that does what it is told, and its tools: those of "runs" run, those
// of "asks" ask first.
func world(t *testing.T, data string, tools *toolserver.Server) (c app.Config, end func()) {
	peer := strictpeer.New("anthropic")
	never := make(chan struct{}) // who holds gives up with its client
	for range 9 {
		peer.When(strictpeer.Saying("HOLD"), strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Hold(never)})
		peer.When(strictpeer.Saying("ASK"), strictpeer.Answer{strictpeer.Say("I look."), strictpeer.Use("asks__echo", `{"text":"hi"}`)})
		peer.When(strictpeer.Saying("FILL"), strictpeer.Answer{strictpeer.Use("runs__fill", `{"bytes":100000}`)})
	}
	peer.When(strictpeer.Saying("REFUSED once"), strictpeer.Answer{strictpeer.Fail(400, "messages: no")})
	peer.When(strictpeer.Saying("OVERLOADED"), strictpeer.Answer{strictpeer.Fail(529, "")})
	peer.Lists(model.Listed{Name: "claude-strict", ContextWindow: 300_000}, model.Listed{Name: "claude-next", MaxOutput: 1000}, model.Listed{Name: "claude-old", Lifecycle: model.Retired})
	provider := httptest.NewServer(peer)
	return app.Config{
		Listen: "127.0.0.1:0", Data: data, Owner: app.Owner{Name: "Max"}, DefaultModel: "demo/demo",
		Providers: []app.Provider{{ID: "peer", Dialect: "anthropic", BaseURL: provider.URL, APIKeyEnv: "WEIR_CLI_KEY"}},
		Models: []app.Model{{"id": "peer/claude", "provider": "peer", "name": "claude-strict", "context_window": 200_000, "max_output": 4096, "mid_system": "native",
			"prices": map[string]any{"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}},
		MCP: []app.MCP{{Name: "runs", URL: tools.URL, Approval: "allow"}, {Name: "asks", URL: tools.URL, Approval: "ask"}},
	}, provider.Close
}

// Each script talks to a server of its own over HTTP.
func TestTheCommandLine(t *testing.T) {
	t.Setenv("WEIR_CLI_KEY", "sk-test")
	tools := toolserver.New(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			data := filepath.Join(env.WorkDir, "data")
			cfg, end := world(t, data, tools)
			env.Defer(end)
			r, err := app.Start(context.Background(), cfg, nil)
			if err != nil {
				return err
			}
			env.Defer(func() {
				if err := r.Stop(); err != nil {
					t.Error(err)
				}
			})
			env.Setenv("WEIR_URL", r.URL)
			env.Setenv("WEIR_DATA", data)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"member": member, "capture": capture, "digest": digest, "state": state},
	})
}

// member NAME KIND? sets the variable NAME from the last command's JSON lines:
// the member of that name in the first line (whose kind is KIND, if given).
// "member VAR path [kind]" where path is a top-level member.
func member(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: member VAR MEMBER [KIND]")
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(line), &v))
		if len(args) > 2 && v["kind"] != args[2] {
			continue
		}
		value, ok := v[args[1]].(string)
		if !ok {
			ts.Fatalf("%s is not a string in %s", args[1], line)
		}
		ts.Setenv(args[0], value)
		return
	}
	ts.Fatalf("no such line")
}

// capture VAR REGEXP sets a variable to what the group of the expression
// matches in the last command's output.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VAR REGEXP")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match")
	}
	ts.Setenv(args[0], found[1])
}

// state CONVERSATION STATE waits until the conversation is in that state.
func state(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: state CONVERSATION STATE")
	}
	token, err := os.ReadFile(filepath.Join(ts.Getenv("WEIR_DATA"), "token"))
	ts.Check(err)
	c, err := client.New(ts.Getenv("WEIR_URL"), strings.TrimSpace(string(token)))
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var now client.Standing
	ts.Check(c.Events(ctx, client.Path("conversations", args[0], "events"), nil, func(e client.Event) error {
		if e.Name == "snapshot" || e.Name == "state" {
			ts.Check(json.Unmarshal(e.Data, &now))
		}
		if string(now.State) == args[1] {
			return io.EOF
		}
		return nil
	}))
	if string(now.State) != args[1] {
		ts.Fatalf("it stayed %s", now.State)
	}
}

// digest FILE holds the SHA-256 of a file against the newest step of the last
// command's list.
func digest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: digest FILE")
	}
	line, _, _ := strings.Cut(ts.ReadFile("stdout"), "\n")
	var step struct {
		SHA256 string `json:"request_sha256"`
	}
	ts.Check(json.Unmarshal([]byte(line), &step))
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(ts.ReadFile(args[0])))); got != step.SHA256 {
		ts.Fatalf("the body's digest is %s, the step's %s", got, step.SHA256)
	}
}
