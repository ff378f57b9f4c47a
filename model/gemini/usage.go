package gemini

import (
	"weir"
	"weir/model/internal/wire"
)

// usage are the counters of this dialect. Each chunk repeats them, the last
// one has all.
type usage struct {
	Prompt     wire.Count `json:"promptTokenCount"` // gross
	Cached     wire.Count `json:"cachedContentTokenCount"`
	ToolUse    wire.Count `json:"toolUsePromptTokenCount"` // not in the prompt's
	Candidates wire.Count `json:"candidatesTokenCount"`
	Thoughts   wire.Count `json:"thoughtsTokenCount"` // not in the candidates'
}

// normal takes apart what the gross count of the prompt holds.
func (u *usage) normal() weir.Usage {
	return weir.Usage{
		Fresh:  max(0, int64(u.Prompt)-int64(u.Cached)) + int64(u.ToolUse),
		Read:   int64(u.Cached),
		Output: int64(u.Candidates) + int64(u.Thoughts),
	}
}
