// Package mcp is the client of servers that speak the Model Context Protocol,
// as a source of tools.
//
// Promises. Order: a server's tools are listed by name, and the names are a
// function of the server's name and its own for the tool. Loss: a call ends
// with what the server said, or with why nothing came; it is never sent twice.
// What a server says is bounded in size and pace and is data: text for the
// model, never for a reason shown to a person. Concurrency: one goroutine owns
// a server's connection and begins it again, with growing pauses, when it
// ends; everything else reads its last state. [Client.Stop] waits until all
// goroutines and child processes are gone.
package mcp

import (
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"weir"
)

// Config is one server: either Command or URL is set.
type Config struct {
	Name     string   // the prefix of its tools' names
	Command  []string // started by us, and spoken to over its standard input and output
	Env      map[string]string
	URL      string            // of its streamable HTTP endpoint
	Headers  map[string]string // sent to that address only
	Approval weir.Decision     // of calls; empty: ask
	Timeout  time.Duration     // of a call; zero: none but the registry's
}

const maxServerName = 32

var serverName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*([_-][a-zA-Z0-9]+)*$`)

// Fault is what is wrong with a configuration.
type Fault struct{ Key, Text string }

func (f *Fault) Error() string { return f.Key + ": " + f.Text }

// Check says what is wrong with one server's configuration, or nothing.
func (c *Config) Check() *Fault {
	switch {
	case !serverName.MatchString(c.Name) || len(c.Name) > maxServerName:
		return &Fault{"name", fmt.Sprintf("%q: write 1 to %d letters and digits, a letter first, with single - and _ between them", c.Name, maxServerName)}
	case len(c.Command) == 0 && c.URL == "":
		return &Fault{"command", "give each server a command or a url"}
	case len(c.Command) > 0 && c.URL != "":
		return &Fault{"url", "a server has a command or a url, not both"}
	case len(c.Command) > 0 && strings.TrimSpace(c.Command[0]) == "":
		return &Fault{"command", "its first word is the program, and it is empty"}
	case slices.ContainsFunc(c.Command, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return &Fault{"command", "it has a zero byte in it"}
	case c.Approval != "" && c.Approval != weir.Ask && c.Approval != weir.Allow && c.Approval != weir.Deny:
		return &Fault{"approval", fmt.Sprintf("%q is not known: write ask, allow or deny", c.Approval)}
	case c.Timeout < 0:
		return &Fault{"timeout", "write a length of time such as 90s"}
	}
	if c.URL != "" {
		return c.checkHTTP()
	}
	if len(c.Headers) > 0 {
		return &Fault{"headers", "they go with a url, not with a command"}
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return &Fault{"env", fmt.Sprintf("%q cannot be the name of a variable, or its value has a zero byte", name)}
		}
	}
	return nil
}

func (c *Config) checkHTTP() *Fault {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return &Fault{"url", "it is not an address: write it as https://host/mcp"}
	}
	if u.User != nil {
		return &Fault{"url", "put a name and a password into headers, not into the address"}
	}
	if len(c.Env) > 0 {
		return &Fault{"env", "it goes with a command, not with a url"}
	}
	for name, value := range c.Headers {
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Accept", "Content-Type", "Content-Length", "Host", "Connection", "Transfer-Encoding", "Last-Event-Id":
			return &Fault{"headers", fmt.Sprintf("%q is set by the protocol", name)}
		}
		if !validHeader(name, value) || strings.HasPrefix(textproto.CanonicalMIMEHeaderKey(name), "Mcp-") {
			return &Fault{"headers", fmt.Sprintf("%q cannot be sent", name)}
		}
	}
	return nil
}

// validHeader asks net/http, which keeps the rule to itself.
func validHeader(name, value string) bool {
	if name == "" || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(value, "\r\n\x00") {
		return false
	}
	r := http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "localhost"}, Header: http.Header{name: {value}}}
	return r.Write(discard{}) == nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
