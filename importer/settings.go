package importer

import (
	"context"
	"slices"

	"weir"
)

// settings are what a log says last of what an import sets in the row. Whoever
// goes on with a conversation appends what the row says and the log does not,
// as if somebody had changed it just then; so an import tells what it sets.
type settings struct {
	title      string
	visibility weir.Visibility
	workspace  string
	any        bool // whether it says anything of them
}

// read takes in a record and reports whether it tells of settings.
func (s *settings) read(b weir.Body) bool {
	switch b := b.(type) {
	case *weir.Retitled:
		s.title = b.Title
	case *weir.VisibilitySet:
		s.visibility = b.Visibility
	case *weir.WorkspaceSet:
		s.workspace = b.Workspace
	default:
		return false
	}
	s.any = true
	return true
}

// untold returns what the row says and the log does not. What a person changed
// between two imports is not the second one's to tell.
func (s *session) untold() []weir.Body {
	if !s.new && !s.renamed && s.told.any {
		return nil
	}
	var bodies []weir.Body
	if s.row.Visibility != s.told.visibility {
		bodies = append(bodies, &weir.VisibilitySet{Visibility: s.row.Visibility})
	}
	if s.row.Workspace != s.told.workspace {
		bodies = append(bodies, &weir.WorkspaceSet{Workspace: s.row.Workspace})
	}
	if s.row.Title != s.told.title {
		bodies = append(bodies, &weir.Retitled{Title: s.row.Title, Auto: !s.row.TitleSet})
	}
	return bodies
}

// asRecords makes records of what the log is to be told.
func (s *session) asRecords(bodies []weir.Body) []weir.Record {
	var records []weir.Record
	for _, b := range bodies {
		records = append(records, weir.Record{ID: weir.NewMessageID(s.now), Time: s.now, Generation: s.generation, Body: b})
	}
	return records
}

// retitle stores a title that was decided on after the conversation was made,
// and reports whether the row has it: a person may have been quicker.
func (s *session) retitle(ctx context.Context, tx Tx) (bool, error) {
	row, err := tx.Conversation(ctx, s.row.ID)
	switch {
	case err != nil:
		return false, err
	case row.Title == s.row.Title && row.TitleSet == s.row.TitleSet:
		return true, nil
	case row.TitleSet:
		return false, nil
	}
	return true, tx.ChangeConversation(ctx, s.row.ID, weir.ConversationChange{Title: &s.row.Title, TitleSet: &s.row.TitleSet})
}

// finish appends what is left, and with it what the log is to be told of the
// title, the folder and the visibility.
func (r *run) finish(ctx context.Context) error {
	for _, s := range r.sessions {
		s.flush()
		s.bury(s.now)
		s.entitle()
	}
	// Tasks come before what they belong to, which they may bring into being.
	for _, s := range slices.Backward(r.sessions) {
		if err := s.conclude(ctx); err != nil {
			return err
		}
		if s.touched {
			r.report.Orphans += s.orphans
		}
	}
	return nil
}

func (s *session) conclude(ctx context.Context) error {
	if s.refused != nil || s.new && !s.made && len(s.pending) == 0 {
		return nil // of a conversation that is not there is nothing to tell
	}
	s.tick() // what only its side chains are of has no entry of its own
	bodies := s.untold()
	if len(bodies) == 0 && !s.renamed {
		return s.store(ctx, nil)
	}
	marks := 0
	err := s.store(ctx, func(tx Tx) ([]weir.Record, error) {
		ours, err := s.retitle(ctx, tx)
		kept := bodies[:0:0]
		for _, b := range bodies {
			if _, title := b.(*weir.Retitled); ours || !title {
				kept = append(kept, b)
			}
		}
		marks = len(kept)
		return s.asRecords(kept), err
	})
	if s.run.options.DryRun {
		marks = len(bodies)
	}
	s.marks += marks
	return err
}

// entitle decides on the title: the one that a person gave, else the one that
// the product made, else what was said first. A title that a person gave here
// stays, and so does any that is no worse.
func (s *session) entitle() {
	made := s.titled
	for _, t := range s.run.titles {
		if s.titled == "" && (s.wasRead(t.leaf) || s.has(t.leaf)) {
			made = t.title // the last one
		}
	}
	title := s.row.Title
	switch {
	case s.row.TitleSet:
	case s.custom != "":
		title = s.custom
	case made != "":
		title = made
	case title == "":
		title = titleOf(s.human)
	}
	if title != s.row.Title {
		s.row.Title, s.row.TitleSet, s.renamed = title, s.custom != "", true
	}
}
