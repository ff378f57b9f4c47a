package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"weir"
	"weir/cli"
	"weir/lifecycle"
	"weir/turn"
)

type demoCmd struct {
	Listen string `env:"WEIR_LISTEN" default:"127.0.0.1:7447" help:"Address to serve on; a free one is taken if it is in use."`
}

func (cmd *demoCmd) Run(ctx context.Context, g *cli.Globals, streams *cli.IO) error {
	dir, err := os.MkdirTemp("", "weir-demo-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := slog.New(slog.NewTextHandler(streams.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := Config{Listen: cmd.Listen, Data: dir, Token: g.Token, Owner: Owner{Name: "Max"}}
	r, err := Start(ctx, c, log)
	if err != nil && cmd.Listen == defaultListen {
		c.Listen = "127.0.0.1:0" // the usual port is taken, perhaps by a real server
		r, err = Start(ctx, c, log)
	}
	if err != nil {
		return err
	}
	if err := samples(ctx, r); err != nil {
		return errors.Join(err, r.Stop())
	}
	fmt.Fprintf(streams.Out, `Weir's demo runs on a temporary directory with the built-in demo model; nothing leaves this machine.

Open     %s
         (works once; another browser takes the token below)
Or       export WEIR_URL=%s WEIR_TOKEN=%s
         bin/weir ls

Ctrl-C ends it and removes what was said.
`, r.SignInURL(), r.URL, r.Token)
	return untilEnd(ctx, r, streams.Out)
}

// sample is a conversation that the demo begins with.
type sample struct {
	title      string
	visibility weir.Visibility
	says       []string
}

var demoSamples = []sample{
	{"Which port for the gateway", weir.Visibility{Level: weir.Open}, []string{
		"We settled on port 7447 for the gateway: 8080 is taken by the metrics agent, and 443 stays with the proxy. TLS ends at the proxy.",
		"Which port did we settle on, and why?",
	}},
	{"Gateway rollout", weir.Visibility{Level: weir.Open}, []string{
		"Let us plan the rollout of the gateway: canary on Monday, everyone on Wednesday if the error rate stays under 0.1 %.",
	}},
	{"Salary bands 2027 (isolated)", weir.Visibility{Level: weir.Isolated}, []string{
		"Confidential: the band for senior engineers moves up by four percent in April. This conversation is isolated: quoting from it elsewhere asks you first.",
	}},
	{"Client A: contract review", weir.Visibility{Level: weir.Open, Category: "client-a"}, []string{
		"Notes on the contract of client A: the notice period is ninety days. This conversation has a category, so its contents go to others of the same category only.",
	}},
}

// samples fills a demo through the same doors that people use.
func samples(ctx context.Context, r *Running) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	a := weir.Actor{Owner: r.account.Owner(), Name: "Max", Door: "demo", MayConfirm: true}
	for i := len(demoSamples) - 1; i >= 0; i-- { // the first one last, so that it is the newest
		s := demoSamples[i]
		c, err := r.life.Create(ctx, a, lifecycle.NewConversation{Title: s.title, Visibility: lifecycle.Wish{Level: &s.visibility.Level, Category: &s.visibility.Category}})
		if err != nil {
			return err
		}
		for _, text := range s.says {
			if err := r.say(ctx, a, c.ID, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// say sends a message and waits until the conversation is idle again.
func (r *Running) say(ctx context.Context, a weir.Actor, c weir.ConversationID, text string) error {
	signals, cancel := r.hub.Subscribe(c, 1024)
	defer cancel()
	in, err := r.engine.Admit(ctx, a, turn.Admission{Conversation: c, Text: text})
	if err != nil {
		return err
	}
	for {
		conv, err := r.store.Conversation(ctx, c)
		if err != nil {
			return err
		}
		now, err := r.store.Input(ctx, c, in.ID)
		if err != nil {
			return err
		}
		if now.State != weir.Pending && conv.State == weir.Idle {
			return nil
		}
		select {
		case <-signals:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
