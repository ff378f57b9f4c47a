package lifecycle

import (
	"context"

	"weir"
	"weir/transcript"
)

// Rewind hides everything after a message. ifSeq is the newest seq that the
// person has seen. It returns the record that was appended.
func (s *Service) Rewind(ctx context.Context, a weir.Actor, id weir.ConversationID, to weir.MessageID, ifSeq weir.Seq) (weir.Record, error) {
	if err := s.current(ctx, a, id, &ifSeq); err != nil {
		return weir.Record{}, err
	}
	return s.exclusive(ctx, a, id, func(tx Tx, c *weir.Conversation, fence int64) (weir.Record, error) {
		// What the interrupted step's settlement has appended meanwhile is no
		// news to the person; anything said since is.
		since, err := tx.Records(ctx, c, weir.RecordQuery{After: ifSeq})
		if err != nil {
			return weir.Record{}, err
		}
		for i := range since {
			switch since[i].Kind() {
			case weir.KindUser, weir.KindRewind, weir.KindUndo, weir.KindCheckpoint, weir.KindStep:
				return weir.Record{}, moved(c)
			}
		}
		shape, err := fold(ctx, tx, c)
		if err != nil {
			return weir.Record{}, err
		}
		at, cut, err := cutAt(ctx, tx, c, to, shape)
		if err != nil {
			return weir.Record{}, err
		}
		if err := hidesSomething(ctx, tx, c, shape, cut); err != nil {
			return weir.Record{}, err
		}
		r, err := s.append(ctx, tx, c, fence, &weir.Rewind{To: at.ID, From: cut + 1, Upto: c.HeadSeq})
		if err != nil {
			return weir.Record{}, err
		}
		g, err := generationAt(ctx, tx, c, &at)
		if err != nil || g == c.Generation {
			return r, err
		}
		return r, tx.ChangeActivity(ctx, id, weir.Activity{Generation: &g})
	})
}

// UndoRewind takes back the newest rewind not yet taken back, if no message
// has been appended since.
func (s *Service) UndoRewind(ctx context.Context, a weir.Actor, id weir.ConversationID, ifSeq *weir.Seq) (weir.Record, error) {
	if err := s.current(ctx, a, id, ifSeq); err != nil {
		return weir.Record{}, err
	}
	return s.exclusive(ctx, a, id, func(tx Tx, c *weir.Conversation, fence int64) (weir.Record, error) {
		shape, err := fold(ctx, tx, c)
		if err != nil {
			return weir.Record{}, err
		}
		seq, _, ok := shape.LastRewind()
		if !ok || seq <= c.Inherits() {
			return weir.Record{}, weir.Fault(weir.Conflict, "nothing_to_undo", "There is no rewind to take back.")
		}
		since, err := tx.Records(ctx, c, weir.RecordQuery{After: seq - 1})
		if err != nil {
			return weir.Record{}, err
		}
		for i := range since[1:] {
			if since[i+1].Kind().IsMessage() {
				return weir.Record{}, weir.Fault(weir.Conflict, "undo_too_late",
					"The conversation went on after the rewind, so it cannot be taken back; branch from a hidden message instead.")
			}
		}
		r, err := s.append(ctx, tx, c, fence, &weir.Undo{Rewind: seq})
		if err != nil {
			return weir.Record{}, err
		}
		if g := since[0].Generation; g != c.Generation {
			return r, tx.ChangeActivity(ctx, id, weir.Activity{Generation: &g})
		}
		return r, nil
	})
}

// current refuses when the conversation is not what the person saw.
func (s *Service) current(ctx context.Context, a weir.Actor, id weir.ConversationID, ifSeq *weir.Seq) error {
	c, err := visible(ctx, s.cfg.Store, a, id)
	if err != nil {
		return err
	}
	if ifSeq != nil && *ifSeq != c.HeadSeq {
		return moved(&c)
	}
	return nil
}

func moved(c *weir.Conversation) error {
	return weir.Fault(weir.Conflict, weir.CodeMoved,
		"The conversation has moved on since you looked; look again and repeat.").With("head_seq", c.HeadSeq)
}

// exclusive runs fn under the conversation's lease and tells watchers.
func (s *Service) exclusive(ctx context.Context, a weir.Actor, id weir.ConversationID,
	fn func(tx Tx, c *weir.Conversation, fence int64) (weir.Record, error)) (weir.Record, error) {
	var r weir.Record
	err := s.cfg.Turns.Exclusive(ctx, id, func(tx Tx, fence int64) error {
		c, err := visible(ctx, tx, a, id)
		if err != nil {
			return err
		}
		r, err = fn(tx, &c, fence)
		return err
	})
	if err != nil {
		return weir.Record{}, err
	}
	s.cfg.Live.Publish(weir.Signal{Conversation: id, Head: r.Seq, State: true})
	return r, nil
}

func (s *Service) append(ctx context.Context, tx Tx, c *weir.Conversation, fence int64, body weir.Body) (weir.Record, error) {
	now := s.now()
	head := c.HeadSeq
	rs, err := tx.Append(ctx, c.ID, fence, &head, weir.Record{
		ID: weir.NewMessageID(now), Time: now, Generation: c.Generation, Body: body,
	})
	if err != nil {
		return weir.Record{}, err
	}
	return rs[0], nil
}

func fold(ctx context.Context, tx Tx, c *weir.Conversation) (*transcript.Shape, error) {
	structure, err := tx.Structure(ctx, c)
	if err != nil {
		return nil, err
	}
	return transcript.Fold(structure), nil
}

// hidesSomething refuses a rewind to what is already the last message.
func hidesSomething(ctx context.Context, tx Tx, c *weir.Conversation, shape *transcript.Shape, cut weir.Seq) error {
	after := cut
	for {
		rs, err := tx.Records(ctx, c, weir.RecordQuery{After: after, Limit: 256})
		if err != nil {
			return err
		}
		for i := range rs {
			if rs[i].Kind().IsMessage() && !shape.Hidden(rs[i].Seq) {
				return nil
			}
			after = rs[i].Seq
		}
		if len(rs) < 256 {
			return weir.Fault(weir.Unprocessable, "cut_invalid",
				"That is already the last message; there is nothing after it to hide.")
		}
	}
}

// generationAt returns the generation that c is in again when at is its last
// message. Inherited messages name their ancestor's generations; c's own first
// one is named by its first own record.
func generationAt(ctx context.Context, tx Tx, c *weir.Conversation, at *weir.Record) (weir.GenerationID, error) {
	if at.Conversation == c.ID {
		return at.Generation, nil
	}
	own, err := tx.Records(ctx, c, weir.RecordQuery{After: c.Inherits(), Limit: 1})
	if err != nil || len(own) == 0 {
		return c.Generation, err
	}
	return own[0].Generation, nil
}
