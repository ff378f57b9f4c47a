package app

import (
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"weir"
	"weir/model"
	"weir/model/anthropic"
	"weir/model/demo"
	"weir/model/openai"
)

// demoModel answers when no provider is configured.
const demoModel = "demo/demo"

// models finds the client that speaks for a catalogue id. A model of a
// configured provider that no catalogue knows is taken with what is legal
// everywhere: its name is what follows the first slash.
type models struct {
	catalogue *model.Catalogue
	dialects  map[string]model.Dialect // by provider
	clients   map[string]model.Client  // by provider, those that can be called
	missing   map[string]string        // by provider: the variable that should hold its key
	standard  string                   // id of the default model
}

func openModels(c *Config) (*models, error) {
	m := &models{
		dialects: map[string]model.Dialect{"demo": model.Anthropic},
		clients:  map[string]model.Client{"demo": demo.New()},
		missing:  map[string]string{},
	}
	hc := &http.Client{Transport: transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, p := range c.Providers {
		m.add(p, hc)
	}
	var err error
	if m.catalogue, err = model.LoadCatalogue(overlay(c, m.dialects)); err != nil {
		return nil, err
	}
	if m.standard, err = standard(c, m.catalogue); err != nil {
		return nil, err
	}
	if _, err := m.profile(m.standard); err != nil {
		return nil, err
	}
	return m, nil
}

// add takes a provider in. One whose key is missing is known and not called.
func (m *models) add(p Provider, hc *http.Client) {
	key := ""
	if p.APIKeyEnv != "" {
		if key = os.Getenv(p.APIKeyEnv); key == "" {
			m.missing[p.ID] = p.APIKeyEnv
		}
	}
	switch {
	case p.Dialect == "demo":
		m.dialects[p.ID] = model.Anthropic // the demo model reads that dialect's bodies
		m.clients[p.ID] = demo.New()
	case p.Dialect == string(model.Anthropic):
		m.dialects[p.ID] = model.Anthropic
		m.clients[p.ID] = anthropic.New(orDefault(p.BaseURL, "https://api.anthropic.com"), key, hc)
	default:
		m.dialects[p.ID] = model.OpenAIChat
		m.clients[p.ID] = openai.New(orDefault(p.BaseURL, "https://api.openai.com/v1"), key, hc)
	}
	if m.missing[p.ID] != "" {
		delete(m.clients, p.ID)
	}
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return strings.TrimSuffix(s, "/")
}

// transport has deadlines for connecting; the wires bound the rest, because an
// answer may stream for a long time.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 10 * time.Second
	t.MaxIdleConnsPerHost = 64
	return t
}

// overlay spells the configured models as profiles.
func overlay(c *Config, dialects map[string]model.Dialect) []model.Profile {
	var out []model.Profile
	for _, m := range c.Models {
		p := model.Profile{
			ID: m.ID, Provider: m.Provider, Name: m.Name, Dialect: dialects[m.Provider],
			MidSystem: model.MidSystem(m.MidSystem), ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput,
			MaxTokensField: m.MaxTokensField,
		}
		if m.CacheKey != nil {
			p.CacheKey = *m.CacheKey
		}
		out = append(out, p)
	}
	return out
}

// standard chooses the default model where the configuration names none: the
// first configured model, else the first that the catalogue has of a
// configured provider, else the demo model.
func standard(c *Config, catalogue *model.Catalogue) (string, error) {
	switch {
	case c.DefaultModel != "":
		return c.DefaultModel, nil
	case len(c.Models) > 0:
		return c.Models[0].ID, nil
	}
	for _, p := range c.Providers {
		for _, profile := range catalogue.All() {
			if profile.Provider == p.ID {
				return profile.ID, nil
			}
		}
	}
	if len(c.Providers) > 0 && c.Providers[0].Dialect != "demo" {
		id := c.Providers[0].ID
		return "", weir.Fault(weir.Invalid, "default_model_missing",
			"No model is named: set default_model = \"%s/NAME\" in weir.toml, with the name that the endpoint calls the model.", id)
	}
	return demoModel, nil
}

// profile returns what is known of a model.
func (m *models) profile(id string) (model.Profile, error) {
	p, err := m.catalogue.Profile(id)
	if err == nil {
		return p, nil
	}
	provider, name, _ := strings.Cut(id, "/")
	dialect, configured := m.dialects[provider]
	if !configured || name == "" || provider == "demo" || !weir.ValidID(id) {
		return model.Profile{}, err
	}
	one, lerr := model.LoadCatalogue([]model.Profile{{ID: id, Dialect: dialect}})
	if lerr != nil {
		return model.Profile{}, lerr
	}
	return one.Profile(id)
}

// Model implements turn.Models.
func (m *models) Model(id string) (model.Profile, model.Client, error) {
	if id == "" {
		id = m.standard
	}
	p, err := m.profile(id)
	if err != nil {
		return model.Profile{}, nil, err
	}
	if variable, ok := m.missing[p.Provider]; ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, "provider_key_missing",
			"The provider %q takes its key from %s, and that variable was empty when the server started; set it and start again.", p.Provider, variable)
	}
	client, ok := m.clients[p.Provider]
	if !ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, string(model.FailUnknown),
			"The model %s belongs to the provider %q, which is not configured; add it to weir.toml as a [[provider]], or choose another model.", p.ID, p.Provider)
	}
	return p, client, nil
}

// usable lists the models whose provider can be called, and the default's id.
func (m *models) usable() ([]model.Profile, string) {
	var out []model.Profile
	for _, p := range m.catalogue.All() {
		if m.clients[p.Provider] != nil {
			out = append(out, p)
		}
	}
	if !slices.ContainsFunc(out, func(p model.Profile) bool { return p.ID == m.standard }) {
		if p, _, err := m.Model(m.standard); err == nil {
			out = append(out, p)
		}
	}
	return out, m.standard
}

func (m *models) knows(id string) bool {
	_, _, err := m.Model(id)
	return err == nil
}
