package weir

import "time"

// CallState is how far a tool call has come.
type CallState string

// The states of a call.
const (
	CallWaiting CallState = "waiting" // for a person's decision, as long as it takes
	CallStarted CallState = "started" // durable before it runs, so that it never runs twice
	CallSettled CallState = "settled" // its result is in the log
)

// Decision is what a person, or a rule, says about a call.
type Decision string

// The decisions.
const (
	Ask   Decision = "ask" // of a rule only
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Call is a tool call of a step, from the moment its answer is in the log.
type Call struct {
	Conversation ConversationID
	Step         StepID
	ID           string // unique within its conversation: a decision names it
	Ordinal      int    // in the answer, from 0
	Name         string // of the tool
	State        CallState
	Decision     Decision // of the person, once there is one
	StartedAt    time.Time
	EndedAt      time.Time
}

// Artefact is the full text of a tool result that was too long for the model.
type Artefact struct {
	Conversation ConversationID
	ID           ArtefactID
	Call         string
	Tool         string
	Text         string
	Time         time.Time
}

// MaxArtefactBytes is the longest text that is kept of a tool result.
const MaxArtefactBytes = 16 << 20

// ToolRule is a person's standing decision about a tool.
type ToolRule struct {
	Owner    OwnerID
	Tool     string
	Decision Decision
}
