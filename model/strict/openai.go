package strict

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Chat is a Chat Completions body that was accepted.
type Chat struct {
	Body         []byte
	Model        string
	Stream       bool
	IncludeUsage bool
	MaxTokens    int64 // 0: not given
	Tools        *Value
	ToolChoice   *Value
	Messages     []ChatMessage
	List         *Value // of the messages
	Root         *Value
	CacheKey     string
	Marks        []Span // what to leave out to read the body without cache breakpoints, in order
}

// ChatMessage is one message.
type ChatMessage struct {
	Role  string
	Value *Value
	Text  string // its texts, one after another
}

// Template is what a server of the Chat Completions API renders messages with,
// as far as it refuses some.
type Template string

// The templates.
const (
	AnyTemplate Template = ""            // takes system messages anywhere (OpenAI, DeepSeek)
	SystemFirst Template = "first"       // one system message, at the beginning (Qwen)
	Alternating Template = "alternating" // that, and user and assistant alternate (Gemma, Mistral)
	Plain       Template = "plain"       // refuses nothing, whatever it makes of it (gpt-oss, MiniMax)
)

// ChatRules says which variant of the Chat Completions API is meant. The zero
// value is OpenAI's own with its newest models.
type ChatRules struct {
	Template Template
	// Jinja: what the template refuses is answered as llama.cpp does it, as a
	// fault of the server's.
	Jinja bool
	// Reasoning: reasoning_content is known, and no answer with calls may be
	// without it (DeepSeek, thinking).
	Reasoning bool
}

// OpenAI reports whether the rules are those of OpenAI's own API, which knows
// developers and explicit cache breakpoints.
func (r ChatRules) OpenAI() bool { return r.Template == AnyTemplate && !r.Reasoning }

// chatChecker checks a Chat Completions body.
type chatChecker struct {
	body  []byte
	rules ChatRules
	marks []Span // breakpoints, each with one comma
}

// fault is a refusal that names its parameter.
func fault(code, param, format string, args ...any) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

func unknown(param string) *Refusal {
	return fault("unknown_parameter", param, "Unknown parameter: '%s'.", param)
}

func absent(param string) *Refusal {
	return fault("missing_required_parameter", param, "Missing required parameter: '%s'.", param)
}

func wrongType(param, want string, v *Value) *Refusal {
	return fault("invalid_type", param, "Invalid type for '%s': expected %s, but got %s instead.", param, want, v.called())
}

// called names a value as the vendor's errors do.
func (v *Value) called() string {
	switch v.Kind {
	case Object:
		return "an object"
	case Array:
		return "an array"
	case String:
		return "a string"
	case Number:
		return "a number"
	case Bool:
		return "a boolean"
	}
	return "null"
}

// members checks an object's members: none twice, none unknown, all required.
func (c *chatChecker) members(v *Value, param string, known, required []string) *Refusal {
	dot := param
	if dot != "" {
		dot += "."
	}
	if !v.Is(Object) {
		return wrongType(param, "an object", v)
	}
	for i := range v.Members {
		name := v.Members[i].Name
		if !slices.Contains(known, name) {
			return unknown(dot + name)
		}
		for j := range i {
			if v.Members[j].Name == name {
				return fault("duplicate_parameter", dot+name, "Duplicate parameter: '%s%s'.", dot, name)
			}
		}
	}
	for _, name := range required {
		if v.Get(name) == nil {
			return absent(dot + name)
		}
	}
	return nil
}

// OpenAIChat reads the body of a POST /v1/chat/completions. Its error is a
// *Refusal.
func OpenAIChat(body []byte, rules ChatRules) (*Chat, error) {
	if len(body) > MaxBody {
		return nil, tooLarge()
	}
	v, err := Parse(body)
	if err != nil {
		return nil, fault("", "", "We could not parse the JSON body of your request. (%s)", strings.TrimPrefix(err.Error(), "The request body is not valid JSON: "))
	}
	c := &chatChecker{body: body, rules: rules}
	q := &Chat{Body: body, Root: &v, CacheKey: v.Get("prompt_cache_key").Text(body)}
	for _, step := range []func(*Chat, *Value) *Refusal{c.top, c.tools, c.messages, c.history, c.template, c.reasoning} {
		if r := step(q, &v); r != nil {
			return nil, r
		}
	}
	q.Marks = c.marks
	return q, nil
}

