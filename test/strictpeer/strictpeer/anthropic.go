package strictpeer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"weir/model/strict"
)

// anthropicDialect speaks the Messages API.
type anthropicDialect struct{ *Peer }

// betas are the values of the anthropic-beta header that are known.
func betas() []string {
	return []string{
		"mid-conversation-system-clear-at-2026-08-21", "mid-conversation-output-config-2026-07-01",
		"mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15", "thinking-binding-controls-2026-08-01",
		"cache-diagnosis-2026-04-07", "context-management-2025-06-27", "compact-2026-01-12",
	}
}

func (d anthropicDialect) refuse(w http.ResponseWriter, r *strict.Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_strictpeer")
	w.WriteHeader(r.Status)
	json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "request_id": "req_strictpeer",
		"error": map[string]string{"type": r.Type, "message": r.Message},
	})
}

func (d anthropicDialect) judge(r *http.Request, body []byte) (*Request, sink, error) {
	asked, err := d.headers(r.Header)
	if err != nil {
		return nil, nil, err
	}
	q, err := strict.Anthropic(body, strict.Rules{Old: d.profile == AnthropicOld, Betas: asked})
	if err != nil {
		return nil, nil, err
	}
	bound, refused := d.signer.verify(q)
	if refused != nil {
		return nil, nil, refused
	}
	if refused := d.thought.missed(q); refused != nil {
		return nil, nil, refused
	}
	u, store := d.cache.reckon(q, d.minimum, d.now())
	request := &Request{Model: q.Model, First: opening(q), Last: newest(q), Free: q.ToolChoice.Get("type").Text(body) != "none"}
	for i := range q.Tools {
		request.Tools = append(request.Tools, q.Tools[i].Value.Get("name").Text(body))
	}
	return request, &messagesSink{peer: d.Peer, q: q, bond: bound, usage: u, store: store}, nil
}

// headers checks what is not in the body. The vendor's SDKs since October 2026
// send the key as a bearer token, and the newer version, which refuses nothing
// more than sampling parameters, documents in answers and citations in
// questions: https://platform.claude.com/docs/en/api/migration-2026-10-21.
func (d anthropicDialect) headers(h http.Header) (asked []string, err error) {
	key := h.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	}
	switch {
	case key == "":
		return nil, failure(401, "x-api-key header is required")
	case d.key != "" && key != d.key:
		return nil, failure(401, "invalid x-api-key")
	case h.Get("Anthropic-Version") == "":
		return nil, failure(400, "anthropic-version: header is required")
	case !slices.Contains([]string{"2023-06-01", "2026-10-21"}, h.Get("Anthropic-Version")):
		return nil, failure(400, fmt.Sprintf("anthropic-version: %q is not a valid version", h.Get("Anthropic-Version")))
	}
	for _, value := range h.Values("Anthropic-Beta") {
		for word := range strings.SplitSeq(value, ",") {
			word = strings.TrimSpace(word)
			if !slices.Contains(betas(), word) {
				return nil, failure(400, fmt.Sprintf("Unexpected value(s) `%s` for the `anthropic-beta` header. "+
					"Please consult our documentation at docs.anthropic.com or try again without the header.", word))
			}
			asked = append(asked, word)
		}
	}
	return asked, nil
}

// opening is the text of the first user message.
func opening(q *strict.Request) string {
	for i := range q.Messages {
		if q.Messages[i].Role == "user" {
			return texts(q, &q.Messages[i])
		}
	}
	return ""
}

// newest is everything said after the last assistant message.
func newest(q *strict.Request) string {
	from := len(q.Messages)
	for from > 0 && q.Messages[from-1].Role != "assistant" {
		from--
	}
	var said []string
	for i := from; i < len(q.Messages); i++ {
		if t := texts(q, &q.Messages[i]); t != "" {
			said = append(said, t)
		}
	}
	return strings.Join(said, "\n\n")
}

// texts joins the texts of a message, those of tool results too.
func texts(q *strict.Request, m *strict.Message) string {
	var said []string
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch content := b.Value.Get("content"); {
		case b.Type == "text":
			said = append(said, b.Text(q.Body))
		case b.Type == "tool_result" && content.Is(strict.String):
			said = append(said, content.Text(q.Body))
		case b.Type == "tool_result" && content != nil:
			for j := range content.Elements {
				if t := content.Elements[j].Get("text").Text(q.Body); t != "" {
					said = append(said, t)
				}
			}
		}
	}
	return strings.Join(said, "\n\n")
}

// messagesSink writes an answer as the Messages API does.
type messagesSink struct {
	peer  *Peer
	q     *strict.Request
	bond  bond
	usage usage
	store func()

	w      io.Writer
	index  int    // of the open block
	open   string // its type, "" for none
	text   string // what it said
	calls  bool
	mused  bool // it began with reasoning
	output int  // bytes
}

func (s *messagesSink) streams() bool   { return s.q.Stream }
func (s *messagesSink) out(w io.Writer) { s.w = w }

func (s *messagesSink) event(name string, members map[string]any) error {
	members["type"] = name
	data, err := json.Marshal(members)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	return err
}

