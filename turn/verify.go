package turn

import (
	"context"

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

// Report is what a verification found.
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

// Verify reads everything and reports what differs from what must be.
func Verify(ctx context.Context, r Ledger, l *modelview.Lowerer) (Report, error) { panic("not yet") }
