package strict

import (
	"fmt"
	"slices"
	"strings"
)

// messages checks every message by itself.
func (c *chatChecker) messages(q *Chat, v *Value) *Refusal {
	q.List = v.Get("messages")
	if len(q.List.Elements) == 0 {
		return lengthFault("messages", 0, 0)
	}
	q.Messages = make([]ChatMessage, len(q.List.Elements))
	for i := range q.List.Elements {
		e := &q.List.Elements[i]
		p := fmt.Sprintf("messages[%d]", i)
		if !e.Is(Object) {
			return wrongType(p, "an object", e)
		}
		if e.Get("role") == nil {
			return absent(p + ".role")
		}
		m := &q.Messages[i]
		m.Value, m.Role = e, e.Get("role").Text(c.body)
		if r := c.message(m, p); r != nil {
			return r
		}
	}
	return nil
}

func (c *chatChecker) message(m *ChatMessage, p string) *Refusal {
	known, required := []string{"role", "content", "name"}, []string{"role", "content"}
	parts := []string{"text"}
	switch m.Role {
	case "developer":
		if r := c.developer(p); r != nil {
			return r
		}
	case "system":
	case "user":
		parts = []string{"text", "image_url", "input_audio", "file"}
	case "assistant":
		known = append(known, "refusal", "tool_calls")
		if c.rules.Reasoning {
			known = append(known, "reasoning_content")
		}
		parts = []string{"text", "refusal"}
		if m.Value.Get("tool_calls") != nil {
			required = []string{"role"}
		}
	case "tool":
		known, required = []string{"role", "content", "tool_call_id"}, []string{"role", "content", "tool_call_id"}
	default:
		return c.constant(m.Value.Get("role"), p+".role", "system", "assistant", "user", "tool", "developer")
	}
	if r := c.members(m.Value, p, known, required); r != nil {
		return r
	}
	if v := m.Value.Get("reasoning_content"); v != nil && !v.Is(String) {
		return wrongType(p+".reasoning_content", "a string", v)
	}
	for _, name := range []string{"name", "tool_call_id"} {
		if v := m.Value.Get(name); v != nil && (!v.Is(String) || v.Text(c.body) == "") {
			return wrongType(p+"."+name, "a string", v)
		}
	}
	if v := m.Value.Get("tool_calls"); v != nil {
		if r := c.toolCalls(v, p+".tool_calls"); r != nil {
			return r
		}
	}
	return c.content(m, p, parts)
}

// content checks a message's content: a text or a list of parts, none empty.
func (c *chatChecker) content(m *ChatMessage, p string, allowed []string) *Refusal {
	v := m.Value.Get("content")
	switch {
	case v == nil, v.Is(Null) && m.Value.Get("tool_calls") != nil:
		return nil
	case v.Is(String):
		m.Text = v.Text(c.body)
		return c.said(m.Text, p+".content")
	case !v.Is(Array):
		return fault("", strings.Replace(p, "messages[", "messages.[", 1)+".content", "Invalid value for 'content': expected a string, got %s.", strings.TrimPrefix(strings.TrimPrefix(v.called(), "an "), "a "))
	case len(v.Elements) == 0:
		return lengthFault(p+".content", 0, 0)
	}
	for i := range v.Elements {
		e, at := &v.Elements[i], fmt.Sprintf("%s.content[%d]", p, i)
		if r := c.part(m, e, at, allowed); r != nil {
			return r
		}
	}
	return nil
}

func (c *chatChecker) part(m *ChatMessage, v *Value, p string, allowed []string) *Refusal {
	if !v.Is(Object) {
		return wrongType(p, "an object", v)
	}
	if v.Get("type") == nil {
		return absent(p + ".type")
	}
	kind := v.Get("type").Text(c.body)
	if !slices.Contains(allowed, kind) {
		return fault("invalid_value", p+".type", "Invalid value: '%s'. Supported values are: %s.", kind, alternatives(allowed))
	}
	known := []string{"type", kind}
	if c.rules.OpenAI() && kind != "refusal" {
		known = append(known, "prompt_cache_breakpoint")
	}
	if r := c.members(v, p, known, known[:2]); r != nil {
		return r
	}
	if b := v.Get("prompt_cache_breakpoint"); b != nil {
		if r := c.breakpoint(b, p+".prompt_cache_breakpoint"); r != nil {
			return r
		}
		c.marks = append(c.marks, cut(v, "prompt_cache_breakpoint"))
	}
	inner := v.Get(kind)
	if kind != "text" && kind != "refusal" {
		if !inner.Is(Object) {
			return wrongType(p+"."+kind, "an object", inner)
		}
		return nil
	}
	if !inner.Is(String) {
		return wrongType(p+"."+kind, "a string", inner)
	}
	text := inner.Text(c.body)
	m.Text += text
	return c.said(text, p+"."+kind)
}

