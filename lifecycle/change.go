package lifecycle

import (
	"context"

	"weir"
)

// Change names what a person changes on a conversation; nil stays.
type Change struct {
	Title      *string
	Visibility Wish
	Workspace  *string
	Model      *string
	Agent      *string
	Archived   *bool
	// KeepCategories leaves the descendants' category as it is; else those
	// that have the old one get the new one.
	KeepCategories bool
	Confirmed      bool
	Seen           string
}

// Change changes what is set on a conversation. What makes it or a descendant
// readable from further away is asked about first; then nothing of the whole
// change is stored.
func (s *Service) Change(ctx context.Context, a weir.Actor, id weir.ConversationID, ch Change) (weir.Conversation, error) {
	row, err := s.rowChange(ch)
	if err != nil {
		return weir.Conversation{}, err
	}
	var c weir.Conversation
	var touched []weir.ConversationID
	err = s.cfg.Store.Update(ctx, func(tx Tx) error {
		if c, err = visible(ctx, tx, a, id); err != nil {
			return err
		}
		touched = []weir.ConversationID{id}
		if !ch.Visibility.Empty() {
			moved, err := s.move(ctx, tx, a, id, ch)
			if err != nil {
				return err
			}
			touched = append(touched, moved...)
		}
		if row != (weir.ConversationChange{}) {
			if err := tx.ChangeConversation(ctx, id, row); err != nil {
				return err
			}
		}
		c, err = tx.Conversation(ctx, id)
		return err
	})
	if err != nil {
		return weir.Conversation{}, err
	}
	s.changed(touched...)
	return c, nil
}

func (s *Service) rowChange(ch Change) (weir.ConversationChange, error) {
	row := weir.ConversationChange{Workspace: ch.Workspace, Model: ch.Model, Agent: ch.Agent, Archived: ch.Archived}
	if ch.Title != nil {
		if err := checkTitle(*ch.Title); err != nil {
			return row, err
		}
		set := true
		row.Title, row.TitleSet = ch.Title, &set
	}
	return row, s.check(ch.Visibility.apply(weir.Visibility{Level: weir.Open}),
		value(ch.Workspace), value(ch.Model), value(ch.Agent))
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
