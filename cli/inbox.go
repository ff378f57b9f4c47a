package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"weir"
	"weir/client"
)

type inputsCmd struct {
	List     inputsListCmd `cmd:"" default:"withargs" help:"List pending inputs, in the order of promotion, and recently rejected ones."`
	Withdraw withdrawCmd   `cmd:"" help:"Take one back."`
	Edit     editCmd       `cmd:"" help:"Say it in other words."`
	Steer    steerCmd      `cmd:"" help:"Have it promoted at the next safe boundary."`
	Queue    queueCmd      `cmd:"" help:"Have it wait until the conversation would go idle."`
	Move     moveCmd       `cmd:"" help:"Move a queued one before another, or to the end."`
}

type inputsListCmd struct {
	Conversation string `arg:"" help:"Conversation whose inbox is shown."`
}

func (cmd *inputsListCmd) Run(ctx context.Context, s *session) error {
	id, err := s.resolved(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	return list(ctx, s, client.Path("conversations", id, "inputs"), url.Values{}, 1000, func(w io.Writer, in *client.Input) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", in.ID, in.State, in.Delivery, oneLine(weir.Excerpt(in.Text)), oneLine(in.Reason))
	})
}

type inboxed struct {
	Conversation string `arg:"" help:"Conversation of the input."`
	Input        string `arg:"" help:"The input, by its id or a part of it, as weir inputs lists it."`
}

// inbox finds the input that a person names, and others beside it; what is not
// in the inbox is the server's to say.
func (in *inboxed) inbox(ctx context.Context, s *session) (path string, all []client.Input, found client.Input, err error) {
	c, conv, err := s.at(ctx, in.Conversation)
	if err != nil {
		return "", nil, found, err
	}
	base := client.Path("conversations", string(conv.ID), "inputs")
	var page client.Page[client.Input]
	if err := c.Do(ctx, http.MethodGet, base, nil, nil, &page); err != nil {
		return "", nil, found, err
	}
	found, err = oneInput(page.Items, in.Input)
	return base + "/" + url.PathEscape(string(found.ID)), page.Items, found, err
}

func oneInput(all []client.Input, name string) (client.Input, error) {
	var found []client.Input
	for _, one := range all {
		if string(one.ID) == name {
			return one, nil
		}
		if len(name) >= minPart && part(string(one.ID), name) {
			found = append(found, one)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return client.Input{}, fmt.Errorf("%q names %d inputs, %s and %s among them; write more of the id (name_ambiguous)", name, len(found), found[0].ID, found[1].ID)
	}
	return client.Input{ID: weir.InputID(name)}, nil
}

type withdrawCmd struct{ inboxed }

func (cmd *withdrawCmd) Run(ctx context.Context, s *session) error {
	path, _, _, err := cmd.inbox(ctx, s)
	if err != nil {
		return err
	}
	return s.act(ctx, http.MethodDelete, path, nil, "withdrawn")
}

// change asks for a change of an input as it was just read.
func (in *inboxed) change(ctx context.Context, s *session, what map[string]any, done string) error {
	path, _, found, err := in.inbox(ctx, s)
	if err != nil {
		return err
	}
	what["revision"] = found.Revision
	return s.act(ctx, http.MethodPatch, path, what, done)
}

type editCmd struct {
	inboxed
	Text []string `arg:"" help:"The new words; - reads them from standard input."`
}

func (cmd *editCmd) Run(ctx context.Context, s *session) error {
	text, err := s.text(cmd.Text)
	if err != nil {
		return err
	}
	return cmd.change(ctx, s, map[string]any{"text": text}, "changed")
}

type steerCmd struct{ inboxed }

func (cmd *steerCmd) Run(ctx context.Context, s *session) error {
	return cmd.change(ctx, s, map[string]any{"delivery": weir.Steer}, "steers")
}

type queueCmd struct{ inboxed }

func (cmd *queueCmd) Run(ctx context.Context, s *session) error {
	return cmd.change(ctx, s, map[string]any{"delivery": weir.Queue}, "queued")
}

type moveCmd struct {
	inboxed
	Before string `placeholder:"INPUT" help:"The queued input that it goes before; by default it goes to the end."`
}

func (cmd *moveCmd) Run(ctx context.Context, s *session) error {
	path, all, found, err := cmd.inbox(ctx, s)
	if err != nil {
		return err
	}
	before := client.Input{}
	if cmd.Before != "" {
		if before, err = oneInput(all, cmd.Before); err != nil {
			return err
		}
	}
	return s.act(ctx, http.MethodPatch, path, map[string]any{"revision": found.Revision, "before": before.ID}, "moved")
}
