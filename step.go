package weir

import "time"

// StepState is how far a step has come.
type StepState string

// The states of a step.
const (
	StepRunning     StepState = "running"
	StepDone        StepState = "done"
	StepFailed      StepState = "failed"
	StepInterrupted StepState = "interrupted"
)

// Usage counts tokens, the same way for every provider: Fresh were read anew,
// Read came from the provider's cache, Write were written to it (and are not
// part of Fresh). Cost is what they cost in US dollars, a decimal number, at
// the prices of that moment; empty when it is not known.
type Usage struct {
	Fresh  int64  `json:"fresh"`
	Read   int64  `json:"read"`
	Write  int64  `json:"write"`
	Output int64  `json:"output"`
	Cost   string `json:"cost,omitempty"`
}

// BreakReason is why a request does not extend the one before it.
type BreakReason string

// The closed list of reasons; empty when the request extends the one before.
const (
	BreakFirst       BreakReason = "first"        // there is none before
	BreakCompaction  BreakReason = "compaction"   // a checkpoint has taken the place of what came before it
	BreakRewind      BreakReason = "rewind"       // or a rewind taken back
	BreakModel       BreakReason = "model"        // lowered afresh: for another model, or without what this one refused
	BreakTools       BreakReason = "tools"        // a new epoch: other tools, another baseline
	BreakOptions     BreakReason = "options"      // kept: all options of the dialects stand behind the prefix, and break nothing
	BreakRedaction   BreakReason = "redaction"    // kept: nothing redacts yet
	BreakOpenSection BreakReason = "open_section" // more came where no answer had closed the section
	BreakDefect      BreakReason = "defect"       // none of these: bytes moved that must not
)

// BreakReasons lists the reasons.
func BreakReasons() []BreakReason {
	return []BreakReason{BreakFirst, BreakCompaction, BreakRewind, BreakModel, BreakTools, BreakOptions, BreakRedaction, BreakOpenSection, BreakDefect}
}

// RefusedCodes are the codes of steps whose request a provider has judged and
// not taken. The same bytes would not be taken again.
func RefusedCodes() []string {
	return []string{
		"provider_refused_request", "provider_refused_reasoning", "provider_refused_system", "provider_refused_roles",
		"provider_refused_calls", "provider_context_overflow",
	}
}

// Lesson is what a model was learnt to object to, because it refused it.
type Lesson struct {
	Model     string // catalogue id
	Objection string
	At        time.Time
}

// Ledger is what a step's record says about the bytes of its request. Lengths
// are bytes, digests SHA-256 in hex. The prefix is the request without cache
// marks and without the tail.
type Ledger struct {
	Bytes         int64       `json:"bytes"`  // of the exact request
	SHA256        string      `json:"sha256"` // of the exact request
	PrefixBytes   int64       `json:"prefix_bytes"`
	PrefixSHA256  string      `json:"prefix_sha256"`
	Shared        int64       `json:"shared"` // longest common prefix with the request before, in unmarked bytes
	Reason        BreakReason `json:"reason,omitempty"`
	OptionsSHA256 string      `json:"options_sha256"` // of the tail
}

// Step is one logical model call, as listed.
type Step struct {
	Conversation ConversationID
	ID           StepID
	Seq          Seq // of its StepStart record; of its StepEnd where no request could be made (Ledger.SHA256 is empty)
	Fence        int64
	State        StepState
	Purpose      string
	Provider     string
	Model        string
	Attempts     int // of this step
	Chained      int // attempts of the steps before it that it continues, because they were cut off
	Ledger       Ledger
	Usage        *Usage
	Partial      string    // streamed text, checkpointed at most once a second
	Resumptions  int       // of one piece of work without progress
	Interrupt    bool      // asked for; checked at each of the step's writes
	Code         string    // why it ended; of a running one, why the last attempt failed
	Reason       string    // the same, fit to show
	NextTry      time.Time // of a running one: when the next attempt begins; zero while one runs
	StartedAt    time.Time
	EndedAt      time.Time
}

// View is the frozen bytes that one record contributes to requests of one
// lowering. Conversation is where the record was written. Mark is the offset
// in Bytes where a cache mark may be spliced in, -1 for none.
type View struct {
	Conversation ConversationID
	Seq          Seq
	Lowering     string
	Bytes        []byte
	Mark         int
}

// Lease is the right of one node to drain one conversation. Fence grows with
// every acquisition; a write that names an older one fails.
type Lease struct {
	Conversation ConversationID
	Holder       string
	Fence        int64
	Expires      time.Time
}
