package strict

import (
	"fmt"
	"slices"
)

// input checks every item by itself.
func (c *responsesChecker) input(q *Responses, v *Value) *Refusal {
	in := v.Get("input")
	if in.Is(String) {
		q.Items = []Item{{Type: "message", Role: "user", Value: in, Text: in.Text(c.body)}}
		return c.said(q.Items[0].Text, "input")
	}
	if r := c.list(in, "input"); r != nil {
		return r
	}
	q.Items = make([]Item, len(in.Elements))
	for i := range in.Elements {
		m, p := &q.Items[i], fmt.Sprintf("input[%d]", i)
		m.Value = &in.Elements[i]
		if !m.Value.Is(Object) {
			return wrongType(p, "an object", m.Value)
		}
		if r := c.item(m, p); r != nil {
			return r
		}
	}
	return nil
}

func (c *responsesChecker) item(m *Item, p string) *Refusal {
	m.Type = m.Value.Get("type").Text(c.body)
	if m.Value.Get("type") == nil && m.Value.Get("role") != nil {
		m.Type = "message" // which needs not be said
	}
	var check func(*Item, string) *Refusal
	switch m.Type {
	case "message":
		check = c.message
	case "reasoning":
		check = c.reasoning
	case "function_call":
		check = c.call
	case "function_call_output":
		check = c.output
	default:
		if m.Value.Get("type") == nil {
			return absent(p + ".type")
		}
		return c.constant(m.Value.Get("type"), p+".type", "message", "reasoning", "function_call", "function_call_output")
	}
	if r := check(m, p); r != nil {
		return r
	}
	if r := c.id(m, p); r != nil {
		return r
	}
	return c.oneOfStatus(m.Value, p)
}

func (c *responsesChecker) message(m *Item, p string) *Refusal {
	if m.Value.Get("role") == nil {
		return absent(p + ".role")
	}
	m.Role = m.Value.Get("role").Text(c.body)
	known, required := []string{"type", "role", "content"}, []string{"role", "content"}
	parts := []string{"input_text"}
	switch m.Role {
	case "user":
		parts = []string{"input_text", "input_image", "input_file"}
	case "system", "developer":
	case "assistant":
		parts = []string{"output_text", "refusal"}
		known = append(known, "id", "status", "phase")
		if m.Value.Get("id") != nil {
			required = append(required, "status")
		}
	default:
		return c.constant(m.Value.Get("role"), p+".role", "assistant", "system", "developer", "user")
	}
	if r := c.members(m.Value, p, known, required); r != nil {
		return r
	}
	if v := m.Value.Get("phase"); v != nil && !v.Is(Null) {
		if r := c.constant(v, p+".phase", "commentary", "final_answer"); r != nil {
			return r
		}
	}
	content := m.Value.Get("content")
	if content.Is(String) && m.Value.Get("id") == nil {
		m.Text = content.Text(c.body)
		return c.said(m.Text, p+".content")
	}
	return c.parts(m, content, p+".content", parts)
}

// parts checks a list of parts, none of them empty.
func (c *responsesChecker) parts(m *Item, v *Value, p string, allowed []string) *Refusal {
	if r := c.list(v, p); r != nil {
		return r
	}
	for i := range v.Elements {
		e, at := &v.Elements[i], fmt.Sprintf("%s[%d]", p, i)
		if !e.Is(Object) {
			return wrongType(at, "an object", e)
		}
		if e.Get("type") == nil {
			return absent(at + ".type")
		}
		kind := e.Get("type").Text(c.body)
		if !slices.Contains(allowed, kind) {
			return fault("invalid_value", at+".type", "Invalid value: '%s'. Supported values are: %s.", kind, alternatives(allowed))
		}
		m.Parts = append(m.Parts, e)
		if r := c.part(m, e, kind, at); r != nil {
			return r
		}
	}
	return nil
}

