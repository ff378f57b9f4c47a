package turn

import (
	"context"
	"errors"
	"fmt"

	"weir"
	"weir/model"
)

// step sends a step's request, settles what comes of it, and reports whether
// the drain goes on.
func (d *drain) step(st *begun) (goOn bool, err error) {
	if st.round != nil {
		return st.round.run()
	}
	ctx, interrupt := context.WithCancelCause(d.ctx)
	defer interrupt(nil)
	w := newWatch(st.step.ID)
	stop := d.watchStep(ctx, w, interrupt)
	answer, failed, err := d.attempts(ctx, st, w)
	stop()
	switch {
	case err != nil:
		return false, err
	case d.ctx.Err() != nil && failed != nil:
		return false, d.leave(st, w, failed)
	}
	if len(answer.Dropped) > 0 {
		d.e.cfg.Log.Warn("the provider left out reasoning that was sent back", "conversation", d.id, "step", st.step.ID, "reasons", answer.Dropped)
	}
	o := judge(ctx, answer, failed, w)
	if o.usage != nil {
		o.usage.Cost = st.profile.Prices.Cost(*o.usage)
	}
	if o.state == weir.StepFailed {
		d.e.cfg.Log.Warn("a step failed", "conversation", d.id, "step", st.step.ID, "code", o.code, "err", cause(failed))
		o.again = d.continued(st, failed)
		if r := d.remedied(st, failed, w); r != nil {
			o.again, o.lesson = &r.chain, r.lesson
			o.reason += " " + r.says
		}
	}
	return d.settle(st, o)
}

// cause is what the log gets of a failed attempt: never the provider's words,
// which may repeat what was sent.
func cause(err error) error {
	var failure *model.Error
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// attempt streams one answer.
func (d *drain) attempt(ctx context.Context, st *begun, w *watch) (answer model.Answer, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, attemptTotal, errors.New("turn: one attempt took longer than an hour"))
	defer cancel()
	defer func() { d.e.tried(ctx, &st.step, answer, err) }()
	return st.client.Stream(bounded, st.request.Body, func(ev model.Event) error {
		delta, err := w.add(ev)
		if delta != nil {
			d.e.publish(weir.Signal{Conversation: d.id, Delta: delta})
		}
		return err
	})
}

// leave is the end of a drain amid a stream. When the engine stops, what came
// is stored, so that whoever goes on loses none of it; when the lease is lost,
// nothing may be written.
func (d *drain) leave(st *begun, w *watch, cause error) error {
	d.forget()
	text, more := w.unsaved()
	if !stopping(d.ctx) || !more {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), goodbye)
	defer cancel()
	if _, err := d.checkpoint(ctx, st.step.ID, text); err != nil {
		d.e.cfg.Log.Warn("store what was streamed", "conversation", d.id, "step", st.step.ID, "err", err)
	}
	return cause
}

// outcome is what an attempt came to.
type outcome struct {
	parts  []weir.Part
	usage  *weir.Usage
	state  weir.StepState
	cutOff bool // the parts are what came, not what was meant
	code   string
	reason string
	again  *chain       // a new step goes on from what came
	lesson *weir.Lesson // of the model
}

// judge turns what a client returned into an outcome.
func judge(ctx context.Context, answer model.Answer, err error, w *watch) outcome {
	o := outcome{state: weir.StepDone, parts: answer.Parts}
	if answer.Usage != (weir.Usage{}) {
		o.usage = &answer.Usage
	}
	var failure *model.Error
	switch {
	case err == nil:
		o.finish(answer.Finish)
		o.bound()
		return o
	case context.Cause(ctx) == errInterrupted:
		o.state, o.code, o.reason = weir.StepInterrupted, codeInterrupted, reasonInterrupted
	case errors.As(err, &failure):
		o.state, o.code, o.reason = weir.StepFailed, failure.Code(), failure.Public
		if o.reason == "" {
			o.reason = "The model's provider failed."
		}
	default:
		o.state = weir.StepFailed
		o.code, o.reason = shown(err)
	}
	o.cut(w.text())
	o.bound()
	return o
}

// maxCalls is how many tools one answer may call: OpenAI takes no answer back
// that called more, though its models do.
const maxCalls = 128

// bound leaves out the calls of an answer that are too many, and what came
// after them.
func (o *outcome) bound() {
	n := 0
	for i, p := range o.parts {
		if !isCall(p) {
			continue
		}
		if n++; n > maxCalls {
			o.parts = o.parts[:i]
			if o.code == "" {
				o.code = "calls_limit"
				o.reason = fmt.Sprintf("The answer called more than %d tools at once; the calls beyond that were left out.", maxCalls)
			}
			return
		}
	}
}

// finish says why a whole answer ended.
func (o *outcome) finish(f model.Finish) {
	switch f {
	case model.FinishFiltered:
		o.state, o.code = weir.StepFailed, "provider_filtered"
		o.reason = "The provider's content filter stopped the answer; put it another way."
		o.cut("")
	case model.FinishLength:
		o.code, o.reason = "output_limit", "The answer reached the model's output limit and ends there; retry to have it continued."
	case model.FinishUnknown:
		o.code, o.reason = "provider_stopped", "The provider ended the answer for a reason that is not known here; what came is kept. Retry to have it continued."
	default:
		return
	}
	o.cutOff = o.cutOff || len((&weir.AssistantMessage{Parts: o.parts}).Calls()) == 0
}

// cut keeps of a broken answer what can be sent back to the provider: text,
// what is signed and whole calls, which will be settled without being run.
// With nothing to read or to settle all of it goes.
func (o *outcome) cut(streamed string) {
	o.cutOff = true
	var kept []weir.Part
	useful := false
	for _, p := range o.parts {
		switch p.Type {
		case weir.PartText:
			if p.Text == "" && len(p.Raw) == 0 {
				continue
			}
			useful = useful || p.Text != ""
		case weir.PartReasoning:
			if len(p.Raw) == 0 {
				continue
			}
		case weir.PartToolCall:
			if _, malformed := model.Malformed(p.Input); malformed {
				continue
			}
			useful = true
		}
		kept = append(kept, p)
	}
	switch {
	case useful:
		o.parts = kept
	case streamed != "": // the client kept nothing of what it had streamed
		o.parts = []weir.Part{{Type: weir.PartText, Text: streamed}}
	default:
		o.parts = nil
	}
}
