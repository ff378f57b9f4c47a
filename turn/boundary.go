package turn

import (
	"context"
	"errors"
	"strings"

	"weir"
	"weir/fact"
	"weir/model"
	"weir/modelview"
)

// begun is a step that a boundary has begun: durable, and about to be sent.
type begun struct {
	conv    weir.Conversation
	step    weir.Step
	request *modelview.Request
	profile model.Profile
	client  model.Client
	last    bool   // of the allowance: no tool runs after it
	asked   bool   // to stop, as of the last write
	round   *round // of a step that was answered before: its calls go on
}

// plan is what a boundary prepared outside its transaction.
type plan struct {
	sight     *sight      // the one observation, where a step is to begin
	look      bool        // observe whatever is pending: a step begins
	refusals  refusals    // so far
	epoch     *weir.Epoch // the first baseline, when there is none in force
	cold      bool        // nothing came from memory
	fail      error       // do not build a request: settle the step with this
	conflicts int         // how often all was undone because somebody else wrote
}

// errAgain asks for the boundary to be prepared anew.
var errAgain = errors.New("turn: the conversation changed under the boundary")

// buildError is a failure to make a request, as opposed to one of the store.
type buildError struct {
	err      error
	provider string // of a request that was refused before
	final    bool   // building from the log alone would fail as well
}

func (b *buildError) Error() string { return "turn: build a request: " + b.err.Error() }
func (b *buildError) Unwrap() error { return b.err }

const boundaryTries = 5

