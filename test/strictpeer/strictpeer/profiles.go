package strictpeer

import (
	"strings"

	"weir/model"
	"weir/model/strict"
)

// The profiles.
const (
	Anthropic    = "anthropic"     // the newest models: system messages in mid-conversation
	AnthropicOld = "anthropic-old" // models without
	OpenAIChat   = "openai-chat"
	Responses    = "openai-responses" // models with explicit cache breakpoints
	DeepSeek     = "deepseek"         // thinking: an answer with calls keeps its reasoning_content

	// Local servers, by what the template of their model makes of a system
	// message that is not the first: an error, an error as when roles do not
	// alternate, nothing at all.
	QwenTemplate        = "qwen-template"
	AlternatingTemplate = "alternating-template"
	DroppingTemplate    = "dropping-template"

	Gemini = "gemini" // models that insist on thought signatures
)

// Profiles lists the profiles.
func Profiles() []string {
	return []string{Anthropic, AnthropicOld, Responses, OpenAIChat, DeepSeek, QwenTemplate, AlternatingTemplate, DroppingTemplate, Gemini}
}

// chatRules are what is refused in a profile of the Chat Completions API, and
// false for any other profile.
func chatRules(profile string) (strict.ChatRules, bool) {
	var r strict.ChatRules
	switch profile {
	case OpenAIChat:
	case DeepSeek:
		r.Reasoning = true
	case QwenTemplate:
		r.Template = strict.SystemFirst
	case AlternatingTemplate:
		r.Template = strict.Alternating
	case DroppingTemplate:
		r.Template = strict.Plain
	default:
		return r, false
	}
	return r, true
}

// speaks returns the dialect of the peer and the path that it serves, as
// [path.Match] reads it.
func (p *Peer) speaks() (dialect, string) {
	if rules, ok := chatRules(p.profile); ok {
		rules.Jinja = p.jinja
		return openaiDialect{p, rules}, "/v1/chat/completions"
	}
	switch p.profile {
	case Responses:
		return responsesDialect{p}, "/v1/responses"
	case Gemini:
		return geminiDialect{p}, geminiPath
	}
	return anthropicDialect{p}, "/v1/messages"
}

// caches sets from how many tokens on a prefix is cached, and in which steps.
func (p *Peer) caches() {
	switch p.profile {
	case Anthropic, AnthropicOld:
		p.minimum, p.step = 512, 1
	case Responses:
		p.minimum, p.step = 1024, 1
	case OpenAIChat:
		p.minimum, p.step = 1024, 128
	case DeepSeek:
		p.minimum, p.step = 64, 64
	case QwenTemplate, AlternatingTemplate, DroppingTemplate: // vLLM's blocks
		p.minimum, p.step = 16, 16
	case Gemini:
		p.minimum, p.step = 4096, 1
	default:
		panic("strictpeer: no profile " + p.profile)
	}
}

// Model is what a client has to know of the model that a peer of a profile
// plays: what the catalogue says of such models. It panics like [New].
func Model(profile, id, name string) model.Profile {
	provider, _, _ := strings.Cut(id, "/")
	p := model.Profile{
		ID: id, Provider: provider, Name: name, ContextWindow: 200_000, MaxOutput: 8192,
		MidSystem: model.MidNone, ThinkingBinding: model.BindNothing, UsageStyle: model.UsageGross,
	}
	switch profile {
	case Anthropic, AnthropicOld:
		p.Dialect, p.CacheStyle, p.ThinkingBinding = model.Anthropic, model.CacheMarks, model.BindPrefix
		p.UsageStyle = model.UsageNet
		if profile == Anthropic {
			p.MidSystem = model.MidNative
		}
	case Responses:
		p.Dialect, p.MidSystem = model.OpenAIResponses, model.MidDeveloper
		p.CacheStyle, p.ThinkingBinding = model.CacheBreakpoints, model.BindPrefix
	case OpenAIChat:
		p.Dialect, p.MidSystem = model.OpenAIChat, model.MidDeveloper
		p.CacheStyle, p.MaxTokensField = model.CacheKeyed, "max_completion_tokens"
	case DeepSeek:
		p.Dialect, p.MidSystem, p.ReasoningRequired = model.OpenAIChat, model.MidNative, model.ReasoningContent
		p.CacheStyle, p.MaxTokensField = model.CacheAutomatic, "max_tokens"
	case QwenTemplate, AlternatingTemplate, DroppingTemplate:
		p.Dialect, p.SystemFirstOnly, p.RolesAlternate = model.OpenAIChat, true, profile == AlternatingTemplate
		p.CacheStyle, p.MaxTokensField = model.CacheAutomatic, "max_tokens"
	case Gemini:
		p.Dialect, p.ReasoningRequired, p.ThinkingBinding = model.Gemini, model.ReasoningSignature, model.BindPrefix
		p.CacheStyle = model.CacheAutomatic
	default:
		panic("strictpeer: no profile " + profile)
	}
	return p
}