func (s *messagesSink) begin() error {
	s.store()
	message := s.envelope()
	message["content"] = []any{}
	if err := s.event("message_start", map[string]any{"message": message}); err != nil {
		return err
	}
	return s.event("ping", map[string]any{})
}

func (s *messagesSink) envelope() map[string]any {
	return map[string]any{
		"id": "msg_strictpeer", "type": "message", "role": "assistant", "model": s.q.Model,
		"stop_reason": nil, "stop_sequence": nil, "usage": s.counts(1),
	}
}

func (s *messagesSink) counts(output int) map[string]any {
	return map[string]any{
		"input_tokens": s.usage.fresh, "cache_creation_input_tokens": s.usage.write,
		"cache_read_input_tokens": s.usage.read, "output_tokens": output,
	}
}

// block opens a block of a type unless it is open already.
func (s *messagesSink) block(kind string, content map[string]any) error {
	if s.open == kind && (kind == "text" || kind == "thinking") {
		return nil
	}
	if err := s.closeBlock(); err != nil {
		return err
	}
	s.open, s.text = kind, ""
	if s.index == 0 && kind != "thinking" && kind != "redacted_thinking" {
		s.peer.thought.note(s.bond.prefix, false) // whatever becomes of the answer
	}
	content["type"] = kind
	return s.event("content_block_start", map[string]any{"index": s.index, "content_block": content})
}

func (s *messagesSink) closeBlock() error {
	if s.open == "" {
		return nil
	}
	if s.open == "thinking" {
		if err := s.delta("signature_delta", "signature", s.sign("thinking", s.text)); err != nil {
			return err
		}
	}
	s.open = ""
	s.index++
	return s.event("content_block_stop", map[string]any{"index": s.index - 1})
}

// sign signs a block and makes it the one before the next.
func (s *messagesSink) sign(kind, text string) string {
	s.mused = s.mused || s.index == 0
	signature := s.peer.signer.sign(kind, text, s.bond)
	s.bond.before = sha256.Sum256([]byte(signature))
	return signature
}

func (s *messagesSink) delta(kind, member, value string) error {
	return s.event("content_block_delta", map[string]any{"index": s.index, "delta": map[string]any{"type": kind, member: value}})
}

func (s *messagesSink) deltas(kind, member, text string, size int) error {
	s.text += text
	s.output += len(text)
	for _, piece := range split(text, size) {
		if piece == "" && kind != "input_json_delta" {
			continue
		}
		if err := s.delta(kind, member, piece); err != nil {
			return err
		}
	}
	return nil
}

func (s *messagesSink) act(a Act, size int) error {
	switch a.kind {
	case say:
		if err := s.block("text", map[string]any{"text": ""}); err != nil {
			return err
		}
		return s.deltas("text_delta", "text", a.text, size)
	case think:
		if err := s.block("thinking", map[string]any{"thinking": "", "signature": ""}); err != nil {
			return err
		}
		return s.deltas("thinking_delta", "thinking", a.text, size)
	case redacted:
		if err := s.closeBlock(); err != nil { // signs what came before
			return err
		}
		return s.block("redacted_thinking", map[string]any{"data": s.sign("redacted_thinking", "")})
	case call:
		s.calls = true
		if err := s.block("tool_use", map[string]any{"id": a.id, "name": a.name, "input": map[string]any{}}); err != nil {
			return err
		}
		return s.deltas("input_json_delta", "partial_json", a.text, size)
	case raw:
		_, err := io.WriteString(s.w, a.text)
		return err
	}
	return nil
}

func (s *messagesSink) fault(status int, message string) error {
	r := failure(status, message)
	return s.event("error", map[string]any{"error": map[string]string{"type": r.Type, "message": r.Message}})
}

func (s *messagesSink) reason(given string) string {
	switch {
	case given != "":
		return given
	case s.calls:
		return "tool_use"
	}
	return "end_turn"
}

func (s *messagesSink) end(reason string) error {
	if err := s.closeBlock(); err != nil {
		return err
	}
	s.peer.thought.note(s.bond.prefix, s.mused)
	if err := s.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": s.reason(reason), "stop_sequence": nil},
		"usage": s.counts(max(1, tokens(s.output))),
	}); err != nil {
		return err
	}
	return s.event("message_stop", map[string]any{})
}

func (s *messagesSink) whole(a Answer) any {
	s.store()
	parts, reason := merged(a)
	content := []any{}
	for _, part := range parts {
		s.output += len(part.text)
		switch part.kind {
		case say:
			content = append(content, map[string]any{"type": "text", "text": part.text})
		case think:
			content = append(content, map[string]any{"type": "thinking", "thinking": part.text, "signature": s.sign("thinking", part.text)})
		case redacted:
			content = append(content, map[string]any{"type": "redacted_thinking", "data": s.sign("redacted_thinking", "")})
		case call:
			s.calls = true
			content = append(content, map[string]any{"type": "tool_use", "id": part.id, "name": part.name, "input": json.RawMessage(part.text)})
		}
		s.index = len(content)
	}
	s.peer.thought.note(s.bond.prefix, s.mused)
	message := s.envelope()
	message["content"] = content
	message["stop_reason"] = s.reason(reason)
	message["usage"] = s.counts(max(1, tokens(s.output)))
	return message
}
