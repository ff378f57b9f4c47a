package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"weir"
	"weir/flow"
	"weir/gate"
)

// move is what a change of visibility means for one conversation.
type move struct {
	c        weir.Conversation
	set      *weir.Visibility // what changes on its own row, nil for nothing
	from, to weir.Scope
	reasons  []weir.Reason // why it is opened; empty when it is not
}

// move changes a conversation's visibility and returns the descendants whose
// scope changed with it. The rows are locked first, so that what the person
// confirms is what happens, and no admission that runs meanwhile sees a wall
// that is gone.
func (s *Service) move(ctx context.Context, tx Tx, a weir.Actor, id weir.ConversationID, ch Change) ([]weir.ConversationID, error) {
	if err := tx.LockForChange(ctx, id); err != nil {
		return nil, err
	}
	c, err := visible(ctx, tx, a, id)
	if err != nil {
		return nil, err
	}
	descendants, err := tx.Descendants(ctx, id)
	if err != nil {
		return nil, err
	}
	moves := plan(&c, descendants, ch)
	if len(moves) == 0 {
		return nil, nil
	}
	q, looser, err := question(&c, moves)
	if err != nil {
		return nil, err
	}
	if looser {
		if err := s.decide(a, q, moves, ch); err != nil {
			return nil, err
		}
		if err := s.record(ctx, tx, a, moves, q.Sentence); err != nil {
			return nil, err
		}
	}
	var others []weir.ConversationID
	for _, m := range moves {
		if m.set != nil {
			if err := tx.ChangeConversation(ctx, m.c.ID, weir.ConversationChange{Visibility: m.set}); err != nil {
				return nil, err
			}
		}
		if m.c.ID != id {
			others = append(others, m.c.ID)
		}
	}
	return others, nil
}

// plan works out what a change means for a conversation, first, and for its
// descendants. It leaves out those for which it means nothing, and tombstones'
// scopes follow like everyone's, unasked: nothing is in them.
func plan(c *weir.Conversation, descendants []weir.Conversation, ch Change) []move {
	old, next := c.Visibility, ch.Visibility.apply(c.Visibility)
	if old == next {
		return nil
	}
	moves := []move{moveOf(*c, c, next.Level, &next)}
	for _, d := range descendants {
		var set *weir.Visibility
		if !ch.KeepCategories && old.Category != next.Category && d.Visibility.Category == old.Category {
			v := d.Visibility
			v.Category = next.Category
			set = &v
		}
		if m := moveOf(d, c, next.Level, set); set != nil || !sameScope(m.from, m.to) {
			moves = append(moves, m)
		}
	}
	return moves
}

func moveOf(d weir.Conversation, changed *weir.Conversation, level weir.Level, set *weir.Visibility) move {
	m := move{c: d, set: set, from: d.Scope(), to: d.Scope()}
	m.to.Path = pathWith(&d, changed.ID, level == weir.Isolated)
	if set != nil {
		m.to.Category = set.Category
	}
	if !d.Deleted {
		m.reasons = flow.Explain(m.from, m.to)
	}
	return m
}

// pathWith is d's island path once the conversation id has a wall or not.
func pathWith(d *weir.Conversation, id weir.ConversationID, wall bool) []weir.ConversationID {
	var path []weir.ConversationID
	consider := func(x weir.ConversationID) {
		if x == id && wall || x != id && slices.Contains(d.Island, x) {
			path = append(path, x)
		}
	}
	for _, in := range d.Lineage {
		consider(in.Conversation)
	}
	consider(d.ID)
	return path
}

func sameScope(a, b weir.Scope) bool {
	return a.Category == b.Category && slices.Equal(a.Path, b.Path)
}

// question is what a person is asked about the moves, if any of them opens
// something.
func question(c *weir.Conversation, moves []move) (gate.Question, bool, error) {
	// With the newest seq, so that a word given for what was there does not
	// count for what has been said since.
	type line struct {
		ID       weir.ConversationID
		From, To weir.Scope
		Head     weir.Seq
	}
	var opened []line
	var reasons []weir.Reason
	own, others := moves[0], 0
	for i, m := range moves {
		if len(m.reasons) == 0 {
			continue
		}
		opened = append(opened, line{m.c.ID, m.from, m.to, m.c.HeadSeq})
		reasons = append(reasons, m.reasons...)
		if i > 0 {
			others++
		}
	}
	if len(opened) == 0 {
		return gate.Question{}, false, nil
	}
	slices.SortFunc(opened, func(a, b line) int { return strings.Compare(string(a.ID), string(b.ID)) })
	about, err := json.Marshal(opened)
	if err != nil {
		return gate.Question{}, false, err
	}
	var why []weir.Reason
	for _, r := range []weir.Reason{weir.ReasonIsolation, weir.ReasonCategory} {
		if slices.Contains(reasons, r) {
			why = append(why, r)
		}
	}
	return gate.Question{
		Form: weir.FlowVisibility, Source: c.ID, Target: c.ID,
		SourceScope: own.from, TargetScope: own.to, Reasons: why, About: string(about),
		Sentence: sentence(c, own.to.Category, why, others),
	}, true, nil
}

func sentence(c *weir.Conversation, category string, why []weir.Reason, others int) string {
	var does []string
	if slices.Contains(why, weir.ReasonIsolation) {
		does = append(does, "takes down the wall around "+name(c))
	}
	if slices.Contains(why, weir.ReasonCategory) {
		to := "leaves it without one"
		if category != "" {
			to = "puts it into " + gate.Named(category)
		}
		does = append(does, "takes "+name(c)+" out of the category "+gate.Named(c.Visibility.Category)+" and "+to)
	}
	also := "no conversation that descends from it is opened with it"
	switch {
	case others == 1:
		also = "1 conversation that descends from it is opened with it"
	case others > 1:
		also = fmt.Sprintf("%d conversations that descend from it are opened with it", others)
	}
	return fmt.Sprintf("This %s; what is in it can then be carried further without asking, and %s. Go on?",
		strings.Join(does, " and "), also)
}

func (s *Service) decide(a weir.Actor, q gate.Question, moves []move, ch Change) error {
	err := s.cfg.Gate.Decide(a, q, ch.Confirmed, ch.Seen)
	if err == nil {
		return nil
	}
	others := 0
	for _, m := range moves[1:] {
		if len(m.reasons) > 0 {
			others++
		}
	}
	return with(err, "descendants", others)
}

// record appends one crossing row for each conversation that is opened, and
// one for each input that waits in it and is opened with it.
func (s *Service) record(ctx context.Context, tx Tx, a weir.Actor, moves []move, sentence string) error {
	var rows []*weir.Flow
	for _, m := range moves {
		if len(m.reasons) == 0 {
			continue
		}
		row := weir.Flow{
			Time: s.now(), Owner: a.Owner, Door: a.Door, Form: weir.FlowVisibility,
			Source: m.c.ID, Generation: m.c.Generation, SourceScope: m.from,
			Target: m.c.ID, TargetScope: m.to,
			Crossing: true, Reasons: m.reasons, Confirmation: sentence,
		}
		rows = append(rows, &row)
		pending, err := tx.PendingInputs(ctx, m.c.ID)
		if err != nil {
			return err
		}
		for i := range pending {
			waiting := row
			waiting.Input = pending[i].ID
			rows = append(rows, &waiting)
		}
	}
	return tx.AppendFlows(ctx, rows...)
}
