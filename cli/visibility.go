package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"weir"
	"weir/client"
)

type visibilityCmd struct {
	Conversation string  `arg:"" help:"Conversation to change."`
	Level        string  `enum:",open,isolated" default:"" help:"open or isolated."`
	Category     *string `help:"Label; empty for none."`
	Confirm      bool    `help:"Where walls come down: show what would open, ask, and do what was seen."`
}

func (cmd *visibilityCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	path := client.Path("conversations", cmd.Conversation)
	var conv client.Conversation
	if err := c.Do(ctx, http.MethodGet, path, nil, nil, &conv); err != nil {
		return err
	}
	v := weir.Visibility{Level: conv.Visibility.Level, Category: conv.Visibility.Category}
	if cmd.Level != "" {
		v.Level = weir.Level(cmd.Level)
	}
	if cmd.Category != nil {
		v.Category = *cmd.Category
	}
	in := map[string]any{"visibility": v}
	err = c.Do(ctx, http.MethodPatch, path, nil, in, nil)
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != "confirmation_required" || !cmd.Confirm {
		if err != nil {
			return err
		}
		return s.print(v, func(w io.Writer) { fmt.Fprintln(w, "changed") })
	}
	digest, err := s.ask(p)
	if err != nil {
		return err
	}
	in["confirmed"], in["seen"] = true, digest
	return s.act(ctx, http.MethodPatch, path, in, "changed")
}

// ask shows the sentence of a refusal that wants a person's word, and returns
// the digest of what was shown when they give it.
func (s *session) ask(p *client.Problem) (string, error) {
	var q struct{ Confirmation, Digest string }
	if err := json.Unmarshal(p.Raw, &q); err != nil || q.Digest == "" {
		return "", p
	}
	if !s.io.Terminal {
		return "", usagef("--confirm asks a person, and there is no terminal here; the question is: %s", q.Confirmation)
	}
	fmt.Fprintf(s.io.Err, "%s\nDo it? [y/N] ", q.Confirmation)
	line, _ := bufio.NewReader(s.io.In).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return "", fmt.Errorf("not confirmed, nothing was changed (confirmation_declined)")
	}
	return q.Digest, nil
}

type rmCmd struct {
	Conversation string `arg:"" help:"Conversation whose contents go for good."`
	Branches     string `enum:",keep,delete" default:"" help:"keep or delete what branched off from it."`
}

func (cmd *rmCmd) Run(ctx context.Context, s *session) error {
	path := client.Path("conversations", cmd.Conversation)
	if cmd.Branches != "" {
		path += "?" + url.Values{"branches": {cmd.Branches}}.Encode()
	}
	return s.act(ctx, http.MethodDelete, path, nil, "deleted; what was quoted from it elsewhere stays there (weir crossings lists what crossed)")
}
