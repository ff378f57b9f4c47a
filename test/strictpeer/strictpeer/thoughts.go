package strictpeer

import (
	"crypto/sha256"
	"sync"

	"weir/model/strict"
)

// thoughts remembers behind which prefixes every answer began with reasoning.
// While the tools that such an answer called are answered, its reasoning may
// not be left out.
type thoughts struct {
	mu     sync.Mutex
	always map[digest]bool
}

// note notes an answer that was given whole behind a prefix, or that began
// without reasoning: cut off or not, it may come back as it is.
func (t *thoughts) note(prefix digest, mused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.always[prefix]
	t.always[prefix] = mused && (before || !known)
}

// missed refuses a request in whose open tool loop reasoning is missing.
func (t *thoughts) missed(q *strict.Request) *strict.Refusal {
	from := openLoop(q)
	h := sha256.New()
	head(h, q)
	for i := range q.Messages {
		m := &q.Messages[i]
		if i >= from && m.Role == "assistant" && !reasons(q, m) {
			var prefix digest
			copy(prefix[:], h.Sum(nil))
			t.mu.Lock()
			bare := t.always[prefix]
			t.mu.Unlock()
			if bare {
				return refusal("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. The `thinking` blocks in the latest assistant message cannot be left out.",
					i, m.Blocks[0].Type)
			}
		}
		message(h, q, m)
	}
	return nil
}

// openLoop returns the index from which on there is nothing from the user but
// results of tools, or the number of messages when the last is no result.
func openLoop(q *strict.Request) int {
	from := len(q.Messages)
	for i := len(q.Messages) - 1; i >= 0; i-- {
		switch m := &q.Messages[i]; m.Role {
		case "assistant":
			from = i
		case "user":
			for j := range m.Blocks {
				if m.Blocks[j].Type != "tool_result" {
					return from
				}
			}
		}
	}
	return from
}

func reasons(q *strict.Request, m *strict.Message) bool {
	for j := range m.Blocks {
		if kind, _, _ := reasoning(q, &m.Blocks[j]); kind != "" {
			return true
		}
	}
	return false
}
