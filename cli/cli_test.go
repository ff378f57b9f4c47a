package cli_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"weir/app"
	"weir/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir": func() {
			streams := cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: os.Getenv("WEIR_TEST_TERMINAL") != ""}
			os.Exit(cli.Main(context.Background(), app.Version, os.Args[1:], streams, app.Commands()...))
		},
	})
}

// Each script talks to a server of its own, with the demo model, over HTTP.
func TestTheCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			data := filepath.Join(env.WorkDir, "data")
			r, err := app.Start(context.Background(), app.Config{Listen: "127.0.0.1:0", Data: data, Owner: app.Owner{Name: "Max"}}, nil)
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"member": member, "digest": digest},
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
