package turn

import (
	"context"
	"fmt"

	"weir"
	"weir/modelview"
)

// verification is of one conversation as it was at one head.
type verification struct {
	r Ledger
	l *modelview.Lowerer
	c weir.Conversation

	found     []Difference
	records   int
	requests  int
	unsettled int
	pending   int

	starts map[weir.StepID]weir.Seq
	ends   map[weir.StepID]weir.Seq
	inputs map[weir.InputID]weir.Seq // of user messages
	handed map[weir.InputID]int      // references they carry
	calls  map[string]bool           // of the newest answer: whether there is a result
	answer weir.Seq
}

func newVerification(r Ledger, l *modelview.Lowerer, c weir.Conversation) *verification {
	return &verification{
		r: r, l: l, c: c,
		starts: map[weir.StepID]weir.Seq{}, ends: map[weir.StepID]weir.Seq{},
		inputs: map[weir.InputID]weir.Seq{}, handed: map[weir.InputID]int{}, calls: map[string]bool{},
	}
}

func (v *verification) differs(seq weir.Seq, what, format string, args ...any) {
	v.found = append(v.found, Difference{Conversation: v.c.ID, Seq: seq, What: what, Detail: fmt.Sprintf(format, args...)})
}

func (v *verification) run(ctx context.Context) error {
	for _, check := range []func(context.Context) error{v.log, v.steps, v.promoted, v.waiting, v.flows} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// log reads the records up to the head, the inherited ones too.
func (v *verification) log(ctx context.Context) error {
	const page = 500
	last := weir.Seq(0)
	for {
		records, err := v.r.Records(ctx, &v.c, weir.RecordQuery{After: last, Before: v.c.HeadSeq + 1, Limit: page})
		if err != nil {
			return err
		}
		for i := range records {
			if records[i].Seq != last+1 {
				v.differs(records[i].Seq, "seq_gap", "follows %d", last)
			}
			last = records[i].Seq
			v.records++
			if err := v.record(ctx, &records[i]); err != nil {
				return err
			}
		}
		if len(records) < page {
			break
		}
	}
	if last != v.c.HeadSeq {
		v.differs(last, "seq_gap", "the newest record; the head says %d", v.c.HeadSeq)
	}
	return nil
}

func (v *verification) record(ctx context.Context, r *weir.Record) error {
	if r.Seq <= v.c.Inherits() {
		return nil // verified where it was written
	}
	switch b := r.Body.(type) {
	case *weir.StepStart:
		v.once(v.starts, b.Step, r.Seq, "step_started_twice")
		_, err := v.l.Rebuild(ctx, v.r, &v.c, r)
		if f, ok := asFault(err); ok {
			v.differs(r.Seq, f.Code, "step %s: %s", b.Step, f.Public)
			return nil
		}
		if err != nil {
			return err
		}
		v.requests++
	case *weir.Epoch:
		if sum := digestOf(b.Baseline); b.SHA256 != "" && sum != b.SHA256 {
			v.differs(r.Seq, "baseline_mismatch", "its digest is %s, the record says %s", sum, b.SHA256)
		}
	case *weir.StepEnd:
		v.once(v.ends, b.Step, r.Seq, "step_settled_twice")
	case *weir.AssistantMessage:
		v.answered()
		v.calls, v.answer = map[string]bool{}, r.Seq
		for _, call := range b.Calls() {
			v.calls[call.Call] = b.Step == "" // what was imported need not be complete
		}
	case *weir.ToolResult:
		if settled, asked := v.calls[b.Call]; v.answer != 0 && (settled || !asked) {
			v.differs(r.Seq, "result_unasked", "of %s, called at %d", b.Name, v.answer)
		}
		v.calls[b.Call] = true
	case *weir.UserMessage:
		if b.Input != "" {
			if at, twice := v.inputs[b.Input]; twice {
				v.differs(r.Seq, "input_promoted_twice", "input %s, also at %d", b.Input, at)
			}
			v.inputs[b.Input], v.handed[b.Input] = r.Seq, len(b.References)
		}
	}
	return nil
}

// answered reports the calls of the newest answer that have no result.
func (v *verification) answered() {
	for _, settled := range v.calls {
		if !settled {
			v.differs(v.answer, "result_missing", "of a call of this answer")
		}
	}
}

func (v *verification) once(seen map[weir.StepID]weir.Seq, id weir.StepID, seq weir.Seq, what string) {
	if at, twice := seen[id]; twice {
		v.differs(seq, what, "step %s, also at %d", id, at)
	}
	seen[id] = seq
}

// steps compares the steps' rows with their records.
func (v *verification) steps(ctx context.Context) error {
	rows := map[weir.StepID]bool{}
	for before := v.c.HeadSeq + 1; before > 0; {
		page, err := v.r.Steps(ctx, v.c.ID, before, 200)
		if err != nil {
			return err
		}
		for i := range page {
			rows[page[i].ID] = true
			v.step(&page[i])
			before = page[i].Seq
		}
		if len(page) < 200 {
			break
		}
	}
	for id, seq := range v.starts {
		if !rows[id] {
			v.differs(seq, "step_row_missing", "step %s", id)
		}
	}
	if v.unsettled == 0 {
		v.answered()
	}
	if v.unsettled > 1 {
		v.differs(0, "steps_unsettled", "%d steps run at once", v.unsettled)
	}
	return nil
}

func (v *verification) step(s *weir.Step) {
	start, started := v.starts[s.ID]
	end, ended := v.ends[s.ID]
	unsent := s.Ledger.SHA256 == ""
	switch {
	case unsent && (started || end != s.Seq), !unsent && start != s.Seq:
		v.differs(s.Seq, "step_record_missing", "step %s", s.ID)
	case s.State == weir.StepRunning && ended:
		v.differs(end, "step_unsettled", "step %s has an end and runs", s.ID)
	case s.State == weir.StepRunning:
		v.unsettled++
	case !ended:
		v.differs(s.Seq, "step_end_missing", "step %s is %s", s.ID, s.State)
	}
}

// promoted compares the messages in the log with the inputs they were.
func (v *verification) promoted(ctx context.Context) error {
	for id, seq := range v.inputs {
		in, err := v.r.Input(ctx, v.c.ID, id)
		switch {
		case err != nil && weir.KindOf(err) == weir.NotFound:
			v.differs(seq, "input_missing", "input %s", id)
		case err != nil:
			return err
		case in.State != weir.Promoted || in.PromotedSeq != seq:
			v.differs(seq, "input_not_promoted", "input %s is %s at %d", id, in.State, in.PromotedSeq)
		}
	}
	return nil
}

func (v *verification) waiting(ctx context.Context) error {
	pending, err := v.r.PendingInputs(ctx, v.c.ID)
	v.pending = len(pending)
	return err
}

// flows compares what messages carry with the audit of what moved.
func (v *verification) flows(ctx context.Context) error {
	if len(v.handed) == 0 {
		return nil
	}
	delivered := map[int64]weir.Seq{}
	q := weir.FlowQuery{Owner: v.c.Owner, Target: v.c.ID, Limit: 200}
	for {
		page, err := v.r.Flows(ctx, q)
		if err != nil {
			return err
		}
		for _, f := range page.Items {
			if f.Form == weir.FlowOutcome && f.Result == weir.FlowDelivered {
				delivered[f.Of] = f.Seq
			}
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	for id, n := range v.handed {
		flows, err := v.r.FlowsOf(ctx, v.c.ID, id)
		if err != nil {
			return err
		}
		got := 0
		for _, f := range flows {
			if seq, ok := delivered[f.ID]; ok {
				got++
				if seq != v.inputs[id] {
					v.differs(v.inputs[id], "flow_elsewhere", "flow %d was delivered at %d", f.ID, seq)
				}
			}
		}
		if got != n {
			v.differs(v.inputs[id], "flow_missing", "input %s carries %d references, %d flows were delivered", id, n, got)
		}
	}
	return nil
}