func (c *chatChecker) top(q *Chat, v *Value) *Refusal {
	known := []string{"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "tools", "tool_choice",
		"parallel_tool_calls", "temperature", "top_p", "stop", "seed", "user", "metadata", "store", "prompt_cache_key", "reasoning_effort",
		"presence_penalty", "frequency_penalty", "n", "response_format", "service_tier", "safety_identifier", "verbosity"}
	if r := c.members(v, "", known, []string{"model", "messages"}); r != nil {
		return r
	}
	for _, check := range []struct {
		kind  Kind
		want  string
		names []string
	}{
		{String, "a string", []string{"model", "user", "prompt_cache_key", "reasoning_effort", "service_tier", "safety_identifier", "verbosity"}},
		{Bool, "a boolean", []string{"stream", "store", "parallel_tool_calls"}},
		{Number, "a decimal", []string{"temperature", "top_p", "presence_penalty", "frequency_penalty"}},
		{Array, "an array of objects", []string{"messages", "tools"}},
	} {
		for _, name := range check.names {
			if m := v.Get(name); m != nil && m.Kind != check.kind {
				return wrongType(name, check.want, m)
			}
		}
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "seed", "n"} {
		m := v.Get(name)
		if m == nil {
			continue
		}
		n, ok := m.Int(c.body)
		if !ok {
			return wrongType(name, "an integer", m)
		}
		if name != "seed" && n < 1 {
			return fault("integer_below_min_value", name, "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", name, n)
		}
		if strings.HasPrefix(name, "max") {
			q.MaxTokens = n
		}
	}
	if v.Get("max_tokens") != nil && v.Get("max_completion_tokens") != nil {
		return fault("invalid_parameter_combination", "", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	q.Model, q.Stream, q.Tools = v.Get("model").Text(c.body), v.Get("stream").True(c.body), v.Get("tools")
	q.ToolChoice = v.Get("tool_choice")
	if q.Model == "" {
		return fault("", "model", "you must provide a model parameter")
	}
	return c.streamOptions(q, v)
}

func (c *chatChecker) streamOptions(q *Chat, v *Value) *Refusal {
	o := v.Get("stream_options")
	if o == nil {
		return nil
	}
	if !q.Stream {
		return fault("", "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if r := c.members(o, "stream_options", []string{"include_usage", "include_obfuscation"}, nil); r != nil {
		return r
	}
	for i := range o.Members {
		if m := &o.Members[i]; !m.Value.Is(Bool) {
			return wrongType("stream_options."+m.Name, "a boolean", &m.Value)
		}
	}
	q.IncludeUsage = o.Get("include_usage").True(c.body)
	return nil
}

func (c *chatChecker) tools(q *Chat, v *Value) *Refusal {
	choice := v.Get("tool_choice")
	if q.Tools == nil {
		if choice != nil {
			return fault("", "tool_choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
		}
		return nil
	}
	if n := len(q.Tools.Elements); n == 0 || n > 128 {
		return lengthFault("tools", n, 128)
	}
	seen := map[string]bool{}
	for i := range q.Tools.Elements {
		t, p := &q.Tools.Elements[i], fmt.Sprintf("tools[%d]", i)
		if r := c.members(t, p, []string{"type", "function"}, []string{"type", "function"}); r != nil {
			return r
		}
		if r := c.constant(t.Get("type"), p+".type", "function"); r != nil {
			return r
		}
		f := t.Get("function")
		p += ".function"
		if r := c.members(f, p, []string{"name", "description", "parameters", "strict"}, []string{"name"}); r != nil {
			return r
		}
		if r := c.name(f.Get("name"), p+".name"); r != nil {
			return r
		}
		if d := f.Get("description"); d != nil && !d.Is(String) {
			return wrongType(p+".description", "a string", d)
		}
		if s := f.Get("strict"); s != nil && !s.Is(Bool) && !s.Is(Null) {
			return wrongType(p+".strict", "a boolean", s)
		}
		if s := f.Get("parameters"); s != nil && !s.Is(Object) {
			return wrongType(p+".parameters", "an object", s)
		}
		name := f.Get("name").Text(c.body)
		if seen[name] {
			return fault("", p+".name", "Tool names must be unique: '%s'.", name)
		}
		seen[name] = true
	}
	return c.choice(choice)
}

func (c *chatChecker) choice(v *Value) *Refusal {
	switch {
	case v == nil:
		return nil
	case v.Is(String) && slices.Contains([]string{"none", "auto", "required"}, v.Text(c.body)):
		return nil
	case v.Is(Object):
		return c.members(v, "tool_choice", []string{"type", "function"}, []string{"type", "function"})
	}
	return fault("invalid_value", "tool_choice", "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", v.Text(c.body))
}

func (c *chatChecker) constant(v *Value, param string, words ...string) *Refusal {
	if v.Is(String) && slices.Contains(words, v.Text(c.body)) {
		return nil
	}
	return fault("invalid_value", param, "Invalid value: '%s'. Supported values are: %s.", v.Text(c.body), alternatives(words))
}

func (c *chatChecker) name(v *Value, param string) *Refusal {
	if !v.Is(String) {
		return wrongType(param, "a string", v)
	}
	if !isName(v.Text(c.body)) {
		return fault("invalid_value", param, "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.", param)
	}
	return nil
}

func lengthFault(param string, n, most int) *Refusal {
	if n == 0 {
		return fault("empty_array", param, "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param)
	}
	return fault("array_above_max_length", param, "Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", param, most, n)
}
