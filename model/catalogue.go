package model

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"weir"
)

// The data of vendors and servers; docs/models.md says how it was found. Where
// sources differ about a model, or say nothing, it has what is legal everywhere.
//
//go:embed catalogue.json
var embedded []byte

// Catalogue holds the profiles of all known models. It never changes, so it
// may be used from many goroutines.
type Catalogue struct {
	origins  map[string]origin
	asked    map[string]bool // endpoints that are configured
	profiles map[string]Profile
}

// LoadCatalogue returns the embedded catalogue as the endpoints offer it, with
// layers of patches over it, each over the ones before. A patch names its model
// by id, or by provider and name; with a known id it changes the members that
// it names, with a new one it adds a model. What a new one leaves out is what
// its provider's server is known for, else what is legal at any endpoint of the
// provider's dialect.
func LoadCatalogue(endpoints []Endpoint, layers ...[]Patch) (*Catalogue, error) {
	families, err := readFamilies()
	if err != nil {
		return nil, err
	}
	c := &Catalogue{origins: origins(endpoints, families), asked: map[string]bool{}, profiles: map[string]Profile{}}
	for _, e := range endpoints {
		c.asked[e.ID] = true
	}
	for _, o := range c.origins {
		if o.family == nil {
			continue
		}
		for _, row := range o.family.Models {
			if err := c.row(o, row); err != nil {
				return nil, err
			}
		}
	}
	for _, layer := range layers {
		for _, p := range layer {
			if err := c.lay(p); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// Over returns a catalogue with patches laid over this one.
func (c *Catalogue) Over(patches ...Patch) (*Catalogue, error) {
	over := &Catalogue{origins: c.origins, asked: c.asked, profiles: maps.Clone(c.profiles)}
	for _, p := range patches {
		if err := over.lay(p); err != nil {
			return nil, err
		}
	}
	return over, nil
}

// OverHeard returns a catalogue with what was heard of models laid over this
// one. Where a model's window is below what is known of its answers, theirs is
// not known; what still does not fit is left out.
func (c *Catalogue) OverHeard(patches ...Patch) *Catalogue {
	over := &Catalogue{origins: c.origins, asked: c.asked, profiles: maps.Clone(c.profiles)}
	for _, p := range patches {
		if over.lay(p) != nil {
			p = maps.Clone(p)
			p["max_output"] = 0
			_ = over.lay(p)
		}
	}
	return over
}

// Rows returns the ids of a provider's models that the embedded catalogue has,
// the one to begin with first.
func (c *Catalogue) Rows(provider string) []string {
	o := c.origins[provider]
	if o.family == nil {
		return nil
	}
	var ids []string
	for _, row := range o.family.Models {
		if id := provider + "/" + row.text("name"); c.profiles[id].ID != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// row adds a model of a family, unless the endpoint does not speak its dialect.
func (c *Catalogue) row(o origin, row Patch) error {
	p, err := o.family.Defaults.lay(Profile{})
	if err == nil {
		p, err = row.lay(p)
	}
	p.ID, p.Provider = o.ID+"/"+p.Name, o.ID
	if err != nil {
		return err
	}
	if !related(o.Dialect, p.Dialect) {
		return nil
	}
	return c.put(p)
}

// lay puts a patch over what is known under its id.
func (c *Catalogue) lay(patch Patch) error {
	id := patch.ID()
	provider, name, ok := strings.Cut(id, "/")
	if !ok || provider == "" || name == "" || !weir.ValidID(id) {
		return invalid("The model id %q is not of the form provider/name; correct it in the configuration.", clip(id))
	}
	known := c.profiles[id]
	under, err := c.under(id, cmp.Or(patch.text("provider"), known.Provider, provider), cmp.Or(patch.text("name"), known.Name, name))
	if err != nil {
		return err
	}
	if d := Dialect(patch.text("dialect")); d != "" && d != under.Dialect {
		under = under.across(d)
	}
	p, err := patch.lay(under)
	if err != nil {
		return err
	}
	p.ID = id
	return c.put(p)
}

// under is what is known of a model that a patch is laid over: under its id,
// under its provider's name for it, or of any model there.
func (c *Catalogue) under(id, provider, name string) (Profile, error) {
	if p, ok := c.profiles[id]; ok && p.Provider == provider {
		return p, nil
	}
	p, ok := c.profiles[provider+"/"+name]
	if !ok {
		var err error
		if p, err = c.origins[provider].base(name); err != nil {
			return p, err
		}
	}
	p.ID, p.Provider = id, provider
	return p, nil
}

func (c *Catalogue) put(p Profile) error {
	p = p.complete()
	if err := p.check(); err != nil {
		return err
	}
	c.profiles[p.ID] = p
	return nil
}

// Profile returns the profile with this id. A model of a configured endpoint
// that no row and no patch knows has what its endpoint is known for.
func (c *Catalogue) Profile(id string) (Profile, error) {
	if p, ok := c.profiles[id]; ok {
		return p, nil
	}
	provider, name, _ := strings.Cut(id, "/")
	o := c.origins[provider]
	if closed := o.family != nil && o.family.Closed; !c.asked[provider] || closed || name == "" || !weir.ValidID(id) {
		return Profile{}, weir.Fault(weir.NotFound, "model_unknown",
			"The model %q is not in the catalogue; choose another one, or add it to the configuration as a [[model]] with its provider.", clip(id))
	}
	p, err := o.base(name)
	if err != nil {
		return Profile{}, err
	}
	p = p.complete()
	return p, p.check()
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
