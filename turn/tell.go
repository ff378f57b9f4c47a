package turn

import (
	"context"

	"weir"
	"weir/fact"
)

// seen makes sure that what the boundary observed is what its step is about:
// the conversation's row is as it was, nothing that is promoted was written
// later, and the journal has got nothing that says otherwise. If not, it is
// observed anew; what others keep changing is, after some tries, told as it was
// observed.
func (en *entry) seen(ctx context.Context, promoted []weir.Input) error {
	s := en.plan.sight
	if s == nil {
		en.plan.look = true
		return errAgain
	}
	if !s.holds(&en.conv, en.model) {
		return errAgain
	}
	var err error
	en.journal, err = en.tx.Changes(ctx, s.facts.Scopes(s.about), en.d.warm.noticed, maxJournal)
	if err != nil || en.plan.conflicts >= boundaryTries {
		return err
	}
	if s.precedes(promoted) {
		return errAgain
	}
	newer := en.journal
	for len(newer) > 0 && newer[0].Seq <= s.journal {
		newer = newer[1:]
	}
	if fact.Overtaken(s.observed, s.facts.Journal(s.about, newer)) {
		return errAgain
	}
	return nil
}

// situation is what the updates of this boundary depend on.
func (en *entry) situation(ctx context.Context, usedUp bool) (fact.Situation, error) {
	s := en.plan.sight
	sit := fact.Situation{
		Observed: s.with(usedUp), Journal: s.facts.Journal(s.about, en.journal),
		Now: en.d.e.cfg.Now(), Snapshot: en.d.warm.known,
	}
	var err error
	if len(sit.Journal) > 0 { // else no value is told but the one observed
		sit.Tools, err = en.runs(ctx, sit)
	}
	return sit, err
}

// runs returns when the tools of the last step ran.
func (en *entry) runs(ctx context.Context, sit fact.Situation) ([]fact.Run, error) {
	last, err := en.tx.Steps(ctx, en.d.id, max(en.head, en.conv.HeadSeq)+1, 1)
	if err != nil || len(last) == 0 || en.d.warm.shape.Hidden(last[0].Seq) {
		return nil, err
	}
	calls, err := en.tx.Calls(ctx, en.d.id, last[0].ID)
	if err != nil {
		return nil, err
	}
	var runs []fact.Run
	for i := range calls {
		r := fact.Run{From: calls[i].StartedAt, Upto: calls[i].EndedAt}
		if r.From.IsZero() {
			continue // declined, or never begun
		}
		if r.Upto.IsZero() {
			r.Upto = sit.Now
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// tell returns the updates that are due, and journals what the observation is
// the first to notice.
func (en *entry) tell(ctx context.Context, usedUp bool) (bodies, error) {
	sit, err := en.situation(ctx, usedUp)
	if err != nil {
		return nil, err
	}
	s := en.plan.sight
	en.notice(s.facts.Unnoticed(sit), sit)
	updates, _, faults := s.facts.Reconcile(sit)
	for _, err := range faults {
		en.d.e.cfg.Log.Error("a fact cannot be told", "conversation", en.d.id, "err", err)
	}
	upto := fact.Considered(sit.Observed, en.d.warm.noticed, en.journal)
	var out bodies
	for _, t := range updates {
		out.add(t.Record(upto))
	}
	return out, nil
}

// first returns the update that goes with a baseline made just now: only the
// limits can differ from it.
func (en *entry) first(epoch *weir.Epoch, usedUp bool) (bodies, error) {
	if !usedUp {
		return nil, nil
	}
	known, err := fact.Parse(epoch.Snapshot)
	if err != nil {
		return nil, err
	}
	s := en.plan.sight
	updates, _, _ := s.facts.Reconcile(fact.Situation{Observed: s.with(true), Now: en.d.e.cfg.Now(), Snapshot: known})
	var out bodies
	for _, t := range updates {
		out.add(t.Record(epoch.Noticed))
	}
	return out, nil
}

// notice remembers changes for the journal.
func (en *entry) notice(changes []fact.Change, sit fact.Situation) {
	s := en.plan.sight
	for _, c := range changes {
		en.changes = append(en.changes, &weir.Change{
			Scope: s.facts.ScopeOf(c.Key, s.about), Fact: c.Key, Value: c.Value, At: c.At, Noticed: sit.Now,
		})
	}
}

// writeJournal appends what was noticed. It comes last in the transaction:
// others who append wait for it to end.
func (en *entry) writeJournal(ctx context.Context) error {
	if len(en.changes) == 0 {
		return nil
	}
	return en.tx.AppendChanges(ctx, en.changes...)
}
