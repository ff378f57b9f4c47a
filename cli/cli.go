// Package cli is the command line: each command is one operation of the API,
// said in words or with --json as one JSON value (or one a line) and nothing
// else on standard output. Errors go to standard error as one sentence with
// the stable code. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"weir"
	"weir/client"
)

// IO is where a run reads and writes. Terminal says that a person sits at In
// and Out; only then anything is asked or drawn.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool
}

// Command is a command that another room brings: a pointer to a struct with
// kong's tags and a method Run that takes any of context.Context, *IO and
// *Globals.
type Command struct {
	Name, Help string
	Cmd        any
}

// Globals are the flags that every command has.
type Globals struct {
	JSON  bool   `help:"Print JSON and nothing else on standard output."`
	URL   string `env:"WEIR_URL" default:"http://127.0.0.1:7447" help:"Address of the server."`
	Token string `env:"WEIR_TOKEN" help:"Owner's token; by default the one in the data directory."`
	Data  string `env:"WEIR_DATA" help:"Data directory of the server on this machine." type:"path"`
}

type commands struct {
	Globals
	Version    kong.VersionFlag `help:"Say which version this is."`
	New        newCmd           `cmd:"" help:"Make a conversation."`
	Ls         lsCmd            `cmd:"" help:"List conversations, newest activity first."`
	Show       showCmd          `cmd:"" help:"Show a conversation's timeline."`
	Send       sendCmd          `cmd:"" help:"Send a message, with quotes and pointers if you like."`
	Quote      quoteCmd         `cmd:"" help:"Quote one message of a conversation into another."`
	Preview    previewCmd       `cmd:"" help:"Show what a reference would hand over, and whether it would ask."`
	Candidates candidatesCmd    `cmd:"" help:"List conversations that may be referenced from one."`
	Inputs     inputsCmd        `cmd:"" help:"List pending inputs, edit, move or withdraw one."`
	Withdraw   withdrawCmd      `cmd:"" help:"Take a pending input back."`
	Interrupt  interruptCmd     `cmd:"" help:"Stop the running step; what came is kept."`
	Approve    approveCmd       `cmd:"" help:"Allow a tool call that waits for you."`
	Deny       denyCmd          `cmd:"" help:"Deny a tool call that waits for you; the turn ends."`
	Retry      retryCmd         `cmd:"" help:"Run a step from the end of the conversation."`
	Branch     branchCmd        `cmd:"" help:"Make a child from a point of a conversation."`
	Rewind     rewindCmd        `cmd:"" help:"Hide everything after a message; --undo takes it back."`
	Visibility visibilityCmd    `cmd:"" help:"Change a conversation's wall and category."`
	Set        setCmd           `cmd:"" help:"Rename, archive, or choose model, agent or workspace of a conversation."`
	Context    contextCmd       `cmd:"" help:"Show what the model is told with authority; set and unset facts."`
	Epoch      epochCmd         `cmd:"" help:"Begin a new epoch: a fresh baseline, the tools of this moment."`
	Tools      toolsCmd         `cmd:"" help:"List the tools that models may call; decide about one for good."`
	Artefact   artefactCmd      `cmd:"" help:"Print the whole of a tool result that was cut for the model."`
	Models     modelsCmd        `cmd:"" help:"List the models that can answer; ask their providers what they have."`
	Rm         rmCmd            `cmd:"" help:"Delete a conversation's contents for good."`
	Crossings  crossingsCmd     `cmd:"" help:"List what a person confirmed across a boundary."`
	Steps      stepsCmd         `cmd:"" help:"List model calls of a conversation."`
	Request    requestCmd       `cmd:"" help:"Print the exact request of a step, rebuilt and verified."`
	Import     importCmd        `cmd:"" help:"Bring transcripts of other products in."`
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, version string, args []string, streams IO, more ...Command) int {
	var c commands
	exit := -1
	options := []kong.Option{
		kong.Name("weir"),
		kong.Description("Conversations with language models that hand things to each other, measured and on record."),
		kong.Writers(streams.Out, streams.Err),
		kong.Exit(func(code int) { exit = code }),
		kong.Vars{"version": "weir " + version},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(&streams, &c.Globals),
		kong.BindTo(ctx, (*context.Context)(nil)),
	}
	for _, m := range more {
		options = append(options, kong.DynamicCommand(m.Name, m.Help, "", m.Cmd))
	}
	parser, err := kong.New(&c, options...)
	if err != nil {
		fmt.Fprintf(streams.Err, "weir: %v\n", err)
		return 2
	}
	if len(args) == 0 || args[0] == "help" {
		args = append(slices.Clone(args[min(len(args), 1):]), "--help")
	}
	run, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help has been printed
	}
	if err != nil {
		fmt.Fprintf(streams.Err, "weir: %v (see weir --help)\n", err)
		return 2
	}
	s := &session{Globals: c.Globals, io: &streams}
	if err := run.Run(s); err != nil {
		return fail(streams.Err, inWords(err), c.JSON)
	}
	return 0
}

// inWords says on a command line what the API says to programs.
func inWords(err error) error {
	var p *client.Problem
	var f *weir.Error
	switch {
	case errors.As(err, &p):
		switch p.Code {
		case "unauthenticated", "token_invalid":
			p.Detail = "The server wants its owner's token: set WEIR_TOKEN to it, or name the server's data directory with --data"
		case "tool_not_found":
			p.Detail = "No tool has this name at the moment: weir tools lists them"
		case "branches_undecided":
			p.Detail += " Say --branches keep or --branches delete"
		}
	case errors.As(err, &f) && f.Public != "":
		return fmt.Errorf("%s (%s)", strings.TrimSuffix(f.Public, "."), f.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the answer did not come in time; it goes on without us, and weir show has it then (timeout)")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server went away in the middle of its answer (connection_lost)")
	}
	return err
}

// usage marks an error as wrong usage: exit code 2.
type usage struct{ error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

func fail(w io.Writer, err error, asJSON bool) int {
	var p *client.Problem
	if asJSON && errors.As(err, &p) && len(p.Raw) > 0 {
		fmt.Fprintf(w, "%s\n", compact(p.Raw))
	} else {
		fmt.Fprintf(w, "weir: %v\n", err)
	}
	var u usage
	if errors.As(err, &u) {
		return 2
	}
	return 1
}

func compact(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// session is what a command of the API works with.
type session struct {
	Globals
	io *IO
}

func (s *session) client() (*client.Client, error) {
	token := s.Token
	if token == "" {
		token = storedToken(s.Data)
	}
	return client.New(s.URL, token)
}

// storedToken reads the token that a server on this machine made for its
// owner; none is no error, the server will say what to do.
func storedToken(data string) string {
	if data == "" {
		dir, err := DefaultData()
		if err != nil {
			return ""
		}
		data = dir
	}
	b, err := os.ReadFile(filepath.Join(data, "token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// DefaultData returns the data directory that is used when none is named.
func DefaultData() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "weir"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("there is no home directory to keep data in: name one with --data")
	}
	return filepath.Join(home, ".local", "share", "weir"), nil
}

// print writes v as one line of JSON, or says it in words.
func (s *session) print(v any, words func(w io.Writer)) error {
	if !s.JSON {
		words(s.io.Out)
		return nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.io.Out, "%s\n", out)
	return err
}
