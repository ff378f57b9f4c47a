package app

import (
	"fmt"
	"os"
	"regexp"
	"time"

	"weir"
	"weir/tool/mcp"
)

// MCP is a server whose tools models may call: a command that is started and
// spoken to over its standard input and output, or the address of one.
type MCP struct {
	Name     string            `toml:"name"`    // a letter, then letters, digits, single - and _; the prefix of its tools' names
	Command  []string          `toml:"command"` // the program and its arguments
	Env      map[string]string `toml:"env"`     // with a command: variables beside PATH, HOME and the like; ${NAME} stands for one of ours
	URL      string            `toml:"url"`
	Headers  map[string]string `toml:"headers"`  // with a url; ${NAME} stands for an environment variable
	Approval string            `toml:"approval"` // of calls: ask (default) | allow | deny
	Timeout  string            `toml:"timeout"`  // of a call, such as 90s; 10 minutes at most and by default
}

const maxServers = 64

// variable is how a value names an environment variable, so that secrets need
// not stand in the file.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// checkServers makes the client's configuration out of ours.
func (c *Config) checkServers() error {
	if len(c.MCP) > maxServers {
		return fmt.Errorf("there are %d [[mcp]] servers, and %d at most are served", len(c.MCP), maxServers)
	}
	seen := map[string]bool{}
	c.servers = nil
	for _, m := range c.MCP {
		s, err := m.server()
		if err != nil {
			return err
		}
		if seen[m.Name] {
			return fmt.Errorf("mcp %q is there twice: name: give each [[mcp]] a name of its own", m.Name)
		}
		seen[m.Name] = true
		c.servers = append(c.servers, s)
	}
	return nil
}

func (m *MCP) server() (mcp.Config, error) {
	s := mcp.Config{Name: m.Name, Command: m.Command, URL: m.URL, Approval: weir.Decision(m.Approval)}
	bad := func(f *mcp.Fault) (mcp.Config, error) { return s, fmt.Errorf("mcp %q: %w", m.Name, f) }
	var f *mcp.Fault
	if s.Env, f = expand("env", m.Env); f != nil {
		return bad(f)
	}
	if s.Headers, f = expand("headers", m.Headers); f != nil {
		return bad(f)
	}
	if m.Timeout != "" {
		d, err := time.ParseDuration(m.Timeout)
		if err != nil || d <= 0 {
			return bad(&mcp.Fault{Key: "timeout", Text: fmt.Sprintf("%q: write a length of time such as 90s", m.Timeout)})
		}
		s.Timeout = d
	}
	if f := s.Check(); f != nil {
		return bad(f)
	}
	return s, nil
}

// expand puts the environment's values in. A variable that is not set is an
// error at once: without it the server could only fail later.
func expand(key string, values map[string]string) (map[string]string, *mcp.Fault) {
	var missing string
	out := make(map[string]string, len(values))
	for name, value := range values {
		out[name] = variable.ReplaceAllStringFunc(value, func(v string) string {
			found, ok := os.LookupEnv(v[2 : len(v)-1])
			if !ok {
				missing = v[2 : len(v)-1]
			}
			return found
		})
	}
	if missing != "" {
		return nil, &mcp.Fault{Key: key, Text: "the environment variable " + missing + " is not set"}
	}
	return out, nil
}