// said refuses empty texts. OpenAI takes some of them, other servers of this
// dialect do not.
func (c *chatChecker) said(text, p string) *Refusal {
	if text == "" {
		return fault("string_below_min_length", p, "Invalid '%s': string too short. Expected a string with minimum length 1, but got an empty string instead.", p)
	}
	return nil
}

func (c *chatChecker) toolCalls(v *Value, p string) *Refusal {
	if !v.Is(Array) {
		return wrongType(p, "an array of objects", v)
	}
	if n := len(v.Elements); n == 0 || n > 128 {
		return lengthFault(p, n, 128)
	}
	for i := range v.Elements {
		e, at := &v.Elements[i], fmt.Sprintf("%s[%d]", p, i)
		all := []string{"id", "type", "function"}
		if r := c.members(e, at, all, all); r != nil {
			return r
		}
		if r := c.constant(e.Get("type"), at+".type", "function"); r != nil {
			return r
		}
		if id := e.Get("id"); !id.Is(String) || id.Text(c.body) == "" {
			return wrongType(at+".id", "a string", id)
		} else if n := len(id.Text(c.body)); n > maxChatID {
			return fault("string_above_max_length", at+".id", "Invalid '%s.id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, maxChatID, n)
		}
		f := e.Get("function")
		both := []string{"name", "arguments"}
		if r := c.members(f, at+".function", both, both); r != nil {
			return r
		}
		if r := c.name(f.Get("name"), at+".function.name"); r != nil {
			return r
		}
		if a := f.Get("arguments"); !a.Is(String) {
			return wrongType(at+".function.arguments", "a string", a)
		}
	}
	return nil
}

// maxChatID is the longest id of a call.
const maxChatID = 40

// history checks what may follow what.
func (c *chatChecker) history(q *Chat, _ *Value) *Refusal {
	seen := map[string]bool{}
	for i := 0; i < len(q.Messages); i++ {
		m := &q.Messages[i]
		if m.Role == "tool" {
			return fault("", fmt.Sprintf("messages.[%d].role", i), "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
		}
		ids := c.ids(m)
		if len(ids) == 0 {
			continue
		}
		for _, id := range ids {
			if seen[id] {
				return fault("", fmt.Sprintf("messages.[%d].tool_calls", i), "Duplicate value for 'tool_call_id' of '%s'", id)
			}
			seen[id] = true
		}
		answered, called := map[string]bool{}, i
		for i+1 < len(q.Messages) && q.Messages[i+1].Role == "tool" {
			i++
			id := q.Messages[i].Value.Get("tool_call_id").Text(c.body)
			if answered[id] || !slices.Contains(ids, id) {
				return fault("", fmt.Sprintf("messages.[%d].tool_call_id", i), "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
			}
			answered[id] = true
		}
		if left := missing(ids, answered); len(left) > 0 {
			return fault("", fmt.Sprintf("messages.[%d].role", called+1), "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
				"The following tool_call_ids did not have response messages: %s", strings.Join(left, ", "))
		}
	}
	if q.Messages[len(q.Messages)-1].Role == "assistant" {
		return fault("", "messages", "Assistant response prefill is not supported. The conversation must end with a user message.")
	}
	return nil
}

func (c *chatChecker) ids(m *ChatMessage) (ids []string) {
	v := m.Value.Get("tool_calls")
	if v == nil {
		return nil
	}
	for i := range v.Elements {
		ids = append(ids, v.Elements[i].Get("id").Text(c.body))
	}
	return ids
}
