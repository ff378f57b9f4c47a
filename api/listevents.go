package api

import (
	"context"
	"net/http"
	"time"

	"weir"
)

// listPause collects changes, so that a conversation that streams is told of a
// few times a second and not with each of its records.
const listPause = 100 * time.Millisecond

// listEvents tells of changes of all conversations that the actor sees.
func (s *server) listEvents(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	signals, cancel := s.cfg.Live.Subscribe("", signalBuffer*4)
	defer cancel()
	out := openStream(w)
	out.passing("reset", struct{}{})
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	var dirty changes
	var due <-chan time.Time
	for {
		if out.flush() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if _, err := s.cfg.Account.Actor(r); err != nil {
				return nil
			}
			out.comment()
		case sig, open := <-signals:
			if !open {
				out.passing("reset", struct{}{})
				_ = out.flush()
				return nil
			}
			dirty.add(sig.Conversation)
			if due == nil {
				due = time.After(listPause)
			}
		case <-due:
			due = nil
			if !s.tellChanges(ctx, out, dirty.take()) {
				return nil
			}
		}
	}
}

// changes is a set of conversations in the order in which they changed.
type changes struct {
	order []weir.ConversationID
	in    map[weir.ConversationID]bool
}

func (c *changes) add(id weir.ConversationID) {
	if c.in[id] {
		return
	}
	if c.in == nil {
		c.in = map[weir.ConversationID]bool{}
	}
	c.in[id] = true
	c.order = append(c.order, id)
}

func (c *changes) take() []weir.ConversationID {
	ids := c.order
	*c = changes{}
	return ids
}

func (s *server) tellChanges(ctx context.Context, out *stream, ids []weir.ConversationID) bool {
	a := actorOf(ctx)
	for _, id := range ids {
		c, err := s.cfg.Store.Conversation(ctx, id)
		switch {
		case err != nil && weir.KindOf(err) != weir.NotFound:
			return false
		case err != nil || c.Owner != a.Owner:
		case c.Deleted:
			out.passing("deleted", struct {
				ID weir.ConversationID `json:"id"`
			}{id})
		default:
			out.passing("conversation", conversationOf(&c))
		}
	}
	return true
}
