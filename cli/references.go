package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"weir"
	"weir/client"
)

// message parses CONV/MSG. Either part may be percent-encoded, so that an id
// with a slash can be written.
func message(arg string) (weir.ConversationID, weir.MessageID, error) {
	i := strings.LastIndexByte(arg, '/')
	if i <= 0 || i == len(arg)-1 {
		return "", "", usagef("%q does not name a message: write CONVERSATION/MESSAGE", arg)
	}
	c, err1 := url.PathUnescape(arg[:i])
	m, err2 := url.PathUnescape(arg[i+1:])
	if err1 != nil || err2 != nil {
		return "", "", usagef("%q has a broken %%-escape", arg)
	}
	return weir.ConversationID(c), weir.MessageID(m), nil
}

// references are the flags that name what goes along.
type references struct {
	Quote   []string `placeholder:"CONV/MSG" help:"Quote a message. Can be repeated."`
	Pointer []string `placeholder:"CONV" help:"Point to a conversation. Can be repeated."`
	Recall  []string `placeholder:"CONV" help:"Hand over a snapshot of a conversation (refused for now: recalls come with a later version)."`
}

// list resolves what the flags name.
func (r *references) list(ctx context.Context, s *session, c *client.Client) ([]weir.Reference, error) {
	var refs []weir.Reference
	for _, arg := range r.Quote {
		ref, err := s.quoted(ctx, c, arg)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	for _, kind := range []struct {
		typ  weir.ReferenceType
		args []string
	}{{weir.Pointer, r.Pointer}, {weir.RecallT, r.Recall}} {
		for _, arg := range kind.args {
			id, err := s.id(ctx, c, arg)
			if err != nil {
				return nil, err
			}
			refs = append(refs, weir.Reference{Type: kind.typ, Conversation: weir.ConversationID(id)})
		}
	}
	return refs, nil
}

// quoted resolves CONV/MSG.
func (s *session) quoted(ctx context.Context, c *client.Client, arg string) (weir.Reference, error) {
	conv, msg, err := message(arg)
	if err != nil {
		return weir.Reference{}, err
	}
	id, err := s.id(ctx, c, string(conv))
	if err != nil {
		return weir.Reference{}, err
	}
	m, err := s.message(ctx, c, id, string(msg))
	return weir.Reference{Type: weir.Quote, Conversation: weir.ConversationID(id), Message: m}, err
}

// confirm previews each reference, shows the server's sentence for those that
// need a person's word, asks for it, and marks them confirmed as seen.
func (s *session) confirm(ctx context.Context, c *client.Client, target string, refs []weir.Reference) error {
	answers := bufio.NewReader(s.io.In)
	for i, ref := range refs {
		p, err := preview(ctx, c, target, ref)
		if err != nil {
			return err
		}
		if !p.NeedsConfirmation {
			continue
		}
		if !s.io.Terminal {
			return usagef("--confirm asks a person, and there is no terminal here; the question is: %s", p.Confirmation)
		}
		fmt.Fprintf(s.io.Err, "%s\n  “%s”\n  %s\nSend it? [y/N] ", p.Title, p.Excerpt, p.Confirmation)
		line, err := answers.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
			return fmt.Errorf("not confirmed, nothing was sent (confirmation_declined)")
		}
		refs[i].Confirmed, refs[i].Seen = true, p.Digest
	}
	return nil
}

func preview(ctx context.Context, c *client.Client, target string, ref weir.Reference) (client.Preview, error) {
	var p client.Preview
	err := c.Do(ctx, http.MethodPost, client.Path("references", "preview"), nil,
		map[string]any{"target": target, "reference": ref}, &p)
	return p, err
}
