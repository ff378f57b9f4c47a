package cli

import (
	"context"
	"crypto/sha256"
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

// maxPage is the most entries that the server gives at once.
const maxPage = 500

type showCmd struct {
	Conversation string `arg:"" help:"Conversation to show."`
	Limit        int    `default:"100" help:"At most this many of the newest entries."`
	Hidden       bool   `help:"Show what a rewind has hidden, too."`
}

func (cmd *showCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	id := string(conv.ID)
	items, more, err := newest(ctx, c, id, max(cmd.Limit, 1), cmd.Hidden)
	if err != nil {
		return err
	}
	if more && !s.JSON {
		fmt.Fprintf(s.io.Err, "only the newest %d entries; --limit shows more\n", len(items))
	}
	for i := range items {
		if s.JSON {
			fmt.Fprintf(s.io.Out, "%s\n", compact(items[i].raw))
			continue
		}
		showItem(s.io.Out, &items[i].value)
	}
	if conv.State != weir.Idle && !s.JSON {
		fmt.Fprintf(s.io.Err, "it %s\n", standingInWords(&conv))
	}
	return nil
}

// standingInWords says what a conversation that is not idle is at.
func standingInWords(c *client.Conversation) string {
	switch {
	case c.State == weir.Blocked:
		return "waits until it can be told " + oneLine(c.WaitingFor) + "; it goes on by itself"
	case c.State == weir.Waiting && c.WaitingFor == forApproval:
		return "waits for your decision about a tool call: weir approve " + string(c.ID) + ", or weir deny"
	case c.State == weir.Waiting:
		return "was interrupted; what is pending waits for your next word"
	}
	return "is " + string(c.State)
}

// forApproval is what a conversation waits for when a tool call does.
const forApproval = "approval"

// newest reads the newest entries of a timeline, page by page, and returns
// them in order, and whether there are more.
func newest(ctx context.Context, c *client.Client, conversation string, limit int, hidden bool) (items []rawItem[client.Item], more bool, err error) {
	query := url.Values{}
	if hidden {
		query.Set("hidden", "include")
	}
	for limit > 0 {
		query.Set("limit", strconv.Itoa(min(limit, maxPage)))
		var page client.Page[rawItem[client.Item]]
		if err := c.Do(ctx, http.MethodGet, client.Path("conversations", conversation, "messages"), query, nil, &page); err != nil {
			return nil, false, err
		}
		items = append(page.Items, items...)
		limit -= len(page.Items)
		if page.Next == "" || len(page.Items) == 0 {
			return items, false, nil
		}
		query.Set("before", strconv.FormatInt(int64(page.Items[0].value.Seq), 10))
	}
	return items, true, nil
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
	switch { // an answer has a model too, the one that gave it
	case it.Kind != weir.KindModel:
	case it.Model != "":
		fmt.Fprintf(w, "[%s answers from here on]\n", oneLine(it.Model))
	default:
		fmt.Fprintln(w, "[the default model answers from here on]")
	}
	if it.Rewind != nil {
		fmt.Fprintln(w, rewound(it))
	}
	if it.Tool != nil && it.Text == "" {
		if it.Tool.IsError {
			fmt.Fprintln(w, "[the call failed]")
		}
		fmt.Fprintln(w, printable(clipped(it.Tool.Text)))
		if it.Tool.Artefact != "" {
			fmt.Fprintf(w, "[the model read a part; weir artefact has all %d bytes: %s]\n", it.Tool.Size, it.Tool.Artefact)
		}
	}
	if it.Update != nil {
		fmt.Fprintf(w, "[the model was told of %s, %s]\n%s\n", oneLine(it.Update.Fact), clock(it.Update.At), printable(it.Update.Text))
	}
	if it.Approval != nil {
		fmt.Fprintf(w, "[the call of %s: %s]\n", oneLine(it.Approval.Name), it.Approval.Decision)
	}
	if it.Kind == weir.KindEpoch {
		fmt.Fprintln(w, "[a new epoch: a fresh baseline from here on]")
	}
	if it.Interrupted {
		fmt.Fprintln(w, "[cut off here]")
	}
	if it.Reason != "" {
		fmt.Fprintf(w, "[%s: %s (%s)]\n", it.Outcome, it.Reason, it.Code)
	}
	fmt.Fprintln(w)
}

func rewound(it *client.Item) string {
	if it.Rewind.Undo {
		return "[the rewind was taken back]"
	}
	return "[rewound: what came before this is hidden; show --hidden has it]"
}

// shownBytes is how much of a tool's call or result is shown in passing.
const shownBytes = 600

func clipped(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return strings.ToValidUTF8(s[:shownBytes], "") + fmt.Sprintf(" [… %d bytes in all; --json has them]", len(s))
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
			said = append(said, "[calls "+p.Name+" "+clipped(p.Input)+"]")
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
	if len(cmd.Quote)+len(cmd.Pointer)+len(cmd.Recall) != 1 {
		return usagef("name exactly one --quote, --pointer or --recall to preview")
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	refs, err := cmd.list(ctx, s, c)
	if err != nil {
		return err
	}
	target, err := s.id(ctx, c, cmd.Target)
	if err != nil {
		return err
	}
	var raw rawItem[client.Preview]
	if err := c.Do(ctx, http.MethodPost, client.Path("references", "preview"), nil,
		map[string]any{"target": target, "reference": refs[0]}, &raw); err != nil {
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
	id, err := s.resolved(ctx, cmd.Target)
	if err != nil {
		return err
	}
	return list(ctx, s, client.Path("conversations", id, "candidates"), query, cmd.Limit, func(w io.Writer, c *candidate) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Conversation, c.Flow, c.Title)
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
		if value == "" {
			continue
		}
		// One that was deleted has no name any more, and is listed by its id.
		id, err := s.resolved(ctx, value)
		if err != nil {
			id = value
		}
		query.Set(name, id)
	}
	path := client.Path("crossings")
	if cmd.All {
		path = client.Path("flows")
	}
	type flow struct {
		Time                                       time.Time
		Form, Source, Target, Confirmation, Result string
		SourceTitle                                string `json:"source_title"`
		TargetTitle                                string `json:"target_title"`
	}
	return list(ctx, s, path, query, cmd.Limit, func(w io.Writer, f *flow) {
		what := f.Form
		if f.Result != "" {
			what = f.Result
		}
		fmt.Fprintf(w, "%s\t%s\t%s → %s\t%s\n", f.Time.Local().Format(time.DateTime), what, titled(f.SourceTitle, f.Source), titled(f.TargetTitle, f.Target), oneLine(f.Confirmation))
	})
}

// titled names a conversation by its title, and by its id when that is gone.
func titled(title, id string) string {
	if title == "" {
		return id
	}
	return "“" + oneLine(title) + "” (" + id + ")"
}

type stepsCmd struct {
	Conversation string `arg:"" help:"Conversation whose model calls are listed."`
	Limit        int    `default:"50" help:"At most this many."`
}

func (cmd *stepsCmd) Run(ctx context.Context, s *session) error {
	id, err := s.resolved(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	var spent spending
	err = list(ctx, s, client.Path("conversations", id, "steps"), url.Values{}, cmd.Limit, func(w io.Writer, st *client.Step) {
		tried := ""
		if st.Attempts > 1 {
			tried = fmt.Sprintf("%d attempts", st.Attempts)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", st.ID, st.StartedAt.Local().Format(time.DateTime), outcomeInWords(st), st.Model,
			prefixInWords(&st.Ledger), tokensInWords(st.Usage), spent.add(st.Usage), tried)
	})
	if err == nil && !s.JSON {
		spent.say(s.io.Out)
	}
	return err
}

type requestCmd struct {
	Conversation string `arg:"" help:"Conversation of the step."`
	Step         string `arg:"" optional:"" help:"Step; by default the newest."`
}

func (cmd *requestCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	id := string(conv.ID)
	step := cmd.Step
	if step == "" {
		var page client.Page[client.Step]
		if err := c.Do(ctx, http.MethodGet, client.Path("conversations", id, "steps"), url.Values{"limit": {"1"}}, nil, &page); err != nil {
			return err
		}
		if len(page.Items) == 0 {
			return fmt.Errorf("nothing has been sent to a model in %s yet (step_not_found)", cmd.Conversation)
		}
		step = string(page.Items[0].ID)
	}
	// The answer is the exact body: printed as it is and without a line's end,
	// --json or not, so that its digest is the step's.
	var body []byte
	if err := c.Do(ctx, http.MethodGet, client.Path("conversations", id, "steps", step, "request"), nil, nil, &body); err != nil {
		return err
	}
	if _, err = s.io.Out.Write(body); err != nil {
		return err
	}
	if s.io.Terminal {
		fmt.Fprintf(s.io.Err, "\nrebuilt from the log and equal to what was sent: %d bytes, SHA-256 %x\n", len(body), sha256.Sum256(body))
	}
	return nil
}
