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
// without progress.
func (en *entry) recover(ctx context.Context) error {
	s, err := en.tx.UnsettledStep(ctx, en.d.id)
	switch {
	case err != nil && weir.KindOf(err) == weir.NotFound:
		return nil
	case err != nil:
		return err
	}
	left, err := leftover(ctx, en.tx, &en.conv, &s)
	if err != nil {
		return err
	}
	records, next := left.settle(!s.Interrupt)
	if next.mustGoOn {
		if next.steps, err = en.stepsSinceInput(ctx); err != nil {
			return err
		}
	}
	if _, err := en.append(ctx, records...); err != nil {
		return err
	}
	en.next = next
	return endStep(ctx, en.tx, en.lease.Fence, &s, records, en.d.e.cfg.Now)
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

// remains is what the log and the step's row hold of a step that never settled.
type remains struct {
	step   *weir.Step
	answer *weir.AssistantMessage
	open   []weir.Part // calls without a result
}

func leftover(ctx context.Context, r Reader, c *weir.Conversation, s *weir.Step) (*remains, error) {
	records, err := r.Records(ctx, c, weir.RecordQuery{
		After: s.Seq, Kinds: []weir.RecordKind{weir.KindAssistant, weir.KindToolResult},
	})
	if err != nil {
		return nil, err
	}
	left := &remains{step: s}
	settled := map[string]bool{}
	for i := range records {
		switch b := records[i].Body.(type) {
		case *weir.AssistantMessage:
			left.answer = b
		case *weir.ToolResult:
			settled[b.Call] = true
		}
	}
	if left.answer != nil {
		for _, call := range left.answer.Calls() {
			if !settled[call.Call] {
				left.open = append(left.open, call)
			}
		}
	}
	return left, nil
}

// settle returns the records that settle the step, its end among them, and
// what is to be done next. With goOn false nothing is: a person stopped it.
func (l *remains) settle(goOn bool) (bodies, work) {
	end := &weir.StepEnd{Step: l.step.ID, Outcome: weir.StepInterrupted, Code: codeCutOff, Reason: reasonCutOff, Usage: l.step.Usage}
	next := work{mustGoOn: goOn, chain: l.chain()}
	var out bodies
	switch text := strings.ToValidUTF8(l.step.Partial, "\uFFFD"); {
	case l.answer != nil:
		next.chain = chain{}
		for _, call := range l.open {
			out.add(resultOf(call, tool.Interrupted()))
		}
		if len(l.open) == 0 {
			end.Outcome, end.Code, end.Reason = weir.StepDone, "", ""
		}
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
	if !goOn && end.Outcome == weir.StepInterrupted {
		end.Code, end.Reason = codeInterrupted, reasonInterrupted
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
