package turn

import (
	"context"
	"slices"
	"sync"
	"time"

	"weir"
	"weir/tool"
)

// round is the settlement of one answer's calls, by one drain. The calls run
// side by side, those alone that ask for it; each result is appended when it is
// there, in whatever order. Calls that need a person's consent wait for it as
// rows of the store. The step's end is left to the boundary that follows, and
// written in its transaction: whoever finds a step that is not settled knows
// that there is something to go on with.
type round struct {
	d  *drain
	st *begun

	calls   []weir.Part          // of the answer
	rows    map[string]weir.Call // in the store, by call
	batches [][]weir.Part        // to run, one after the other
	asks    bool                 // some wait for a person
	end     *weir.StepEnd

	interrupt context.CancelCauseFunc
}

// outcomeOf is what became of a call that was run.
type outcomeOf struct {
	call   weir.Part
	whole  weir.ArtefactID // where the whole result is kept, if it was cut
	result tool.Result
}

// run runs what may run and goes on with what people decide meanwhile.
func (r *round) run() (goOn bool, err error) {
	d := r.d
	ctx, interrupt := context.WithCancelCause(d.ctx)
	defer interrupt(nil)
	r.interrupt = interrupt
	r.obey()
	stop := d.watchStep(ctx, newWatch(r.st.step.ID), interrupt)
	defer stop()
	for {
		for _, batch := range r.batches {
			if err := r.batch(ctx, batch); err != nil {
				return false, err
			}
			r.obey()
			if ctx.Err() != nil {
				break
			}
		}
		stopped := ctx.Err() != nil
		switch {
		case d.ctx.Err() != nil:
			return false, d.ctx.Err() // whoever goes on settles the rest
		case !r.asks && !stopped:
			d.next.mustGoOn, d.next.end, d.next.resumptions = true, r.end, 0
			return true, nil
		}
		if goOn, err := r.proceed(stopped); err != nil || len(r.batches) == 0 {
			return goOn, err
		}
	}
}

// obey stops what runs when the store says that somebody asked for it.
func (r *round) obey() {
	if r.st.asked {
		r.interrupt(errInterrupted)
	}
}

// batch runs calls side by side and appends their results as they come.
func (r *round) batch(ctx context.Context, calls []weir.Part) error {
	if _, started := r.rows[calls[0].Call]; !started {
		if err := r.start(calls); err != nil || r.st.asked {
			return err
		}
	}
	results := make(chan outcomeOf, len(calls))
	var all sync.WaitGroup
	defer all.Wait()
	for _, call := range calls {
		all.Go(func() { results <- r.tool(ctx, call) })
	}
	for n := 0; n < len(calls); {
		got := []outcomeOf{<-results}
		for len(results) > 0 {
			got = append(got, <-results)
		}
		if r.d.ctx.Err() != nil {
			return r.d.ctx.Err()
		}
		if err := r.settle(got); err != nil {
			r.interrupt(err) // nobody will store what the others come to
			return err
		}
		r.obey()
		n += len(got)
	}
	return nil
}

func (r *round) tool(ctx context.Context, call weir.Part) outcomeOf {
	o := outcomeOf{call: call, whole: weir.NewArtefactID(r.d.e.cfg.Now())}
	if ctx.Err() != nil {
		o.result = tool.Result{Text: textNotRun, IsError: true}
		return o
	}
	o.result = r.d.e.cfg.Tools.Run(ctx, call.Name, tool.Call{
		Conversation: r.d.id, Owner: r.st.conv.Owner, ID: call.Call, Input: call.Input, Artefact: string(o.whole),
	})
	if o.result.Err != nil {
		r.d.e.cfg.Log.Warn("a tool failed", "conversation", r.d.id, "tool", call.Name, "err", o.result.Err)
	}
	return o
}

// start makes it durable that calls are about to run, unless somebody asked
// to stop.
func (r *round) start(calls []weir.Part) error {
	_, err := r.d.write(r.st, outcome{usage: r.end.Usage}, func(ctx context.Context, tx Tx, s *weir.Step) (bodies, error) {
		if s.Interrupt {
			return nil, nil
		}
		return nil, r.insert(ctx, tx, calls, weir.CallStarted)
	})
	return err
}

// insert makes the rows of calls.
func (r *round) insert(ctx context.Context, tx Tx, calls []weir.Part, state weir.CallState) error {
	var rows []weir.Call
	for _, call := range calls {
		row := weir.Call{
			Conversation: r.d.id, Step: r.st.step.ID, ID: call.Call, Name: storable(call.Name), State: state,
			Ordinal: slices.IndexFunc(r.calls, func(c weir.Part) bool { return c.Call == call.Call }),
		}
		if state == weir.CallStarted {
			row.StartedAt = r.d.e.cfg.Now()
		}
		r.rows[row.ID] = row
		rows = append(rows, row)
	}
	return tx.InsertCalls(ctx, r.d.lease.Fence, rows...)
}

// settle appends results.
func (r *round) settle(got []outcomeOf) error {
	_, err := r.d.write(r.st, outcome{usage: r.end.Usage}, func(ctx context.Context, tx Tx, _ *weir.Step) (bodies, error) {
		var out bodies
		now := r.d.e.cfg.Now()
		for _, o := range got {
			b := resultOf(o.call, o.result)
			if o.result.Full != "" {
				b.Artefact = o.whole
				a := weir.Artefact{Conversation: r.d.id, ID: o.whole, Call: o.call.Call, Tool: storable(o.call.Name), Text: o.result.Full, Time: now}
				b.Size = len(a.Text)
				if err := tx.PutArtefact(ctx, r.d.lease.Fence, &a); err != nil {
					return nil, err
				}
			}
			out.add(b)
		}
		return out, settleCalls(ctx, tx, r.d.lease.Fence, r.rows, out, now)
	})
	return err
}

// settleCalls marks the calls as settled whose results are among the records.
// One that was settled without being begun has no row.
func settleCalls(ctx context.Context, tx Tx, fence int64, rows map[string]weir.Call, records bodies, now time.Time) error {
	for _, b := range records {
		result, ok := b.(*weir.ToolResult)
		if !ok {
			continue
		}
		row, ok := rows[result.Call]
		if !ok || row.State == weir.CallSettled {
			continue
		}
		row.State, row.EndedAt = weir.CallSettled, now
		if err := tx.UpdateCall(ctx, fence, &row); err != nil {
			return err
		}
	}
	return nil
}
