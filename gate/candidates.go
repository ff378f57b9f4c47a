package gate

import (
	"context"
	"time"

	"weir"
)

// Candidate is a conversation that a person may reference from a target.
// Control and invisible characters in its words are escaped; the URI inside
// Mention keeps the raw id.
type Candidate struct {
	Conversation  weir.ConversationID `json:"conversation"`
	Title         string              `json:"title"`
	Workspace     string              `json:"workspace,omitempty"`
	LastActive    time.Time           `json:"last_active"`
	SameWorkspace bool                `json:"same_workspace"`
	Level         weir.Level          `json:"level"`
	Category      string              `json:"category,omitempty"`
	Flow          string              `json:"flow"` // "free" or "confirm"
	Recall        bool                `json:"recall"`
	Mention       string              `json:"mention"`
}

// Candidates lists what may be referenced from target, at most limit (50).
func (g *Gate) Candidates(ctx context.Context, r Reader, a weir.Actor, target weir.ConversationID, words string, limit int) ([]Candidate, error) {
	panic("not yet")
}
