package cli

import (
	"context"
	"encoding/json"
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

// rawItem keeps an item's own JSON beside what was understood of it.
type rawItem[T any] struct {
	raw   json.RawMessage
	value T
}

func (r *rawItem[T]) UnmarshalJSON(b []byte) error {
	r.raw = append(r.raw[:0], b...)
	return json.Unmarshal(b, &r.value)
}

type showCmd struct {
	Conversation string `arg:"" help:"Conversation to show."`
	Limit        int    `default:"100" help:"At most this many of the newest entries."`
	Hidden       bool   `help:"Show what a rewind has hidden, too."`
}

func (cmd *showCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	query := url.Values{"limit": {strconv.Itoa(min(max(cmd.Limit, 1), 1000))}}
	if cmd.Hidden {
		query.Set("hidden", "include")
	}
	var page client.Page[rawItem[client.Item]]
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", cmd.Conversation, "messages"), query, nil, &page); err != nil {
		return err
	}
	for _, it := range page.Items {
		if s.JSON {
			fmt.Fprintf(s.io.Out, "%s\n", compact(it.raw))
			continue
		}
		showItem(s.io.Out, &it.value)
	}
	return nil
}

func showItem(w io.Writer, it *client.Item) {
	hidden := ""
	if it.Hidden {
		hidden = " (hidden by a rewind)"
	}
	fmt.Fprintf(w, "── %s · %s · %s%s\n", it.Kind, it.Time.Local().Format(time.DateTime), it.ID, hidden)
	for _, r := range it.References {
		fmt.Fprintf(w, "  ┌ %s from “%s” (%s)\n", r.Type, oneLine(r.Title), r.Conversation)
		if r.Excerpt != "" {
			fmt.Fprintf(w, "  │ %s\n", oneLine(r.Excerpt))
		}
	}
	if text := words(it); text != "" {
		fmt.Fprintln(w, printable(text))
	}
	if it.Title != "" {
		fmt.Fprintf(w, "[is called “%s” from here on]\n", oneLine(it.Title))
	}
	if it.Interrupted {
		fmt.Fprintln(w, "[cut off here]")
	}
	if it.Reason != "" {
		fmt.Fprintf(w, "[%s: %s (%s)]\n", it.Outcome, it.Reason, it.Code)
	}
	fmt.Fprintln(w)
}

// words is what an entry says, in one text.
func words(it *client.Item) string {
	if len(it.Parts) == 0 {
		return it.Text
	}
	var said []string
	for _, p := range it.Parts {
		switch p.Type {
		case weir.PartText:
			said = append(said, p.Text)
		case weir.PartToolCall:
			said = append(said, "[calls "+p.Name+"]")
		}
	}
	return strings.Join(said, "\n\n")
}

// printable keeps control sequences in a conversation's text from reaching a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}

type previewCmd struct {
	Target string `arg:"" help:"Conversation that it would be handed to."`
	references
}

func (cmd *previewCmd) Run(ctx context.Context, s *session) error {
	refs, err := cmd.list()
	if err != nil {
		return err
	}
	if len(refs) != 1 {
		return usagef("name exactly one --quote, --pointer or --recall to preview")
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	var raw rawItem[client.Preview]
	if err := c.Do(ctx, http.MethodPost, client.Path("references", "preview"), nil,
		map[string]any{"target": cmd.Target, "reference": refs[0]}, &raw); err != nil {
		return err
	}
	if s.JSON {
		_, err := fmt.Fprintf(s.io.Out, "%s\n", compact(raw.raw))
		return err
	}
	p := &raw.value
	fmt.Fprintf(s.io.Out, "%s from “%s”\n", p.Reference.Type, oneLine(p.Title))
	if p.Excerpt != "" {
		fmt.Fprintf(s.io.Out, "  %s\n  (%d characters)\n", oneLine(p.Excerpt), p.TextLength)
	}
	if !p.NeedsConfirmation {
		fmt.Fprintln(s.io.Out, "goes over without a question")
		return nil
	}
	fmt.Fprintln(s.io.Out, p.Confirmation)
	return nil
}

type candidatesCmd struct {
	Target string   `arg:"" help:"Conversation that something would be handed to."`
	Words  []string `arg:"" optional:"" help:"Every word somewhere in id, title or workspace."`
	Limit  int      `default:"20" help:"At most this many, 50 at most."`
}

func (cmd *candidatesCmd) Run(ctx context.Context, s *session) error {
	query := url.Values{"query": {strings.Join(cmd.Words, " ")}, "limit": {strconv.Itoa(cmd.Limit)}}
	type candidate struct{ Conversation, Title, Flow, Mention string }
	return list(ctx, s, client.Path("conversations", cmd.Target, "candidates"), query, cmd.Limit, func(w io.Writer, c *candidate) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Conversation, c.Flow, c.Title)
	})
}

