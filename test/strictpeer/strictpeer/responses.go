package strictpeer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"weir/model/strict"
)

// responsesDialect speaks the Responses API and keeps no responses.
type responsesDialect struct{ *Peer }

// made remembers of items which reasoning they were made after.
type made struct {
	mu    sync.Mutex
	n     int
	after map[string]string
}

// item makes the id of a new item.
func (m *made) item(prefix, reasoning string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	id := fmt.Sprintf("%s_strictpeer_%d", prefix, m.n)
	if reasoning != "" {
		m.after[id] = reasoning
	}
	return id
}

func (m *made) needs(item string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.after[item]
}

func (d responsesDialect) refuse(w http.ResponseWriter, r *strict.Refusal) {
	openaiDialect{Peer: d.Peer}.refuse(w, r)
}

func (d responsesDialect) judge(r *http.Request, body []byte) (*Request, sink, error) {
	if given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); d.key != "" && given != d.key {
		return nil, nil, failure(401, "Incorrect API key provided: "+given+".")
	}
	q, err := strict.OpenAIResponses(body, d.made.needs)
	if err != nil {
		return nil, nil, err
	}
	bound, refused := d.signer.verifyItems(q)
	if refused != nil {
		return nil, nil, refused
	}
	request := &Request{Model: q.Model, Free: q.ToolChoice.Text(body) != "none"}
	if q.Tools != nil {
		for i := range q.Tools.Elements {
			request.Tools = append(request.Tools, q.Tools.Elements[i].Get("name").Text(body))
		}
	}
	var last []string
	for i := range q.Items {
		m := &q.Items[i]
		if m.Role == "user" && request.First == "" {
			request.First = m.Text
		}
		if m.Answers() {
			last = nil
		} else {
			last = append(last, m.Text)
		}
	}
	request.Last = strings.Join(last, "\n\n")
	u, store := d.breaks.reckon(q, d.minimum, d.now())
	s := &responsesSink{peer: d.Peer, q: q, bond: bound, usage: u, store: store}
	s.id = d.made.item("resp", "")
	return request, s, nil
}

// responsesSink writes an answer as the Responses API does.
type responsesSink struct {
	peer  *Peer
	q     *strict.Responses
	bond  bond
	usage usage
	store func()
	w     io.Writer

	id       string
	sequence int
	output   []any
	open     *openItem
	thought  string // id of the newest reasoning
	calls    bool
	size     int // of the output, in bytes
	musing   int // of its reasoning
}

// openItem is the item that is being written.
type openItem struct {
	kind, id, text string
	call, name     string
}

func (s *responsesSink) streams() bool   { return s.q.Stream }
func (s *responsesSink) out(w io.Writer) { s.w = w }

func (s *responsesSink) event(kind string, members map[string]any) error {
	members["type"], members["sequence_number"] = kind, s.sequence
	s.sequence++
	data, err := json.Marshal(members)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, data)
	return err
}

// response is the response as far as it came.
func (s *responsesSink) response(status string) map[string]any {
	output := s.output
	if output == nil {
		output = []any{}
	}
	return map[string]any{"id": s.id, "object": "response", "created_at": 0, "model": s.q.Model, "status": status, "store": false,
		"output": output, "usage": nil, "error": nil, "incomplete_details": nil, "input_transformations": []any{}}
}

func (s *responsesSink) begin() error {
	s.store()
	if err := s.event("response.created", map[string]any{"response": s.response("in_progress")}); err != nil {
		return err
	}
	return s.event("response.in_progress", map[string]any{"response": s.response("in_progress")})
}

