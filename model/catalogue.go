package model

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"weir"
)

// Where vendors' own pages and third parties differ about a model, the
// catalogue has what is legal everywhere (mid_system none); the overlay can
// say otherwise. Models that take tools only through another protocol are left
// out until it is spoken here.
//
//go:embed catalogue.json
var embedded []byte

// Catalogue holds the profiles of all known models. It never changes, so it
// may be used from many goroutines.
type Catalogue struct{ profiles map[string]Profile }

// LoadCatalogue returns the embedded catalogue under an overlay. A profile of
// the overlay with a known id changes the members that it sets; one with a new
// id is added. What a new one leaves out is taken from its provider's dialect:
// mid_system none, and the name is what follows the first slash of the id.
func LoadCatalogue(overlay []Profile) (*Catalogue, error) {
	var rows []row
	if err := json.Unmarshal(embedded, &rows); err != nil {
		return nil, &weir.Error{Kind: weir.Internal, Code: "model_invalid", Op: "model.LoadCatalogue", Err: err}
	}
	c := &Catalogue{profiles: make(map[string]Profile, len(rows)+len(overlay))}
	for _, r := range rows {
		if err := c.lay(r.profile()); err != nil {
			return nil, err
		}
	}
	for _, p := range overlay {
		if err := c.lay(p); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// row is a profile as the embedded file spells it.
type row struct {
	ID             string    `json:"id"`
	Dialect        Dialect   `json:"dialect"`
	MidSystem      MidSystem `json:"mid_system"`
	ContextWindow  int64     `json:"context_window"`
	MaxOutput      int64     `json:"max_output"`
	MaxTokensField string    `json:"max_tokens_field"`
	CacheKey       bool      `json:"cache_key"`
}

func (r row) profile() Profile {
	return Profile{
		ID: r.ID, Dialect: r.Dialect, MidSystem: r.MidSystem,
		ContextWindow: r.ContextWindow, MaxOutput: r.MaxOutput,
		MaxTokensField: r.MaxTokensField, CacheKey: r.CacheKey,
	}
}

// lay puts p over what is known under its id.
func (c *Catalogue) lay(p Profile) error {
	under := c.profiles[p.ID]
	provider, name, ok := strings.Cut(p.ID, "/")
	if !ok || provider == "" || name == "" || !weir.ValidID(p.ID) {
		return weir.Fault(weir.Invalid, "model_invalid",
			"The model id %q is not of the form provider/name; correct it in the configuration.", p.ID)
	}
	merged := Profile{
		ID:             p.ID,
		Provider:       cmp.Or(p.Provider, under.Provider, provider),
		Name:           cmp.Or(p.Name, under.Name, name),
		Dialect:        cmp.Or(p.Dialect, under.Dialect),
		MidSystem:      cmp.Or(p.MidSystem, under.MidSystem, MidNone),
		ContextWindow:  cmp.Or(p.ContextWindow, under.ContextWindow),
		MaxOutput:      cmp.Or(p.MaxOutput, under.MaxOutput),
		MaxTokensField: cmp.Or(p.MaxTokensField, under.MaxTokensField),
		CacheKey:       p.CacheKey || under.CacheKey,
	}
	if merged.Dialect == OpenAIChat {
		merged.MaxTokensField = cmp.Or(merged.MaxTokensField, "max_tokens")
	}
	if err := merged.check(); err != nil {
		return err
	}
	c.profiles[p.ID] = merged
	return nil
}

// check refuses what no request could be made of.
func (p Profile) check() error {
	bad := func(member, value, allowed string) error {
		return weir.Fault(weir.Invalid, "model_invalid",
			"The model %s has the %s %q; it must be %s. Correct it in the configuration.", p.ID, member, value, allowed)
	}
	switch p.Dialect {
	case Anthropic:
		if p.MidSystem == MidDeveloper {
			return bad("mid_system", string(p.MidSystem), "native or none for the dialect anthropic")
		}
	case OpenAIChat, OpenAIResponses:
	case Gemini:
		if p.MidSystem != MidNone {
			return bad("mid_system", string(p.MidSystem), "none for the dialect gemini")
		}
	default:
		return bad("dialect", string(p.Dialect), "anthropic, openai-responses, openai-chat or gemini")
	}
	switch p.MidSystem {
	case MidNative, MidDeveloper, MidNone:
	default:
		return bad("mid_system", string(p.MidSystem), "native, developer or none")
	}
	switch p.MaxTokensField {
	case "", "max_tokens", "max_completion_tokens":
	default:
		return bad("max_tokens_field", p.MaxTokensField, "max_tokens or max_completion_tokens")
	}
	if p.ContextWindow < 0 || p.MaxOutput < 0 {
		return weir.Fault(weir.Invalid, "model_invalid",
			"The model %s has a negative limit; correct it in the configuration.", p.ID)
	}
	return nil
}

// Profile returns the profile with this id.
func (c *Catalogue) Profile(id string) (Profile, error) {
	p, ok := c.profiles[id]
	if !ok {
		return Profile{}, weir.Fault(weir.NotFound, "model_unknown",
			"The model %q is not in the catalogue; choose another one, or add it to the configuration as a [[model]] with its provider.", clip(id))
	}
	return p, nil
}

// All returns all profiles, ordered by id.
func (c *Catalogue) All() []Profile {
	return slices.SortedFunc(maps.Values(c.profiles), func(a, b Profile) int { return cmp.Compare(a.ID, b.ID) })
}

// clip keeps an id from outside short enough to show.
func clip(s string) string {
	const most = 120
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
