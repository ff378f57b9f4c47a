package strict

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Responses is a Responses body that was accepted.
type Responses struct {
	Body       []byte
	Root       *Value
	Model      string
	Stream     bool
	Encrypted  bool   // reasoning is wanted with its encrypted content
	CacheKey   string // "" for none
	Explicit   bool   // no implicit cache breakpoint is wanted
	Tools      *Value
	ToolChoice *Value
	Items      []Item
	Marks      []Span // cache breakpoints, each with one comma
}

// Unmarked writes the bytes of a span without the cache breakpoints in it.
func (q *Responses) Unmarked(w io.Writer, s Span) { unmarked(w, q.Body, q.Marks, s) }

// Item is one item of the input.
type Item struct {
	Type  string // message, reasoning, function_call or function_call_output
	Role  string // of a message
	ID    string
	Call  string // call_id
	Value *Value
	Text  string   // its texts, one after another
	Parts []*Value // of a content or an output that is a list
}

// Answers reports whether an item is one that a model made.
func (i *Item) Answers() bool {
	return i.Type == "reasoning" || i.Type == "function_call" || i.Role == "assistant"
}

// responsesChecker checks a Responses body. The vendor's two APIs have the same
// shapes of errors.
type responsesChecker struct {
	chatChecker
	needs func(item string) string
}

// OpenAIResponses reads the body of a stateless POST /v1/responses. needs
// returns the id of the reasoning that an item was made after, "" for none, as
// only who made it knows. Its error is a *Refusal.
func OpenAIResponses(body []byte, needs func(item string) string) (*Responses, error) {
	if len(body) > MaxBody {
		return nil, tooLarge()
	}
	v, err := Parse(body)
	if err != nil {
		return nil, fault("", "", "We could not parse the JSON body of your request. (%s)", strings.TrimPrefix(err.Error(), "The request body is not valid JSON: "))
	}
	if needs == nil {
		needs = func(string) string { return "" }
	}
	c := &responsesChecker{chatChecker: chatChecker{body: body}, needs: needs}
	q := &Responses{Body: body, Root: &v}
	for _, step := range []func(*Responses, *Value) *Refusal{c.top, c.kept, c.cache, c.tools, c.input, c.history} {
		if r := step(q, &v); r != nil {
			return nil, r
		}
	}
	q.Marks = c.marks
	return q, nil
}

