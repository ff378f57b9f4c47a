package turn

import (
	"context"

	"weir"
)

// Decide says what a person thinks of a call that waits for it: [weir.Allow]
// or [weir.Deny]. With remember it is said of the tool for good. The same
// decision again is nothing; another one is a conflict.
func (e *Engine) Decide(ctx context.Context, a weir.Actor, c weir.ConversationID, call string, d weir.Decision, remember bool) error {
	if d != weir.Allow && d != weir.Deny {
		return weir.Fault(weir.Invalid, "decision_invalid", "A decision is “allow” or “deny”.")
	}
	if _, err := owned(ctx, e.cfg.Store, a, c); err != nil {
		return err
	}
	return weir.Fault(weir.NotFound, "call_not_found", "No such call waits for a decision here.")
}
