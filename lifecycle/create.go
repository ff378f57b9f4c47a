package lifecycle

import (
	"context"

	"weir"
)

// NewConversation is what a person says about a conversation to be made. All
// of it may be left out.
type NewConversation struct {
	ID         weir.ConversationID
	Title      string
	Kind       weir.Kind // chat or main
	Visibility Wish
	Workspace  string
	Model      string
	Agent      string
}

// Wish is a visibility of which parts may be left as they are: what is nil
// stays, so nothing becomes looser by leaving something out.
type Wish struct {
	Level    *weir.Level
	Category *string // "" for none
}

// Empty reports whether nothing is wished for.
func (w Wish) Empty() bool { return w.Level == nil && w.Category == nil }

func (w Wish) apply(v weir.Visibility) weir.Visibility {
	if w.Level != nil {
		v.Level = *w.Level
	}
	if w.Category != nil {
		v.Category = *w.Category
	}
	return v
}

// Create makes a conversation.
func (s *Service) Create(ctx context.Context, a weir.Actor, n NewConversation) (weir.Conversation, error) {
	c, err := s.draft(a, n)
	if err != nil {
		return weir.Conversation{}, err
	}
	err = s.cfg.Store.Update(ctx, func(tx Tx) error {
		if err := tx.InsertConversation(ctx, &c); err != nil {
			return err
		}
		c, err = tx.Conversation(ctx, c.ID)
		return err
	})
	if err != nil {
		return weir.Conversation{}, err
	}
	s.changed(c.ID)
	return c, nil
}

func (s *Service) draft(a weir.Actor, n NewConversation) (weir.Conversation, error) {
	now := s.now()
	c := weir.Conversation{
		ID:         n.ID,
		Owner:      a.Owner,
		Title:      n.Title,
		TitleSet:   n.Title != "",
		Kind:       n.Kind,
		Visibility: n.Visibility.apply(weir.Visibility{Level: weir.Open}),
		Workspace:  n.Workspace,
		Model:      n.Model,
		Agent:      n.Agent,
		CreatedAt:  now,
		Generation: weir.NewGenerationID(now),
		State:      weir.Idle,
		LastActive: now,
	}
	if c.ID == "" {
		c.ID = weir.NewConversationID(now)
	}
	if c.Kind == "" {
		c.Kind = weir.Chat
	}
	if c.Kind != weir.Chat && c.Kind != weir.Main {
		return c, weir.Fault(weir.Invalid, "kind_invalid",
			"A conversation that is made like this is a chat or main; branches are made from a message.")
	}
	if !weir.AddressableID(string(c.ID)) {
		return c, weir.Fault(weir.Invalid, "id_invalid",
			"An id is text of 1 to %d bytes without NUL, and none of “.”, “..” and “/”.", weir.MaxIDBytes)
	}
	if c.Title != "" {
		if err := checkTitle(c.Title); err != nil {
			return c, err
		}
	}
	return c, s.check(c.Visibility, c.Workspace, c.Model, c.Agent)
}

func (s *Service) check(v weir.Visibility, workspace, model, agent string) error {
	if err := CheckVisibility(v); err != nil {
		return err
	}
	if err := checkWorkspace(workspace); err != nil {
		return err
	}
	if err := s.checkModel(model); err != nil {
		return err
	}
	return checkAgent(agent)
}
