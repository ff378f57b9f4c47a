package turn

import (
	"context"
	"strings"

	"weir"
	"weir/tool"
)

// recover settles what a dead holder left: its text so far becomes an
// interrupted answer, its calls without a result settle as interrupted and are
// never run again, and the work goes on in a new step, at most ten times
// without progress. A step whose calls wait for people was left by nobody: it
// goes on with what they decided, and done says that the boundary is over.
func (en *entry) recover(ctx context.Context) (done bool, err error) {
	s, err := en.tx.UnsettledStep(ctx, en.d.id)
	switch {
	case err != nil && weir.KindOf(err) == weir.NotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	left, err := leftover(ctx, en.tx, &en.conv, &s)
	if err != nil {
		return false, err
	}
	var p progress
	if left.waits() && !s.Interrupt {
		p, err = proceed(ctx, en.tx, en.lease, en.d.e, &en.conv, left)
		en.next, en.head, en.rested = work{mustGoOn: p.end != nil && !p.declined}, p.head, p.rested
		if p.end != nil && err == nil {
			en.head, err = p.settle(ctx, en.tx, en.d.e, &en.conv, en.lease.Fence, &s)
		}
	} else {
		en.next, en.head, err = left.close(ctx, en.tx, en.d.e, &en.conv, en.lease.Fence, !s.Interrupt)
	}
	if err != nil || en.rested || !en.next.mustGoOn && len(p.run) == 0 {
		return en.rested, err
	}
	if en.next.steps, err = en.stepsSinceInput(ctx); err != nil || len(p.run) == 0 {
		return false, err
	}
	en.begun = &begun{conv: en.conv, step: s}
	en.begun.round = &round{d: en.d, st: en.begun, calls: left.answer.Calls(), rows: left.rows, batches: en.d.e.batches(p.run), asks: true,
		end: &weir.StepEnd{Step: s.ID, Outcome: weir.StepDone, Usage: s.Usage}}
	return true, en.setRunning(ctx)
}

// stepsSinceInput counts how much of the allowance is used.
func (en *entry) stepsSinceInput(ctx context.Context) (int, error) {
	records, err := en.tx.Records(ctx, &en.conv, weir.RecordQuery{
		Newest: true, Limit: en.d.e.cfg.Allowance, Kinds: []weir.RecordKind{weir.KindUser, weir.KindStep},
	})
	n := 0
	for i := len(records) - 1; i >= 0 && records[i].Kind() == weir.KindStep; i-- {
		n++
	}
	return n, err
}

// remains is what the log and the store hold of a step that never settled.
type remains struct {
	step    *weir.Step
	answer  *weir.AssistantMessage
	open    []weir.Part // calls without a result
	rows    map[string]weir.Call
	stopped bool // because a person asked for it
}

func leftover(ctx context.Context, r Reader, c *weir.Conversation, s *weir.Step) (*remains, error) {
	records, err := r.Records(ctx, c, weir.RecordQuery{
		After: s.Seq, Kinds: []weir.RecordKind{weir.KindAssistant, weir.KindToolResult},
	})
	if err != nil {
		return nil, err
	}
	left := &remains{step: s, rows: map[string]weir.Call{}}
	settled := map[string]bool{}
	for i := range records {
		switch b := records[i].Body.(type) {
		case *weir.AssistantMessage:
			left.answer = b
		case *weir.ToolResult:
			settled[b.Call] = true
		}
	}
	if left.answer == nil {
		return left, nil
	}
	for _, call := range left.answer.Calls() {
		if !settled[call.Call] {
			left.open = append(left.open, call)
		}
	}
	rows, err := r.Calls(ctx, c.ID, s.ID)
	for _, row := range rows {
		left.rows[row.ID] = row
	}
	return left, err
}

// waits reports whether a call waits for a person, or for its decision to be
// acted on.
func (l *remains) waits() bool {
	for _, row := range l.rows {
		if row.State == weir.CallWaiting {
			return true
		}
	}
	return false
}

// left is the result of a call that nobody will run any more.
func (l *remains) left(call weir.Part) *weir.ToolResult {
	switch l.rows[call.Call].State {
	case weir.CallStarted:
		return resultOf(call, tool.Interrupted())
	case weir.CallWaiting:
		return resultOf(call, tool.Result{Text: textDeclined, IsError: true})
	}
	return resultOf(call, tool.Result{Text: textNotRun, IsError: true})
}

// close settles a step with all that is open of it, and says what is next.
func (l *remains) close(ctx context.Context, tx Tx, e *Engine, c *weir.Conversation, fence int64, goOn bool) (next work, head weir.Seq, err error) {
	now := e.cfg.Now()
	records, next := l.settle(goOn)
	appended, err := appendTo(ctx, tx, c, fence, now, records...)
	if err != nil {
		return work{}, 0, err
	}
	if err := settleCalls(ctx, tx, fence, l.rows, records, now); err != nil {
		return work{}, 0, err
	}
	return next, appended[len(appended)-1].Seq, endStep(ctx, tx, fence, l.step, records, e.cfg.Now)
}

// settle returns the records that settle the step, its end among them, and
// what is to be done next. With goOn false nothing is: a person stopped it.
func (l *remains) settle(goOn bool) (bodies, work) {
	end := &weir.StepEnd{Step: l.step.ID, Outcome: weir.StepInterrupted, Code: codeCutOff, Reason: reasonCutOff, Usage: l.step.Usage}
	next := work{mustGoOn: goOn, chain: l.chain()}
	var out bodies
	switch text := strings.ToValidUTF8(l.step.Partial, "\uFFFD"); {
	case l.answer != nil && l.answer.Interrupted: // it was to be gone on with
		end.Outcome, end.Code, end.Reason = weir.StepFailed, l.step.Code, l.step.Reason
		out.add(end)
		if goOn {
			out.add(&weir.Notice{Text: continueNotice})
		}
	case l.answer != nil:
		next.chain = chain{}
		for _, call := range l.open {
			out.add(l.left(call))
		}
		if len(l.open) == 0 {
			end.Outcome, end.Code, end.Reason = weir.StepDone, "", ""
		}
		out.add(end)
	case refused(l.step.Code): // it was to be made otherwise
		end.Outcome, end.Code, end.Reason = weir.StepFailed, l.step.Code, l.step.Reason
		out.add(end)
	case text != "":
		out.add(&weir.AssistantMessage{
			Step: l.step.ID, Model: l.step.Model, Interrupted: true,
			Parts: []weir.Part{{Type: weir.PartText, Text: text}},
		}, end)
		if goOn {
			out.add(&weir.Notice{Text: continueNotice})
		}
	default:
		next.resumptions = l.step.Resumptions + 1
		if goOn && next.resumptions > maxResumptions {
			next = work{}
			end.Outcome, end.Code = weir.StepFailed, "resumed_too_often"
			end.Reason = "The server stopped again and again while it waited for this answer, so it is no longer tried by itself; retry to try once more."
		}
		out.add(end)
	}
	if l.stopped || !goOn && end.Outcome == weir.StepInterrupted {
		end.Outcome, end.Code, end.Reason = weir.StepInterrupted, codeInterrupted, reasonInterrupted
	}
	return out, next
}

// chain is what the attempts so far were. One that was under way did not fail:
// it was left.
func (l *remains) chain() chain {
	c := chain{attempts: l.step.Chained + l.step.Attempts, at: l.step.NextTry, code: l.step.Code, reason: l.step.Reason}
	if c.at.IsZero() {
		c.attempts--
	}
	return c
}

const (
	codeInterrupted   = "interrupted"
	reasonInterrupted = "The answer was interrupted."
	codeCutOff        = "cut_off"
	reasonCutOff      = "The server stopped in the middle of this answer."
)

func resultOf(call weir.Part, r tool.Result) *weir.ToolResult {
	return &weir.ToolResult{Call: call.Call, Name: call.Name, Text: r.Text, IsError: r.IsError}
}
