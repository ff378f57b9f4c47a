package strictpeer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"weir/model/strict"
)

// geminiDialect speaks generateContent, for any name of a model.
type geminiDialect struct{ *Peer }

// geminiPath is where its methods are, as [path.Match] reads it.
const geminiPath = "/v1beta/models/*:*"

func (d geminiDialect) refuse(w http.ResponseWriter, r *strict.Refusal) {
	// The vendor says in the document what others say in the header.
	delay := w.Header().Get("Retry-After")
	w.Header().Del("Retry-After")
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(r.Status)
	json.NewEncoder(w).Encode(map[string]any{"error": rpcStatus(r, delay)})
}

// rpcStatus is the vendor's error, a google.rpc.Status.
func rpcStatus(r *strict.Refusal, delay string) map[string]any {
	status, ok := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
		429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}[r.Status]
	if !ok {
		status = "UNKNOWN"
	}
	out := map[string]any{"code": r.Status, "message": r.Message, "status": status}
	var details []any
	if r.Code != "" {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": r.Code, "domain": "googleapis.com"})
	}
	if delay != "" {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay + "s"})
	}
	if details != nil {
		out["details"] = details
	}
	return out
}

func (d geminiDialect) judge(r *http.Request, body []byte) (*Request, sink, error) {
	name, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	streams := method == "streamGenerateContent"
	if !streams && method != "generateContent" || streams && r.URL.Query().Get("alt") != "sse" {
		return nil, nil, failure(404, "Requested entity was not found.")
	}
	switch key := r.Header.Get("X-Goog-Api-Key"); {
	case key == "":
		return nil, nil, failure(403, "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.")
	case d.key != "" && key != d.key:
		refused := failure(400, "API key not valid. Please pass a valid API key.")
		refused.Code = "API_KEY_INVALID"
		return nil, nil, refused
	}
	q, err := strict.Gemini(body, strict.GeminiRules{})
	if err != nil {
		return nil, nil, err
	}
	bound, refused := d.signer.verifyGemini(q, name)
	if refused != nil {
		return nil, nil, refused
	}
	request := &Request{Model: name, Tools: q.Tools, Free: q.Mode != "NONE"}
	for i := range q.Contents {
		g := &q.Contents[i]
		if g.Role != "user" {
			continue
		}
		request.Last = textsOf(g)
		if request.First == "" {
			request.First = request.Last
		}
	}
	list := q.Root.Get("contents").Raw(body)
	now := prompt{name, slices.Concat(q.System.Raw(body), q.Root.Get("tools").Raw(body)), list[:len(list)-1]}
	return request, &geminiSink{peer: d.Peer, model: name, bond: bound, stream: streams, usage: d.recent.reckon(now, d.minimum, d.step)}, nil
}

// textsOf joins the texts of a content, those of function responses too.
func textsOf(g *strict.GeminiContent) string {
	var said []string
	for i := range g.Parts {
		if g.Parts[i].Text != "" {
			said = append(said, g.Parts[i].Text)
		}
	}
	return strings.Join(said, "\n\n")
}

// geminiSink writes an answer as generateContent does.
type geminiSink struct {
	peer   *Peer
	model  string
	bond   bond
	stream bool
	usage  usage

	w        io.Writer
	signed   bool
	said     bool
	output   int // bytes
	thoughts int // bytes
}

func (s *geminiSink) streams() bool   { return s.stream }
func (s *geminiSink) out(w io.Writer) { s.w = w }
func (s *geminiSink) begin() error    { return nil }

func (s *geminiSink) data(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "data: %s\r\n\r\n", data)
	return err
}

// response is one chunk, or the whole of what is not streamed.
func (s *geminiSink) response(reason string, parts ...any) map[string]any {
	candidate := map[string]any{"index": 0}
	if len(parts) > 0 {
		candidate["content"] = map[string]any{"role": "model", "parts": parts}
	}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	return map[string]any{
		"candidates": []any{candidate}, "usageMetadata": s.counts(), "modelVersion": s.model, "responseId": "strictpeer",
	}
}

func (s *geminiSink) counts() map[string]any {
	prompt, output, thoughts := s.usage.fresh+s.usage.read, tokens(s.output), tokens(s.thoughts)
	out := map[string]any{"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output + thoughts}
	if s.usage.read > 0 {
		out["cachedContentTokenCount"] = s.usage.read
	}
	if thoughts > 0 {
		out["thoughtsTokenCount"] = thoughts
	}
	return out
}

func (s *geminiSink) act(a Act, size int) error {
	switch a.kind {
	case say, think:
		for _, piece := range split(a.text, size) {
			if piece == "" {
				continue
			}
			if err := s.data(s.response("", s.part(Act{kind: a.kind, text: piece}))); err != nil {
				return err
			}
		}
	case call:
		return s.data(s.response("", s.part(a)))
	case raw:
		_, err := io.WriteString(s.w, a.text)
		return err
	}
	return nil
}

// part is one part of the answer. The first call of an answer is signed.
func (s *geminiSink) part(a Act) map[string]any {
	switch a.kind {
	case think:
		s.thoughts += len(a.text)
		return map[string]any{"text": a.text, "thought": true}
	case call:
		s.output += len(a.text)
		out := map[string]any{"functionCall": map[string]any{"id": a.id, "name": a.name, "args": argumentsOf(a.text)}}
		if !s.signed {
			s.signed = true
			words := callWords(a.name, []byte(a.text))
			out["thoughtSignature"] = s.peer.signer.sign("functionCall", words, s.bond)
		}
		return out
	}
	s.said = true
	s.output += len(a.text)
	return map[string]any{"text": a.text}
}

// argumentsOf is the value of a call's args. The vendor's are always an object;
// what a script has of other arguments goes as a string, as no vendor sends it.
func argumentsOf(text string) any {
	if isObject([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// isObject is as strict about arguments as the vendor's own encoder is: half a
// surrogate pair is no text.
func isObject(args []byte) bool {
	v, err := strict.Parse(args)
	return err == nil && v.Kind == strict.Object
}

func (s *geminiSink) fault(status int, message string) error {
	return s.data(map[string]any{"error": rpcStatus(failure(status, message), "")})
}

func (s *geminiSink) reason(given string) string {
	if given != "" {
		return given
	}
	return "STOP"
}

// end signs the text of an answer without calls, in a part of its own: what
// was said before has been sent.
func (s *geminiSink) end(reason string) error {
	var last []any
	if !s.signed && s.said {
		last = append(last, map[string]any{"text": "", "thoughtSignature": s.peer.signer.sign("text", "", s.bond)})
	}
	return s.data(s.response(s.reason(reason), last...))
}

func (s *geminiSink) whole(a Answer) any {
	acts, reason := merged(a)
	var parts []any
	var text map[string]any
	for _, a := range acts {
		if a.kind == redacted || a.text == "" && a.kind != call {
			continue
		}
		part := s.part(a)
		parts = append(parts, part)
		if a.kind == say {
			text = part
		}
	}
	if !s.signed && text != nil {
		text["thoughtSignature"] = s.peer.signer.sign("text", text["text"].(string), s.bond)
	}
	return s.response(s.reason(reason), parts...)
}
