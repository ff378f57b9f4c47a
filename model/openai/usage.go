package openai

import (
	"weir"
	"weir/model/internal/wire"
)

// usage are the counters of this dialect and its variants.
type usage struct {
	Prompt     tokens `json:"prompt_tokens"` // gross
	Completion tokens `json:"completion_tokens"`
	Details    *struct {
		Cached tokens `json:"cached_tokens"`
		Write  tokens `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Hit tokens `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// normal takes apart what the gross count of the prompt holds.
func (u *usage) normal() weir.Usage {
	out := weir.Usage{Read: int64(u.Hit), Output: int64(u.Completion)}
	if u.Details != nil {
		out.Read = max(out.Read, int64(u.Details.Cached))
		out.Write = int64(u.Details.Write)
	}
	out.Fresh = max(0, int64(u.Prompt)-out.Read-out.Write)
	return out
}

type tokens = wire.Count
