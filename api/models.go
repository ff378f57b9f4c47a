package api

import (
	"context"
	"net/http"
	"strconv"

	"weir"
	"weir/model"
)

// Model is what is known of one model.
type Model struct {
	model.Profile
	Usable  bool  // its provider can be called, and has not retired it
	Default bool  // what answers where nothing else is chosen
	Listed  *bool // whether its provider's own list has it; nil: not asked, or there is none
}

// Outcome is what became of asking a provider for its models.
type Outcome string

// The outcomes.
const (
	Listed   Outcome = "listed"
	NoList   Outcome = "no_list"   // the endpoint has none
	NotAsked Outcome = "not_asked" // its key is missing
	Failed   Outcome = "failed"
)

// Refreshed is what one provider said of its models.
type Refreshed struct {
	Provider string   `json:"provider"`
	Outcome  Outcome  `json:"outcome" enum:"listed,no_list,not_asked,failed"`
	Detail   string   `json:"detail,omitempty" doc:"Why there is no list."`
	Models   int      `json:"models,omitempty" doc:"How many the list has."`
	Others   int      `json:"others,omitempty" doc:"Of those, how many are not offered by themselves, because nothing says that they answer in conversations; PROVIDER/NAME calls one."`
	Added    []string `json:"added,omitempty" doc:"Ids that are known now and were not."`
	Changed  []string `json:"changed,omitempty" doc:"Ids of which something else is known now."`
	Retired  []string `json:"retired,omitempty" doc:"Ids that the provider has retired."`
	Missing  []string `json:"missing,omitempty" doc:"Known ids that the list does not have."`
}

func (s *server) modelRoutes() {
	add(s, about("list-models", http.MethodGet, "/v1/models", "All models that are known, what is known of them, and which can answer", http.StatusOK), s.models)
	if s.cfg.Refresh != nil {
		add(s, about("refresh-models", http.MethodPost, "/v1/models/refresh",
			"Ask every configured provider for its list of models, and keep what it says", http.StatusOK), s.refreshModels)
	}
}

// modelView spells a profile as the configuration does.
type modelView struct {
	ID       string        `json:"id"`
	Provider string        `json:"provider"`
	Name     string        `json:"name" doc:"What the provider calls it."`
	Dialect  model.Dialect `json:"dialect" enum:"anthropic,openai-responses,openai-chat,gemini"`
	Usable   bool          `json:"usable" doc:"Its provider is configured, has its key, and has not retired the model."`
	Default  bool          `json:"default,omitempty"`
	Listed   *bool         `json:"listed,omitempty" doc:"Whether the provider's own list has it; absent when it was not asked, or has none."`

	ContextWindow int64           `json:"context_window" doc:"Tokens; 0: not known."`
	MaxOutput     int64           `json:"max_output" doc:"Tokens; 0: not known."`
	Lifecycle     model.Lifecycle `json:"lifecycle,omitempty" enum:"active,deprecated,retired" doc:"What the provider says of it."`
	Prices        *pricesView     `json:"prices,omitempty" doc:"US dollars for a million tokens; absent: not known."`

	MidSystem         model.MidSystem  `json:"mid_system" enum:"native,developer,none" doc:"How an update is told in mid-conversation."`
	RolesAlternate    bool             `json:"roles_alternate,omitempty"`
	SystemFirstOnly   bool             `json:"system_first_only,omitempty"`
	ContentParts      bool             `json:"content_parts,omitempty"`
	Prefill           bool             `json:"prefill,omitempty"`
	ThinkingBinding   model.Binding    `json:"thinking_binding" enum:"none,model,prefix"`
	ReasoningRequired model.Reasoning  `json:"reasoning_required,omitempty" enum:"content,signature"`
	CacheStyle        model.CacheStyle `json:"cache_style" enum:"none,automatic,marks,key,breakpoints"`
	CacheMinTokens    int64            `json:"cache_min_tokens,omitempty" doc:"Of a prefix that is cached at all."`
	UsageStyle        model.UsageStyle `json:"usage_style" enum:"net,gross"`
	MaxTokensField    string           `json:"max_tokens_field,omitempty"`
}

type ratesView struct {
	Input      float64 `json:"input,omitempty"`
	Output     float64 `json:"output,omitempty"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// pricesView has the members of ratesView itself: the description of the API
// leaves out what is embedded.
type pricesView struct {
	Input      float64    `json:"input,omitempty"`
	Output     float64    `json:"output,omitempty"`
	CacheRead  float64    `json:"cache_read,omitempty"`
	CacheWrite float64    `json:"cache_write,omitempty"`
	LongAbove  int64      `json:"long_above,omitempty" doc:"Requests with more input tokens cost what long says, altogether."`
	Long       *ratesView `json:"long,omitempty"`
}

func modelOf(m Model) modelView {
	p := m.Profile
	return modelView{
		ID: p.ID, Provider: p.Provider, Name: p.Name, Dialect: p.Dialect, Usable: m.Usable, Default: m.Default, Listed: m.Listed,
		ContextWindow: p.ContextWindow, MaxOutput: p.MaxOutput, Lifecycle: p.Lifecycle, Prices: pricesOf(p.Prices),
		MidSystem: p.MidSystem, RolesAlternate: p.RolesAlternate, SystemFirstOnly: p.SystemFirstOnly, ContentParts: p.ContentParts,
		Prefill: p.Prefill, ThinkingBinding: p.ThinkingBinding, ReasoningRequired: p.ReasoningRequired,
		CacheStyle: p.CacheStyle, CacheMinTokens: p.CacheMinTokens, UsageStyle: p.UsageStyle, MaxTokensField: p.MaxTokensField,
	}
}

func pricesOf(p model.Prices) *pricesView {
	if p == (model.Prices{}) {
		return nil
	}
	short := ratesOf(p.Rates)
	v := &pricesView{Input: short.Input, Output: short.Output, CacheRead: short.CacheRead, CacheWrite: short.CacheWrite, LongAbove: p.LongAbove}
	if p.Long != (model.Rates{}) {
		long := ratesOf(p.Long)
		v.Long = &long
	}
	return v
}

func ratesOf(r model.Rates) ratesView {
	return ratesView{dollars(r.Input), dollars(r.Output), dollars(r.CacheRead), dollars(r.CacheWrite)}
}

// dollars is the number whose shortest spelling is the price.
func dollars(p model.Price) float64 {
	f, err := strconv.ParseFloat(p.String(), 64)
	if err != nil {
		return 0 // not reached: a price is a decimal number
	}
	return f
}

type modelsIn struct {
	Usable bool `query:"usable" doc:"Only those that can answer."`
}

func (s *server) models(_ context.Context, _ weir.Actor, in *modelsIn) (*one[page[modelView]], error) {
	out := &one[page[modelView]]{page[modelView]{Items: []modelView{}}}
	if s.cfg.Models == nil {
		return out, nil
	}
	for _, m := range s.cfg.Models() {
		if in.Usable && !m.Usable {
			continue
		}
		out.Body.Items = append(out.Body.Items, modelOf(m))
	}
	return out, nil
}

// refreshModels sends requests with the owner's keys, so whoever may not
// decide for the owner may not start it.
func (s *server) refreshModels(ctx context.Context, a weir.Actor, _ *struct{}) (*one[page[Refreshed]], error) {
	if !a.MayConfirm {
		return nil, mayNotDecide()
	}
	items, err := s.cfg.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	return &one[page[Refreshed]]{page[Refreshed]{Items: items}}, nil
}
