package turn

import (
	"context"

	"weir"
	"weir/model"
	"weir/tool"
)

// waitingApproval is what a conversation waits for while a call of its answer
// waits for a person and nothing else is left to do.
const waitingApproval = "approval"

// The words for calls that were not run.
const (
	textNotRun   = "interrupted; it was not run"
	textDeclined = "declined; it was not run"
	textDenied   = "not run: this tool may not be called here"
)

// Decide says what a person thinks of a call that waits for it: [weir.Allow]
// or [weir.Deny]. With remember it is said of the tool for good. The same
// decision again is nothing; another one is a conflict.
func (e *Engine) Decide(ctx context.Context, a weir.Actor, c weir.ConversationID, call string, d weir.Decision, remember bool) error {
	switch {
	case d != weir.Allow && d != weir.Deny:
		return weir.Fault(weir.Invalid, "decision_invalid", "A decision is “allow” or “deny”.")
	case !a.MayConfirm:
		return weir.Fault(weir.Forbidden, "needs_person", "Only a person decides about a tool call; sign in as one.")
	}
	err := e.cfg.Store.Update(ctx, func(tx Tx) error {
		if _, err := owned(ctx, tx, a, c); err != nil {
			return err
		}
		row, err := tx.DecideCall(ctx, c, call, d)
		if err != nil || !remember {
			return err
		}
		return tx.PutToolRule(ctx, weir.ToolRule{Owner: a.Owner, Tool: row.Name, Decision: d})
	})
	if err != nil {
		return err
	}
	e.publish(weir.Signal{Conversation: c, State: true})
	e.ring(c)
	return nil
}

// open decides of each call of an answer whether it may run, in the
// transaction that stores the answer, and returns the results of those that
// may not. The first that run are started in the same transaction.
func (r *round) open(ctx context.Context, tx Tx) (bodies, error) {
	rules, err := tx.ToolRules(ctx, r.st.conv.Owner)
	if err != nil {
		return nil, err
	}
	r.rows = map[string]weir.Call{}
	var run, ask []weir.Part
	var out bodies
	for _, call := range r.calls {
		if missing, lacks := r.d.e.cfg.Tools.Lacks(call.Name); lacks {
			out.add(resultOf(call, missing)) // a person would be asked about nothing
			continue
		}
		switch r.d.e.consent(call, rules) {
		case weir.Ask:
			ask = append(ask, call)
		case weir.Deny:
			out.add(resultOf(call, tool.Result{Text: textDenied, IsError: true}))
		default:
			run = append(run, call)
		}
	}
	r.batches, r.asks = r.d.e.batches(run), len(ask) > 0
	if err := r.insert(ctx, tx, ask, weir.CallWaiting); err != nil || len(run) == 0 {
		return out, err
	}
	return out, r.insert(ctx, tx, r.batches[0], weir.CallStarted)
}

// consent says whether a call may run: what the configuration denies may not,
// then a person's standing rule counts, then the configuration. A call that
// cannot run asks nobody.
func (e *Engine) consent(call weir.Part, rules []weir.ToolRule) weir.Decision {
	if _, malformed := model.Malformed(call.Input); malformed {
		return weir.Allow
	}
	d := e.cfg.Tools.Consent(call.Name)
	for _, rule := range rules {
		if rule.Tool == call.Name && d != weir.Deny {
			return rule.Decision
		}
	}
	return d
}

// batches parts calls into those that run side by side; one that wants to be
// alone is.
func (e *Engine) batches(calls []weir.Part) (out [][]weir.Part) {
	beside := false
	for _, call := range calls {
		alone := e.cfg.Tools.Alone(call.Name)
		if !beside || alone {
			out = append(out, nil)
		}
		beside = !alone
		out[len(out)-1] = append(out[len(out)-1], call)
	}
	return out
}

// progress is how a step goes on whose calls wait for people.
type progress struct {
	run      []weir.Part   // started, in the store
	rested   bool          // nothing is decided: it waits, and the lease is free
	end      *weir.StepEnd // to be appended: nothing is left to decide
	declined bool          // something was: a person ended the turn
	head     weir.Seq
}