// boundary is the moment between two steps. It returns the step it has begun,
// or nil when the conversation rests or is not ours to drain. A request that
// cannot be built is tried once more from the log alone; then the inputs are
// promoted all the same, and their step fails with the reason.
func (d *drain) boundary() (*begun, error) {
	var p plan
	for {
		if d.e.wanted(d.id) {
			return nil, d.giveWay()
		}
		err := d.prepare(&p)
		var ent *entry
		if err == nil {
			ent, err = d.enter(&p)
		}
		var blocked *fact.Blocked
		var unbuilt *buildError
		switch {
		case err == nil && ent.again:
			p = plan{}
		case err == nil:
			return ent.begun, nil
		case errors.As(err, &blocked):
			return nil, d.block(blocked)
		case d.ctx.Err() != nil:
			return nil, err
		case (errors.Is(err, errAgain) || weir.CodeOf(err) == weir.CodeMoved) && p.conflicts < boundaryTries:
			p.conflicts++
			p.sight = nil
		case errors.As(err, &unbuilt) && p.fail == nil:
			if err := d.failBuild(&p, unbuilt); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// failBuild decides what to do about a request that could not be built. What
// the store may have caused is an error of the drain, to be tried again after
// a pause, three times; what a person can act on fails the step at once, when
// it was not the cache that was wrong.
func (d *drain) failBuild(p *plan, b *buildError) error {
	if !p.cold && !b.final {
		return nil // once more, from the log alone
	}
	kind := weir.KindOf(b.err)
	if !b.final && (kind == weir.Internal || kind == weir.Unavailable) && d.e.failures(d.id) < 3 {
		return b.err
	}
	if refused(weir.CodeOf(b.err)) {
		d.e.cfg.Log.Warn("a request is as one that was refused", "conversation", d.id, "code", weir.CodeOf(b.err))
		d.e.cfg.Meter.Withheld(b.provider)
	} else {
		d.e.cfg.Log.Error("a request could not be built", "conversation", d.id, "err", b.err)
	}
	p.fail = b.err
	return nil
}

// prepare does what needs no transaction: it reads what is new, renders it,
// and observes the facts when a step is to begin.
func (d *drain) prepare(p *plan) error {
	c, err := d.e.cfg.Store.Conversation(d.ctx, d.id)
	if err != nil {
		return err
	}
	if d.warm == nil && !p.cold {
		d.warm = d.e.warm.take(d.id)
	}
	if d.warm == nil {
		d.warm, p.cold = d.coldFor(&c), true
	}
	if err := d.warm.catchUp(d.ctx, d.e.cfg.Store, &c); err != nil {
		d.forget()
		return err
	}
	begins, goesOn, renews, err := d.expects(&c)
	if err != nil {
		return err
	}
	model, err := answers(d.ctx, d.e.cfg.Store, &c, d.warm, goesOn)
	if err != nil {
		return err
	}
	if p.refusals, err = readRefusals(d.ctx, d.e.cfg.Store, &c); err != nil {
		return err
	}
	profile, _, merr := d.e.cfg.Models.Model(model)
	if merr == nil && p.fail == nil {
		if err := d.catchUp(p.refusals.taught(profile), p.refusals.unsigned(profile.ID)); err != nil {
			d.forget()
			return &buildError{err: err}
		}
	}
	if !p.look && (!begins || p.fail != nil && !renews) {
		p.epoch = nil
		return nil
	}
	if merr != nil {
		profile.ID = model
	}
	return d.observe(p, &c, model, profile.ID, renews)
}

// observe looks once a boundary, and makes the first baseline of what it sees.
func (d *drain) observe(p *plan, c *weir.Conversation, model, profile string, renews bool) (err error) {
	first := d.warm.shape.Epoch() == 0
	if p.sight == nil {
		if first || renews || !d.listed {
			d.listTools()
		}
		if p.sight, err = d.look(c, model, profile); err != nil {
			return err
		}
	}
	p.epoch = nil
	if first {
		p.epoch, err = d.firstEpoch(p.sight)
	}
	return err
}

// catchUp renders what is new outside the transaction, where others do not wait.
func (d *drain) catchUp(p model.Profile, unsigned weir.Seq) (err error) {
	defer guarded(&err)
	d.warm.window.Unsigned(unsigned)
	d.warm.window.Expect(p)
	return d.warm.window.CatchUp(d.ctx, d.e.cfg.Store)
}

// coldFor starts without anything in memory.
func (d *drain) coldFor(c *weir.Conversation) *warm {
	return &warm{window: d.e.cfg.Lowerer.Window(c)}
}

// giveWay ends the drain for somebody who wants the conversation to himself.
func (d *drain) giveWay() error {
	if d.lease.Fence == 0 {
		return nil
	}
	err := d.update(func(ctx context.Context, tx Tx) error {
		c, err := tx.Conversation(ctx, d.id)
		if err != nil {
			return err
		}
		en := &entry{d: d, tx: tx, lease: d.lease, conv: c, next: d.next}
		if _, err := en.endPrevious(ctx); err != nil {
			return err
		}
		return en.rest(ctx, true)
	}, weir.Signal{State: true})
	if err == nil {
		d.lease, d.next = weir.Lease{}, work{} // released in the transaction
	}
	return err
}

// block says what the first baseline waits for, unless another is at work.
// Inputs stay pending, and the drain ends with an error so that it is tried
// again after a pause.
func (d *drain) block(b *fact.Blocked) error {
	err := d.update(func(ctx context.Context, tx Tx) error {
		l, ok := d.lease, d.lease.Fence != 0
		if !ok {
			var err error
			if l, ok, err = tx.AcquireLease(ctx, d.id, d.e.holder(), d.e.cfg.Lease); err != nil || !ok {
				return err
			}
		}
		state, what := weir.Blocked, strings.Join(b.Keys, ", ")
		left, err := tx.PendingInputs(ctx, d.id)
		if err != nil {
			return err
		}
		if len(left) == 0 { // taken back meanwhile
			state, what = weir.Idle, ""
		}
		if err := tx.ChangeActivity(ctx, d.id, weir.Activity{State: &state, WaitingFor: &what}); err != nil {
			return err
		}
		return tx.ReleaseLease(ctx, l)
	}, weir.Signal{State: true})
	if err == nil {
		d.lease = weir.Lease{} // released in the transaction
	}
	return errors.Join(b, err)
}

// update runs one transaction of the drain and publishes after its commit.
func (d *drain) update(fn func(ctx context.Context, tx Tx) error, s weir.Signal) error {
	err := d.e.cfg.Store.Update(d.ctx, func(tx Tx) error { return fn(d.ctx, tx) })
	if err != nil {
		d.forget()
		return err
	}
	s.Conversation = d.id
	d.e.publish(s)
	return nil
}
