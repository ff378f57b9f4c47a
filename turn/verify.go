package turn

import (
	"context"
	"errors"

	"weir"
	"weir/modelview"
)

// Ledger is what [Verify] reads: a whole store.
type Ledger interface {
	Reader
	Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error)
	Inputs(ctx context.Context, c weir.ConversationID, limit int) ([]weir.Input, error)
	Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error)
}

// Report is what a verification found. Unsettled steps and pending inputs are
// no differences: somebody is at work, or will be.
type Report struct {
	Conversations int          `json:"conversations"`
	Records       int          `json:"records"`
	Requests      int          `json:"requests"` // rebuilt and equal to their digest
	Unsettled     int          `json:"unsettled"`
	Pending       int          `json:"pending"`
	Differences   []Difference `json:"differences"`
}

// Difference is one thing that is not as it must be.
type Difference struct {
	Conversation weir.ConversationID `json:"conversation"`
	Seq          weir.Seq            `json:"seq,omitempty"`
	What         string              `json:"what"` // a code: seq_gap, request_mismatch, …
	Detail       string              `json:"detail,omitempty"`
}

// verifyTries is how often a conversation that differs is looked at anew: a
// server may be writing while we read, and only what stays is a difference.
const verifyTries = 3

// Verify reads all conversations of the owners and reports what differs from
// what must be: gaps in seq, steps whose request does not rebuild to its
// digest, calls without their one result, steps and inputs whose rows and records do not agree, references
// that were delivered without a flow or a flow without its outcome. It writes
// nothing and may run beside a server.
func Verify(ctx context.Context, r Ledger, l *modelview.Lowerer, owners ...weir.OwnerID) (Report, error) {
	report := Report{Differences: []Difference{}}
	if len(owners) == 0 {
		return report, errors.New("turn: verify needs an owner")
	}
	for _, owner := range owners {
		q := weir.ConversationQuery{Owner: owner, Limit: 100}
		for {
			page, err := r.Conversations(ctx, q)
			if err != nil {
				return report, err
			}
			for i := range page.Items {
				if err := report.add(ctx, r, l, page.Items[i].ID); err != nil {
					return report, err
				}
			}
			if page.Next == "" {
				break
			}
			q.Cursor = page.Next
		}
	}
	return report, nil
}

// add verifies one conversation.
func (rep *Report) add(ctx context.Context, r Ledger, l *modelview.Lowerer, id weir.ConversationID) error {
	var v *verification
	for range verifyTries {
		c, err := r.Conversation(ctx, id)
		if err != nil && weir.KindOf(err) != weir.NotFound {
			return err
		}
		if err != nil || c.Deleted {
			return nil
		}
		v = newVerification(r, l, c)
		if err := v.run(ctx); err != nil {
			return err
		}
		if len(v.found) == 0 {
			break
		}
	}
	rep.Conversations++
	rep.Records += v.records
	rep.Requests += v.requests
	rep.Unsettled += v.unsettled
	rep.Pending += v.pending
	rep.Differences = append(rep.Differences, v.found...)
	return nil
}
