package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"weir"
	"weir/client"
)

type newCmd struct {
	Title     []string `arg:"" optional:"" help:"Title; by default the first line of the first message."`
	ID        string   `help:"Id of your own."`
	Isolated  bool     `help:"Put a wall around it: its contents go elsewhere only when a person confirms."`
	Category  string   `help:"Label; its contents go only to conversations of the same category unasked."`
	Model     string   `help:"Model that answers, as weir models lists it."`
	Workspace string   `help:"Folder that the work is about."`
}

func (cmd *newCmd) Run(ctx context.Context, s *session) error {
	level := weir.Open
	if cmd.Isolated {
		level = weir.Isolated
	}
	workspace, err := absolute(cmd.Workspace)
	if err != nil {
		return err
	}
	in := map[string]any{"visibility": weir.Visibility{Level: level, Category: cmd.Category}}
	for name, value := range map[string]string{"id": cmd.ID, "title": strings.Join(cmd.Title, " "), "model": cmd.Model, "workspace": workspace} {
		if value != "" {
			in[name] = value
		}
	}
	return s.conversation(ctx, http.MethodPost, client.Path("conversations"), in)
}

// absolute is a folder as the server takes it: what is written on a command
// line is meant from where its writer stands.
func absolute(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", usagef("there is no home directory that ~ could name: write the folder from / on")
		}
		folder = home + rest
	}
	return filepath.Abs(folder)
}

// conversation does a request that is answered by a conversation, and prints it.
func (s *session) conversation(ctx context.Context, method, path string, in any) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	if s.JSON {
		var raw []byte
		if err := c.Do(ctx, method, path, nil, in, &raw); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.io.Out, "%s\n", compact(raw))
		return err
	}
	var conv client.Conversation
	if err := c.Do(ctx, method, path, nil, in, &conv); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.io.Out, conv.ID)
	return err
}

type lsCmd struct {
	Words    []string `arg:"" optional:"" help:"Only those with every word in title, id or workspace."`
	Archived bool     `help:"The archived ones."`
	Limit    int      `default:"50" help:"At most this many."`
}

func (cmd *lsCmd) Run(ctx context.Context, s *session) error {
	query := url.Values{"limit": {strconv.Itoa(min(cmd.Limit, 200))}, "archived": {strconv.FormatBool(cmd.Archived)}}
	if len(cmd.Words) > 0 {
		query.Set("query", strings.Join(cmd.Words, " "))
	}
	return list(ctx, s, client.Path("conversations"), query, cmd.Limit, func(w io.Writer, c *client.Conversation) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.LastActive.Local().Format(time.DateTime), marks(c), c.State, oneLine(c.Title))
	})
}

func marks(c *client.Conversation) string {
	m := string(c.Visibility.Level)
	if c.Visibility.Category != "" {
		m += "/" + c.Visibility.Category
	}
	if c.Kind != weir.Chat {
		m += " " + string(c.Kind)
	}
	if c.Origin != nil {
		m += " from " + c.Origin.Product
	}
	return m
}

// oneLine keeps what a terminal would act on out of a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// list walks the pages of a list and prints up to limit items, one a line.
// An empty list is said on standard error, so that a pipe stays empty.
func list[T any](ctx context.Context, s *session, path string, query url.Values, limit int, words func(io.Writer, *T)) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	wanted := limit
	out := tabwriter.NewWriter(s.io.Out, 0, 4, 2, ' ', 0)
	for limit > 0 {
		var page client.Page[rawItem[T]]
		if err := c.Do(ctx, http.MethodGet, path, query, nil, &page); err != nil {
			return err
		}
		for i := range page.Items[:min(limit, len(page.Items))] {
			if s.JSON {
				fmt.Fprintf(s.io.Out, "%s\n", compact(page.Items[i].raw))
				continue
			}
			words(out, &page.Items[i].value)
		}
		if len(page.Items) == 0 && limit == wanted && !s.JSON {
			fmt.Fprintln(s.io.Err, "nothing there")
		}
		limit -= len(page.Items)
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	return out.Flush()
}