// at are the members that say which part of which item an event is of.
func (s *responsesSink) at(more ...any) map[string]any {
	m := map[string]any{"item_id": s.open.id, "output_index": len(s.output)}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// item is the open item as a response holds it.
func (s *responsesSink) item(status, phase string) map[string]any {
	o := s.open
	m := map[string]any{"type": o.kind, "id": o.id, "status": status}
	done := status == "completed"
	switch o.kind {
	case "message":
		m["role"], m["content"] = "assistant", []any{}
		if done {
			m["content"], m["phase"] = []any{outputText(o.text)}, phase
		}
	case "function_call":
		m["call_id"], m["name"], m["arguments"] = o.call, o.name, o.text
	case "reasoning":
		delete(m, "status")
		m["summary"], m["encrypted_content"] = []any{}, "not complete yet"
		if done {
			m["encrypted_content"] = s.sign()
		}
		if done && o.text != "" {
			m["summary"] = []any{map[string]any{"type": "summary_text", "text": o.text}}
		}
		if !s.q.Encrypted {
			delete(m, "encrypted_content")
		}
	}
	return m
}

func outputText(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// sign signs the open reasoning and makes it the one before the next.
func (s *responsesSink) sign() string {
	signature := s.peer.signer.sign("reasoning", s.open.id+s.open.text, s.bond)
	s.bond.before = sum(signature)
	return signature
}

// start begins an item, unless it would only continue the one that is open.
func (s *responsesSink) start(kind, prefix string, call, name string) (fresh bool, err error) {
	if s.open != nil && s.open.kind == kind && kind != "function_call" {
		return false, nil
	}
	if err := s.finish("commentary"); err != nil {
		return false, err
	}
	s.open = &openItem{kind: kind, call: call, name: name}
	if kind == "reasoning" {
		s.open.id = s.peer.made.item(prefix, "")
		s.thought = s.open.id
	} else {
		s.open.id = s.peer.made.item(prefix, s.thought)
	}
	return true, s.event("response.output_item.added", map[string]any{"output_index": len(s.output), "item": s.item("in_progress", "")})
}

// finish ends the item that is open.
func (s *responsesSink) finish(phase string) error {
	o := s.open
	if o == nil {
		return nil
	}
	var before []string // events of the item's one part, its text being done
	part, index := map[string]any{}, ""
	switch o.kind {
	case "message":
		before, part, index = []string{"response.output_text.done", "response.content_part.done"}, outputText(o.text), "content_index"
	case "reasoning":
		if o.text != "" {
			before, part, index = []string{"response.reasoning_summary_text.done", "response.reasoning_summary_part.done"},
				map[string]any{"type": "summary_text", "text": o.text}, "summary_index"
		}
	case "function_call":
		if err := s.event("response.function_call_arguments.done", s.at("name", o.name, "arguments", o.text)); err != nil {
			return err
		}
	}
	if before != nil {
		if err := s.event(before[0], s.at(index, 0, "text", o.text)); err != nil {
			return err
		}
		if err := s.event(before[1], s.at(index, 0, "part", part)); err != nil {
			return err
		}
	}
	item, at := s.item("completed", phase), len(s.output)
	s.open, s.output = nil, append(s.output, item)
	return s.event("response.output_item.done", map[string]any{"output_index": at, "item": item})
}

func (s *responsesSink) act(a Act, size int) error {
	switch a.kind {
	case say:
		return s.text("message", "msg", "response.content_part.added", "response.output_text.delta", "content_index", outputText(""), a.text, size)
	case think:
		return s.text("reasoning", "rs", "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta", "summary_index",
			map[string]any{"type": "summary_text", "text": ""}, a.text, size)
	case redacted:
		if err := s.finish("commentary"); err != nil {
			return err
		}
		if _, err := s.start("reasoning", "rs", "", ""); err != nil {
			return err
		}
		return s.finish("")
	case call:
		s.calls = true
		if _, err := s.start("function_call", "fc", a.id, a.name); err != nil {
			return err
		}
		s.open.text = a.text
		s.size += len(a.text)
		for _, piece := range split(a.text, size) {
			if err := s.event("response.function_call_arguments.delta", s.at("delta", piece)); err != nil {
				return err
			}
		}
	case raw:
		_, err := io.WriteString(s.w, a.text)
		return err
	}
	return nil
}

// text streams the text of a message or of a summary.
func (s *responsesSink) text(kind, prefix, added, delta, index string, part map[string]any, text string, size int) error {
	if _, err := s.start(kind, prefix, "", ""); err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	if s.open.text == "" {
		if err := s.event(added, s.at(index, 0, "part", part)); err != nil {
			return err
		}
	}
	s.open.text += text
	s.size += len(text)
	if kind == "reasoning" {
		s.musing += len(text)
	}
	for _, piece := range split(text, size) {
		if err := s.event(delta, s.at(index, 0, "delta", piece)); err != nil {
			return err
		}
	}
	return nil
}

// fault breaks the stream: a fault of the server's fails the response, any
// other is an event of its own.
func (s *responsesSink) fault(status int, message string) error {
	doc := document(failure(status, message))
	if doc["code"] == nil {
		doc["code"] = doc["type"]
	}
	if status >= 500 {
		r := s.response("failed")
		r["error"] = map[string]any{"code": doc["code"], "message": doc["message"]}
		return s.event("response.failed", map[string]any{"response": r})
	}
	return s.event("error", map[string]any{"code": doc["code"], "message": doc["message"], "param": nil})
}

// last is the whole response, and the event that ends its stream.
func (s *responsesSink) last(reason string) (map[string]any, string) {
	status := "completed"
	if reason != "" && reason != status {
		status = "incomplete"
	}
	r := s.response(status)
	r["usage"] = s.counts()
	if status == "incomplete" {
		r["incomplete_details"] = map[string]any{"reason": reason}
	}
	return r, "response." + status
}

func (s *responsesSink) end(reason string) error {
	if err := s.finish("final_answer"); err != nil {
		return err
	}
	r, kind := s.last(reason)
	return s.event(kind, map[string]any{"response": r})
}

func (s *responsesSink) whole(a Answer) any {
	s.w = io.Discard
	s.store()
	parts, reason := merged(a)
	for _, part := range parts {
		if s.act(part, 1<<20) != nil {
			break
		}
	}
	s.finish("final_answer")
	r, _ := s.last(reason)
	return r
}

func (s *responsesSink) counts() map[string]any {
	u, output := s.usage, max(1, tokens(s.size))
	input := u.fresh + u.read + u.write
	return map[string]any{
		"input_tokens": input, "output_tokens": output, "total_tokens": input + output,
		"input_tokens_details": map[string]any{"cached_tokens": u.read, "cache_write_tokens": u.write,
			"cache_write_tokens_details": map[string]any{"ttl_30m_tokens": u.write, "ttl_12h_tokens": 0}},
		"output_tokens_details": map[string]any{"reasoning_tokens": tokens(s.musing)},
	}
}
