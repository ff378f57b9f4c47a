package transcript

import "weir"

// Quotable returns what a quote of r hands over: of a user message the
// person's own text, of an assistant message the visible text, without
// reasoning and tool calls. It is ok only for user and assistant messages with
// non-empty text that were written in a chat or branch and are not rewound
// away. Text that no person typed (imported echoes and reminders) is not a
// person's to hand over.
func Quotable(r *weir.Record, writtenIn weir.Kind, s *Shape) (role, text string, ok bool) {
	if writtenIn != weir.Chat && writtenIn != weir.Branch || s.Hidden(r.Seq) {
		return "", "", false
	}
	switch b := r.Body.(type) {
	case *weir.UserMessage:
		if !b.Synthetic {
			role, text = roleUser, b.Said()
		}
	case *weir.AssistantMessage:
		role, text = roleAssistant, b.VisibleText()
	}
	if text == "" {
		return "", "", false
	}
	return role, text, true
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)
