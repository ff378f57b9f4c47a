// Package mcp is the client of servers that speak the Model Context Protocol.
package mcp

import (
	"time"

	"weir"
)

// Config is one server: either Command or URL is set.
type Config struct {
	Name     string // prefix of its tools' names
	Command  []string
	Env      map[string]string // beside a few variables of our own
	URL      string
	Headers  map[string]string
	Approval weir.Decision // of calls; empty: ask
	Timeout  time.Duration // of a call; zero: the registry's
}
