package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"weir/tool"
)

// What one server may list. More is left out, by name, so that the same
// server always offers the same tools.
const (
	maxTools     = 128    // offered
	maxListed    = 10_000 // looked at
	maxPages     = 200
	maxListBytes = 8 << 20 // of definitions held at once
	maxLeftOut   = 20      // reasons kept
	maxOriginal  = 1024    // bytes of a server's own name for a tool
)

// listing is what a server offers, and what it does not, with reasons.
type listing struct {
	tools   []tool.Tool // by name
	names   []string
	leftOut []string
}

// list reads all pages of a server's tools.
func (s *server) list(ctx context.Context, l *link) (listing, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var c collection
	params := &sdk.ListToolsParams{}
	for page := range maxPages {
		res, err := l.session.ListTools(ctx, params)
		if _, said := answered(err); said && page == 0 {
			return listing{leftOut: []string{"the server does not list tools"}}, nil
		}
		if err != nil {
			return listing{}, err
		}
		full := slices.ContainsFunc(res.Tools, func(t *sdk.Tool) bool { return !c.add(t) })
		switch {
		case full:
			c.leaveOut(fmt.Sprintf("all after the first %d: the list is too long", len(c.found)))
		case res.NextCursor == "":
		case res.NextCursor == params.Cursor || page == maxPages-1:
			c.leaveOut("all after the first pages: the list does not end")
		default:
			params = &sdk.ListToolsParams{Cursor: res.NextCursor}
			continue
		}
		break
	}
	return s.offer(&c), nil
}

// collection is what has been read of a list.
type collection struct {
	found map[string]tool.Definition // by the server's name
	size  int
	more  int // reasons that were not kept
	left  []string
}

// add takes a tool in and reports whether another may come.
func (c *collection) add(t *sdk.Tool) bool {
	if c.found == nil {
		c.found = map[string]tool.Definition{}
	}
	if len(c.found) >= maxListed {
		return false
	}
	if t.Name == "" || len(t.Name) > maxOriginal {
		c.leaveOut("a tool whose name is empty or over " + fmt.Sprint(maxOriginal) + " bytes")
		return true
	}
	if _, twice := c.found[t.Name]; twice {
		c.leaveOut(label(t.Name) + ": it is listed twice")
		return true
	}
	d := tool.Definition{Description: t.Description}
	if d.Description == "" {
		d.Description = t.Title
	}
	var err error
	if d.InputSchema, err = json.Marshal(t.InputSchema); err != nil {
		c.leaveOut(label(t.Name) + ": its input schema is not JSON")
		return true
	}
	if why := tool.Check(d); why != "" {
		c.leaveOut(label(t.Name) + ": " + why)
		return true
	}
	if c.size += len(d.Description) + len(d.InputSchema); c.size > maxListBytes {
		return false
	}
	c.found[t.Name] = d
	return true
}

func (c *collection) leaveOut(why string) {
	if len(c.left) < maxLeftOut {
		c.left = append(c.left, why)
	} else {
		c.more++
	}
}

// offer makes tools of what was found: named, sorted, and not too many.
func (s *server) offer(c *collection) listing {
	originals := make([]string, 0, len(c.found))
	for o := range c.found {
		originals = append(originals, o)
	}
	names, refused := nameAll(s.config.Name, originals)
	slices.SortFunc(originals, func(a, b string) int { return strings.Compare(names[a], names[b]) })
	var l listing
	for _, o := range originals {
		switch {
		case refused[o] != "":
			c.leaveOut(label(o) + ": " + refused[o])
		case len(l.tools) == maxTools:
			c.leaveOut(fmt.Sprintf("%s: more than %d tools are offered by one server", names[o], maxTools))
		default:
			d := c.found[o]
			d.Name = names[o]
			l.names = append(l.names, d.Name)
			l.tools = append(l.tools, &remote{server: s, original: o, definition: d})
		}
	}
	l.leftOut = c.left
	if c.more > 0 {
		l.leftOut = append(l.leftOut, fmt.Sprintf("and %d more", c.more))
	}
	return l
}
