package turn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir"
	"weir/tool"
)

// settle appends what an attempt came to: the assistant message and, unless
// tools are to run first, the step's end, in one transaction that also makes
// the conversation idle when nothing is due.
func (d *drain) settle(st *begun, o outcome) (goOn bool, err error) {
	end := &weir.StepEnd{Step: st.step.ID, Outcome: o.state, Code: o.code, Reason: o.reason, Usage: o.usage}
	unrun, calling := "", slices.ContainsFunc(o.parts, isCall)
	switch {
	case o.state != weir.StepDone:
		unrun = textNotRun
	case st.last && calling:
		unrun = "not run: the allowance of steps is used up"
		end.Code, end.Reason = "allowance_used", "The allowance of steps for one message is used up; write again to go on."
	}
	r := &round{d: d, st: st, end: end}
	goOn, err = d.write(st, o, func(ctx context.Context, tx Tx, _ *weir.Step) (out bodies, err error) {
		parts, err := distinctCalls(ctx, tx, st, o.parts)
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 || o.state == weir.StepDone {
			out.add(&weir.AssistantMessage{Step: st.step.ID, Model: st.step.Model, Parts: parts, Interrupted: o.cutOff})
		}
		r.calls = (&weir.AssistantMessage{Parts: parts}).Calls()
		if calling && unrun == "" {
			denied, err := r.open(ctx, tx)
			return slices.Concat(out, denied), err
		}
		for _, call := range r.calls {
			out.add(resultOf(call, tool.Result{Text: unrun, IsError: true}))
		}
		out.add(end)
		return out, nil
	})
	if err == nil && calling && unrun == "" {
		return r.run()
	}
	return goOn, err
}

// write appends what fn says to a running step, under the lease. When the
// step's end is last the step is settled, and the conversation rests if nothing
// is due; but not where the answer is to be gone on with. Whether the step was asked to
// stop is read in the same transaction.
func (d *drain) write(st *begun, o outcome, fn func(ctx context.Context, tx Tx, s *weir.Step) (bodies, error)) (goOn bool, err error) {
	var head weir.Seq
	var end *weir.StepEnd
	var ended, again, rested bool
	err = d.persist(func(ctx context.Context, tx Tx) error {
		ended, again, rested = false, false, false
		s, err := tx.Step(ctx, d.id, st.step.ID)
		if err != nil {
			return err
		}
		out, err := fn(ctx, tx, &s)
		if err != nil {
			return err
		}
		st.asked = s.Interrupt
		if n := len(out); n > 0 {
			end, ended = out[n-1].(*weir.StepEnd)
			if again = ended && o.again != nil && !s.Interrupt; again {
				out = out[:n-1] // as after tools, it comes with what is next
			}
		}
		appended, err := appendTo(ctx, tx, &st.conv, d.lease.Fence, d.e.cfg.Now(), out...)
		if err != nil {
			return err
		}
		if n := len(appended); n > 0 {
			head = appended[n-1].Seq
		}
		if o.lesson != nil {
			if err := tx.PutLesson(ctx, *o.lesson); err != nil {
				return err
			}
		}
		switch {
		case again:
			o.again.wait(&s)
			s.Usage, s.Partial = o.usage, ""
			return tx.UpdateStep(ctx, d.lease.Fence, &s)
		case !ended:
			return d.keepUsage(ctx, tx, &s, o.usage)
		}
		if err := endStep(ctx, tx, d.lease.Fence, &s, out, d.e.cfg.Now); err != nil {
			return err
		}
		rested, err = d.restAfter(ctx, tx, s.Interrupt)
		return err
	})
	if err != nil {
		d.forget()
		return false, err
	}
	if rested {
		d.lease = weir.Lease{} // released in the transaction
	}
	switch {
	case again:
		d.next = work{mustGoOn: true, steps: d.next.steps, end: end, chain: *o.again, cutOff: len(o.parts) > 0}
	case ended:
		d.next = work{}
	}
	d.e.publish(weir.Signal{Conversation: d.id, Head: head, State: true})
	return !rested, nil
}

