package turn

import (
	"context"
	"encoding/json"
	"slices"

	"weir"
	"weir/fact"
)

// sight is what a boundary has observed, outside its transaction.
type sight struct {
	model    string       // the conversation's word for the model that answers
	about    fact.Subject // the conversation as it was then
	facts    *fact.Set    // the built-in ones and those that clients keep
	observed []fact.Observation
	journal  int64                  // its newest entry before the observation began
	pending  map[weir.InputID]int64 // the inputs there were before it began, with their revisions
}

// maxJournal bounds how many entries of the journal a boundary reads: the
// newest ones.
const maxJournal = 500

// look makes the one observation of a boundary.
func (d *drain) look(c *weir.Conversation, model, profile string) (*sight, error) {
	e := d.e
	about := fact.Subject{Conversation: *c, Model: profile, Moved: d.warm.moved(c, e.cfg.Now())}
	if e.cfg.Follow != nil {
		e.cfg.Follow(*c)
	}
	facts, err := e.factsOf(d.ctx, e.cfg.Store, c)
	if err != nil {
		return nil, err
	}
	s := &sight{model: model, about: about, facts: facts, journal: d.warm.noticed}
	newest, err := e.cfg.Store.Changes(d.ctx, facts.Scopes(about), s.journal, 1)
	if err != nil {
		return nil, err
	}
	for i := range newest {
		s.journal = newest[i].Seq
	}
	pending, err := e.cfg.Store.PendingInputs(d.ctx, d.id)
	if err != nil {
		return nil, err
	}
	s.pending = make(map[weir.InputID]int64, len(pending))
	for i := range pending {
		s.pending[pending[i].ID] = pending[i].Revision
	}
	s.observed = facts.Observe(d.ctx, about)
	if err := d.ctx.Err(); err != nil {
		return nil, err // it says nothing about the facts
	}
	e.unseen.note(e.cfg.Log, c.ID, s.observed, e.cfg.Now())
	return s, nil
}

// factsOf composes what is told in a conversation: the built-in facts, those
// that its owner's clients keep for all conversations, and those for this one,
// which go before the owner's of the same key.
func (e *Engine) factsOf(ctx context.Context, r Reader, c *weir.Conversation) (*fact.Set, error) {
	kept, err := r.ClientFacts(ctx, weir.OfOwner(c.Owner), weir.OfConversation(c.ID))
	if err != nil || len(kept) == 0 {
		return e.cfg.Facts, err
	}
	more := fact.KeptOnes(kept)
	if set, err := e.cfg.Facts.With(more...); err == nil {
		return set, nil
	}
	set := e.cfg.Facts
	for i := range more { // one of them cannot be told; the others are
		next, err := set.With(more[i])
		if err != nil {
			e.cfg.Log.Warn("a client's fact is left out", "conversation", c.ID, "fact", more[i].Key, "err", err)
			continue
		}
		set = next
	}
	return set, nil
}

// holds reports whether the conversation still is what was observed.
func (s *sight) holds(c *weir.Conversation, model string) bool {
	was := &s.about.Conversation
	return s.model == model && was.Agent == c.Agent && was.Visibility == c.Visibility && was.Workspace == c.Workspace
}

// precedes reports whether a person wrote one of these after the observation
// began: what they changed before they wrote it may not have been seen.
func (s *sight) precedes(promoted []weir.Input) bool {
	return slices.ContainsFunc(promoted, func(in weir.Input) bool {
		revision, there := s.pending[in.ID]
		return in.Kind == weir.InputUser && (!there || revision != in.Revision)
	})
}

// with returns the observations with the turn's own in its place: whether the
// allowance of steps is used up.
func (s *sight) with(usedUp bool) []fact.Observation {
	all := slices.Clone(s.observed)
	for i := range all {
		if all[i].Key == fact.Limits {
			all[i] = fact.Observation{Key: fact.Limits, State: fact.Absent}
			if usedUp {
				all[i].State, all[i].Value = fact.Present, json.RawMessage(`"used up"`)
			}
		}
	}
	return all
}

// expects says whether a step is about to begin, as far as can be told from
// outside the transaction: whether it goes on with earlier work, and whether it
// is rather a new epoch.
func (d *drain) expects(c *weir.Conversation) (begins, goesOn, renews bool, err error) {
	if c.Deleted || c.WaitingFor == waitingResume {
		return false, false, false, nil
	}
	goesOn = d.next.mustGoOn
	if d.lease.Fence == 0 {
		s, err := d.e.cfg.Store.UnsettledStep(d.ctx, d.id)
		if err != nil && weir.KindOf(err) != weir.NotFound {
			return false, false, false, err
		}
		goesOn = err == nil && !s.Interrupt
		if goesOn { // if a person was asked about its calls, those come first
			calls, err := d.e.cfg.Store.WaitingCalls(d.ctx, d.id)
			if err != nil || len(calls) > 0 {
				return false, false, false, err
			}
		}
	}
	if goesOn {
		return true, true, false, nil
	}
	pending, err := d.e.cfg.Store.PendingInputs(d.ctx, d.id)
	next := choose(pending, false)
	return !next.empty(), false, next.control != nil && next.control.Kind == weir.InputEpoch, err
}

// answers returns the conversation's word for the model of the next step. A
// switch waits until no tools are between two steps, because the model that
// called them is the one that gets their results.
func answers(ctx context.Context, r Reader, c *weir.Conversation, w *warm, goesOn bool) (string, error) {
	if !goesOn || c.Model == w.told.model {
		return c.Model, nil
	}
	last, ok, err := newestOf(ctx, r, c, w.shape, weir.KindAssistant, weir.KindToolResult)
	if err != nil || !ok {
		return c.Model, err
	}
	if answer, is := last.Body.(*weir.AssistantMessage); is && len(answer.Calls()) == 0 {
		return c.Model, nil
	}
	return w.told.model, nil
}
