package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"weir"
)

// drain runs the steps of one conversation until nothing is due. Nothing
// durable is its own: it holds a lease, a cache, and what it has to do next.
type drain struct {
	e  *Engine
	id weir.ConversationID

	ctx    context.Context // ends with the engine or with the lease
	cancel context.CancelCauseFunc
	lease  weir.Lease // its Fence is 0 while there is none
	kept   chan struct{}

	warm   *warm
	next   work
	listed bool // the tools were waited for
}

// work is what the next step is a part of.
type work struct {
	mustGoOn    bool          // tools were called, or a dead holder's step is resumed
	end         *weir.StepEnd // of a step whose tools have run; written with what comes next
	steps       int           // since a person's input was promoted last
	resumptions int           // of this piece of work, without progress
	chain       chain         // of attempts that failed, which it continues
	cutOff      bool          // the answer of the last one is in the log
}

// errLostLease ends a drain whose lease another has, or may have.
var errLostLease = errors.New("turn: the lease is lost")

// drain looks whether c is due, and works until it no longer is.
func (e *Engine) drain(ctx context.Context, c weir.ConversationID) error {
	d := &drain{e: e, id: c}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	defer d.cancel(nil)
	due, err := d.due()
	if due && err == nil {
		err = d.work()
	}
	return d.end(err)
}

// guarded turns a panic into an error: what is wrong with one conversation
// must not end the work on all others.
func guarded(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("turn: panic: %v\n%s", p, debug.Stack())
	}
}

// due asks, without writing, whether there may be anything to do. Rings can be
// many; a lease costs a commit.
func (d *drain) due() (bool, error) {
	c, err := d.e.cfg.Store.Conversation(d.ctx, d.id)
	switch {
	case weir.KindOf(err) == weir.NotFound && err != nil:
		return false, nil
	case err != nil:
		return false, err
	case c.Deleted || c.State == weir.Waiting && c.WaitingFor == waitingResume:
		return false, nil
	case c.State == weir.Waiting:
		calls, err := d.e.cfg.Store.WaitingCalls(d.ctx, d.id)
		return slices.ContainsFunc(calls, func(c weir.Call) bool { return c.Decision != "" }), err
	case c.State == weir.Running:
		return true, nil // here and now nobody drains it but perhaps another node
	}
	pending, err := d.e.cfg.Store.PendingInputs(d.ctx, d.id)
	if err != nil || len(pending) > 0 {
		return true, err
	}
	_, err = d.e.cfg.Store.UnsettledStep(d.ctx, d.id)
	if weir.KindOf(err) == weir.NotFound {
		return false, nil
	}
	return err == nil, err
}

func (d *drain) work() (err error) {
	defer guarded(&err)
	for {
		st, err := d.boundary()
		if err != nil || st == nil {
			return err
		}
		goOn, err := d.step(st)
		if err != nil || !goOn {
			return err
		}
	}
}

// end gives the lease back if it is still held, keeps what is warm, and says
// whether what ended the drain is an error at all.
func (d *drain) end(err error) error {
	lost := context.Cause(d.ctx) == errLostLease || weir.CodeOf(err) == weir.CodeFenced
	over := stopping(d.ctx)
	if d.lease.Fence != 0 && !lost {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), goodbye)
		defer cancel()
		if rerr := d.e.cfg.Store.Update(ctx, func(tx Tx) error { return tx.ReleaseLease(ctx, d.lease) }); rerr != nil {
			d.e.cfg.Log.Warn("release a lease", "conversation", d.id, "err", rerr)
		}
	}
	d.letLeaseGo()
	if err == nil && d.warm != nil {
		d.e.warm.put(d.id, d.warm)
	}
	if lost || over {
		return nil
	}
	return err
}

// forget drops what is warm: it may have seen what was rolled back.
func (d *drain) forget() { d.warm = nil }
