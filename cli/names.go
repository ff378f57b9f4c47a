package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"weir"
	"weir/client"
)

// minPart is the least that is taken for a part of an id: less is a typo.
const minPart = 4

// named finds the conversation that a person names: by its id, by the
// beginning or the end of its id, or by its title. What is not unique is said.
func (s *session) named(ctx context.Context, c *client.Client, name string) (client.Conversation, error) {
	var conv client.Conversation
	err := c.Do(ctx, http.MethodGet, client.Path("conversations", name), nil, nil, &conv)
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != weir.CodeConversationNotFound || name == "" {
		return conv, err
	}
	var page client.Page[client.Conversation]
	query := url.Values{"query": {name}, "limit": {"50"}}
	if lerr := c.Do(ctx, http.MethodGet, client.Path("conversations"), query, nil, &page); lerr != nil {
		return conv, err
	}
	var found []client.Conversation
	for _, one := range page.Items {
		if len(name) >= minPart && part(string(one.ID), name) || strings.EqualFold(one.Title, name) {
			found = append(found, one)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return conv, fmt.Errorf("%q names %d conversations, %s and %s among them; write more of the id (name_ambiguous)", name, len(found), found[0].ID, found[1].ID)
	}
	return conv, err
}

// id is named for those who need no more than the id.
func (s *session) id(ctx context.Context, c *client.Client, name string) (string, error) {
	conv, err := s.named(ctx, c, name)
	return string(conv.ID), err
}

// message finds a message by its id, or by the beginning or the end of it
// among the newest.
func (s *session) message(ctx context.Context, c *client.Client, conversation, name string) (weir.MessageID, error) {
	var item client.Item
	err := c.Do(ctx, http.MethodGet, client.Path("conversations", conversation, "messages", name), nil, nil, &item)
	var p *client.Problem
	if !errors.As(err, &p) || p.Status != http.StatusNotFound || len(name) < minPart {
		return item.ID, err
	}
	var page client.Page[client.Item]
	query := url.Values{"limit": {"500"}, "hidden": {"include"}}
	if lerr := c.Do(ctx, http.MethodGet, client.Path("conversations", conversation, "messages"), query, nil, &page); lerr != nil {
		return "", err
	}
	var found []weir.MessageID
	for _, one := range page.Items {
		if part(string(one.ID), name) {
			found = append(found, one.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%q names %d messages, %s and %s among them; write more of the id (name_ambiguous)", name, len(found), found[0], found[1])
	}
	// Not among the newest: the server decides, with the words it has for it.
	return weir.MessageID(name), nil
}

func part(id, name string) bool { return strings.HasPrefix(id, name) || strings.HasSuffix(id, name) }

// at opens a client and finds the conversation that a person names.
func (s *session) at(ctx context.Context, name string) (*client.Client, client.Conversation, error) {
	c, err := s.client()
	if err != nil {
		return nil, client.Conversation{}, err
	}
	conv, err := s.named(ctx, c, name)
	return c, conv, err
}

// resolved is at for those who need no more than the id.
func (s *session) resolved(ctx context.Context, name string) (string, error) {
	_, conv, err := s.at(ctx, name)
	return string(conv.ID), err
}
