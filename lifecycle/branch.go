package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"

	"weir"
	"weir/flow"
	"weir/gate"
	"weir/transcript"
)

// BranchRequest asks for a child that begins with everything up to a message.
type BranchRequest struct {
	At         weir.MessageID
	Visibility Wish
	Title      *string
	Confirmed  bool
	Seen       string
}

// Branch makes a child of a conversation. It starts in its parent's island and
// category; a stricter scope is free, a looser one is a crossing of everything
// that it inherits and needs the person's word.
func (s *Service) Branch(ctx context.Context, a weir.Actor, id weir.ConversationID, b BranchRequest) (weir.Conversation, error) {
	if b.Title != nil {
		if err := checkTitle(*b.Title); err != nil {
			return weir.Conversation{}, err
		}
	}
	now := s.now()
	childID := weir.NewConversationID(now)
	var child weir.Conversation
	err := s.cfg.Store.Update(ctx, func(tx Tx) error {
		if _, err := visible(ctx, tx, a, id); err != nil {
			return err
		}
		if err := tx.LockShared(ctx, id); err != nil {
			return err
		}
		parent, err := visible(ctx, tx, a, id)
		if err != nil {
			return err
		}
		at, cut, err := cutAt(ctx, tx, &parent, b.At, nil)
		if err != nil {
			return err
		}
		child = childOf(&parent, childID, cut)
		child.CreatedAt, child.LastActive = now, now
		child.Generation = weir.NewGenerationID(now)
		child.Visibility = b.Visibility.apply(child.Visibility)
		if b.Title != nil {
			child.Title, child.TitleSet = *b.Title, true
		}
		if err := CheckVisibility(child.Visibility); err != nil {
			return err
		}
		crossing, err := s.allowBranch(a, &parent, &child, b)
		if err != nil {
			return err
		}
		if err := tx.InsertConversation(ctx, &child); err != nil {
			return err
		}
		if child, err = tx.Conversation(ctx, childID); err != nil {
			return err
		}
		crossing.Time, crossing.Owner, crossing.Door = now, a.Owner, a.Door
		crossing.Message, crossing.Generation = at.ID, at.Generation
		crossing.Target, crossing.TargetScope = child.ID, child.Scope()
		return tx.AppendFlows(ctx, crossing)
	})
	if err != nil {
		return weir.Conversation{}, err
	}
	s.changed(child.ID)
	return child, nil
}

// childOf returns a child that inherits parent's log up to cut.
func childOf(parent *weir.Conversation, id weir.ConversationID, cut weir.Seq) weir.Conversation {
	lineage := make([]weir.Inherited, 0, len(parent.Lineage)+1)
	for _, in := range parent.Lineage {
		lineage = append(lineage, weir.Inherited{Conversation: in.Conversation, Upto: min(in.Upto, cut)})
	}
	lineage = append(lineage, weir.Inherited{Conversation: parent.ID, Upto: cut})
	return weir.Conversation{
		ID:         id,
		Owner:      parent.Owner,
		Title:      parent.Title,
		TitleSet:   parent.TitleSet,
		Kind:       weir.Branch,
		Lineage:    lineage,
		Visibility: weir.Visibility{Level: weir.Open, Category: parent.Visibility.Category},
		Workspace:  parent.Workspace,
		Model:      parent.Model,
		Agent:      parent.Agent,
		State:      weir.Idle,
	}
}

// allowBranch returns the flow row of a branch, or what a person has to
// decide first.
func (s *Service) allowBranch(a weir.Actor, parent, child *weir.Conversation, b BranchRequest) (*weir.Flow, error) {
	from, to := parent.Scope(), scopeBelow(parent.Scope(), child)
	row := &weir.Flow{Form: weir.FlowBranch, Source: parent.ID, SourceScope: from, Reasons: flow.Explain(from, to)}
	if len(row.Reasons) == 0 {
		return row, nil
	}
	// The child's id is new each time it is asked for; the question is not.
	asked := *child
	asked.ID = ""
	about, err := json.Marshal([]any{"branch", b.At, child.Inherits(), child.Visibility, child.Title})
	if err != nil {
		return nil, err
	}
	where := "has no category"
	if child.Visibility.Category != "" {
		where = "belongs to the category " + gate.Named(child.Visibility.Category)
	}
	q := gate.Question{
		Form: weir.FlowBranch, Source: parent.ID, SourceScope: from,
		TargetScope: scopeBelow(from, &asked), Reasons: row.Reasons, About: string(about),
		Sentence: fmt.Sprintf("The branch takes everything in %s up to the chosen message out of the category %s: it %s. Make it there?",
			name(parent), gate.Named(parent.Visibility.Category), where),
	}
	if err := s.cfg.Gate.Decide(a, q, b.Confirmed, b.Seen); err != nil {
		return nil, err
	}
	row.Crossing, row.Confirmation = true, q.Sentence
	return row, nil
}

// scopeBelow is the scope of a child that is about to be made inside above.
func scopeBelow(above weir.Scope, child *weir.Conversation) weir.Scope {
	path := append([]weir.ConversationID{}, above.Path...)
	if child.Visibility.Level == weir.Isolated {
		path = append(path, child.ID)
	}
	return weir.Scope{Path: path, Category: child.Visibility.Category}
}

// cutAt returns the message that a cut names and the seq after which it
// falls. With a shape, a message that it hides is no place to cut.
func cutAt(ctx context.Context, tx Tx, c *weir.Conversation, at weir.MessageID, shape *transcript.Shape) (weir.Record, weir.Seq, error) {
	invalid := weir.Fault(weir.Unprocessable, "cut_invalid",
		"Name a message of this conversation that a person or the model wrote and that is not hidden.")
	if !weir.ValidID(string(at)) {
		return weir.Record{}, 0, invalid
	}
	r, err := tx.Message(ctx, c, at)
	if weir.KindOf(err) == weir.NotFound && err != nil {
		return weir.Record{}, 0, invalid
	}
	if err != nil {
		return weir.Record{}, 0, err
	}
	if k := r.Kind(); k != weir.KindUser && k != weir.KindAssistant || shape != nil && shape.Hidden(r.Seq) {
		return weir.Record{}, 0, invalid
	}
	following, err := belonging(ctx, tx, c, &r)
	if err != nil {
		return weir.Record{}, 0, err
	}
	cut, err := transcript.CutAfter(&r, following)
	return r, cut, err
}

// belonging reads what may belong to a message: the records up to the next one
// that begins something else, however many calls it made.
func belonging(ctx context.Context, tx Tx, c *weir.Conversation, at *weir.Record) ([]weir.Record, error) {
	limit := 64
	if m, ok := at.Body.(*weir.AssistantMessage); ok {
		limit += 4 * len(m.Calls())
	}
	for {
		rs, err := tx.Records(ctx, c, weir.RecordQuery{After: at.Seq, Limit: limit})
		if err != nil || len(rs) < limit {
			return rs, err
		}
		for i := range rs {
			if k := rs[i].Kind(); k == weir.KindUser || k == weir.KindAssistant || k == weir.KindCheckpoint {
				return rs[:i+1], nil
			}
		}
		limit *= 4
	}
}
