package model

import (
	"cmp"
	"encoding/json"
	"slices"

	"weir"
)

// Server is a vendor, or a kind of server that people run themselves: how it
// is reached and what holds for each of its models. Name is what a provider's
// server in the configuration names.
type Server struct {
	Name    string
	Dialect Dialect
	BaseURL string
	KeyEnv  string // the environment variable in which its key is usually kept; "" where it takes none
}

// Speaks reports whether the server's address is also where it is spoken to in
// a dialect; in none is in its own.
func (s Server) Speaks(d Dialect) bool { return related(d, s.Dialect) }

// Endpoint is a configured provider, as far as it says something of models.
type Endpoint struct {
	ID      string
	Server  string  // name of a [Server]; empty: the one called like the endpoint, if it speaks the dialect
	Dialect Dialect // of models that say nothing else; empty: the server's
}

// family is a server as the embedded file has it: what it says of all its
// models, and of each.
type family struct {
	Server   string   `json:"server"`
	BaseURL  string   `json:"base_url"`
	KeyEnv   string   `json:"key_env"`
	Sources  []string `json:"sources"`
	Closed   bool     `json:"closed"` // it has no models but these
	Defaults Patch    `json:"defaults"`
	Models   []Patch  `json:"models"`
}

func (f *family) dialect() Dialect { return Dialect(f.Defaults.text("dialect")) }

func readFamilies() ([]family, error) {
	var all []family
	if err := json.Unmarshal(embedded, &all); err != nil {
		return nil, &weir.Error{Kind: weir.Internal, Code: "model_invalid", Op: "model.LoadCatalogue", Err: err}
	}
	return all, nil
}

// Servers lists the known kinds, by name.
func Servers() ([]Server, error) {
	families, err := readFamilies()
	if err != nil {
		return nil, err
	}
	out := make([]Server, len(families))
	for i, f := range families {
		out[i] = Server{Name: f.Server, Dialect: f.dialect(), BaseURL: f.BaseURL, KeyEnv: f.KeyEnv}
	}
	slices.SortFunc(out, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// origin is where a provider's profiles come from: an endpoint and its family,
// if it has one.
type origin struct {
	Endpoint
	family *family
}

// base is what is known of any model there.
func (o origin) base(name string) (Profile, error) {
	p := Profile{Dialect: o.Dialect}
	if o.family != nil {
		var err error
		if p, err = o.family.Defaults.lay(p); err != nil {
			return p, err
		}
		if o.Dialect != "" && o.Dialect != p.Dialect {
			p = Profile{Dialect: o.Dialect} // the defaults are those of another protocol
		}
	}
	p.ID, p.Provider, p.Name = o.ID+"/"+name, o.ID, name
	return p, nil
}

// origins finds the family of each endpoint. A family that no endpoint has
// the name of stands for itself, so that its models are known.
func origins(endpoints []Endpoint, families []family) map[string]origin {
	named := map[string]*family{}
	all := map[string]origin{}
	for i := range families {
		f := &families[i]
		named[f.Server] = f
		all[f.Server] = origin{Endpoint{ID: f.Server, Server: f.Server}, f}
	}
	for _, e := range endpoints {
		f := named[e.Server]
		if e.Server == "" && named[e.ID] != nil && related(e.Dialect, named[e.ID].dialect()) {
			f = named[e.ID]
		}
		all[e.ID] = origin{e, f}
	}
	return all
}

// related reports whether an endpoint that speaks one dialect speaks the other.
func related(a, b Dialect) bool {
	openai := func(d Dialect) bool { return d == OpenAIChat || d == OpenAIResponses }
	return a == "" || a == b || openai(a) && openai(b)
}
