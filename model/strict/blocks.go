package strict

import "slices"

// The beta features of messages that are understood.
const (
	betaClearAt      = "mid-conversation-system-clear-at-2026-08-21"
	betaOutputConfig = "mid-conversation-output-config-2026-07-01"
)

// maxMessages is how many messages a request may have.
const maxMessages = 100_000

// messages checks every message by itself.
func (c *checker) messages(q *Request, v *Value) *Refusal {
	list := v.Get("messages")
	p := root("messages")
	if len(list.Elements) == 0 {
		return invalid("messages: at least one message is required")
	}
	if len(list.Elements) > maxMessages {
		return invalid("messages: too many messages: %d > %d", len(list.Elements), maxMessages)
	}
	q.Messages = make([]Message, len(list.Elements))
	for i := range list.Elements {
		if r := c.message(&q.Messages[i], &list.Elements[i], p.at(i)); r != nil {
			return r
		}
	}
	return nil
}

func (c *checker) message(m *Message, v *Value, p *place) *Refusal {
	if !v.Is(Object) {
		return invalid("%s: Input should be a valid dictionary", p)
	}
	role := v.Get("role")
	if role == nil {
		return invalid("%s: Field required", p.in("role"))
	}
	m.Value, m.Role, m.Content = v, role.Text(c.body), v.Get("content")
	switch m.Role {
	case "user", "assistant":
	case "system":
		if c.rules.Old {
			return invalid("role 'system' is not supported on this model")
		}
	default:
		return invalid("%s: Input should be 'user', 'assistant' or 'system'", p.in("role"))
	}
	r := c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		switch name {
		case "role", "content":
			return nil
		case "clear_at":
			if !slices.Contains(c.rules.Betas, betaClearAt) {
				return extra(p)
			}
			if m.Role != "system" {
				return invalid("%s: clear_at is only permitted on role 'system' messages", p)
			}
			return c.oneOf(v, p, "next_user_message", "never")
		case "output_config":
			if m.Role == "system" && slices.Contains(c.rules.Betas, betaOutputConfig) {
				return c.outputConfig(v, p)
			}
		}
		return extra(p)
	}, "role", "content")
	switch {
	case r != nil:
		return r
	case m.Role == "system":
		return c.systemContent(m, p)
	}
	return c.content(m, p)
}

// content checks the content of a user or assistant message.
func (c *checker) content(m *Message, p *place) *Refusal {
	v := m.Content
	if v.Is(String) {
		if v.End-v.Start == 2 {
			return invalid("%s: all messages must have non-empty content except for the optional final assistant message", p)
		}
		if c.blank(v) {
			return whitespace()
		}
		m.Blocks = []Block{{Type: "text", Value: v}}
		return nil
	}
	if r := c.list(v, p.in("content")); r != nil {
		return r
	}
	if len(v.Elements) == 0 {
		return invalid("%s: all messages must have non-empty content except for the optional final assistant message", p)
	}
	allowed := assistantBlocks
	if m.Role == "user" {
		allowed = userBlocks
	}
	var r *Refusal
	m.Blocks, r = c.blocks(v, p.in("content"), allowed)
	return r
}

// The blocks a message, a tool's result or a search result may hold.
const (
	userBlocks = 1 << iota
	assistantBlocks
	resultBlocks
	textBlocks
)

func (c *checker) blocks(v *Value, p *place, allowed int) ([]Block, *Refusal) {
	blocks := make([]Block, len(v.Elements))
	for i := range v.Elements {
		e := &v.Elements[i]
		before := c.found
		if r := c.block(e, p.at(i), allowed); r != nil {
			return nil, r
		}
		blocks[i] = Block{Type: e.Get("type").Text(c.body), Value: e, Marked: c.found > before}
	}
	return blocks, nil
}

func (c *checker) block(v *Value, p *place, allowed int) *Refusal {
	if !v.Is(Object) {
		return invalid("%s: Input should be a valid dictionary", p)
	}
	if v.Get("type") == nil {
		return invalid("%s: Field required", p.in("type"))
	}
	kind := v.Get("type").Text(c.body)
	b, known := blockRules(c, kind)
	if !known || b.where&allowed == 0 {
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags", p, kind)
	}
	p = p.in(kind)
	check := c.object
	if b.marks {
		check = c.markable
	}
	if r := check(v, p, b.field, b.required...); r != nil {
		return r
	}
	if kind == "text" {
		return c.said(v.Get("text"))
	}
	return nil
}

// said refuses a text without anything in it.
func (c *checker) said(v *Value) *Refusal {
	if v.End-v.Start == 2 {
		return invalid("messages: text content blocks must be non-empty")
	}
	if c.blank(v) {
		return whitespace()
	}
	return nil
}

func whitespace() *Refusal {
	return invalid("messages: text content blocks must contain non-whitespace text")
}

// blockRule is what is known of one type of block.
type blockRule struct {
	where    int
	marks    bool
	field    func(name string, v *Value, p *place) *Refusal
	required []string
}

func blockRules(c *checker, kind string) (blockRule, bool) {
	const anyone = userBlocks | assistantBlocks | resultBlocks | textBlocks
	switch kind {
	case "text":
		return blockRule{anyone, true, c.text, []string{"text"}}, true
	case "image":
		return blockRule{userBlocks | resultBlocks, true, c.image, []string{"source"}}, true
	case "document":
		return blockRule{userBlocks | resultBlocks, true, c.document, []string{"source"}}, true
	case "search_result":
		return blockRule{userBlocks | resultBlocks, true, c.searchResult, []string{"source", "title", "content"}}, true
	case "tool_result":
		return blockRule{userBlocks, true, c.toolResult, []string{"tool_use_id"}}, true
	case "tool_use":
		return blockRule{assistantBlocks, true, c.toolUse, []string{"id", "name", "input"}}, true
	case "thinking":
		return blockRule{assistantBlocks, false, c.thought, []string{"thinking", "signature"}}, true
	case "redacted_thinking":
		return blockRule{assistantBlocks, false, c.thought, []string{"data"}}, true
	}
	return blockRule{}, false
}

func (c *checker) text(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type", "text":
		return c.str(v, p)
	case "citations":
		if v.Is(Null) {
			return nil
		}
		return c.list(v, p)
	}
	return extra(p)
}

func (c *checker) thought(name string, v *Value, p *place) *Refusal {
	switch {
	case name == "type",
		name == "data" && p.up.name == "redacted_thinking",
		name != "data" && p.up.name == "thinking" && (name == "thinking" || name == "signature"):
		return c.str(v, p)
	}
	return extra(p)
}

func (c *checker) toolUse(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return nil
	case "id":
		return c.id(v, p)
	case "name":
		return c.toolName(v, p)
	case "input":
		return c.dictionary(v, p)
	}
	return extra(p)
}

func (c *checker) id(v *Value, p *place) *Refusal {
	if r := c.str(v, p); r != nil {
		return r
	}
	if !isID(v.Text(c.body)) {
		return invalid("%s: String should match pattern '^[a-zA-Z0-9_-]+$'", p)
	}
	return nil
}

func (c *checker) toolResult(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return nil
	case "tool_use_id":
		return c.id(v, p)
	case "is_error":
		return c.boolean(v, p)
	case "content":
		if v.Is(String) {
			return c.said(v)
		}
		if r := c.list(v, p); r != nil {
			return r
		}
		_, r := c.blocks(v, p, resultBlocks)
		return r
	}
	return extra(p)
}
