package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/model"
)

// learnt is what providers said of their models when they were last asked, by
// provider. It is kept in the data directory; what cannot be read there is
// asked for again. It is never changed, only replaced.
type learnt struct {
	Providers map[string]said `json:"providers"`
}

// said is what one provider said. Address is where it was asked: what another
// one said is not about this one.
type said struct {
	Address string         `json:"address"`
	At      time.Time      `json:"at"`
	Models  []model.Listed `json:"models"`
}

// maxLearnt bounds the file.
const maxLearnt = 32 << 20

func learntFile(c *Config) string {
	if c.Data == "" {
		return ""
	}
	return filepath.Join(c.Data, "models.json")
}

// readLearnt reads the file; none, or one that is not sound, is nothing learnt.
func readLearnt(c *Config) *learnt {
	l := &learnt{Providers: map[string]said{}}
	name := learntFile(c)
	if info, err := os.Stat(name); err != nil || info.Size() > maxLearnt {
		return l
	}
	b, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(b, l) != nil || l.Providers == nil {
		return &learnt{Providers: map[string]said{}}
	}
	return l
}

// write stores all of it, or leaves what was stored.
func (l *learnt) write(c *Config) error {
	b, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return err
	}
	name := learntFile(c)
	if name == "" {
		return nil
	}
	return writeSecret(name, string(b)+"\n")
}

// of returns what a provider said, unless it is somewhere else by now.
func (l *learnt) of(p Provider) (said, bool) {
	s, ok := l.Providers[p.ID]
	return s, ok && s.Address == addressOf(p)
}

func addressOf(p Provider) string { return p.Dialect + " " + orDefault(p.BaseURL, "") }

// lists reports whether the provider's list has the model; nil when it was not
// asked, or has none.
func (l *learnt) lists(c *Config, p model.Profile) *bool {
	i := slices.IndexFunc(c.Providers, func(at Provider) bool { return at.ID == p.Provider })
	if i < 0 {
		return nil
	}
	s, ok := l.of(c.Providers[i])
	if !ok {
		return nil
	}
	listed := slices.ContainsFunc(s.Models, func(l model.Listed) bool { return l.Name == p.Name })
	return &listed
}

// catalogueOf lays what was learnt over the built-in catalogue, and the
// configuration over that. What was learnt never keeps the server from
// starting: where it and the configuration contradict each other, it yields.
func catalogueOf(c *Config, l *learnt) (*model.Catalogue, error) {
	built, err := model.LoadCatalogue(endpoints(c))
	if err != nil {
		return nil, err
	}
	known := built
	for _, p := range c.Providers {
		if s, ok := l.of(p); ok {
			known = learn(known, p, s, c.Models)
		}
	}
	configured, err := known.Over(c.Models...)
	if err != nil {
		return built.Over(c.Models...)
	}
	return configured, nil
}

// learn lays what a provider said over a catalogue. A model that no row knows
// is added where the provider says that it answers in conversations, or where
// there are no rows: a list of a vendor's also names what does not. One that
// the configuration gives other ids is known by those.
func learn(c *model.Catalogue, p Provider, s said, configured []Model) *model.Catalogue {
	rows := c.Rows(p.ID)
	names := map[string][]string{} // ids by what the provider calls the model
	for _, m := range configured {
		if provider, name := m.Calls(); provider == p.ID {
			names[name] = append(names[name], m.ID())
		}
	}
	var patches []model.Patch
	for _, l := range s.Models {
		ids := names[l.Name]
		if row := p.ID + "/" + l.Name; slices.Contains(rows, row) || len(ids) == 0 && (len(rows) == 0 || l.Chats) {
			ids = append(ids, row)
		}
		for _, id := range ids {
			patch := l.Patch(p.ID)
			patch["id"] = id
			patches = append(patches, patch)
		}
	}
	return c.OverHeard(patches...)
}