type inputsCmd struct {
	Conversation string `arg:"" help:"Conversation whose inbox is shown."`
}

func (cmd *inputsCmd) Run(ctx context.Context, s *session) error {
	return list(ctx, s, client.Path("conversations", cmd.Conversation, "inputs"), url.Values{}, 1000, func(w io.Writer, in *client.Input) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", in.ID, in.State, in.Delivery, oneLine(in.Reason))
	})
}

type crossingsCmd struct {
	Source string `help:"Only those out of this conversation."`
	Target string `help:"Only those into this conversation."`
	All    bool   `help:"Every flow, not only what was confirmed across a boundary."`
	Limit  int    `default:"100" help:"At most this many."`
}

func (cmd *crossingsCmd) Run(ctx context.Context, s *session) error {
	query := url.Values{}
	for name, value := range map[string]string{"source": cmd.Source, "target": cmd.Target} {
		if value != "" {
			query.Set(name, value)
		}
	}
	path := client.Path("crossings")
	if cmd.All {
		path = client.Path("flows")
	}
	type flow struct {
		Time                               time.Time
		Form, Source, Target, Confirmation string
	}
	return list(ctx, s, path, query, cmd.Limit, func(w io.Writer, f *flow) {
		fmt.Fprintf(w, "%s\t%s\t%s → %s\t%s\n", f.Time.Local().Format(time.DateTime), f.Form, f.Source, f.Target, oneLine(f.Confirmation))
	})
}

type stepsCmd struct {
	Conversation string `arg:"" help:"Conversation whose model calls are listed."`
	Limit        int    `default:"50" help:"At most this many."`
}

func (cmd *stepsCmd) Run(ctx context.Context, s *session) error {
	return list(ctx, s, client.Path("conversations", cmd.Conversation, "steps"), url.Values{}, cmd.Limit, func(w io.Writer, st *client.Step) {
		reuse := string(st.Ledger.Reason)
		if reuse == "" {
			reuse = "extends"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d of %d bytes reused\t%s\n", st.ID, st.StartedAt.Local().Format(time.DateTime), st.State, st.Model, st.Ledger.Shared, st.Ledger.PrefixBytes, reuse)
	})
}

type requestCmd struct {
	Conversation string `arg:"" help:"Conversation of the step."`
	Step         string `arg:"" optional:"" help:"Step; by default the newest."`
}

func (cmd *requestCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	step := cmd.Step
	if step == "" {
		var page client.Page[client.Step]
		if err := c.Do(ctx, http.MethodGet, client.Path("conversations", cmd.Conversation, "steps"), url.Values{"limit": {"1"}}, nil, &page); err != nil {
			return err
		}
		if len(page.Items) == 0 {
			return fmt.Errorf("nothing has been sent to a model in %s yet (step_not_found)", cmd.Conversation)
		}
		step = string(page.Items[0].ID)
	}
	// The answer is the exact body: printed as it is, --json or not.
	var body []byte
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", cmd.Conversation, "steps", step, "request"), nil, nil, &body); err != nil {
		return err
	}
	_, err = s.io.Out.Write(append(body, '\n'))
	return err
}
