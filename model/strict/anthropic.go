package strict

import (
	"io"
	"slices"
)

// Rules says which variant of the Anthropic API is meant. The zero value is
// the newest and strictest: system messages in mid-conversation, and refusal
// of sampling options, of manual thinking budgets and of forced tool choices.
type Rules struct {
	Old   bool     // models without mid-conversation system messages
	Betas []string // of the anthropic-beta header
}

// Request is an Anthropic body that was accepted. Its values point into Body.
type Request struct {
	Body       []byte
	Root       Value
	Model      string
	MaxTokens  int64
	Stream     bool
	Tools      []Block
	System     []Block
	Messages   []Message
	ToolChoice *Value
	Thinking   *Value
	Marks      []Span // what to leave out to read the body without cache marks, in order
	AutoMark   bool   // the body asks for a mark at its end
}

// Message is one message.
type Message struct {
	Role    string
	Value   *Value
	Content *Value
	Blocks  []Block // a content that is a string is one text block
}

// Block is one content block, tool or system block.
type Block struct {
	Type   string
	Value  *Value
	Marked bool
}

// Text returns the text of a text block.
func (b *Block) Text(body []byte) string {
	if b.Value.Is(String) {
		return b.Value.Text(body)
	}
	return b.Value.Get("text").Text(body)
}

// The places of a body that are asked for often.
func root(name string) *place { return &place{name: name} }

// Anthropic reads the body of a POST /v1/messages. Its error is a *Refusal.
func Anthropic(body []byte, rules Rules) (*Request, error) {
	if len(body) > MaxBody {
		return nil, tooLarge()
	}
	v, err := Parse(body)
	if err != nil {
		return nil, err
	}
	c := &checker{body: body, rules: rules}
	q := &Request{Body: body, Root: v}
	for _, step := range []func(*Request, *Value) *Refusal{c.top, c.tools, c.system, c.messages, c.end, c.history} {
		if r := step(q, &q.Root); r != nil {
			return nil, r
		}
	}
	return q, nil
}

// Unmarked writes the bytes of a span without the cache marks in it.
func (q *Request) Unmarked(w io.Writer, s Span) { unmarked(w, q.Body, q.Marks, s) }

func unmarked(w io.Writer, body []byte, marks []Span, s Span) {
	first, _ := slices.BinarySearchFunc(marks, s.Start, func(m Span, start int) int { return m.Start - start })
	for _, m := range marks[first:] {
		if m.Start >= s.End {
			break
		}
		w.Write(body[s.Start:m.Start])
		s.Start = m.End
	}
	w.Write(body[s.Start:s.End])
}

// top checks the members of the body that are not lists.
func (c *checker) top(q *Request, v *Value) *Refusal {
	if !v.Is(Object) {
		return invalid("Input should be a valid dictionary")
	}
	var p *place
	r := c.object(v, p, c.option, "model", "max_tokens", "messages")
	if r != nil {
		return r
	}
	q.Model = v.Get("model").Text(c.body)
	q.MaxTokens, _ = v.Get("max_tokens").Int(c.body)
	q.Stream = v.Get("stream").True(c.body)
	q.ToolChoice = v.Get("tool_choice")
	q.Thinking = v.Get("thinking")
	if t := q.Thinking; t != nil && t.Get("type").Text(c.body) == "enabled" {
		if n, _ := t.Get("budget_tokens").Int(c.body); n >= q.MaxTokens {
			return invalid("`max_tokens` must be greater than `thinking.budget_tokens`")
		}
	}
	if q.ToolChoice != nil && (v.Get("tools") == nil || len(v.Get("tools").Elements) == 0) {
		return invalid("tool_choice may only be specified while providing tools.")
	}
	return nil
}

func (c *checker) option(name string, v *Value, p *place) *Refusal {
	switch name {
	case "model":
		return c.named(v, p)
	case "max_tokens":
		return c.atLeast(v, p, 1)
	case "stream":
		return c.boolean(v, p)
	case "messages", "tools":
		return c.list(v, p)
	case "system", "cache_control":
		return nil // later, in the order of the prefix
	case "stop_sequences":
		return c.strings(v, p)
	case "metadata":
		return c.object(v, p, func(name string, v *Value, p *place) *Refusal {
			if name == "user_id" {
				return c.str(v, p)
			}
			return extra(p)
		})
	case "thinking":
		return c.thinking(v, p)
	case "tool_choice":
		return c.toolChoice(v, p)
	case "output_config":
		return c.outputConfig(v, p)
	case "service_tier":
		return c.oneOf(v, p, "auto", "standard_only")
	case "temperature", "top_p", "top_k":
		if !v.Is(Number) {
			return invalid("%s: Input should be a valid number", p)
		}
		if !c.rules.Old && !(name != "top_k" && string(v.Raw(c.body)) == "1") {
			return invalid("`%s` is not supported on this model.", name)
		}
		return nil
	}
	return extra(p)
}

func (c *checker) strings(v *Value, p *place) *Refusal {
	if r := c.list(v, p); r != nil {
		return r
	}
	for i := range v.Elements {
		if r := c.str(&v.Elements[i], p.at(i)); r != nil {
			return r
		}
	}
	return nil
}

