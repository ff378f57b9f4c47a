package strict

import "strings"

// The rules of an Anthropic history: what may follow what. Consecutive user
// messages are one turn, and so are consecutive assistant messages.

const orDirective = "; the directive-only form (content: [] with output_config) is accepted at any position"

// systemContent checks the content of a system message.
func (c *checker) systemContent(m *Message, p *place) *Refusal {
	v := m.Content
	turn := m.Value.Get("clear_at").Text(c.body) == "next_user_message"
	directive := m.Value.Get("output_config") != nil
	if turn && directive {
		return invalid("%s: output_config is not permitted on a turn-scoped system message (clear_at: 'next_user_message')", p)
	}
	if v.Is(String) {
		switch {
		case v.End-v.Start == 2:
			return invalid("%s: system content must contain at least one block", p)
		case c.blank(v):
			return whitespace()
		}
		m.Blocks = []Block{{Type: "text", Value: v}}
		return nil
	}
	if r := c.list(v, p.in("content")); r != nil {
		return r
	}
	if len(v.Elements) == 0 && !directive {
		return invalid("%s: system content must contain at least one block", p)
	}
	for i := range v.Elements {
		e := &v.Elements[i]
		switch kind := e.Get("type").Text(c.body); {
		case kind == "tool_addition", kind == "tool_removal":
			return extra(p.in("content").at(i).in(kind))
		case kind != "text" && turn:
			return invalid("%s: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')", p)
		case kind != "text":
			return invalid("%s: role 'system' supports text, tool_addition, and tool_removal blocks only", p)
		case turn && e.Get("cache_control") != nil:
			return invalid("%s: cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')", p.in("content").at(i))
		}
	}
	var r *Refusal
	m.Blocks, r = c.blocks(v, p.in("content"), textBlocks)
	return r
}

func (c *checker) history(q *Request, _ *Value) *Refusal {
	for _, rule := range []func(*Request) *Refusal{c.systemPlaces, c.uniqueCalls, c.pairs, c.lastMessage, c.thoughts} {
		if r := rule(q); r != nil {
			return r
		}
	}
	return nil
}

// systemPlaces judges each run of system messages as one section.
func (c *checker) systemPlaces(q *Request) *Refusal {
	p := root("messages")
	for i := 0; i < len(q.Messages); i++ {
		if q.Messages[i].Role != "system" {
			continue
		}
		from, words := i, false
		for ; i < len(q.Messages) && q.Messages[i].Role == "system"; i++ {
			words = words || len(q.Messages[i].Blocks) > 0
		}
		switch {
		case !words: // directives only, anywhere
		case from == 0:
			return invalid("%s: use the top-level 'system' parameter for the initial system prompt%s", p.at(0), orDirective)
		case q.Messages[from-1].Role != "user":
			return invalid("%s: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result%s", p.at(from), orDirective)
		case i < len(q.Messages) && q.Messages[i].Role != "assistant":
			return invalid("%s: role 'system' must precede an 'assistant' message or end the array%s", p.at(i-1), orDirective)
		}
		i--
	}
	return nil
}

func (c *checker) uniqueCalls(q *Request) *Refusal {
	seen := map[string]bool{}
	for i := range q.Messages {
		for j := range q.Messages[i].Blocks {
			b := &q.Messages[i].Blocks[j]
			if b.Type != "tool_use" {
				continue
			}
			id := b.Value.Get("id").Text(c.body)
			if seen[id] {
				return invalid("%s: `tool_use` ids must be unique", root("messages").at(i).in("content").at(j))
			}
			seen[id] = true
		}
	}
	return nil
}

// pairs checks that each assistant turn's calls are answered at the very
// beginning of the next turn, all of them, once, and nothing else is.
func (c *checker) pairs(q *Request) *Refusal {
	p := root("messages")
	for i := 0; i < len(q.Messages); {
		var calls []string
		asked := i // the last message that called
		for ; i < len(q.Messages) && q.Messages[i].Role == "assistant"; i++ {
			if ids := c.calls(&q.Messages[i]); len(ids) > 0 {
				calls, asked = append(calls, ids...), i
			}
		}
		open := map[string]bool{}
		for _, id := range calls {
			open[id] = true
		}
		answered := map[string]bool{}
		first := true // nothing but results yet in this turn
		for ; i < len(q.Messages) && q.Messages[i].Role != "assistant"; i++ {
			for j := range q.Messages[i].Blocks {
				b := &q.Messages[i].Blocks[j]
				if b.Type != "tool_result" {
					first = false
					continue
				}
				id, at := b.Value.Get("tool_use_id").Text(c.body), p.at(i).in("content").at(j)
				switch {
				case answered[id]:
					return invalid("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", at, id)
				case !open[id]:
					return invalid("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", at, id)
				case !first:
					return unanswered(p.at(asked), missing(calls, answered))
				}
				answered[id] = true
			}
		}
		if left := missing(calls, answered); len(left) > 0 {
			return unanswered(p.at(asked), left)
		}
	}
	return nil
}

func missing(calls []string, answered map[string]bool) (left []string) {
	for _, id := range calls {
		if !answered[id] {
			left = append(left, id)
		}
	}
	return left
}

func unanswered(p *place, ids []string) *Refusal {
	return invalid("%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", p, strings.Join(ids, ", "))
}

func (c *checker) calls(m *Message) (ids []string) {
	for j := range m.Blocks {
		if m.Blocks[j].Type == "tool_use" {
			ids = append(ids, m.Blocks[j].Value.Get("id").Text(c.body))
		}
	}
	return ids
}

// lastMessage refuses to continue words that were put into the model's mouth.
func (c *checker) lastMessage(q *Request) *Refusal {
	last := &q.Messages[len(q.Messages)-1]
	if last.Role != "assistant" {
		return nil
	}
	if b := &last.Blocks[len(last.Blocks)-1]; c.rules.Old && b.Type == "text" && ended(b.Text(c.body)) {
		return invalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
}

// thoughts checks where reasoning may stand. Whose it is only its signer knows.
func (c *checker) thoughts(q *Request) *Refusal {
	lastTurn := -1
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != "assistant" {
			continue
		}
		if kind := m.Blocks[len(m.Blocks)-1].Type; kind == "thinking" || kind == "redacted_thinking" {
			return invalid("%s: The final block in an assistant message cannot be `thinking`.", root("messages").at(i))
		}
		lastTurn = i
	}
	if q.Thinking.Get("type").Text(c.body) != "enabled" || lastTurn < 0 {
		return nil
	}
	first := q.Messages[lastTurn].Blocks[0].Type
	if len(c.calls(&q.Messages[lastTurn])) > 0 && first != "thinking" && first != "redacted_thinking" {
		return invalid("%s.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, "+
			"a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). "+
			"We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.",
			root("messages").at(lastTurn), first)
	}
	return nil
}
