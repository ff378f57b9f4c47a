package mcp

import (
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Shorter ones are words that anybody says.
const (
	shortestSecret = 4
	shortestField  = 8 // of a value that has several
)

// scrubber takes the configured values out of what is logged: they may be
// secrets, and come back in anyone's error text, whole or in part.
type scrubber struct{ r *strings.Replacer }

func newScrubber(c Config) scrubber {
	s := secrets{}
	for _, m := range []map[string]string{c.Env, c.Headers} {
		for _, v := range m {
			s.value(v)
		}
	}
	if len(c.Command) > 0 {
		for _, v := range c.Command[1:] {
			s.value(v)
		}
	}
	s.address(c.URL)
	return s.scrubber()
}

func (s scrubber) text(t string) string { return s.r.Replace(t) }

func (s scrubber) err(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.String("error", s.text(err.Error()))
}

// secrets are what a scrubber takes out.
type secrets map[string]bool

func (s secrets) scrubber() scrubber {
	all := make([]string, 0, len(s))
	for v := range s {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // of two at one place the longer goes
	pairs := make([]string, 0, 2*len(all))
	for _, v := range all {
		pairs = append(pairs, v, "…")
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// add takes a text in, as it is, decoded, and as Go and JSON quote it.
func (s secrets) add(v string) {
	v = strings.TrimSpace(v)
	forms := []string{v, strings.Trim(strconv.Quote(v), `"`)}
	if plain, err := url.PathUnescape(v); err == nil {
		forms = append(forms, plain)
	}
	for _, f := range forms {
		if len(f) >= shortestSecret {
			s[f] = true
		}
	}
}

// value takes in what was configured, and those of its parts that can be secret
// by themselves.
func (s secrets) value(v string) {
	s.add(v)
	if _, token, ok := strings.Cut(v, " "); ok { // Bearer …
		s.add(token)
	}
	for line := range strings.Lines(v) { // a program writes a key line by line
		s.add(line)
	}
	fields := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;&\"'", r) })
	for _, f := range fields {
		if len(f) >= shortestField {
			s.add(f)
		}
		if _, set, ok := strings.Cut(f, "="); ok { // --token=…, password=…
			s.add(set)
			s.address(set)
			s.add(password(set))
		}
		s.address(f)
		s.add(password(f))
	}
}

// password is that of a name:password@host.
func password(v string) string {
	if _, after, ok := strings.Cut(v, "://"); ok {
		v = after
	}
	if at := strings.LastIndexByte(v, '@'); at >= 0 {
		_, pass, _ := strings.Cut(v[:at], ":")
		return pass
	}
	return ""
}

// address takes in what of an address can be a key: all but its host.
func (s secrets) address(v string) {
	if !strings.Contains(v, "://") {
		return
	}
	u, err := url.Parse(v)
	if err != nil {
		return // whole, it is taken out all the same
	}
	s.add(u.Fragment)
	s.add(u.RawQuery)
	for _, values := range u.Query() {
		for _, v := range values {
			s.add(v)
		}
	}
	for _, path := range []string{u.Path, u.EscapedPath()} {
		s.add(path)
		for part := range strings.SplitSeq(path, "/") {
			s.add(part)
		}
	}
}
