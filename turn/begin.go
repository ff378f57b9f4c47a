package turn

import (
	"context"

	"weir"
	"weir/model"
	"weir/modelview"
)

// begin promotes and begins the step: records, views, the step's record and
// row, in this one transaction.
func (en *entry) begin(ctx context.Context, b batch) error {
	if len(b.promoted) > 0 {
		en.next = work{}
	}
	last := en.next.steps+1 >= en.d.e.cfg.Allowance
	updates, err := en.updates(ctx, b, last && en.toolsOffered())
	if err != nil {
		return err
	}
	records := b.before
	for i := range b.promoted {
		if body := bodyOf(&b.promoted[i]); body != nil {
			records.add(body)
		}
	}
	records.add(updates...) // after what was promoted
	appended, err := en.append(ctx, records...)
	if err != nil {
		return err
	}
	profile, client, req, fail := en.build(ctx, last)
	if fail != nil && en.plan.fail == nil {
		return fail
	}
	now := en.d.e.cfg.Now()
	s := weir.Step{
		Conversation: en.d.id, ID: weir.NewStepID(now), Fence: en.lease.Fence, State: weir.StepRunning,
		Purpose: "answer", Provider: profile.Provider, Model: profile.ID, Attempts: 1,
		Resumptions: en.next.resumptions, StartedAt: now,
	}
	en.next.chain.begin(&s)
	en.next.chain = chain{}
	en.next.steps++
	en.next.mustGoOn = false
	became := appended[len(b.before):]
	if req == nil {
		return en.failed(ctx, &s, b.promoted, became)
	}
	s.Ledger = req.Ledger
	if err := en.start(ctx, &s, req); err != nil {
		return err
	}
	if err := en.markPromoted(ctx, b.promoted, became, s.Seq); err != nil {
		return err
	}
	if err := en.setRunning(ctx); err != nil {
		return err
	}
	if err := en.writeJournal(ctx); err != nil {
		return err
	}
	en.begun = &begun{conv: en.conv, step: s, request: req, profile: profile, client: client, last: last}
	return nil
}

// updates returns what the model is told now. Where no request can be made,
// nothing is: the next step tells it.
func (en *entry) updates(ctx context.Context, b batch, usedUp bool) (bodies, error) {
	if en.plan.fail != nil {
		return nil, nil
	}
	if err := en.seen(ctx, b.promoted); err != nil {
		return nil, err
	}
	if b.epoch != nil {
		return en.first(b.epoch, usedUp)
	}
	return en.tell(ctx, usedUp)
}

func (en *entry) toolsOffered() bool { return len(en.d.e.cfg.Tools.Definitions()) > 0 }

// build makes the request, unless the plan says that it cannot be made.
func (en *entry) build(ctx context.Context, last bool) (model.Profile, model.Client, *modelview.Request, error) {
	profile, client, err := en.d.e.cfg.Models.Model(en.model)
	if err != nil {
		return model.Profile{ID: en.model}, nil, nil, &buildError{err: err, final: true}
	}
	if en.plan.fail != nil {
		return profile, nil, nil, nil
	}
	profile = en.refusals.taught(profile)
	en.d.warm.window.Unsigned(en.refusals.unsigned(profile.ID))
	req, err := next(ctx, en.d.warm, en.tx, profile, modelview.Options{ToolsOff: last && en.toolsOffered()})
	if err != nil {
		return profile, nil, nil, &buildError{err: err}
	}
	if err := en.refusals.same(req, profile.ID); err != nil {
		return profile, nil, nil, &buildError{err: err, provider: profile.Provider, final: true}
	}
	return profile, client, req, nil
}

func next(ctx context.Context, w *warm, tx Tx, p model.Profile, o modelview.Options) (req *modelview.Request, err error) {
	defer guarded(&err)
	if req, err = w.window.Next(ctx, tx, p, o); err == nil {
		w.bytes = req.Ledger.Bytes
	}
	return req, err
}

// start appends the step's record, with the views its request is made of.
func (en *entry) start(ctx context.Context, s *weir.Step, req *modelview.Request) error {
	if err := en.tx.PutViews(ctx, en.lease.Fence, en.d.id, req.Views...); err != nil {
		return err
	}
	rec, err := en.append(ctx, &weir.StepStart{
		Step: s.ID, Purpose: s.Purpose, Provider: s.Provider, Model: s.Model,
		Lowering: req.Lowering, Tail: req.Tail, Marks: req.Marks, Ledger: req.Ledger,
	})
	if err != nil {
		return err
	}
	s.Seq = rec[0].Seq
	return en.tx.InsertStep(ctx, s)
}

// failed settles a step for which no request could be made: it has no start,
// because nothing was sent, and its row points to its end. The conversation
// rests, or goes on with what else is due.
func (en *entry) failed(ctx context.Context, s *weir.Step, promoted []weir.Input, became []weir.Record) error {
	s.State, s.EndedAt, s.Attempts = weir.StepFailed, s.StartedAt, 0
	s.Code, s.Reason = shown(en.plan.fail)
	rec, err := en.append(ctx, &weir.StepEnd{Step: s.ID, Outcome: s.State, Code: s.Code, Reason: s.Reason})
	if err != nil {
		return err
	}
	s.Seq = rec[0].Seq
	if err := en.tx.InsertStep(ctx, s); err != nil {
		return err
	}
	if err := en.markPromoted(ctx, promoted, became, s.Seq); err != nil {
		return err
	}
	return en.rest(ctx, false)
}

func (en *entry) setRunning(ctx context.Context) error {
	running, nothing := weir.Running, ""
	act := weir.Activity{State: &running, WaitingFor: &nothing}
	switch en.conv.WaitingFor {
	case "", waitingSteers:
		if en.conv.State == weir.Running {
			return nil
		}
		act.WaitingFor = nil
	}
	return en.tx.ChangeActivity(ctx, en.d.id, act)
}
