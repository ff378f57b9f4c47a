package weir

import "time"

// InputKind is what waits in an inbox.
type InputKind string

// The kinds of inputs.
const (
	InputUser   InputKind = "user"
	InputNotice InputKind = "notice"
	InputRetry  InputKind = "retry" // a control: run a step from the surface's end
	InputEpoch  InputKind = "epoch" // a control: begin a new epoch
)

// Delivery says when an input may be promoted.
type Delivery string

// The deliveries.
const (
	Steer Delivery = "steer" // at the next safe boundary
	Queue Delivery = "queue" // when the conversation would go idle
)

// InputState is how far an input has come.
type InputState string

// The states of an input.
const (
	Pending   InputState = "pending"
	Promoted  InputState = "promoted"
	Rejected  InputState = "rejected"
	Withdrawn InputState = "withdrawn"
)

// Limits of a user's message.
const (
	MaxTextBytes = 1_000_000
)

// Input is a message that was accepted durably.
type Input struct {
	Conversation ConversationID
	ID           InputID
	Owner        OwnerID
	Kind         InputKind
	Delivery     Delivery
	State        InputState
	Position     int64 // order within the inbox, from the store
	Revision     int64 // 1 at admission, one more at each edit
	Text         string
	Shown        string      // as UserMessage.Shown
	Asked        []Reference // what the client sent, to restore a draft
	Mentions     Mentions
	References   []Frozen
	Digest       string // of the canonical body, for idempotency
	AdmittedAt   time.Time
	PromotedSeq  Seq    // of the record it became
	Code         string // of a rejected one
	Reason       string
}
