package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"weir"
	"weir/client"
)

type sending struct {
	Confirm bool          `help:"Where something would cross a boundary: show it, ask, and send what was seen."`
	Queue   bool          `help:"Wait until the conversation would go idle."`
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

// follow prints what is said after seq until the step that answers the input
// has settled.
func (s *session) follow(ctx context.Context, c *client.Client, target string, input weir.InputID, after weir.Seq) error {
	f := &follower{s: s, input: input}
	query := url.Values{"after": {strconv.FormatInt(int64(after), 10)}}
	err := c.Events(ctx, client.Path("conversations", target, "events"), query, f.event)
	switch {
	case f.failed != nil:
		return f.failed
	case err != nil:
		return err
	case !f.done:
		return fmt.Errorf("the connection ended before the answer did; `weir show %s` has what came (stream_ended)", target)
	}
	return nil
}

// follower watches one conversation until the answer to an input has settled:
// something came that ends a turn, and the conversation is idle.
type follower struct {
	s       *session
	input   weir.InputID
	begun   bool // our input has been promoted
	printed bool // deltas of the answer have been printed
	ended   bool // an answer without calls, or a failure, has come
	idle    bool
	done    bool
	failed  error
}

func (f *follower) event(e client.Event) error {
	var err error
	switch {
	case e.ID != "":
		var item client.Item
		if err := json.Unmarshal(e.Data, &item); err != nil {
			return err
		}
		f.item(&item, e.Data)
	case e.Name == "delta":
		f.delta(e.Data)
	case e.Name == "snapshot", e.Name == "state":
		var state struct {
			State weir.State `json:"state"`
		}
		if json.Unmarshal(e.Data, &state) == nil && state.State != "" {
			f.idle = state.State != weir.Running
		}
	case e.Name == "input":
		err = f.rejected(e.Data)
	}
	if err == nil && f.begun && f.ended && f.idle {
		f.done = true
		err = io.EOF
	}
	return err
}

func (f *follower) delta(data json.RawMessage) {
	var d struct {
		Text string `json:"text"`
	}
	if f.begun && !f.s.JSON && json.Unmarshal(data, &d) == nil && d.Text != "" {
		f.printed = true
		fmt.Fprint(f.s.io.Out, d.Text)
	}
}

func (f *follower) rejected(data json.RawMessage) error {
	var in client.Input
	if json.Unmarshal(data, &in) != nil || in.ID != f.input {
		return nil
	}
	if in.State != weir.Rejected && in.State != weir.Withdrawn {
		return nil
	}
	f.done = true
	f.failed = fmt.Errorf("%s (%s)", in.Reason, in.Code)
	return io.EOF
}

func (f *follower) item(item *client.Item, raw json.RawMessage) {
	if item.Input == f.input && item.Input != "" {
		f.begun = true
	}
	if !f.begun {
		return
	}
	if f.s.JSON {
		fmt.Fprintf(f.s.io.Out, "%s\n", compact(raw))
	}
	if item.Kind == weir.KindAssistant {
		f.ended = !hasCalls(item)
		if !f.s.JSON {
			if !f.printed {
				fmt.Fprint(f.s.io.Out, words(item))
			}
			fmt.Fprintln(f.s.io.Out)
		}
		f.printed = false
	}
	if item.Outcome != "" && item.Outcome != string(weir.StepDone) {
		f.ended = true
		f.failed = fmt.Errorf("%s (%s)", item.Reason, item.Code)
	}
}

func hasCalls(item *client.Item) bool {
	for _, p := range item.Parts {
		if p.Type == weir.PartToolCall {
			return true
		}
	}
	return false
}
