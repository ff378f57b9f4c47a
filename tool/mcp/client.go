package mcp

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"weir"
	"weir/tool"
)

// Client keeps connections to all configured servers. It is a [tool.Source].
type Client struct {
	servers []*server // by name

	mu      sync.Mutex
	cancel  context.CancelFunc // nil before Start
	stopped bool
	running sync.WaitGroup
	parts   [][]tool.Tool // of which all was made
	all     []tool.Tool
}

var _ tool.Source = (*Client)(nil)

// New makes a client of the servers; a nil log is no log.
func New(configs []Config, log *slog.Logger) (*Client, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Client{}
	for _, config := range configs {
		if f := config.Check(); f != nil {
			return nil, weir.Fault(weir.Invalid, "mcp_config", "The MCP server %q cannot be used: %s", config.Name, f)
		}
		if c.server(config.Name) != nil {
			return nil, weir.Fault(weir.Invalid, "mcp_config", "The MCP server %q is there twice; give each a name of its own.", config.Name)
		}
		c.servers = append(c.servers, newServer(config, log))
	}
	slices.SortFunc(c.servers, func(a, b *server) int { return strings.Compare(a.config.Name, b.config.Name) })
	return c, nil
}

// Start begins to connect and returns at once. It may be called twice.
func (c *Client) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil || c.stopped {
		return
	}
	ctx, c.cancel = context.WithCancel(ctx)
	for _, s := range c.servers {
		c.running.Go(func() { s.keep(ctx) })
	}
}

// Stop ends calls and connections, and waits until child processes are gone.
// It may be called twice, and without a Start.
func (c *Client) Stop() {
	c.mu.Lock()
	c.stopped = true
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
	for _, s := range c.servers {
		s.settle()
	}
}

// Tools lists the tools of all servers by name, of those that are not there
// the last ones known.
func (c *Client) Tools() []tool.Tool {
	parts := make([][]tool.Tool, len(c.servers))
	for i, s := range c.servers {
		parts[i] = s.tools()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.EqualFunc(parts, c.parts, same) {
		c.parts, c.all = parts, slices.Concat(parts...)
	}
	return c.all
}

// same reports whether two lists are one slice: servers make another when
// their tools change.
func same(a, b []tool.Tool) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Servers tells how each server is.
func (c *Client) Servers() []tool.Server {
	all := make([]tool.Server, len(c.servers))
	for i, s := range c.servers {
		all[i] = s.said()
	}
	return all
}

// Ready waits until each server has been started once, or failed to.
func (c *Client) Ready(ctx context.Context) error {
	for _, s := range c.servers {
		select {
		case <-s.settled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Claim tells which server a name belongs to, by its prefix.
func (c *Client) Claim(name string) (tool.Claim, bool) {
	s := c.server(serverOf(name))
	if s == nil {
		return tool.Claim{}, false
	}
	claim := tool.Claim{Consent: s.consent(), Reason: s.absent()}
	if claim.Reason == "" {
		claim.Reason, claim.Lacks = "the server "+s.config.Name+" does not offer it.", true
	}
	return claim, true
}

func (c *Client) server(name string) *server {
	for _, s := range c.servers {
		if s.config.Name == name {
			return s
		}
	}
	return nil
}
