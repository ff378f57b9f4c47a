package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"weir"
	"weir/client"
)

type sending struct {
	Confirm bool `help:"Where something would cross a boundary: show it, ask, and send what was seen."`
	Queue   bool `help:"Wait until the conversation would go idle."`
	waiting
}

type waiting struct {
	Wait    bool          `help:"Print the answer as it streams, and end with it."`
	Timeout time.Duration `default:"10m" help:"How long to wait for the answer with --wait."`
}

type sendCmd struct {
	Conversation string   `arg:"" help:"Target conversation."`
	Text         []string `arg:"" help:"The message; - reads it from standard input."`
	references
	sending
	Mentions bool `help:"Mentions such as @[label](weir:…) in the text count."`
}

func (cmd *sendCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	refs, err := cmd.list(ctx, s, c)
	if err != nil {
		return err
	}
	m := client.Message{References: refs}
	if cmd.Mentions {
		m.Mentions = "all"
	}
	return s.send(ctx, c, cmd.Conversation, cmd.Text, m, cmd.sending)
}

type quoteCmd struct {
	Message string   `arg:"" placeholder:"CONV/MSG" help:"The message to quote, as CONVERSATION/MESSAGE."`
	Target  string   `arg:"" help:"The conversation to quote it into."`
	Text    []string `arg:"" help:"What you say with it; - reads it from standard input."`
	sending
}

func (cmd *quoteCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	ref, err := s.quoted(ctx, c, cmd.Message)
	if err != nil {
		return err
	}
	return s.send(ctx, c, cmd.Target, cmd.Text, client.Message{References: []weir.Reference{ref}}, cmd.sending)
}

func (s *session) text(words []string) (string, error) {
	if len(words) != 1 || words[0] != "-" {
		return strings.Join(words, " "), nil
	}
	b, err := io.ReadAll(io.LimitReader(s.io.In, weir.MaxTextBytes+1))
	return string(b), err
}

func (s *session) send(ctx context.Context, c *client.Client, name string, words []string, m client.Message, how sending) error {
	conv, err := s.named(ctx, c, name)
	if err != nil {
		return err
	}
	target := string(conv.ID)
	if m.Text, err = s.text(words); err != nil {
		return err
	}
	if how.Confirm {
		if err := s.confirm(ctx, c, target, m.References); err != nil {
			return err
		}
	}
	if how.Queue {
		m.Delivery = weir.Queue
	}
	// An id of our own makes a send that is tried again after a lost answer harmless.
	m.ID = weir.NewInputID(time.Now())
	var answer struct {
		Input client.Input `json:"input"`
	}
	if err := c.Do(ctx, http.MethodPost, client.Path("conversations", target, "messages"), nil, m, &answer); err != nil {
		return hint(err, how)
	}
	if !how.Wait {
		return s.print(answer, func(w io.Writer) {
			fmt.Fprintf(w, "%s accepted\n", answer.Input.ID)
		})
	}
	ctx, cancel := context.WithTimeout(ctx, how.Timeout)
	defer cancel()
	return s.follow(ctx, c, target, answer.Input.ID, conv.HeadSeq)
}

// hint adds what to do on this command line to a refusal that asks a person.
func hint(err error, how sending) error {
	var p *client.Problem
	if !errors.As(err, &p) || how.Confirm {
		return err
	}
	if p.Code == "confirmation_required" {
		p.Detail += " Add --confirm to see it and decide"
	}
	return err
}