func (c *responsesChecker) part(m *Item, v *Value, kind, p string) *Refusal {
	known, required, text := []string{"type", "text"}, []string{"type", "text"}, "text"
	switch kind {
	case "output_text":
		known, required = append(known, "annotations", "logprobs"), append(required, "annotations")
	case "refusal":
		known, required, text = []string{"type", "refusal"}, []string{"type", "refusal"}, "refusal"
	case "input_image":
		known, required, text = []string{"type", "image_url", "file_id", "detail"}, []string{"type"}, ""
	case "input_file":
		known, required, text = []string{"type", "file_id", "file_data", "file_url", "filename"}, []string{"type"}, ""
	}
	// A breakpoint is for what comes in; of a developer's text no vendor says
	// that it may carry one.
	if m.Role == "user" || m.Type == "function_call_output" {
		known = append(known, "prompt_cache_breakpoint")
	}
	if r := c.members(v, p, known, required); r != nil {
		return r
	}
	if b := v.Get("prompt_cache_breakpoint"); b != nil {
		if r := c.breakpoint(b, p+".prompt_cache_breakpoint"); r != nil {
			return r
		}
		c.marks = append(c.marks, cut(v, "prompt_cache_breakpoint"))
	}
	if a := v.Get("annotations"); a != nil && !a.Is(Array) {
		return wrongType(p+".annotations", "an array", a)
	}
	if text == "" {
		return c.fields(v, p, known[1:4]...)
	}
	inner := v.Get(text)
	if !inner.Is(String) {
		return wrongType(p+"."+text, "a string", inner)
	}
	said := inner.Text(c.body)
	m.Text += said
	return c.said(said, p+"."+text)
}

func (c *responsesChecker) reasoning(m *Item, p string) *Refusal {
	known := []string{"type", "id", "summary", "encrypted_content", "content", "status"}
	if r := c.members(m.Value, p, known, []string{"id", "summary"}); r != nil {
		return r
	}
	if r := c.texts(m.Value.Get("summary"), p+".summary", "summary_text"); r != nil {
		return r
	}
	if v := m.Value.Get("content"); v != nil && !v.Is(Null) {
		if r := c.texts(v, p+".content", "reasoning_text"); r != nil {
			return r
		}
	}
	v := m.Value.Get("encrypted_content")
	if v == nil || v.Is(Null) {
		return notKept("input", m.Value.Get("id").Text(c.body))
	}
	return c.fields(m.Value, p, "encrypted_content")
}

// texts checks a list, which may be empty, of parts that are texts.
func (c *responsesChecker) texts(v *Value, p, kind string) *Refusal {
	if !v.Is(Array) {
		return wrongType(p, "an array of objects", v)
	}
	both := []string{"type", "text"}
	for i := range v.Elements {
		e, at := &v.Elements[i], fmt.Sprintf("%s[%d]", p, i)
		if r := c.members(e, at, both, both); r != nil {
			return r
		}
		if r := c.constant(e.Get("type"), at+".type", kind); r != nil {
			return r
		}
		if t := e.Get("text"); !t.Is(String) {
			return wrongType(at+".text", "a string", t)
		}
	}
	return nil
}

func (c *responsesChecker) call(m *Item, p string) *Refusal {
	if r := c.members(m.Value, p, []string{"type", "id", "call_id", "name", "arguments", "status"}, []string{"call_id", "name", "arguments"}); r != nil {
		return r
	}
	if r := c.name(m.Value.Get("name"), p+".name"); r != nil {
		return r
	}
	if a := m.Value.Get("arguments"); !a.Is(String) {
		return wrongType(p+".arguments", "a string", a)
	}
	return c.callID(m, p)
}

// callID checks and takes the id that pairs a call with its output.
func (c *responsesChecker) callID(m *Item, p string) *Refusal {
	v := m.Value.Get("call_id")
	if !v.Is(String) {
		return wrongType(p+".call_id", "a string", v)
	}
	m.Call = v.Text(c.body)
	if n := len(m.Call); n > maxCallID {
		return fault("string_above_max_length", p+".call_id", "Invalid '%s.call_id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", p, maxCallID, n)
	}
	return c.said(m.Call, p+".call_id")
}

// maxCallID is the longest id of a call.
const maxCallID = 64

func (c *responsesChecker) output(m *Item, p string) *Refusal {
	if r := c.members(m.Value, p, []string{"type", "id", "call_id", "output", "status"}, []string{"call_id", "output"}); r != nil {
		return r
	}
	if r := c.callID(m, p); r != nil {
		return r
	}
	out := m.Value.Get("output")
	if out.Is(String) {
		m.Text = out.Text(c.body)
		return c.said(m.Text, p+".output")
	}
	return c.parts(m, out, p+".output", []string{"input_text", "input_image", "input_file"})
}
