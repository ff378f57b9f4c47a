package lifecycle

import (
	"context"
	"errors"
	"slices"

	"weir"
)

// What to do with the branches of a conversation that is deleted.
const (
	KeepBranches   = "keep"
	DeleteBranches = "delete"
)

// Deletion says what is gone, and where quotes of it went and stay.
type Deletion struct {
	Deleted []weir.ConversationID
	Copies  []Copy // newest first
	More    bool   // there are more copies than are listed
}

// Copy is a quote that stays in another conversation, with that one's title
// and the message that it was sent with, "" while it waits.
type Copy struct {
	weir.Flow
	Title string
	In    weir.MessageID
}

// maxCopies is the longest list of copies that is given.
const maxCopies = 1000

// Delete removes a conversation's bodies for good and leaves a tombstone. With
// living branches the person has to choose: keep them (the records that they
// inherit stay, reachable only through them) or delete them too.
func (s *Service) Delete(ctx context.Context, a weir.Actor, id weir.ConversationID, branches string) (Deletion, error) {
	var d Deletion
	if branches != "" && branches != KeepBranches && branches != DeleteBranches {
		return d, weir.Fault(weir.Invalid, "branches_invalid", "Say branches=keep or branches=delete.")
	}
	if _, err := visible(ctx, s.cfg.Store, a, id); err != nil {
		return d, err
	}
	if branches == DeleteBranches {
		below, err := s.cfg.Store.Descendants(ctx, id)
		if err != nil {
			return d, err
		}
		for _, c := range deepestFirst(living(below)) {
			if err := s.deleteOne(ctx, a, c.ID, KeepBranches); err != nil && weir.KindOf(err) != weir.NotFound {
				return d, err
			}
			d.Deleted = append(d.Deleted, c.ID)
		}
		branches = "" // one that was made meanwhile has not been asked about
	}
	if err := s.deleteOne(ctx, a, id, branches); err != nil {
		return d, err
	}
	d.Deleted = append(d.Deleted, id)
	return d, s.copies(ctx, a, &d)
}

func (s *Service) deleteOne(ctx context.Context, a weir.Actor, id weir.ConversationID, branches string) error {
	err := s.cfg.Turns.Exclusive(ctx, id, func(tx Tx, _ int64) error {
		if err := tx.LockForChange(ctx, id); err != nil {
			return err
		}
		c, err := visible(ctx, tx, a, id)
		if err != nil {
			return err
		}
		below, err := tx.Descendants(ctx, id)
		if err != nil {
			return err
		}
		alive := living(below)
		if len(alive) > 0 && branches != KeepBranches {
			return undecided(alive)
		}
		if err := s.withdraw(ctx, tx, id); err != nil {
			return err
		}
		if err := tx.DeleteBodies(ctx, id, inheritedFrom(id, alive)); err != nil {
			return err
		}
		return trimAncestors(ctx, tx, &c)
	})
	if err != nil {
		return err
	}
	s.changed(id)
	return nil
}

// withdraw puts on record that what waited to be handed to id never arrives.
func (s *Service) withdraw(ctx context.Context, tx Tx, id weir.ConversationID) error {
	pending, err := tx.PendingInputs(ctx, id)
	if err != nil {
		return err
	}
	for i := range pending {
		if err := s.cfg.Gate.Settle(ctx, tx, &pending[i], weir.FlowWithdrawn, 0); err != nil {
			return err
		}
	}
	return nil
}

// trimAncestors removes what deleted ancestors kept for c alone.
func trimAncestors(ctx context.Context, tx Tx, c *weir.Conversation) error {
	for _, in := range slices.Backward(c.Lineage) {
		above, err := tx.Conversation(ctx, in.Conversation)
		if err != nil {
			return err
		}
		if !above.Deleted {
			continue
		}
		below, err := tx.Descendants(ctx, above.ID)
		if err != nil {
			return err
		}
		if err := tx.DeleteBodies(ctx, above.ID, inheritedFrom(above.ID, living(below))); err != nil {
			return err
		}
	}
	return nil
}

// inheritedFrom returns the seq up to which any of those below inherits from id.
func inheritedFrom(id weir.ConversationID, below []weir.Conversation) weir.Seq {
	var upto weir.Seq
	for i := range below {
		for _, in := range below[i].Lineage {
			if in.Conversation == id {
				upto = max(upto, in.Upto)
			}
		}
	}
	return upto
}

func living(cs []weir.Conversation) []weir.Conversation {
	return slices.DeleteFunc(slices.Clone(cs), func(c weir.Conversation) bool { return c.Deleted })
}

func deepestFirst(cs []weir.Conversation) []weir.Conversation {
	slices.SortStableFunc(cs, func(a, b weir.Conversation) int { return len(b.Lineage) - len(a.Lineage) })
	return cs
}

func undecided(alive []weir.Conversation) error {
	type branch struct {
		ID    weir.ConversationID `json:"id"`
		Title string              `json:"title"`
		Kind  weir.Kind           `json:"kind"`
	}
	list := make([]branch, 0, min(len(alive), 100))
	for _, c := range alive[:min(len(alive), 100)] {
		list = append(list, branch{c.ID, c.Title, c.Kind})
	}
	return weir.Fault(weir.Conflict, "branches_undecided",
		"Other conversations branch from this one: say whether to keep them (branches=keep) or to delete them too (branches=delete).").
		With("branches", list).With("count", len(alive))
}

// copies finds where quotes of what was deleted went. Quotes that never
// arrived, or whose target is gone as well, are nowhere.
func (s *Service) copies(ctx context.Context, a weir.Actor, d *Deletion) error {
	for _, id := range d.Deleted {
		became := map[int64]weir.Flow{} // what became of a flow, by its id
		q := weir.FlowQuery{Owner: a.Owner, Source: id, Limit: 200}
		for {
			page, err := s.cfg.Store.Flows(ctx, q)
			if err != nil {
				return err
			}
			for _, f := range page.Items { // newest first: outcomes come before what they are about
				if f.Form == weir.FlowOutcome {
					became[f.Of] = f
				}
				if f.Form != weir.FlowQuote {
					continue
				}
				if len(d.Copies) == maxCopies {
					d.More = true
					return nil
				}
				if err := s.copied(ctx, a, d, f, became[f.ID]); err != nil {
					return err
				}
			}
			if page.Next == "" {
				break
			}
			q.Cursor = page.Next
		}
	}
	return nil
}

func (s *Service) copied(ctx context.Context, a weir.Actor, d *Deletion, f, outcome weir.Flow) error {
	if outcome.Result != "" && outcome.Result != weir.FlowDelivered {
		return nil
	}
	target, err := visible(ctx, s.cfg.Store, a, f.Target)
	if err != nil {
		if weir.KindOf(err) == weir.NotFound {
			return nil
		}
		return err
	}
	c := Copy{Flow: f, Title: target.Title}
	if outcome.Seq > 0 {
		rs, err := s.cfg.Store.Records(ctx, &target, weir.RecordQuery{After: outcome.Seq - 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(rs) == 1 {
			c.In = rs[0].ID
		}
	}
	d.Copies = append(d.Copies, c)
	return nil
}

// with adds a member to the problem in err's tree.
func with(err error, name string, value any) error {
	var e *weir.Error
	if errors.As(err, &e) {
		_ = e.With(name, value)
	}
	return err
}
