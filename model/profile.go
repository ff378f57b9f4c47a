package model

import (
	"cmp"
	"slices"

	"weir"
)

// Usage styles say what an endpoint's count of input tokens holds.
const (
	UsageNet   UsageStyle = "net"   // what was read anew, without what came from the cache (Anthropic)
	UsageGross UsageStyle = "gross" // all of it
)

// UsageStyle is what an endpoint's count of input tokens holds.
type UsageStyle string

// Lifecycle is what a vendor says of a model's future; empty when it says nothing.
type Lifecycle string

// The stages.
const (
	Active     Lifecycle = "active"
	Deprecated Lifecycle = "deprecated"
	Retired    Lifecycle = "retired"
)

// Profile is what is known of one model at one endpoint. It is data, never
// guessed from a name. A limit, a minimum or a price of zero is not known. The
// members have the names by which the catalogue and the configuration set them.
type Profile struct {
	ID       string  `json:"id"`       // "provider/name" as people write it
	Provider string  `json:"provider"` // id of the configured provider
	Name     string  `json:"name"`     // what the endpoint calls it
	Dialect  Dialect `json:"dialect"`

	MidSystem         MidSystem `json:"mid_system"`
	RolesAlternate    bool      `json:"roles_alternate"`    // user and assistant must alternate strictly; mid_system is none
	SystemFirstOnly   bool      `json:"system_first_only"`  // a system message is taken first or not at all; mid_system is none
	ContentParts      bool      `json:"content_parts"`      // a user message's content is a list of parts (openai-chat)
	Prefill           bool      `json:"prefill"`            // a request may end with the beginning of the answer; Weir makes none
	ThinkingBinding   Binding   `json:"thinking_binding"`   // what signed reasoning is bound to
	ReasoningRequired Reasoning `json:"reasoning_required"` // what an answer with calls cannot be without

	CacheStyle     CacheStyle `json:"cache_style"`
	CacheMinTokens int64      `json:"cache_min_tokens"` // of a prefix that is cached at all
	UsageStyle     UsageStyle `json:"usage_style"`

	ContextWindow int64 `json:"context_window"` // tokens
	MaxOutput     int64 `json:"max_output"`     // tokens
	// MaxTokensField is what an openai-chat endpoint calls the output limit:
	// "max_tokens" (local servers) or "max_completion_tokens" (OpenAI).
	MaxTokensField string    `json:"max_tokens_field"`
	Lifecycle      Lifecycle `json:"lifecycle"`
	Prices         Prices    `json:"prices"`
}

// Keyed reports whether a cache of this style is asked for by
// prompt_cache_key.
func (s CacheStyle) Keyed() bool { return s == CacheKeyed || s == CacheBreakpoints }

// check refuses what no request could be made of.
func (p Profile) check() error {
	for _, c := range []struct {
		member, value string
		allowed       []string
	}{
		{"dialect", string(p.Dialect), []string{string(Anthropic), string(OpenAIResponses), string(OpenAIChat), string(Gemini)}},
		{"mid_system", string(p.MidSystem), p.midSystems()},
		{"cache_style", string(p.CacheStyle), p.cacheStyles()},
		{"usage_style", string(p.UsageStyle), p.usageStyles()},
		{"thinking_binding", string(p.ThinkingBinding), []string{string(BindNothing), string(BindModel), string(BindPrefix)}},
		{"reasoning_required", string(p.ReasoningRequired), p.reasonings()},
		{"max_tokens_field", p.MaxTokensField, p.fields()},
		{"lifecycle", string(p.Lifecycle), []string{"", string(Active), string(Deprecated), string(Retired)}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return invalid("The model %s has the %s %q; for the dialect %s it must be %s. Correct it in the configuration.",
				p.ID, c.member, c.value, orNone(string(p.Dialect)), or(c.allowed))
		}
	}
	return p.checkTogether()
}