// keepUsage stores what an answer took once it is in the log; its text so far
// is there too.
func (d *drain) keepUsage(ctx context.Context, tx Tx, s *weir.Step, usage *weir.Usage) error {
	if s.Partial == "" && (s.Usage != nil || usage == nil) {
		return nil
	}
	s.Usage, s.Partial = usage, ""
	return tx.UpdateStep(ctx, d.lease.Fence, s)
}

// restAfter is rest after a step. Whoever asked it to stop gets the lease
// before anything else begins, unless the steers are what he wants.
func (d *drain) restAfter(ctx context.Context, tx Tx, asked bool) (rested bool, err error) {
	if asked {
		c, err := tx.Conversation(ctx, d.id)
		if err != nil {
			return false, err
		}
		asked = c.WaitingFor != waitingSteers
	}
	return rest(ctx, tx, d.lease, asked)
}

// persist runs a transaction that stores what cannot be had again. It goes on
// while the engine stops, and tries again when the database fails for a moment,
// or is away for a while; a lease that was lost meanwhile is the fence's business.
func (d *drain) persist(fn func(ctx context.Context, tx Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), persistFor)
	defer cancel()
	for try := 0; ; try++ {
		err := d.e.cfg.Store.Update(ctx, func(tx Tx) error { return fn(ctx, tx) })
		kind := weir.KindOf(err)
		if err == nil || ctx.Err() != nil || kind != weir.Unavailable && (kind != weir.Internal || try == 3) {
			return err
		}
		d.e.cfg.Log.Warn("store what came of a step; once more", "conversation", d.id, "err", err)
		pause := time.NewTimer(100 * time.Millisecond << min(try, 4))
		select {
		case <-pause.C:
		case <-d.ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// endStep stores in the step's row what its end record says.
func endStep(ctx context.Context, tx Tx, fence int64, s *weir.Step, records bodies, now func() time.Time) error {
	for _, b := range records {
		end, ok := b.(*weir.StepEnd)
		if !ok {
			continue
		}
		s.State, s.Code, s.Reason, s.Usage = end.Outcome, end.Code, storable(end.Reason), end.Usage
		s.Partial, s.NextTry, s.EndedAt = "", time.Time{}, now()
		return tx.UpdateStep(ctx, fence, s)
	}
	return nil
}

// distinctCalls returns the parts of an answer, where those tool calls have an
// id of their own that came without one, with one that is none, or with one
// that another call of the conversation has: each call is answered and decided
// by its id, and some models count from 0 in every answer.
func distinctCalls(ctx context.Context, r Reader, st *begun, parts []weir.Part) ([]weir.Part, error) {
	var ids []string
	for _, p := range parts {
		if isCall(p) && weir.ValidID(p.Call) {
			ids = append(ids, p.Call)
		}
	}
	used, err := r.CallIDs(ctx, &st.conv, ids...)
	taken := map[string]bool{}
	for _, id := range used {
		taken[id] = true
	}
	out := append([]weir.Part{}, parts...)
	for i := range out {
		p := &out[i]
		if !isCall(*p) {
			continue
		}
		if taken[p.Call] || !weir.ValidID(p.Call) {
			p.Call = "call_" + string(st.step.ID) + "_" + strconv.Itoa(i)
		}
		taken[p.Call] = true
	}
	return out, err
}

func isCall(p weir.Part) bool { return p.Type == weir.PartToolCall }

// shown returns the code and the sentence of an error that a person may see.
func shown(err error) (code, reason string) {
	if f, ok := asFault(err); ok && f.Public != "" {
		return f.Code, f.Public
	}
	return "internal", "The server could not do this because of a fault of its own; its log says more. Retry, or look there."
}

// storable replaces what a text column does not take.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
