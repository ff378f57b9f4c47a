package gate

import "weir"

// Question is a decision that only a person can take. About is anything else
// that the answer must not outlive: the digest covers it.
type Question struct {
	Form        weir.FlowForm
	Source      weir.ConversationID
	Target      weir.ConversationID
	SourceScope weir.Scope
	TargetScope weir.Scope
	Reasons     []weir.Reason
	Sentence    string
	About       string
}

// Decide returns nil when a person has answered q: confirmed, having seen
// exactly this question. Else confirmation_required or confirmation_stale,
// which carry confirmation, digest and reasons.
func (g *Gate) Decide(a weir.Actor, q Question, confirmed bool, seen string) error {
	panic("not yet")
}
