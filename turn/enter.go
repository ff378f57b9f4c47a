package turn

import (
	"context"
	"time"

	"weir"
)

// entry is one run of a boundary's transaction. What it holds counts only
// after the commit; a transaction that runs again starts with a new one.
type entry struct {
	d    *drain
	tx   Tx
	plan *plan

	lease    weir.Lease
	conv     weir.Conversation
	model    string         // the conversation's word for the one that answers now
	journal  []weir.Change  // since the last boundary
	changes  []*weir.Change // noticed first by this one
	next     work
	refusals refusals
	head     weir.Seq
	inbox    bool // inputs changed state
	begun    *begun
	rested   bool
	again    bool // look once more
}

// enter runs the boundary's one transaction: it takes the lease if there is
// none, settles what a dead holder left, promotes what is due and begins the
// step, or makes the conversation idle.
func (d *drain) enter(p *plan) (*entry, error) {
	// Once begun it is not broken off when the engine stops: a commit whose
	// answer nobody waits for would leave a lease that nobody gives back.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), persistFor)
	defer cancel()
	var en *entry
	runs, before := 0, time.Now()
	err := d.e.cfg.Store.Update(ctx, func(tx Tx) error {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		if runs++; runs > 1 {
			d.forget()
		}
		en = &entry{d: d, tx: tx, plan: p, lease: d.lease, next: d.next, refusals: p.refusals}
		return en.run(ctx)
	})
	if err != nil {
		d.forget()
		return nil, err
	}
	if en.lease.Fence == 0 {
		return en, nil // another's
	}
	d.next = en.next
	if en.rested {
		d.lease = weir.Lease{} // released in the transaction
	} else if d.lease.Fence == 0 && en.lease.Fence != 0 {
		d.holdLease(en.lease, before)
	}
	if en.begun != nil && en.begun.round == nil {
		d.e.began(&en.begun.step)
	}
	d.e.publish(weir.Signal{Conversation: d.id, Head: en.head, Inputs: en.inbox, State: true})
	return en, nil
}

func (en *entry) run(ctx context.Context) (err error) {
	d := en.d
	taken := false
	if en.lease.Fence == 0 {
		l, ok, err := en.tx.AcquireLease(ctx, d.id, d.e.holder(), d.e.cfg.Lease)
		if err != nil || !ok {
			return err // another drains it, and will see what we were rung for
		}
		en.lease, taken = l, true
	}
	if err := en.read(ctx); err != nil {
		return err
	}
	if en.conv.Deleted {
		return en.rest(ctx, false)
	}
	if taken {
		if done, err := en.recover(ctx); done || err != nil {
			return err
		}
		if en.refusals, err = readRefusals(ctx, en.tx, &en.conv); err != nil { // another may have had the lease meanwhile
			return err
		}
	}
	asked, err := en.endPrevious(ctx)
	if err != nil {
		return err
	}
	if asked && en.conv.WaitingFor != waitingSteers || en.conv.WaitingFor == waitingResume {
		en.next = work{}
		return en.rest(ctx, asked)
	}
	b, err := en.due(ctx)
	switch {
	case err != nil:
		return err
	case b.renews():
		return en.renew(ctx, b.promoted[0], b.before)
	case len(b.promoted) == 0 && !en.next.mustGoOn:
		return en.rest(ctx, false)
	}
	return en.begin(ctx, b)
}

// read reads the conversation and what the log has gained.
func (en *entry) read(ctx context.Context) (err error) {
	if en.conv, err = held(ctx, en.tx, en.d.id); err != nil || en.conv.Deleted {
		return err
	}
	if en.d.warm == nil {
		en.d.warm = en.d.coldFor(&en.conv)
	}
	return en.d.warm.catchUp(ctx, en.tx, &en.conv)
}

// endPrevious settles the step whose tools have run, and reports whether
// somebody asked for it to stop.
func (en *entry) endPrevious(ctx context.Context) (asked bool, err error) {
	end := en.next.end
	if end == nil {
		return false, nil
	}
	en.next.end = nil
	s, err := en.tx.Step(ctx, en.d.id, end.Step)
	if err != nil {
		return false, err
	}
	if _, err := en.append(ctx, end); err != nil {
		return false, err
	}
	return s.Interrupt, endStep(ctx, en.tx, en.lease.Fence, &s, bodies{end}, en.d.e.cfg.Now)
}

func (en *entry) rest(ctx context.Context, yield bool) (err error) {
	en.rested, err = rest(ctx, en.tx, en.lease, yield)
	en.again = !en.rested
	return err
}

// append adds records under the lease, numbered and dated.
func (en *entry) append(ctx context.Context, bodies ...weir.Body) ([]weir.Record, error) {
	records, err := appendTo(ctx, en.tx, &en.conv, en.lease.Fence, en.d.e.cfg.Now(), bodies...)
	if n := len(records); n > 0 {
		en.head = records[n-1].Seq
	}
	return records, err
}
