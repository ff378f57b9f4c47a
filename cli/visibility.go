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
	if cmd.Level == "" && cmd.Category == nil {
		return usagef("say what changes: --level open, --level isolated, --category LABEL, or --category \"\" for none")
	}
	id, err := s.id(ctx, c, cmd.Conversation)
	if err != nil {
		return err
	}
	path := client.Path("conversations", id)
	v := map[string]any{}
	if cmd.Level != "" {
		v["level"] = cmd.Level
	}
	if cmd.Category != nil {
		v["category"] = *cmd.Category
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
	Yes          bool   `help:"Do not ask."`
}

func (cmd *rmCmd) Run(ctx context.Context, s *session) error {
	_, conv, err := s.at(ctx, cmd.Conversation)
	if err != nil {
		return err
	}
	if !cmd.Yes {
		if err := s.yes(fmt.Sprintf("Delete “%s” for good? It cannot be brought back.", oneLine(conv.Title))); err != nil {
			return err
		}
	}
	path := client.Path("conversations", string(conv.ID))
	if cmd.Branches != "" {
		path += "?" + url.Values{"branches": {cmd.Branches}}.Encode()
	}
	return s.act(ctx, http.MethodDelete, path, nil, "deleted; what was quoted from it elsewhere stays there (weir crossings --all --source "+string(conv.ID)+" lists where)")
}

// yes asks a person on the terminal.
func (s *session) yes(question string) error {
	if !s.io.Terminal {
		return usagef("this asks a person, and there is no terminal here; --yes does it without asking")
	}
	fmt.Fprintf(s.io.Err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(s.io.In).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return fmt.Errorf("nothing was changed (declined)")
	}
	return nil
}

type setCmd struct {
	Conversation string  `arg:"" help:"Conversation to change."`
	Title        *string `help:"New title."`
	Model        *string `help:"Model that answers from now on; empty for the default."`
	Agent        *string `help:"Agent that speaks from now on; empty for none."`
	Workspace    *string `help:"Folder that the work is about; empty for none."`
	Archive      bool    `xor:"archive" help:"Hide it from the list."`
	Unarchive    bool    `xor:"archive" help:"Show it in the list again."`
}

func (cmd *setCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	if cmd.Workspace != nil {
		folder, err := absolute(*cmd.Workspace)
		if err != nil {
			return err
		}
		cmd.Workspace = &folder
	}
	in := map[string]any{}
	for name, value := range map[string]*string{"title": cmd.Title, "model": cmd.Model, "agent": cmd.Agent, "workspace": cmd.Workspace} {
		if value != nil {
			in[name] = *value
		}
	}
	if cmd.Archive || cmd.Unarchive {
		in["archived"] = cmd.Archive
	}
	if len(in) == 0 {
		return usagef("say what changes: --title, --model, --agent, --workspace, --archive or --unarchive")
	}
	id, err := s.id(ctx, c, cmd.Conversation)
	if err != nil {
		return err
	}
	return s.act(ctx, http.MethodPatch, client.Path("conversations", id), in, "changed")
}
