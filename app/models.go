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

// models finds the client that speaks for a catalogue id.
type models struct {
	catalogue *model.Catalogue
	clients   map[string]model.Client // by provider
	standard  string                  // id of the default model
}

func openModels(c *Config) (*models, error) {
	m := &models{clients: map[string]model.Client{"demo": demo.New()}}
	dialects := map[string]model.Dialect{}
	hc := &http.Client{Transport: transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, p := range c.Providers {
		client, err := open(p, hc)
		if err != nil {
			return nil, err
		}
		m.clients[p.ID] = client
		dialects[p.ID] = model.Dialect(p.Dialect)
		if p.Dialect == "demo" {
			dialects[p.ID] = model.Anthropic // the demo model reads that dialect's bodies
		}
	}
	var err error
	m.catalogue, err = model.LoadCatalogue(overlay(c, dialects))
	if err != nil {
		return nil, err
	}
	m.standard = standard(c, m.catalogue)
	if _, _, err := m.Model(m.standard); err != nil {
		return nil, err
	}
	return m, nil
}

func open(p Provider, hc *http.Client) (model.Client, error) {
	key := ""
	if p.APIKeyEnv != "" {
		if key = os.Getenv(p.APIKeyEnv); key == "" {
			return nil, weir.Fault(weir.Invalid, "provider_key_missing",
				"The provider %q takes its key from %s, and that variable is empty; set it and start again.", p.ID, p.APIKeyEnv)
		}
	}
	switch {
	case p.Dialect == "demo":
		return demo.New(), nil
	case p.Dialect == string(model.Anthropic):
		return anthropic.New(orDefault(p.BaseURL, "https://api.anthropic.com"), key, hc), nil
	}
	return openai.New(orDefault(p.BaseURL, "https://api.openai.com/v1"), key, hc), nil
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

// overlay spells the configured models as profiles. The default model may be
// named without a [[model]] of its own when its provider is configured: then
// it is taken with what is legal everywhere.
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
	provider, _, ok := strings.Cut(c.DefaultModel, "/")
	named := slices.ContainsFunc(c.Models, func(m Model) bool { return m.ID == c.DefaultModel })
	if ok && !named && dialects[provider] != "" {
		out = append(out, model.Profile{ID: c.DefaultModel, Dialect: dialects[provider]})
	}
	return out
}

func standard(c *Config, catalogue *model.Catalogue) string {
	switch {
	case c.DefaultModel != "":
		return c.DefaultModel
	case len(c.Models) > 0:
		return c.Models[0].ID
	}
	for _, p := range c.Providers {
		for _, profile := range catalogue.All() {
			if profile.Provider == p.ID {
				return profile.ID
			}
		}
	}
	return demoModel
}

// Model implements turn.Models.
func (m *models) Model(id string) (model.Profile, model.Client, error) {
	if id == "" {
		id = m.standard
	}
	p, err := m.catalogue.Profile(id)
	if err != nil {
		return model.Profile{}, nil, err
	}
	client, ok := m.clients[p.Provider]
	if !ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, string(model.FailUnknown),
			"The model %s belongs to the provider %q, which is not configured; add it to weir.toml as a [[provider]], or choose another model.", p.ID, p.Provider)
	}
	return p, client, nil
}

// usable lists the models whose provider is configured, and the default's id.
func (m *models) usable() ([]model.Profile, string) {
	var out []model.Profile
	for _, p := range m.catalogue.All() {
		if m.clients[p.Provider] != nil {
			out = append(out, p)
		}
	}
	return out, m.standard
}

func (m *models) knows(id string) bool {
	_, _, err := m.Model(id)
	return err == nil
}
