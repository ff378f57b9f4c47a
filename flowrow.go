package weir

import "time"

// FlowForm is how content passed.
type FlowForm string

// The forms of flows. The last is an outcome of an earlier row.
const (
	FlowQuote      FlowForm = "quote"
	FlowPointer    FlowForm = "pointer"
	FlowRecall     FlowForm = "recall"
	FlowBranch     FlowForm = "branch"
	FlowVisibility FlowForm = "visibility" // a wall was taken down by a person
	FlowOutcome    FlowForm = "outcome"
)

// FlowResult is what became of a flow.
type FlowResult string

// The results of flows.
const (
	FlowDelivered FlowResult = "delivered"
	FlowWithdrawn FlowResult = "withdrawn"
	FlowRejected  FlowResult = "rejected"
	FlowReplaced  FlowResult = "replaced"
)

// Flow is one recorded passage of content, or the outcome of one. Rows are
// appended and never edited.
type Flow struct {
	ID           int64 // from the store
	Time         time.Time
	Owner        OwnerID
	Door         string
	Form         FlowForm
	Source       ConversationID
	Message      MessageID
	Generation   GenerationID
	SourceScope  Scope
	Target       ConversationID
	Input        InputID
	TargetScope  Scope
	Crossing     bool
	Reasons      []Reason
	Confirmation string
	TextMAC      string // base64url HMAC-SHA-256 of the text, under the server's key
	TextLength   int
	Of           int64 // an outcome: the row it is about
	Result       FlowResult
	Seq          Seq // delivered: of the record in the target
}
