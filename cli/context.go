package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"weir"
	"weir/client"
)

type contextCmd struct {
	Show  contextShowCmd  `cmd:"" default:"withargs" help:"Show the baseline, what the model was last told of each fact, and what it will be told next."`
	Set   contextSetCmd   `cmd:"" help:"Keep a fact: the model is told of it with the next step."`
	Unset contextUnsetCmd `cmd:"" help:"Take a fact back: the model is told that it no longer applies."`
	Facts contextFactsCmd `cmd:"" help:"List the facts that were set."`
}

type contextShowCmd struct {
	Conversation string `arg:"" help:"Conversation whose context is shown."`
}

func (cmd *contextShowCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	var got rawItem[client.Context]
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", string(conv.ID), "context"), nil, nil, &got); err != nil {
		return err
	}
	if s.JSON {
		_, err := fmt.Fprintf(s.io.Out, "%s\n", compact(got.raw))
		return err
	}
	return showContext(s.io.Out, &got.value)
}

func showContext(w io.Writer, c *client.Context) error {
	if c.Epoch == 0 {
		fmt.Fprintln(w, "no epoch yet: the baseline is made at the first step")
	} else {
		fmt.Fprintf(w, "── baseline · since %s (seq %d) · %d bytes · SHA-256 %s\n%s\n", clock(c.BeganAt), c.Epoch, len(c.Baseline), c.SHA256, printable(c.Baseline))
	}
	out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	if len(c.Snapshot) > 0 {
		fmt.Fprintln(out, "\n── told")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Snapshot)) {
		fmt.Fprintf(out, "%s\t%s\n", key, valueInWords(c.Snapshot[key].Value))
	}
	if len(c.Journal) > 0 {
		fmt.Fprintln(out, "\n── not told yet")
	}
	for _, j := range c.Journal {
		fmt.Fprintf(out, "%s\t%s\t%s\n", j.Fact, clock(j.ChangedAt), valueInWords(j.Value))
	}
	if len(c.Unavailable) > 0 {
		fmt.Fprintln(out, "\n── cannot be observed")
	}
	for _, u := range c.Unavailable {
		fmt.Fprintf(out, "%s\tsince %s\t%s\n", u.Fact, clock(u.Since), oneLine(u.Reason))
	}
	return out.Flush()
}

func valueInWords(v json.RawMessage) string {
	if len(v) == 0 {
		return "no longer applies"
	}
	return oneLine(clipped(string(compact(v))))
}

func clock(t time.Time) string { return t.Local().Format(time.DateTime) }

// factPath is the address of a fact, of one conversation or of all.
func (s *session) factPath(ctx context.Context, conversation, key string) (string, error) {
	ns, name, ok := strings.Cut(key, "/")
	if !ok || ns == "" || name == "" {
		return "", usagef("%q names no fact: write NAMESPACE/NAME", key)
	}
	if conversation == "" {
		return client.Path("context", "facts", ns, name), nil
	}
	id, err := s.resolved(ctx, conversation)
	return client.Path("conversations", id, "context", "facts", ns, name), err
}

type contextSetCmd struct {
	Fact         string `arg:"" placeholder:"NS/NAME" help:"The fact, as NAMESPACE/NAME."`
	Value        string `arg:"" help:"Its value: JSON, or anything else as text; - reads it from standard input."`
	Conversation string `placeholder:"CONV" help:"Only for this conversation; by default for all of yours."`
	Text         string `help:"What the model reads of it; by default made of key and value."`
	At           string `placeholder:"TIME" help:"When it changed, as 2026-11-30T14:02:00Z; by default now."`
}

func (cmd *contextSetCmd) Run(ctx context.Context, s *session) error {
	value := cmd.Value
	if value == "-" {
		b, err := io.ReadAll(io.LimitReader(s.io.In, weir.MaxFactBytes+1))
		if err != nil {
			return err
		}
		value = string(b)
	}
	in := map[string]any{"value": value}
	if json.Valid([]byte(value)) {
		in["value"] = json.RawMessage(value)
	}
	if cmd.Text != "" {
		in["update_text"] = cmd.Text
	}
	if cmd.At != "" {
		at, err := time.Parse(time.RFC3339, cmd.At)
		if err != nil {
			return usagef("%q is no time: write it as 2026-11-30T14:02:00Z", cmd.At)
		}
		in["changed_at"] = at
	}
	path, err := s.factPath(ctx, cmd.Conversation, cmd.Fact)
	if err != nil {
		return err
	}
	return s.act(ctx, http.MethodPut, path, in, "kept; the model is told with the next step")
}

type contextUnsetCmd struct {
	Fact         string `arg:"" placeholder:"NS/NAME" help:"The fact, as NAMESPACE/NAME."`
	Conversation string `placeholder:"CONV" help:"Of this conversation; by default of all of yours."`
}

func (cmd *contextUnsetCmd) Run(ctx context.Context, s *session) error {
	path, err := s.factPath(ctx, cmd.Conversation, cmd.Fact)
	if err != nil {
		return err
	}
	return s.act(ctx, http.MethodDelete, path, nil, "taken back; the model is told with the next step")
}

type contextFactsCmd struct {
	Conversation string `arg:"" optional:"" help:"Those of this conversation; by default those of all of yours."`
	Of           string `name:"conversation" placeholder:"CONV" help:"The same, as set and unset take it."`
}

func (cmd *contextFactsCmd) Run(ctx context.Context, s *session) error {
	path := client.Path("context", "facts")
	if cmd.Of != "" && cmd.Conversation != "" {
		return usagef("name the conversation once, with --conversation or without")
	}
	if name := cmp.Or(cmd.Conversation, cmd.Of); name != "" {
		id, err := s.resolved(ctx, name)
		if err != nil {
			return err
		}
		path = client.Path("conversations", id, "context", "facts")
	}
	type fact struct {
		Fact      string          `json:"fact"`
		Value     json.RawMessage `json:"value"`
		ChangedAt time.Time       `json:"changed_at"`
	}
	return list(ctx, s, path, url.Values{}, 1000, func(w io.Writer, f *fact) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Fact, clock(f.ChangedAt), valueInWords(f.Value))
	})
}

type epochCmd struct {
	Conversation string `arg:"" help:"Conversation that gets a fresh baseline, and the tools of this moment."`
}

func (cmd *epochCmd) Run(ctx context.Context, s *session) error {
	_, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	return s.act(ctx, http.MethodPost, client.Path("conversations", string(conv.ID), "epoch"), map[string]any{"if_seq": conv.HeadSeq}, "a new epoch begins with the next step")
}
