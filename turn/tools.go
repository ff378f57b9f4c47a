package turn

import (
	"context"
	"sync"

	"weir"
	"weir/tool"
)

// runTools runs the calls of an answer that is in the log already and appends
// their results in call order, each as soon as it and those before it are
// there. The step's end is left to the boundary that follows, and written in
// its transaction: whoever finds a step that is not settled knows that there
// is something to go on with.
func (d *drain) runTools(st *begun, calls []weir.Part, end *weir.StepEnd) (goOn bool, err error) {
	ctx, interrupt := context.WithCancelCause(d.ctx)
	defer interrupt(nil)
	if st.asked {
		interrupt(errInterrupted)
	}
	stop := d.watchStep(ctx, newWatch(st.step.ID), interrupt)
	defer stop()
	results, wait := d.startTools(ctx, st, calls)
	defer wait()
	for i, call := range calls {
		r := <-results[i]
		if d.ctx.Err() != nil {
			return false, d.ctx.Err() // whoever goes on settles the rest
		}
		if r.Err != nil {
			d.e.cfg.Log.Warn("a tool failed", "conversation", d.id, "tool", call.Name, "err", r.Err)
		}
		out := bodies{resultOf(call, r)}
		if i == len(calls)-1 && ctx.Err() != nil {
			end.Outcome, end.Code, end.Reason = weir.StepInterrupted, codeInterrupted, reasonInterrupted
			return d.write(st, append(out, end), outcome{usage: end.Usage})
		}
		if _, err := d.write(st, out, outcome{usage: end.Usage}); err != nil {
			return false, err
		}
	}
	d.next.mustGoOn, d.next.end, d.next.resumptions = true, end, 0
	return true, nil
}

// startTools runs calls side by side, those alone that ask for it. One result
// arrives in each channel; wait returns when nothing of it runs any more.
func (d *drain) startTools(ctx context.Context, st *begun, calls []weir.Part) (results []chan tool.Result, wait func()) {
	results = make([]chan tool.Result, len(calls))
	for i := range results {
		results[i] = make(chan tool.Result, 1)
	}
	var all sync.WaitGroup
	all.Go(func() {
		var beside sync.WaitGroup
		defer beside.Wait()
		for i, call := range calls {
			run := func() { results[i] <- d.runTool(ctx, st, call) }
			if !d.e.cfg.Tools.Alone(call.Name) {
				beside.Go(run)
				continue
			}
			beside.Wait()
			run()
		}
	})
	return results, all.Wait
}

func (d *drain) runTool(ctx context.Context, st *begun, call weir.Part) tool.Result {
	if ctx.Err() != nil {
		return tool.Result{Text: "interrupted; it was not run", IsError: true}
	}
	return d.e.cfg.Tools.Run(ctx, call.Name, tool.Call{
		Conversation: d.id, Owner: st.conv.Owner, ID: call.Call, Input: call.Input,
	})
}