// checkTogether refuses members that contradict each other.
func (p Profile) checkTogether() error {
	for _, c := range []struct {
		member string
		set    bool
	}{{"roles_alternate", p.RolesAlternate}, {"system_first_only", p.SystemFirstOnly}, {"content_parts", p.ContentParts}} {
		switch {
		case !c.set:
		case p.Dialect != OpenAIChat:
			return invalid("The model %s has %s, which only the dialect openai-chat knows; leave it out of the configuration.", p.ID, c.member)
		case c.member != "content_parts" && p.MidSystem != MidNone:
			return invalid("The model %s has %s and the mid_system %q; with it mid_system must be none. Correct one of them in the configuration.",
				p.ID, c.member, p.MidSystem)
		}
	}
	switch {
	case p.Dialect == OpenAIChat && p.CacheStyle == CacheBreakpoints && !p.ContentParts:
		return invalid("The model %s has the cache_style breakpoints, which stand in lists of parts; set content_parts = true with it in the configuration.", p.ID)
	case p.ContextWindow < 0 || p.MaxOutput < 0 || p.CacheMinTokens < 0 || p.Prices.LongAbove < 0:
		return invalid("The model %s has a negative limit; correct it in the configuration.", p.ID)
	case p.ContextWindow > 0 && p.MaxOutput > p.ContextWindow:
		return invalid("The model %s has a max_output of %d tokens and a context_window of %d; an answer cannot be longer than the window. Correct it in the configuration.",
			p.ID, p.MaxOutput, p.ContextWindow)
	}
	return nil
}

func (p Profile) midSystems() []string {
	switch p.Dialect {
	case Anthropic:
		return []string{string(MidNative), string(MidNone)}
	case Gemini:
		return []string{string(MidNone)}
	}
	return []string{string(MidNative), string(MidDeveloper), string(MidNone)}
}

func (p Profile) cacheStyles() []string {
	switch p.Dialect {
	case Anthropic:
		return []string{string(CacheMarks)}
	case Gemini:
		return []string{string(CacheAutomatic), string(CacheNone)}
	}
	return []string{string(CacheNone), string(CacheAutomatic), string(CacheKeyed), string(CacheBreakpoints)}
}

func (p Profile) usageStyles() []string {
	if p.Dialect == Anthropic {
		return []string{string(UsageNet)}
	}
	return []string{string(UsageGross)}
}

func (p Profile) reasonings() []string {
	switch p.Dialect {
	case OpenAIChat:
		return []string{string(ReasoningFree), string(ReasoningContent)}
	case Gemini:
		return []string{string(ReasoningFree), string(ReasoningSignature)}
	}
	return []string{string(ReasoningFree)}
}

func (p Profile) fields() []string {
	if p.Dialect == OpenAIChat {
		return []string{"max_tokens", "max_completion_tokens"}
	}
	return []string{""}
}

// complete fills in what nothing has set: what is legal at any endpoint of the
// dialect.
func (p Profile) complete() Profile {
	if p.ReasoningRequired == "none" {
		p.ReasoningRequired = ReasoningFree
	}
	style, usage, field, binding := CacheNone, UsageGross, "", BindNothing
	switch p.Dialect {
	case Anthropic:
		style, usage, binding = CacheMarks, UsageNet, BindPrefix // as strict as any
	case OpenAIChat:
		field = "max_tokens"
	}
	p.MidSystem = cmp.Or(p.MidSystem, MidNone)
	p.ThinkingBinding = cmp.Or(p.ThinkingBinding, binding)
	p.CacheStyle = cmp.Or(p.CacheStyle, style)
	p.UsageStyle = cmp.Or(p.UsageStyle, usage)
	p.MaxTokensField = cmp.Or(p.MaxTokensField, field)
	return p
}

// across is what is known of the model whatever protocol it is spoken to in.
func (p Profile) across(d Dialect) Profile {
	return Profile{
		ID: p.ID, Provider: p.Provider, Name: p.Name, Dialect: d,
		ContextWindow: p.ContextWindow, MaxOutput: p.MaxOutput, Lifecycle: p.Lifecycle, Prices: p.Prices,
	}
}

func invalid(format string, args ...any) error {
	return weir.Fault(weir.Invalid, "model_invalid", format, args...)
}