type branchCmd struct {
	Conversation string `arg:"" help:"Conversation to branch from."`
	At           string `required:"" placeholder:"MSG" help:"Message that the child ends with."`
	Title        string `help:"Title of the child."`
	Isolated     bool   `help:"Put a wall around the child."`
}

func (cmd *branchCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	id := string(conv.ID)
	at, err := s.message(ctx, c, id, cmd.At)
	if err != nil {
		return err
	}
	in := map[string]any{"at": at}
	if cmd.Title != "" {
		in["title"] = cmd.Title
	}
	if cmd.Isolated {
		in["visibility"] = weir.Visibility{Level: weir.Isolated}
	}
	return s.conversation(ctx, http.MethodPost, client.Path("conversations", id, "branch"), in)
}

type rewindCmd struct {
	Conversation string `arg:"" help:"Conversation to rewind."`
	To           string `placeholder:"MSG" xor:"how" required:"" help:"Message that is then the last."`
	Undo         bool   `xor:"how" required:"" help:"Take back the newest rewind."`
}

func (cmd *rewindCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	path := client.Path("conversations", string(conv.ID)) + "/rewind"
	in := map[string]any{"if_seq": conv.HeadSeq}
	if cmd.Undo {
		path += "/undo"
	} else if in["to"], err = s.message(ctx, c, string(conv.ID), cmd.To); err != nil {
		return err
	}
	var raw []byte
	if err := c.Do(ctx, http.MethodPost, path, nil, in, &raw); err != nil {
		return err
	}
	if s.JSON {
		_, err = fmt.Fprintf(s.io.Out, "%s\n", compact(raw))
		return err
	}
	done := "rewound; `weir rewind " + cmd.Conversation + " --undo` takes it back until the next message"
	if cmd.Undo {
		done = "taken back"
	}
	_, err = fmt.Fprintln(s.io.Out, done)
	return err
}

type interruptCmd struct {
	Conversation string `arg:"" help:"Conversation whose step is stopped."`
	ThenSteer    bool   `help:"Go on at once with the pending inputs that steer."`
}

func (cmd *interruptCmd) Run(ctx context.Context, s *session) error {
	_, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	done := "asked to stop"
	switch {
	case conv.State == weir.Waiting && conv.WaitingFor != forApproval:
		done = "nothing runs there; what is pending goes on with your next message, or with weir retry"
	case conv.State != weir.Running && conv.State != weir.Waiting:
		done = "nothing runs there"
	}
	in := map[string]any{}
	if cmd.ThenSteer {
		in["then"] = weir.Steer
	}
	return s.act(ctx, http.MethodPost, client.Path("conversations", string(conv.ID), "interrupt"), in, done)
}

type retryCmd struct {
	Conversation string `arg:"" help:"Conversation to go on with."`
	waiting
}

func (cmd *retryCmd) Run(ctx context.Context, s *session) error {
	c, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	path, in := client.Path("conversations", string(conv.ID), "retry"), map[string]any{"if_seq": conv.HeadSeq}
	if !cmd.Wait {
		return s.act(ctx, http.MethodPost, path, in, "a step will run")
	}
	if err := c.Do(ctx, http.MethodPost, path, nil, in, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmd.Timeout)
	defer cancel()
	return s.follow(ctx, c, string(conv.ID), "", conv.HeadSeq)
}

// act does a request whose answer matters to programs only.
func (s *session) act(ctx context.Context, method, path string, in any, done string) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	var raw []byte
	if err := c.Do(ctx, method, path, nil, in, &raw); err != nil {
		return err
	}
	if s.JSON {
		if len(raw) == 0 {
			raw = []byte("{}")
		}
		_, err = fmt.Fprintf(s.io.Out, "%s\n", compact(raw))
		return err
	}
	_, err = fmt.Fprintln(s.io.Out, done)
	return err
}