// proceed goes on with what people have decided, as the holder of a lease: the
// calls they allowed are started, the others settled. When none is left the
// step is to be ended, and the turn if something was declined; when none is
// decided the conversation waits, without a lease.
func proceed(ctx context.Context, tx Tx, l weir.Lease, e *Engine, conv *weir.Conversation, left *remains) (p progress, err error) {
	now := e.cfg.Now()
	records, waiting := left.decided(&p, e.cfg.Tools.Consent)
	if len(p.run) == 0 && waiting == 0 {
		p.end = &weir.StepEnd{Step: left.step.ID, Outcome: weir.StepDone, Usage: left.step.Usage}
		if p.declined {
			p.end.Code, p.end.Reason = "declined", "A tool call was declined and the turn ended there; write again to go on."
		}
	}
	appended, err := appendTo(ctx, tx, conv, l.Fence, now, records...)
	if err != nil {
		return p, err
	}
	if n := len(appended); n > 0 {
		p.head = appended[n-1].Seq
	}
	if err := settleCalls(ctx, tx, l.Fence, left.rows, records, now); err != nil {
		return p, err
	}
	for _, call := range p.run {
		row := left.rows[call.Call]
		row.State, row.StartedAt = weir.CallStarted, now
		if err := tx.UpdateCall(ctx, l.Fence, &row); err != nil {
			return p, err
		}
		left.rows[call.Call] = row
	}
	if p.end != nil || len(p.run) > 0 {
		return p, nil
	}
	p.rested = true
	state, what := weir.Waiting, waitingApproval
	if err := tx.ChangeActivity(ctx, conv.ID, weir.Activity{State: &state, WaitingFor: &what}); err != nil {
		return p, err
	}
	return p, tx.ReleaseLease(ctx, l)
}

// settle appends the end.
func (p *progress) settle(ctx context.Context, tx Tx, e *Engine, conv *weir.Conversation, fence int64, s *weir.Step) (weir.Seq, error) {
	appended, err := appendTo(ctx, tx, conv, fence, e.cfg.Now(), p.end)
	if err != nil {
		return 0, err
	}
	return appended[0].Seq, endStep(ctx, tx, fence, s, bodies{p.end}, e.cfg.Now)
}

// decided returns the records of what people have decided, and how many calls
// nobody has decided about. Calls that a dead holder left are settled, and so
// are those whose tool the configuration has come to deny, whoever allowed it.
func (l *remains) decided(p *progress, consent func(name string) tool.Consent) (out bodies, waiting int) {
	for _, row := range l.rows {
		p.declined = p.declined || row.Decision == weir.Deny
	}
	for _, call := range l.open {
		row := l.rows[call.Call]
		if row.State != weir.CallWaiting {
			out.add(l.left(call))
			continue
		}
		denied := consent(call.Name) == weir.Deny
		if row.Decision == "" && !denied {
			waiting++
			continue
		}
		if row.Decision != "" {
			out.add(&weir.Approval{Call: call.Call, Name: call.Name, Decision: row.Decision})
		}
		switch {
		case row.Decision == weir.Deny:
			out.add(l.left(call))
		case denied:
			out.add(resultOf(call, tool.Result{Text: textDenied, IsError: true}))
		default:
			p.run = append(p.run, call)
		}
	}
	return out, waiting
}

// proceed goes on with what people have decided while calls ran, or settles
// the step when one of them asked to stop.
func (r *round) proceed(stopped bool) (goOn bool, err error) {
	d := r.d
	var p progress
	var left *remains
	var closed bool
	err = d.persist(func(ctx context.Context, tx Tx) error {
		p, closed = progress{}, false
		if _, err := held(ctx, tx, d.id); err != nil { // whoever asks to stop locks the head too
			return err
		}
		s, err := tx.Step(ctx, d.id, r.st.step.ID)
		if err != nil {
			return err
		}
		if left, err = leftover(ctx, tx, &r.st.conv, &s); err != nil {
			return err
		}
		if stopped || s.Interrupt {
			closed, left.stopped = true, true
			if _, p.head, err = left.close(ctx, tx, d.e, &r.st.conv, d.lease.Fence, false); err != nil {
				return err
			}
			p.rested, err = d.restAfter(ctx, tx, true)
			return err
		}
		if p, err = proceed(ctx, tx, d.lease, d.e, &r.st.conv, left); err != nil || p.end == nil || !p.declined {
			return err
		}
		closed = true
		if p.head, err = p.settle(ctx, tx, d.e, &r.st.conv, d.lease.Fence, &s); err != nil {
			return err
		}
		p.rested, err = d.restAfter(ctx, tx, false)
		return err
	})
	if err != nil {
		d.forget()
		return false, err
	}
	if p.rested {
		d.lease = weir.Lease{} // released in the transaction
	}
	r.batches, r.rows = d.e.batches(p.run), left.rows
	switch {
	case closed || p.rested:
		d.next = work{}
	case p.end != nil:
		d.next = work{mustGoOn: true, steps: d.next.steps, end: p.end}
	}
	d.e.publish(weir.Signal{Conversation: d.id, Head: p.head, State: true})
	return !p.rested, nil
}