func (c *checker) thinking(v *Value, p *place) *Refusal {
	kind := v.Get("type").Text(c.body)
	if kind == "enabled" && !c.rules.Old {
		return invalid("%s: \"enabled\" is not supported on this model. Use \"adaptive\" instead.", p.in("type"))
	}
	needed := []string{"type"}
	if kind == "enabled" {
		needed = append(needed, "budget_tokens")
	}
	return c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		switch name {
		case "type":
			return c.oneOf(v, p, "adaptive", "disabled", "enabled")
		case "budget_tokens":
			if kind == "enabled" {
				return c.atLeast(v, p, 1024)
			}
		case "display":
			return c.oneOf(v, p, "omitted", "summarized")
		case "block_binding":
			if slices.Contains(c.rules.Betas, "thinking-binding-controls-2026-08-01") {
				return c.dictionary(v, p)
			}
		}
		return extra(p)
	}, needed...)
}

func (c *checker) toolChoice(v *Value, p *place) *Refusal {
	kind := v.Get("type").Text(c.body)
	if !c.rules.Old && (kind == "any" || kind == "tool") {
		return invalid("%s: forced tool use is not supported on this model.", p)
	}
	return c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		switch {
		case name == "type":
			return c.oneOf(v, p, "auto", "any", "tool", "none")
		case name == "name" && kind == "tool":
			return c.str(v, p)
		case name == "disable_parallel_tool_use" && kind != "none":
			return c.boolean(v, p)
		}
		return extra(p)
	}, "type")
}

func (c *checker) outputConfig(v *Value, p *place) *Refusal {
	return c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		if name == "effort" {
			return c.oneOf(v, p, "low", "medium", "high", "xhigh", "max")
		}
		return extra(p)
	})
}

// tools checks the tools, which come first in the prefix.
func (c *checker) tools(q *Request, v *Value) *Refusal {
	list := v.Get("tools")
	if list == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range list.Elements {
		t := &list.Elements[i]
		p := root("tools").at(i).in("custom")
		before := c.found
		if r := c.markable(t, p, c.tool, "name", "input_schema"); r != nil {
			return r
		}
		name := t.Get("name").Text(c.body)
		if seen[name] {
			return invalid("tools: Tool names must be unique.")
		}
		seen[name] = true
		q.Tools = append(q.Tools, Block{Type: "tool", Value: t, Marked: c.found > before})
	}
	return nil
}

func (c *checker) tool(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return c.oneOf(v, p, "custom")
	case "name":
		return c.toolName(v, p)
	case "description":
		return c.str(v, p)
	case "strict":
		return c.boolean(v, p)
	case "input_schema":
		if r := c.dictionary(v, p); r != nil {
			return r
		}
		for _, word := range []string{"oneOf", "allOf", "anyOf"} {
			if v.Get(word) != nil {
				return invalid("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", p)
			}
		}
		if properties := v.Get("properties"); properties != nil {
			for i := range properties.Members {
				if !isProperty(properties.Members[i].Name) {
					return invalid("%s: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", p.in("properties"))
				}
			}
		}
		if v.Get("type") == nil {
			return invalid("%s: Field required", p.in("type"))
		}
		return c.oneOf(v.Get("type"), p.in("type"), "object")
	}
	return extra(p)
}

func (c *checker) toolName(v *Value, p *place) *Refusal {
	if r := c.str(v, p); r != nil {
		return r
	}
	if !isName(v.Text(c.body)) {
		return invalid("%s: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", p)
	}
	return nil
}

// system checks the system text of the head.
func (c *checker) system(q *Request, v *Value) *Refusal {
	s := v.Get("system")
	switch {
	case s == nil:
		return nil
	case s.Is(String):
		if c.blank(s) {
			return invalid("system: text content blocks must be non-empty")
		}
		q.System = []Block{{Type: "text", Value: s}}
		return nil
	}
	p := root("system")
	if r := c.list(s, p); r != nil {
		return r
	}
	for i := range s.Elements {
		b := &s.Elements[i]
		if kind := b.Get("type").Text(c.body); kind != "text" {
			return invalid("%s.type: Input should be 'text'", p.at(i))
		}
		before := c.found
		if r := c.markable(b, p.at(i), c.text, "text"); r != nil {
			return r
		}
		if c.blank(b.Get("text")) {
			return invalid("system: text content blocks must be non-empty")
		}
		q.System = append(q.System, Block{Type: "text", Value: b, Marked: c.found > before})
	}
	return nil
}

// end checks what is known when everything was seen.
func (c *checker) end(q *Request, v *Value) *Refusal {
	if auto := v.Get("cache_control"); auto != nil && !auto.Is(Null) {
		if r := c.mark(v, auto, root("cache_control")); r != nil {
			return r
		}
		q.AutoMark = true
	}
	if c.found > 4 {
		return invalid("A maximum of 4 blocks with cache_control may be provided. Found %d.", c.found)
	}
	slices.SortFunc(c.marks, func(a, b Span) int { return a.Start - b.Start })
	q.Marks = c.marks
	return nil
}
