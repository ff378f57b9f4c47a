package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // where the system has no time zones

	"github.com/pelletier/go-toml/v2"

	"weir/model"
	"weir/tool/mcp"
)

// Config is everything that can be set, as weir.toml spells it. A flag goes
// before the environment (WEIR_…), that before the file, that before the
// default. An unknown key is an error that names the nearest known one.
type Config struct {
	// Listen is the address to serve on. Beyond loopback it is refused unless
	// AllowPlainHTTP says that something in front does TLS.
	Listen         string   `toml:"listen"`
	AllowPlainHTTP bool     `toml:"allow_plain_http"`
	Hosts          []string `toml:"hosts"` // names accepted in Host beside the loopback ones
	// Data is the directory that holds everything; Store is where the database
	// is when it is not there: postgres://…
	Data         string     `toml:"data"`
	Store        string     `toml:"store"`
	DefaultModel string     `toml:"default_model"`
	Owner        Owner      `toml:"owner"`
	Providers    []Provider `toml:"provider"`
	Models       []Model    `toml:"model"` // over the built-in catalogue
	Gate         Gate       `toml:"gate"`
	MCP          []MCP      `toml:"mcp"`

	// Token is the owner's bearer token (WEIR_TOKEN); made and kept in the data
	// directory when empty. Never read from the file, which others may see.
	Token string `toml:"-"`

	zone    *time.Location `toml:"-"` // what Owner.TimeZone names
	servers []mcp.Config   `toml:"-"` // what MCP says
}

// Owner is the person whose server this is.
type Owner struct {
	Name     string `toml:"name"`
	TimeZone string `toml:"time_zone"` // IANA name; UTC when empty
	// Instructions is the file that every model is told first, before those of
	// a workspace; AGENTS.md in the data directory when empty.
	Instructions string `toml:"instructions"`
}

// Provider is an endpoint that models are called at.
type Provider struct {
	ID string `toml:"id"`
	// Server says what is there: a vendor or a kind of server that the built-in
	// catalogue knows. What is left out below is then known too.
	Server    string `toml:"server"`
	Dialect   string `toml:"dialect"`     // anthropic | openai-responses | openai-chat | gemini | demo
	BaseURL   string `toml:"base_url"`    // for anthropic without /v1, for the others with their version
	APIKeyEnv string `toml:"api_key_env"` // environment variable that holds the key
}

// Model sets members of a model's profile by their names, which are those of
// [model.Profile]; it needs an id, or a provider and a name.
type Model = model.Patch

// Gate sets the limits of what one message may hand over.
type Gate struct {
	QuotesPerMessage  int `toml:"quotes_per_message"`  // quotes and pointers together, 8
	RecallsPerMessage int `toml:"recalls_per_message"` // 3
}

const defaultListen = "127.0.0.1:7447"

// maxConfigBytes bounds the file; a longer one is not a configuration.
const maxConfigBytes = 1 << 20

// wrongType matches what the decoder says of a value of the wrong type, which
// names Go's types instead of the key's.
var wrongType = regexp.MustCompile(`^cannot decode .* into struct field .* of type (.*)$`)

// ReadConfig reads a file; an empty name is no file.
func ReadConfig(name string) (Config, error) {
	var c Config
	if name == "" {
		return c, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return c, err
	}
	if info.Size() > maxConfigBytes {
		return c, fmt.Errorf("%s is over %d bytes: that is not a configuration", name, maxConfigBytes)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return c, err
	}
	dec := toml.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	err = dec.Decode(&c)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		row, _ := first.Position()
		key := strings.Join(first.Key(), ".")
		return c, fmt.Errorf("%s:%d: unknown key %q, did you mean %q?", name, row, key, nearest(key))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, col := bad.Position()
		return c, fmt.Errorf("%s:%d:%d: %s", name, row, col, wrongType.ReplaceAllString(strings.TrimPrefix(bad.Error(), "toml: "), "this takes $1"))
	}
	return c, err
}

// keys are the known ones, as nearest compares them, beside the members of a
// model. A test holds them against the struct.
var keys = []string{
	"listen", "allow_plain_http", "hosts", "data", "store", "default_model",
	"owner", "owner.name", "owner.time_zone", "owner.instructions",
	"provider", "provider.id", "provider.server", "provider.dialect", "provider.base_url", "provider.api_key_env",
	"model",
	"gate", "gate.quotes_per_message", "gate.recalls_per_message",
	"mcp", "mcp.name", "mcp.command", "mcp.env", "mcp.url", "mcp.headers", "mcp.approval", "mcp.timeout",
}

// nearest returns the known key with the least edit distance.
func nearest(key string) string {
	known := slices.Clone(keys)
	for _, m := range model.Members() {
		known = append(known, "model."+m)
	}
	return slices.MinFunc(known, func(a, b string) int { return distance(key, a) - distance(key, b) })
}

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// complete fills defaults in and refuses what cannot work, with what to do.
func (c *Config) complete() error {
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	if c.Owner.Name == "" {
		c.Owner.Name = "the owner"
	}
	if c.Gate.QuotesPerMessage == 0 {
		c.Gate.QuotesPerMessage = 8
	}
	if c.Gate.RecallsPerMessage == 0 {
		c.Gate.RecallsPerMessage = 3
	}
	var err error
	if c.zone, err = time.LoadLocation(c.Owner.TimeZone); err != nil || c.Owner.TimeZone == "Local" {
		return fmt.Errorf("time_zone %q is not known: write a name like Europe/Berlin", c.Owner.TimeZone)
	}
	if c.Data == "" {
		return errors.New("no data directory: name one with --data")
	}
	if err := c.checkListen(); err != nil {
		return err
	}
	if err := c.checkProviders(); err != nil {
		return err
	}
	return c.checkServers()
}

