package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"weir/cli"
)

// Commands are the commands that need more than the API: the server itself and
// what works on a store directly.
func Commands() []cli.Command {
	return []cli.Command{
		{Name: "serve", Help: "Run the server.", Cmd: &serveCmd{}},
		{Name: "demo", Help: "Run a server on a temporary directory, with sample conversations and the demo model.", Cmd: &demoCmd{}},
		{Name: "verify", Help: "Check a store: rebuild every request from the log, look for gaps.", Cmd: &verifyCmd{}},
	}
}

type serveCmd struct {
	Listen         string   `env:"WEIR_LISTEN" help:"Address to serve on (127.0.0.1:7447)."`
	Store          string   `env:"WEIR_STORE" placeholder:"URL" help:"Database, when it is not SQLite in the data directory: postgres://…"`
	Config         string   `env:"WEIR_CONFIG" type:"path" help:"Configuration file (weir.toml in the data directory, if it is there)."`
	DefaultModel   string   `env:"WEIR_DEFAULT_MODEL" placeholder:"PROVIDER/NAME" help:"Model that answers where none is chosen."`
	Hosts          []string `env:"WEIR_HOSTS" help:"Names under which the server is reached, beside the loopback ones."`
	AllowPlainHTTP bool     `env:"WEIR_ALLOW_PLAIN_HTTP" help:"Listen beyond this machine without TLS: something in front does it."`
	Verbose        bool     `help:"Log each request."`
}

// config puts flag and environment over file, and the default below.
func (cmd *serveCmd) config(g *cli.Globals) (Config, error) {
	data := g.Data
	if data == "" {
		dir, err := cli.DefaultData()
		if err != nil {
			return Config{}, err
		}
		data = dir
	}
	name := cmd.Config
	if name == "" {
		if beside := filepath.Join(data, "weir.toml"); exists(beside) {
			name = beside
		}
	}
	c, err := ReadConfig(name)
	if err != nil {
		return c, err
	}
	set(&c.Listen, cmd.Listen)
	set(&c.Store, cmd.Store)
	set(&c.DefaultModel, cmd.DefaultModel)
	if g.Data != "" || c.Data == "" {
		c.Data = data
	}
	if len(cmd.Hosts) > 0 {
		c.Hosts = cmd.Hosts
	}
	c.AllowPlainHTTP = c.AllowPlainHTTP || cmd.AllowPlainHTTP
	c.Token = g.Token
	return c, nil
}

func set(dst *string, value string) {
	if value != "" {
		*dst = value
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (cmd *serveCmd) Run(ctx context.Context, g *cli.Globals, streams *cli.IO) error {
	c, err := cmd.config(g)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if cmd.Verbose {
		level = slog.LevelDebug
	}
	r, err := Start(ctx, c, slog.New(slog.NewTextHandler(streams.Err, &slog.HandlerOptions{Level: level})))
	if err != nil {
		return err
	}
	greet(streams, r, &c)
	return untilEnd(ctx, r, streams.Out)
}

// greet says where the server is and how to get in. A link is for the person
// who started it, and goes to no log.
func greet(streams *cli.IO, r *Running, c *Config) {
	fmt.Fprintf(streams.Out, "Weir serves on %s\n", r.URL)
	if streams.Terminal {
		fmt.Fprintf(streams.Out, "Sign in:  %s (works once)\n", r.SignInURL())
	} else {
		fmt.Fprintf(streams.Out, "Sign in:  open it and paste the owner's token\n")
	}
	fmt.Fprintf(streams.Out, "Token:    %s\n", tokenPlace(c))
}

func tokenPlace(c *Config) string {
	if c.Token != "" {
		return "the one in WEIR_TOKEN; nothing is kept in the data directory, so the commands need it too"
	}
	return filepath.Join(c.Data, "token")
}

// untilEnd waits for the person or the server to end it, and stops in order.
func untilEnd(ctx context.Context, r *Running, out io.Writer) error {
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "stopping")
		return r.Stop()
	case err := <-r.Wait():
		if stopErr := r.Stop(); err == nil {
			err = stopErr
		}
		return err
	}
}

type verifyCmd struct {
	Store string `env:"WEIR_STORE" placeholder:"URL" help:"Database, when it is not SQLite in the data directory: postgres://…"`
}

func (cmd *verifyCmd) Run(ctx context.Context, g *cli.Globals, streams *cli.IO) error {
	where := cmd.Store
	if where == "" {
		where = g.Data
	}
	if where == "" {
		dir, err := cli.DefaultData()
		if err != nil {
			return err
		}
		where = dir
	}
	return verify(ctx, strings.TrimSpace(where), g.JSON, streams)
}
