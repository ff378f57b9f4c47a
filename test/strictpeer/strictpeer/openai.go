package strictpeer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"weir/model/strict"
)

// openaiDialect speaks the Chat Completions API.
type openaiDialect struct {
	*Peer
	rules strict.ChatRules
}

func (d openaiDialect) refuse(w http.ResponseWriter, r *strict.Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "req_strictpeer")
	w.WriteHeader(r.Status)
	json.NewEncoder(w).Encode(map[string]any{"error": document(r)})
}

// document is the vendor's error, in which what is not known is null.
func document(r *strict.Refusal) map[string]any {
	kind, code := r.Type, r.Code
	switch {
	case r.Type == "server_error": // of llama.cpp, with a code of its own
	case r.Status == 401:
		kind, code = "invalid_request_error", "invalid_api_key"
	case r.Status == 429 && code == "":
		kind, code = "requests", "rate_limit_exceeded"
	case r.Status >= 500:
		kind = "server_error"
	}
	out := map[string]any{"message": r.Message, "type": kind, "param": nil, "code": nil}
	if r.Param != "" {
		out["param"] = r.Param
	}
	if n, err := strconv.Atoi(code); err == nil { // of local servers
		out["code"] = n
	} else if code != "" {
		out["code"] = code
	}
	return out
}

func (d openaiDialect) judge(r *http.Request, body []byte) (*Request, sink, error) {
	if given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); d.key != "" && given != d.key {
		return nil, nil, failure(401, "Incorrect API key provided: "+given+".")
	}
	q, err := strict.OpenAIChat(body, d.rules)
	if err != nil {
		return nil, nil, err
	}
	request := &Request{Model: q.Model, Free: q.ToolChoice.Text(body) != "none"}
	if q.Tools != nil {
		for i := range q.Tools.Elements {
			request.Tools = append(request.Tools, q.Tools.Elements[i].Get("function").Get("name").Text(body))
		}
	}
	var last []string
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role == "user" && request.First == "" {
			request.First = m.Text
		}
		switch {
		case m.Role == "assistant":
			last = nil
		case m.Role == "user", m.Role == "tool", i > 0 && d.rules.Template != strict.Plain:
			last = append(last, m.Text)
		}
	}
	request.Last = strings.Join(last, "\n\n")
	sink := &chatSink{q: q, rules: d.rules, store: func() {}}
	if len(q.Marks) > 0 {
		sink.usage, sink.store = d.breaks.reckon(asItems(q), d.minimum, d.now())
	} else {
		sink.usage = d.recent.reckon(promptOf(q), d.minimum, d.step)
	}
	return request, sink, nil
}

// asItems are a request's messages as the cache of breakpoints reads them.
func asItems(q *strict.Chat) *strict.Responses {
	r := &strict.Responses{Body: q.Body, Root: q.Root, CacheKey: q.CacheKey, Marks: q.Marks, Items: make([]strict.Item, len(q.Messages))}
	for i := range q.Messages {
		m := &q.Messages[i]
		r.Items[i] = strict.Item{Type: "message", Role: m.Role, Value: m.Value}
		if m.Role == "tool" {
			r.Items[i] = strict.Item{Type: "function_call_output", Value: m.Value}
		}
		if content := m.Value.Get("content"); content.Is(strict.Array) {
			for j := range content.Elements {
				r.Items[i].Parts = append(r.Items[i].Parts, &content.Elements[j])
			}
		}
	}
	return r
}

func promptOf(q *strict.Chat) prompt {
	list := q.List.Raw(q.Body)
	return prompt{q.Model, q.Tools.Raw(q.Body), list[:len(list)-1]}
}

// chatSink writes an answer as the Chat Completions API does.
type chatSink struct {
	q      *strict.Chat
	rules  strict.ChatRules
	usage  usage
	store  func() // what was written can be read from here on
	w      io.Writer
	calls  int
	output int // bytes
}

func (s *chatSink) streams() bool   { return s.q.Stream }
func (s *chatSink) out(w io.Writer) { s.w = w }

func (s *chatSink) data(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "data: %s\n\n", data)
	return err
}

func (s *chatSink) envelope(object string) map[string]any {
	return map[string]any{"id": "chatcmpl-strictpeer", "object": object, "created": 0, "model": s.q.Model}
}

func (s *chatSink) chunk(delta map[string]any, reason any) error {
	c := s.envelope("chat.completion.chunk")
	c["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}
	if s.q.IncludeUsage {
		c["usage"] = nil
	}
	return s.data(c)
}

func (s *chatSink) begin() error {
	s.store()
	return s.chunk(map[string]any{"role": "assistant", "content": ""}, nil)
}

func (s *chatSink) act(a Act, size int) error {
	switch a.kind {
	case say, think:
		member := "content"
		if a.kind == think {
			member = "reasoning_content"
		}
		s.output += len(a.text)
		for _, piece := range split(a.text, size) {
			if err := s.chunk(map[string]any{member: piece}, nil); err != nil {
				return err
			}
		}
	case call:
		s.output += len(a.text)
		index := s.calls
		s.calls++
		first := map[string]any{"index": index, "id": a.id, "type": "function", "function": map[string]any{"name": a.name, "arguments": ""}}
		if err := s.chunk(map[string]any{"tool_calls": []any{first}}, nil); err != nil {
			return err
		}
		for _, piece := range split(a.text, size) {
			more := map[string]any{"index": index, "function": map[string]any{"arguments": piece}}
			if err := s.chunk(map[string]any{"tool_calls": []any{more}}, nil); err != nil {
				return err
			}
		}
	case raw:
		_, err := io.WriteString(s.w, a.text)
		return err
	}
	return nil
}

func (s *chatSink) fault(status int, message string) error {
	return s.data(map[string]any{"error": document(failure(status, message))})
}

func (s *chatSink) reason(given string) string {
	switch {
	case given != "":
		return given
	case s.calls > 0:
		return "tool_calls"
	}
	return "stop"
}

func (s *chatSink) counts() map[string]any {
	prompt, output := s.usage.fresh+s.usage.read+s.usage.write, max(1, tokens(s.output))
	if s.rules.Reasoning {
		return map[string]any{
			"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
			"prompt_cache_hit_tokens": s.usage.read, "prompt_cache_miss_tokens": s.usage.fresh,
		}
	}
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
		"prompt_tokens_details": map[string]any{"cached_tokens": s.usage.read, "cache_write_tokens": s.usage.write},
	}
}

func (s *chatSink) end(reason string) error {
	if err := s.chunk(map[string]any{}, s.reason(reason)); err != nil {
		return err
	}
	if s.q.IncludeUsage {
		c := s.envelope("chat.completion.chunk")
		c["choices"], c["usage"] = []any{}, s.counts()
		if err := s.data(c); err != nil {
			return err
		}
	}
	_, err := io.WriteString(s.w, "data: [DONE]\n\n")
	return err
}

func (s *chatSink) whole(a Answer) any {
	s.store()
	parts, reason := merged(a)
	message := map[string]any{"role": "assistant", "content": nil}
	var calls []any
	for _, part := range parts {
		s.output += len(part.text)
		switch part.kind {
		case say:
			message["content"] = part.text
		case think:
			message["reasoning_content"] = part.text
		case call:
			s.calls++
			calls = append(calls, map[string]any{"id": part.id, "type": "function", "function": map[string]any{"name": part.name, "arguments": part.text}})
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	c := s.envelope("chat.completion")
	c["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": s.reason(reason)}}
	c["usage"] = s.counts()
	return c
}
