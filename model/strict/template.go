package strict

import (
	"net/http"
)

// What the variants of the Chat Completions API want beside OpenAI's rules.
// DeepSeek's words are of its own API; those of templates are what the
// templates raise, which vLLM answers with status 400 and llama.cpp with 500
// (provider-facts.md, 2.6).

// developer refuses a role that only OpenAI's own API has.
func (c *chatChecker) developer(p string) *Refusal {
	switch {
	case c.rules.OpenAI(), c.rules.Template == Plain:
		return nil
	case c.rules.Template == AnyTemplate:
		return fault("invalid_request_error", "", "Failed to deserialize the JSON body into the target type: %s.role: unknown variant `developer`, "+
			"expected one of `system`, `user`, `assistant`, `tool`", p)
	}
	return c.raise("Unexpected message role.")
}

// raise is what becomes of a template's exception.
func (c *chatChecker) raise(words string) *Refusal {
	if c.rules.Jinja {
		return &Refusal{Status: http.StatusInternalServerError, Type: "server_error", Code: "500", Message: "Jinja Exception: " + words}
	}
	return &Refusal{Status: http.StatusBadRequest, Type: "BadRequestError", Code: "400", Message: words}
}

// breakpoint checks an explicit cache breakpoint.
func (c *chatChecker) breakpoint(v *Value, p string) *Refusal {
	if r := c.members(v, p, []string{"mode", "ttl"}, []string{"mode"}); r != nil {
		return r
	}
	if ttl := v.Get("ttl"); ttl != nil {
		if r := c.constant(ttl, p+".ttl", "30m", "12h"); r != nil {
			return r
		}
	}
	return c.constant(v.Get("mode"), p+".mode", "explicit")
}

// template raises what the template does.
func (c *chatChecker) template(q *Chat, _ *Value) *Refusal {
	if c.rules.Template != SystemFirst && c.rules.Template != Alternating {
		return nil
	}
	from := 0
	if q.Messages[0].Role == "system" {
		from = 1
	}
	for i := from; i < len(q.Messages); i++ {
		if q.Messages[i].Role == "system" && c.rules.Template == SystemFirst {
			return c.raise("System message must be at the beginning.")
		}
	}
	if c.rules.Template == Alternating && !c.alternate(q.Messages[from:]) {
		if q.calls() {
			return c.raise("After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.")
		}
		return c.raise("Conversation roles must alternate user/assistant/user/assistant/...")
	}
	return nil
}

// alternate reports whether user and assistant messages alternate, beginning
// with the user. What calls tools and their results do not count.
func (c *chatChecker) alternate(messages []ChatMessage) bool {
	turn := "user"
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == "tool", m.Role == "assistant" && m.Value.Get("tool_calls") != nil:
		case m.Role != turn:
			return false
		case turn == "user":
			turn = "assistant"
		default:
			turn = "user"
		}
	}
	return true
}

func (q *Chat) calls() bool {
	for i := range q.Messages {
		if q.Messages[i].Role == "tool" {
			return true
		}
	}
	return false
}

// reasoning refuses an answer with calls that lost what was thought before.
func (c *chatChecker) reasoning(q *Chat, _ *Value) *Refusal {
	if !c.rules.Reasoning {
		return nil
	}
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Value.Get("tool_calls") != nil && m.Value.Get("reasoning_content") == nil {
			return fault("invalid_request_error", "", "The reasoning_content in the thinking mode must be passed back to the API.")
		}
	}
	return nil
}