func (c *responsesChecker) top(q *Responses, v *Value) *Refusal {
	known := []string{"model", "input", "instructions", "stream", "stream_options", "max_output_tokens", "max_tool_calls", "tools", "tool_choice",
		"parallel_tool_calls", "temperature", "top_p", "top_logprobs", "truncation", "user", "safety_identifier", "metadata", "store", "include",
		"reasoning", "text", "service_tier", "background", "previous_response_id", "conversation", "prompt", "context_management",
		"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"}
	if r := c.members(v, "", known, []string{"model", "input"}); r != nil {
		return r
	}
	for _, check := range []struct {
		kind  Kind
		want  string
		names []string
	}{
		{String, "a string", []string{"model", "instructions", "user", "safety_identifier", "prompt_cache_key", "service_tier", "truncation", "previous_response_id", "prompt_cache_retention"}},
		{Bool, "a boolean", []string{"stream", "store", "background", "parallel_tool_calls"}},
		{Number, "a decimal", []string{"temperature", "top_p"}},
		{Array, "an array of objects", []string{"tools", "include", "context_management"}},
		{Object, "an object", []string{"reasoning", "text", "metadata", "stream_options", "prompt_cache_options"}},
	} {
		for _, name := range check.names {
			if m := v.Get(name); m != nil && m.Kind != check.kind {
				return wrongType(name, check.want, m)
			}
		}
	}
	// The vendor takes no smaller limit than 16.
	if r := c.atLeast(v, "max_output_tokens", 16); r != nil {
		return r
	}
	if r := c.atLeast(v, "max_tool_calls", 1); r != nil {
		return r
	}
	q.Model, q.Stream, q.Tools, q.ToolChoice = v.Get("model").Text(c.body), v.Get("stream").True(c.body), v.Get("tools"), v.Get("tool_choice")
	if q.Model == "" {
		return fault("", "model", "you must provide a model parameter")
	}
	if o := v.Get("stream_options"); o != nil && !q.Stream {
		return fault("", "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	} else if o != nil {
		return c.members(o, "stream_options", []string{"include_obfuscation"}, nil)
	}
	return nil
}

func (c *responsesChecker) atLeast(v *Value, name string, least int64) *Refusal {
	m := v.Get(name)
	if m == nil {
		return nil
	}
	n, ok := m.Int(c.body)
	if !ok {
		return wrongType(name, "an integer", m)
	}
	if n < least {
		return fault("integer_below_min_value", name, "Invalid '%s': integer below minimum value. Expected a value >= %d, but got %d instead.", name, least, n)
	}
	return nil
}

// kept refuses what only a vendor that keeps responses could answer, and reads
// what is to be included.
func (c *responsesChecker) kept(q *Responses, v *Value) *Refusal {
	if id := v.Get("previous_response_id"); id != nil {
		return fault("previous_response_not_found", "previous_response_id", "Previous response with id '%s' not found.", id.Text(c.body))
	}
	for _, name := range []string{"conversation", "prompt"} {
		if v.Get(name) != nil {
			return fault("", name, "Nothing is kept here: '%s' names nothing.", name)
		}
	}
	include := v.Get("include")
	if include == nil {
		return nil
	}
	for i := range include.Elements {
		e := &include.Elements[i]
		if r := c.constant(e, fmt.Sprintf("include[%d]", i), "reasoning.encrypted_content", "message.output_text.logprobs", "message.input_image.image_url"); r != nil {
			return r
		}
		q.Encrypted = q.Encrypted || e.Text(c.body) == "reasoning.encrypted_content"
	}
	return nil
}

// cache checks what is said about caches.
func (c *responsesChecker) cache(q *Responses, v *Value) *Refusal {
	q.CacheKey = v.Get("prompt_cache_key").Text(c.body)
	if n := len(q.CacheKey); n > 64 {
		return fault("string_above_max_length", "prompt_cache_key", "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", n)
	}
	o := v.Get("prompt_cache_options")
	if o == nil {
		return nil
	}
	if v.Get("prompt_cache_retention") != nil {
		return fault("invalid_parameter_combination", "", "Setting 'prompt_cache_options' and 'prompt_cache_retention' at the same time is not supported.")
	}
	if r := c.members(o, "prompt_cache_options", []string{"mode", "ttl", "prewarm", "comparison_response_id"}, nil); r != nil {
		return r
	}
	if m := o.Get("mode"); m != nil {
		if r := c.constant(m, "prompt_cache_options.mode", "implicit", "explicit"); r != nil {
			return r
		}
	}
	if m := o.Get("ttl"); m != nil {
		if r := c.constant(m, "prompt_cache_options.ttl", "30m", "12h"); r != nil {
			return r
		}
	}
	q.Explicit = o.Get("mode").Text(c.body) == "explicit"
	return nil
}

func (c *responsesChecker) tools(q *Responses, v *Value) *Refusal {
	if q.Tools == nil {
		if v.Get("tool_choice") != nil {
			return fault("", "tool_choice", "Tool choices other than 'auto' require 'tools' to be specified.")
		}
		return nil
	}
	if n := len(q.Tools.Elements); n == 0 || n > 128 {
		return lengthFault("tools", n, 128)
	}
	seen := map[string]bool{}
	for i := range q.Tools.Elements {
		t, p := &q.Tools.Elements[i], fmt.Sprintf("tools[%d]", i)
		// strict has another default than in the older API, so it has to be said.
		if r := c.members(t, p, []string{"type", "name", "description", "parameters", "strict"}, []string{"type", "name", "parameters", "strict"}); r != nil {
			return r
		}
		if r := c.constant(t.Get("type"), p+".type", "function"); r != nil {
			return r
		}
		if r := c.name(t.Get("name"), p+".name"); r != nil {
			return r
		}
		if d := t.Get("description"); d != nil && !d.Is(String) {
			return wrongType(p+".description", "a string", d)
		}
		if s := t.Get("strict"); !s.Is(Bool) && !s.Is(Null) {
			return wrongType(p+".strict", "a boolean", s)
		}
		if s := t.Get("parameters"); !s.Is(Object) {
			return wrongType(p+".parameters", "an object", s)
		}
		name := t.Get("name").Text(c.body)
		if seen[name] {
			return fault("", p+".name", "Tool names must be unique: '%s'.", name)
		}
		seen[name] = true
	}
	choice := q.ToolChoice
	if choice.Is(Object) {
		return c.members(choice, "tool_choice", []string{"type", "name"}, []string{"type", "name"})
	}
	return c.choice(choice)
}

// notKept is the refusal of an item that its id alone stands for.
func notKept(param, id string) *Refusal {
	return &Refusal{Status: http.StatusNotFound, Type: "invalid_request_error", Param: param,
		Message: fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)}
}

// id checks an item's id, where it has one.
func (c *responsesChecker) id(m *Item, p string) *Refusal {
	v := m.Value.Get("id")
	if v == nil {
		return nil
	}
	if !v.Is(String) {
		return wrongType(p+".id", "a string", v)
	}
	m.ID = v.Text(c.body)
	prefix := map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fc"}[m.Type]
	switch {
	case !strings.HasPrefix(m.ID, prefix):
		return fault("invalid_value", p+".id", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", p, m.ID, prefix)
	case !isID(m.ID):
		return fault("invalid_value", p+".id", "Invalid '%s.id': '%s'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.", p, m.ID)
	case len(m.ID) > 64:
		return fault("string_above_max_length", p+".id", "Invalid '%s.id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", p, len(m.ID))
	}
	return nil
}

// oneOfStatus checks a status, where there is one.
func (c *responsesChecker) oneOfStatus(v *Value, p string) *Refusal {
	if s := v.Get("status"); s != nil && !s.Is(Null) {
		return c.constant(s, p+".status", "in_progress", "completed", "incomplete")
	}
	return nil
}

func (c *responsesChecker) list(v *Value, p string) *Refusal {
	switch {
	case !v.Is(Array):
		return wrongType(p, "one of an array of objects or string", v)
	case len(v.Elements) == 0:
		return lengthFault(p, 0, 0)
	}
	return nil
}

// fields checks that members which are there are strings that are not empty.
func (c *responsesChecker) fields(v *Value, p string, names ...string) *Refusal {
	for _, name := range names {
		if m := v.Get(name); m != nil && !m.Is(String) {
			return wrongType(p+"."+name, "a string", m)
		} else if m != nil && m.Text(c.body) == "" {
			return c.said("", p+"."+name)
		}
	}
	return nil
}
