package strictpeer

import (
	"strings"

	"weir/model"
)

// The profiles.
const (
	Anthropic    = "anthropic"     // the newest models: system messages in mid-conversation
	AnthropicOld = "anthropic-old" // models without
	OpenAIChat   = "openai-chat"
)

// Profiles lists the profiles.
func Profiles() []string { return []string{Anthropic, AnthropicOld, OpenAIChat} }

// Model is what a client has to know of the model that a peer of a profile
// plays: what the catalogue says of such models. It panics like [New].
func Model(profile, id, name string) model.Profile {
	provider, _, _ := strings.Cut(id, "/")
	p := model.Profile{ID: id, Provider: provider, Name: name, ContextWindow: 200_000, MaxOutput: 8192, MidSystem: model.MidNone}
	switch profile {
	case Anthropic, AnthropicOld:
		p.Dialect, p.CacheStyle, p.ThinkingBinding = model.Anthropic, model.CacheMarks, model.BindPrefix
		if profile == Anthropic {
			p.MidSystem = model.MidNative
		}
	case OpenAIChat:
		p.Dialect, p.MidSystem, p.CacheKey = model.OpenAIChat, model.MidDeveloper, true
		p.CacheStyle, p.MaxTokensField = model.CacheKeyed, "max_completion_tokens"
	default:
		panic("strictpeer: no profile " + profile)
	}
	return p
}
