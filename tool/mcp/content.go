package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"weir/tool"
)

// maxLabelBytes bounds what a placeholder repeats of a server's words.
const maxLabelBytes = 200

// resultOf turns a server's result into text. What is not text becomes a
// line in words, so that the model knows that there is more.
func resultOf(res *sdk.CallToolResult) tool.Result {
	if res.NeedsInput() {
		return tool.Result{Text: "The server asked for something in return (an answer from a person or a model), which it cannot be given here. The call did not finish.", IsError: true}
	}
	var parts []string
	for _, c := range res.Content {
		if part := textOf(c); part != "" {
			parts = append(parts, part)
		}
	}
	if len(res.Content) == 0 && res.StructuredContent != nil {
		if b, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(b))
		}
	}
	return tool.Result{Text: strings.Join(parts, "\n"), IsError: res.IsError}
}

func textOf(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return placeholder("an image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return placeholder("a sound", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[a link to %s: %s]", label(c.Name), label(c.URI))
	case *sdk.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return "[an empty resource]"
		case r.Text != "" || len(r.Blob) == 0:
			return fmt.Sprintf("[the resource %s]\n%s", label(r.URI), r.Text)
		default:
			return placeholder("the resource "+label(r.URI), r.MIMEType, len(r.Blob))
		}
	}
	return "[content of a kind that cannot be shown here]"
}

func placeholder(what, kind string, bytes int) string {
	if kind == "" {
		kind = "of an unknown kind"
	}
	return fmt.Sprintf("[%s, %s, %d bytes, that cannot be shown here]", what, label(kind), bytes)
}

// label makes a server's words fit for the inside of a line.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '[' || r == ']' {
			return ' '
		}
		return r
	}, s)
	return tool.Bound(s, maxLabelBytes)
}
