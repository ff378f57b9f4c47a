package gate

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"weir"
	"weir/flow"
	"weir/mention"
)

// Candidate is a conversation that a person may reference from a target.
// Control and invisible characters in its words are escaped; the URI inside
// Mention keeps the raw id. Mention spells a recall where one may pass, else a
// pointer.
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

// Limits of a candidate list.
const (
	maxCandidates     = 50
	defaultCandidates = 20
	maxWords          = 1_000 // bytes of a query
	maxShown          = 500   // code points of a title or workspace
)

// Candidates lists what may be referenced from target, in the store's order:
// limit of them, at most 50; 0 means 20.
func (g *Gate) Candidates(ctx context.Context, r Reader, a weir.Actor, target weir.ConversationID, words string, limit int) ([]Candidate, error) {
	if len(words) > maxWords || !utf8.ValidString(words) || strings.ContainsRune(words, 0) {
		return nil, weir.Fault(weir.Invalid, "query_invalid", "A query is at most %d bytes of text; shorten it.", maxWords)
	}
	if limit <= 0 {
		limit = defaultCandidates
	}
	to, err := newDesk(r, a.Owner).target(ctx, target)
	if err != nil {
		return nil, err
	}
	found, err := r.Candidates(ctx, weir.CandidateQuery{
		Owner: a.Owner, Target: target, Words: words, Limit: min(limit, maxCandidates),
	})
	if err != nil {
		return nil, err
	}
	candidates := make([]Candidate, 0, len(found))
	for i := range found {
		candidates = append(candidates, candidate(&found[i], to))
	}
	return candidates, nil
}

func candidate(c, to *weir.Conversation) Candidate {
	free := flow.CanFlow(c.Scope(), to.Scope())
	title := escaped(c.Title, maxShown)
	v := Candidate{
		Conversation:  c.ID,
		Title:         title,
		Workspace:     escaped(c.Workspace, maxShown),
		LastActive:    c.LastActive,
		SameWorkspace: c.Workspace != "" && c.Workspace == to.Workspace,
		Level:         c.Visibility.Level,
		Category:      c.Visibility.Category,
		Flow:          "confirm",
		Recall:        free,
		Mention:       mention.Markup(title, mention.Address{Conversation: c.ID, Pointer: !free}),
	}
	if free {
		v.Flow = "free"
	}
	return v
}
