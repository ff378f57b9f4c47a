package importer

import (
	"context"
	"slices"
	"time"

	"weir"
)

// A chunk of a conversation is appended in one transaction: about so much.
const (
	chunkRecords = 256
	chunkBytes   = 1 << 20
	pageRecords  = 500
)

// A lease is taken and given back in the same transaction.
const (
	holder   = "import"
	leaseFor = 15 * time.Second
)

// load finds out what is there of a conversation.
func (s *session) load(ctx context.Context, id weir.ConversationID) error {
	store, now := s.run.im.cfg.Store, s.run.im.cfg.Now()
	row, err := store.Conversation(ctx, id)
	if weir.KindOf(err) == weir.NotFound && err != nil {
		s.new = true
		s.row = weir.Conversation{
			ID: id, Owner: s.run.actor.Owner, Kind: weir.Chat, Visibility: s.run.options.fresh(),
			Generation: weir.NewGenerationID(now), State: weir.Idle,
			Origin: &weir.Origin{Product: product, File: s.run.source.Name, ImportedAt: now.UTC()},
		}
		if s.parent != nil {
			s.refused = s.parent.refused
			s.row.Kind = weir.Task
			s.row.Visibility = weir.Visibility{Level: weir.Open, Category: s.parent.row.Visibility.Category}
		}
		s.journal = newJournal(s.row.Generation)
		return nil
	}
	if err != nil {
		return err
	}
	s.row = row
	s.journal = newJournal(row.Generation)
	if s.refused = s.mayWrite(); s.refused != nil {
		s.row = weir.Conversation{ID: id, Kind: row.Kind} // what is another's is not reported
		return nil
	}
	q := weir.RecordQuery{Limit: pageRecords}
	for {
		page, err := store.Records(ctx, &s.row, q)
		if err != nil {
			return err
		}
		for i := range page {
			s.journal.load(&page[i])
		}
		if len(page) < q.Limit {
			break
		}
		q.After = page[len(page)-1].Seq
	}
	s.head = max(s.head, row.Inherits())
	s.generation = row.Generation
	return nil
}

const product = "Claude Code"

// mayWrite says why a conversation that is there is not written to.
func (s *session) mayWrite() *weir.Error {
	switch {
	case s.row.Deleted:
		return weir.Fault(weir.Gone, "conversation_deleted",
			"This conversation was deleted here; it is not brought back by an import.")
	case s.row.Owner != s.run.actor.Owner || s.row.Origin == nil || len(s.row.Lineage) > 0 && s.parent == nil:
		return weir.Fault(weir.Conflict, "conversation_exists",
			"There is another conversation with this transcript's id; it is not written to.")
	case s.parent != nil && s.parent.refused != nil:
		return s.parent.refused
	}
	return s.differs(&s.row)
}

// write appends what is pending when there is enough of it.
func (s *session) write(ctx context.Context) error {
	if len(s.pending) < chunkRecords && s.size < chunkBytes {
		return nil
	}
	return s.store(ctx, nil)
}

// store appends what is pending, and what more returns after it, in one
// transaction.
func (s *session) store(ctx context.Context, more func(Tx) ([]weir.Record, error)) error {
	if s.refused != nil || len(s.pending) == 0 && more == nil {
		return nil
	}
	pending, before := s.pending, s.head-weir.Seq(len(s.pending))
	s.pending, s.size = nil, 0
	if s.run.options.DryRun {
		return nil
	}
	var head weir.Seq
	err := s.run.im.cfg.Store.Update(ctx, func(tx Tx) error {
		if err := s.create(ctx, tx); err != nil {
			return err
		}
		if err := s.stays(ctx, tx); err != nil {
			return err
		}
		records := slices.Clip(pending)
		if more != nil {
			marks, err := more(tx)
			if err != nil {
				return err
			}
			records = append(records, marks...)
		}
		head = before + weir.Seq(len(records))
		return s.append(ctx, tx, before, records)
	})
	if err != nil {
		return raced(err)
	}
	s.created()
	s.head, s.row.Generation = head, s.generation
	s.ring(weir.Signal{Conversation: s.row.ID, Head: s.head, State: true})
	return nil
}

func (s *session) ring(sig weir.Signal) {
	if live := s.run.im.cfg.Live; live != nil {
		live.Publish(sig)
	}
}

// create makes the conversation, and the one it belongs to, unless they are there.
func (s *session) create(ctx context.Context, tx Tx) error {
	if !s.new || s.made {
		return nil
	}
	row := s.row // Update may run again: what the store fills in must not stay
	if row.CreatedAt.IsZero() {
		row.CreatedAt = s.run.im.cfg.Now().UTC()
	}
	if p := s.parent; p != nil {
		if err := p.create(ctx, tx); err != nil {
			return err
		}
		row.Lineage = append(slices.Clone(p.row.Lineage), weir.Inherited{Conversation: p.row.ID})
	}
	return tx.InsertConversation(ctx, &row)
}

// created notes that create took effect.
func (s *session) created() {
	for ; s != nil; s = s.parent {
		s.made = s.made || s.new
	}
}

func (s *session) append(ctx context.Context, tx Tx, head weir.Seq, records []weir.Record) error {
	if len(records) == 0 {
		return nil // only a title
	}
	lease, ok, err := tx.AcquireLease(ctx, s.row.ID, holder, leaseFor)
	if err != nil {
		return err
	}
	if !ok {
		return weir.Fault(weir.Conflict, weir.CodeBusy,
			"The conversation %s is busy; import again when it is idle: what came in stays.", s.row.ID)
	}
	if _, err := tx.Append(ctx, s.row.ID, lease.Fence, &head, records...); err != nil {
		return err
	}
	if s.generation != s.row.Generation {
		if err := tx.ChangeActivity(ctx, s.row.ID, weir.Activity{Generation: &s.generation}); err != nil {
			return err
		}
	}
	return tx.ReleaseLease(ctx, lease)
}

// raced names what a write that somebody else forestalled means to whoever
// asked for the import.
func raced(err error) error {
	switch weir.CodeOf(err) {
	case "conversation_exists", weir.CodeMoved:
		f := weir.Fault(weir.Conflict, "import_raced", "Another import is writing this conversation; try again.")
		f.Err = err
		return f
	}
	return err
}
