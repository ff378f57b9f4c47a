package app

import (
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weir"
	"weir/api"
	"weir/model"
	"weir/model/anthropic"
	"weir/model/demo"
	"weir/model/gemini"
	"weir/model/openai"
)

// demoModel answers when no provider is configured.
const demoModel = "demo/demo"

// models finds the client that speaks for a catalogue id. Its catalogue is the
// built-in one, with what providers said of their models over it and the
// configuration over that; a refresh replaces it.
type models struct {
	config    *Config
	catalogue atomic.Pointer[model.Catalogue]
	refresh   sync.Mutex                                // one at a time
	learnt    atomic.Pointer[learnt]                    // replaced with the catalogue
	clients   map[string]map[model.Dialect]model.Client // by provider, those that can be called
	missing   map[string]string                         // by provider: the variable that should hold its key
	standard  string                                    // id of the default model
}

func openModels(c *Config) (*models, error) {
	m := &models{
		config:  c,
		clients: map[string]map[model.Dialect]model.Client{"demo": {model.Anthropic: demo.New()}},
		missing: map[string]string{},
	}
	hc := &http.Client{Transport: transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, p := range c.Providers {
		m.add(p, hc)
	}
	l := readLearnt(c)
	catalogue, err := catalogueOf(c, l)
	if err != nil {
		return nil, err
	}
	m.learnt.Store(l)
	m.catalogue.Store(catalogue)
	if m.standard, err = standard(c, catalogue); err != nil {
		return nil, err
	}
	if _, err := catalogue.Profile(m.standard); err != nil {
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
	if m.missing[p.ID] == "" {
		m.clients[p.ID] = speak(p, key, hc)
	}
}

// speak returns the clients of a provider, one for each dialect that its
// endpoint is taken to speak: an OpenAI-compatible one may know both of theirs.
func speak(p Provider, key string, hc *http.Client) map[model.Dialect]model.Client {
	switch p.Dialect {
	case "demo":
		return map[model.Dialect]model.Client{model.Anthropic: demo.New()} // it reads that dialect's bodies
	case string(model.Anthropic):
		return map[model.Dialect]model.Client{
			model.Anthropic: anthropic.New(orDefault(p.BaseURL, "https://api.anthropic.com"), key, hc),
		}
	case string(model.Gemini):
		return map[model.Dialect]model.Client{
			model.Gemini: &gemini.Client{BaseURL: orDefault(p.BaseURL, gemini.DefaultBaseURL), Key: strings.TrimSpace(key), HTTP: hc},
		}
	}
	base := orDefault(p.BaseURL, "https://api.openai.com/v1")
	return map[model.Dialect]model.Client{
		model.OpenAIChat:      openai.New(base, key, hc),
		model.OpenAIResponses: openai.NewResponses(base, key, hc),
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

// endpoints tells the catalogue what the configured providers are.
func endpoints(c *Config) []model.Endpoint {
	var out []model.Endpoint
	for _, p := range c.Providers {
		e := model.Endpoint{ID: p.ID, Server: p.Server, Dialect: model.Dialect(p.Dialect)}
		if p.Dialect == "demo" {
			e.Server, e.Dialect = "demo", model.Anthropic
		}
		out = append(out, e)
	}
	return out
}

// standard chooses the default model where the configuration names none: the
// first configured model, else the one that the catalogue would begin with of
// a configured provider, else the demo model.
func standard(c *Config, catalogue *model.Catalogue) (string, error) {
	switch {
	case c.DefaultModel != "":
		return c.DefaultModel, nil
	case len(c.Models) > 0:
		return c.Models[0].ID(), nil
	}
	for _, p := range c.Providers {
		for _, id := range catalogue.Rows(p.ID) {
			if row, err := catalogue.Profile(id); err == nil && row.Lifecycle != model.Retired {
				return id, nil
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

// Model implements turn.Models.
func (m *models) Model(id string) (model.Profile, model.Client, error) {
	if id == "" {
		id = m.standard
	}
	p, err := m.catalogue.Load().Profile(id)
	if err != nil {
		return model.Profile{}, nil, err
	}
	if variable, ok := m.missing[p.Provider]; ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, "provider_key_missing",
			"The provider %q takes its key from %s, and that variable was empty when the server started; set it and start again.", p.Provider, variable)
	}
	clients, ok := m.clients[p.Provider]
	if !ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, string(model.FailUnknown),
			"The model %s belongs to the provider %q, which is not configured; add it to weir.toml as a [[provider]], or choose another model.", p.ID, p.Provider)
	}
	client, ok := clients[p.Dialect]
	if !ok {
		return model.Profile{}, nil, weir.Fault(weir.Unprocessable, string(model.FailUnknown),
			"The model %s is spoken to in the dialect %s, and its provider %q is configured for another; choose another model, or correct weir.toml.", p.ID, p.Dialect, p.Provider)
	}
	if g, ok := client.(*gemini.Client); ok {
		client = g.For(p.Name) // its name is part of the address
	}
	return p, client, nil
}

// list tells what is known of all models, in the order of their ids.
func (m *models) list() []api.Model {
	catalogue, l := m.catalogue.Load(), m.learnt.Load()
	all := catalogue.All()
	if !slices.ContainsFunc(all, func(p model.Profile) bool { return p.ID == m.standard }) {
		if p, err := catalogue.Profile(m.standard); err == nil {
			all = append(all, p)
		}
	}
	out := make([]api.Model, 0, len(all))
	for _, p := range all {
		_, _, err := m.Model(p.ID)
		out = append(out, api.Model{
			Profile: p, Usable: err == nil && p.Lifecycle != model.Retired, Default: p.ID == m.standard, Listed: l.lists(m.config, p),
		})
	}
	return out
}

func (m *models) knows(id string) bool {
	_, _, err := m.Model(id)
	return err == nil
}