func (c *Config) checkListen() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen %q: write it as 127.0.0.1:7447", c.Listen)
	}
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || c.AllowPlainHTTP {
		return nil
	}
	return fmt.Errorf("listen %q reaches beyond this machine without TLS: put a TLS proxy in front and set allow_plain_http = true and hosts = [\"your.name\"], or listen on 127.0.0.1", c.Listen)
}

func (c *Config) checkProviders() error {
	servers, err := model.Servers()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range c.Providers {
		p := &c.Providers[i]
		switch {
		case p.ID == "" || strings.Contains(p.ID, "/"):
			return fmt.Errorf("provider id %q: give each [[provider]] an id without a slash", p.ID)
		case seen[p.ID]:
			return fmt.Errorf("provider %q is there twice", p.ID)
		}
		if err := p.complete(servers); err != nil {
			return err
		}
		if err := checkBase(*p); err != nil {
			return err
		}
		seen[p.ID] = true
	}
	for _, m := range c.Models {
		if err := checkModel(m, seen); err != nil {
			return err
		}
	}
	return nil
}

// dialects are those that a provider may be said to speak.
var dialects = []string{string(model.Anthropic), string(model.OpenAIResponses), string(model.OpenAIChat), string(model.Gemini), "demo"}

// complete fills in what the provider's server is known for.
func (p *Provider) complete(servers []model.Server) error {
	var known []string
	for _, s := range servers {
		known = append(known, s.Name)
		// Its id alone says what a provider is where nothing else does.
		if s.Name == p.Server || p.Server == "" && p.Dialect == "" && s.Name == p.ID {
			p.take(s)
		}
	}
	switch {
	case p.Server != "" && slices.Contains(known, p.Server) && p.BaseURL == "" && p.Dialect == string(model.OpenAIChat):
		return fmt.Errorf("provider %q: server %q has an address for each region: write yours as base_url", p.ID, p.Server)
	case p.Server != "" && !slices.Contains(known, p.Server):
		return fmt.Errorf("provider %q: server %q is not known: write one of %s, or leave it out and write the dialect", p.ID, p.Server, strings.Join(known, ", "))
	case p.Dialect == "":
		return fmt.Errorf("provider %q is no server that is known by its id: write its server (%s), or its dialect (%s)", p.ID, strings.Join(known, ", "), strings.Join(dialects, ", "))
	case !slices.Contains(dialects, p.Dialect):
		return fmt.Errorf("provider %q: dialect %q is not known: write one of %s, or the server", p.ID, p.Dialect, strings.Join(dialects, ", "))
	}
	return nil
}

// take fills in what a server is known for. The vendor's own address takes the
// vendor's own key; at another one nothing is known of a key.
func (p *Provider) take(s model.Server) {
	p.Server = s.Name
	if s.Name == "demo" {
		p.Dialect = "demo"
		return
	}
	if s.Speaks(model.Dialect(p.Dialect)) {
		if p.BaseURL == "" {
			p.APIKeyEnv = cmp.Or(p.APIKeyEnv, s.KeyEnv)
		}
		p.BaseURL = cmp.Or(p.BaseURL, s.BaseURL)
	}
	p.Dialect = cmp.Or(p.Dialect, string(s.Dialect))
}

// checkModel refuses a model without a provider, and members that nobody
// knows; the catalogue looks at the rest.
func checkModel(m Model, providers map[string]bool) error {
	id, _ := m["id"].(string)
	provider, _ := m["provider"].(string)
	name, _ := m["name"].(string)
	if first, _, ok := strings.Cut(id, "/"); ok && provider == "" {
		provider = first
	}
	if id == "" && (provider == "" || name == "") {
		return fmt.Errorf("model %q: give each [[model]] an id of the form provider/name, or a provider and the name the endpoint calls it", id+name)
	}
	if unknown := m.Unknown(); unknown != "" {
		key := "model." + unknown
		return fmt.Errorf("model %q: unknown key %q, did you mean %q?", cmp.Or(id, provider+"/"+name), key, nearest(key))
	}
	servers, err := model.Servers()
	catalogued := slices.ContainsFunc(servers, func(s model.Server) bool { return s.Name == provider })
	if err == nil && !providers[provider] && !catalogued {
		return fmt.Errorf("model %q names the provider %q, and there is no such [[provider]]", cmp.Or(id, name), provider)
	}
	return err
}

// checkBase refuses an address that could only fail with the first message.
func checkBase(p Provider) error {
	if p.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(p.BaseURL)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	return fmt.Errorf("provider %q: base_url %q is not an address: write it as http://127.0.0.1:8080/v1", p.ID, p.BaseURL)
}
