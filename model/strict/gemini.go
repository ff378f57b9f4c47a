package strict

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// GeminiRules says which models are meant. The zero value is the strictest:
// models that insist on thought signatures (Gemini 3 and later).
type GeminiRules struct {
	Old bool // models that take calls without signatures
}

// GeminiRequest is a generateContent body that was accepted. Its values point
// into Body.
type GeminiRequest struct {
	Body     []byte
	Root     Value
	System   *Value
	Tools    []string // names of the functions that are declared
	Mode     string   // of function calling: AUTO, ANY, NONE, VALIDATED or ""
	Contents []GeminiContent
}

// GeminiContent is one content.
type GeminiContent struct {
	Role  string
	Value *Value
	Parts []GeminiPart
}

// GeminiPart is one part.
type GeminiPart struct {
	Value     *Value
	Data      string // the member that holds it: text, functionCall, …
	Text      string // of a text part; of a function response, what it says
	Signature string
	Thought   bool
}

// Call returns the function call or response of a part, nil for none.
func (p *GeminiPart) Call() *Value {
	if p.Data != "functionCall" && p.Data != "functionResponse" {
		return nil
	}
	return p.Value.Get(p.Data)
}

// GeminiBypass is the signature that stands for one that is not to be had.
//
// https://ai.google.dev/gemini-api/docs/thought-signatures
const GeminiBypass = "skip_thought_signature_validator"

// geminiChecker checks a generateContent body. Members are taken in the
// spelling of the documentation alone.
type geminiChecker struct {
	body  []byte
	rules GeminiRules
}

// Gemini reads the body of a POST /v1beta/models/…:generateContent or
// :streamGenerateContent. Its error is a *Refusal.
func Gemini(body []byte, rules GeminiRules) (*GeminiRequest, error) {
	if len(body) > MaxBody {
		return nil, &Refusal{Status: http.StatusBadRequest, Type: "INVALID_ARGUMENT", Message: "Request payload size exceeds the limit: " + strconv.Itoa(MaxBody) + " bytes."}
	}
	v, err := Parse(body)
	if err != nil {
		return nil, argument("Invalid JSON payload received. %s", strings.TrimPrefix(err.Error(), "The request body is not valid JSON: "))
	}
	c := &geminiChecker{body: body, rules: rules}
	q := &GeminiRequest{Body: body, Root: v}
	for _, step := range []func(*GeminiRequest) *Refusal{c.top, c.system, c.tools, c.config, c.contents, c.history, c.signatures} {
		if r := step(q); r != nil {
			return nil, r
		}
	}
	return q, nil
}

// argument is a refusal with status 400.
func argument(format string, args ...any) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Type: "INVALID_ARGUMENT", Message: fmt.Sprintf(format, args...)}
}

// field is a refusal that names the field of the request it is about.
func field(p *place, format string, args ...any) *Refusal {
	return argument("* GenerateContentRequest.%s: %s\n", p.proto(), fmt.Sprintf(format, args...))
}

// proto spells a place as Google's errors do: contents[0].parts[1].function_call.
func (p *place) proto() string {
	if p == nil {
		return ""
	}
	up := p.up.proto()
	if p.name == "" {
		return fmt.Sprintf("%s[%d]", up, p.index)
	}
	var name strings.Builder
	for _, c := range p.name {
		if c >= 'A' && c <= 'Z' {
			name.WriteByte('_')
			c += 'a' - 'A'
		}
		name.WriteRune(c)
	}
	if up == "" {
		return name.String()
	}
	return up + "." + name.String()
}

// members checks an object's members: known ones, each once and of its kind.
func (c *geminiChecker) members(v *Value, p *place, known map[string]Kind) *Refusal {
	at := ""
	if p != nil {
		at = " at '" + p.proto() + "'"
	}
	if !v.Is(Object) {
		return argument("Invalid value%s (type message), %s", at, v.Raw(c.body))
	}
	for i := range v.Members {
		m := &v.Members[i]
		kind, ok := known[m.Name]
		if !ok {
			return argument("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", m.Name, at)
		}
		for j := range i {
			if v.Members[j].Name == m.Name {
				return argument("Invalid JSON payload received. Duplicate name %q%s.", m.Name, at)
			}
		}
		switch {
		case m.Value.Kind == kind:
		case m.Value.Is(Array):
			return argument("Invalid JSON payload received. Unknown name %q%s: Proto field is not repeating, cannot start list.", m.Name, at)
		default:
			return argument("Invalid value at '%s' (%s), %s", (&place{up: p, name: m.Name}).proto(), protoKind(kind), m.Value.Raw(c.body))
		}
	}
	return nil
}

func protoKind(k Kind) string {
	switch k {
	case String:
		return "TYPE_STRING"
	case Number:
		return "TYPE_INT32"
	case Bool:
		return "TYPE_BOOL"
	}
	return "type message"
}

func (c *geminiChecker) top(q *GeminiRequest) *Refusal {
	return c.members(&q.Root, nil, map[string]Kind{
		"contents": Array, "systemInstruction": Object, "tools": Array, "toolConfig": Object, "safetySettings": Array,
		"generationConfig": Object, "cachedContent": String, "serviceTier": String, "store": Bool,
	})
}

func (c *geminiChecker) system(q *GeminiRequest) *Refusal {
	q.System = q.Root.Get("systemInstruction")
	if q.System == nil {
		return nil
	}
	p := root("systemInstruction")
	var content GeminiContent
	if r := c.content(&content, q.System, p); r != nil {
		return r
	}
	for i := range content.Parts {
		if content.Parts[i].Data != "text" {
			return field(p.in("parts").at(i), "system_instruction takes text alone")
		}
	}
	return nil
}

func (c *geminiChecker) contents(q *GeminiRequest) *Refusal {
	list := q.Root.Get("contents")
	p := root("contents")
	if list == nil || len(list.Elements) == 0 {
		return field(p, "contents is not specified")
	}
	q.Contents = make([]GeminiContent, len(list.Elements))
	for i := range list.Elements {
		e := &list.Elements[i]
		if r := c.content(&q.Contents[i], e, p.at(i)); r != nil {
			return r
		}
		if role := q.Contents[i].Role; role != "user" && role != "model" {
			return argument("Please use a valid role: user, model.")
		}
	}
	return nil
}

func (c *geminiChecker) content(g *GeminiContent, v *Value, p *place) *Refusal {
	if r := c.members(v, p, map[string]Kind{"role": String, "parts": Array}); r != nil {
		return r
	}
	g.Value, g.Role = v, v.Get("role").Text(c.body)
	parts := v.Get("parts")
	p = p.in("parts")
	if parts == nil || len(parts.Elements) == 0 {
		return field(p, "contents.parts must not be empty.")
	}
	g.Parts = make([]GeminiPart, len(parts.Elements))
	for i := range parts.Elements {
		if r := c.part(&g.Parts[i], &parts.Elements[i], p.at(i)); r != nil {
			return r
		}
	}
	return nil
}

// geminiData are the members of a part of which it has one.
var geminiData = []string{"text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"}

func (c *geminiChecker) part(g *GeminiPart, v *Value, p *place) *Refusal {
	r := c.members(v, p, map[string]Kind{
		"text": String, "functionCall": Object, "functionResponse": Object, "inlineData": Object, "fileData": Object,
		"executableCode": Object, "codeExecutionResult": Object, "thought": Bool, "thoughtSignature": String,
	})
	if r != nil {
		return r
	}
	g.Value, g.Thought, g.Signature = v, v.Get("thought").True(c.body), v.Get("thoughtSignature").Text(c.body)
	for i := range v.Members {
		name := v.Members[i].Name
		switch {
		case !slices.Contains(geminiData, name):
		case g.Data != "":
			return argument("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", p.proto(), name)
		default:
			g.Data = name
		}
	}
	if !isBase64(g.Signature) {
		return argument("Invalid value at '%s' (TYPE_BYTES), Base64 decoding failed for %q", p.in("thoughtSignature").proto(), g.Signature)
	}
	return c.data(g, p)
}

// data checks what a part holds.
func (c *geminiChecker) data(g *GeminiPart, p *place) *Refusal {
	switch g.Data {
	case "text":
		g.Text = g.Value.Get("text").Text(c.body)
		if g.Text == "" && g.Signature == "" {
			return field(p.in("data"), "required oneof field 'data' must have one initialized field")
		}
	case "functionCall":
		return c.called(g.Call(), p.in(g.Data), map[string]Kind{"id": String, "name": String, "args": Object})
	case "functionResponse":
		response := g.Call()
		r := c.called(response, p.in(g.Data), map[string]Kind{"id": String, "name": String, "response": Object, "parts": Array})
		if r != nil {
			return r
		}
		if response.Get("response") == nil {
			return field(p.in(g.Data).in("response"), "response is not specified")
		}
		for _, name := range []string{"output", "error"} {
			g.Text += response.Get("response").Get(name).Text(c.body)
		}
	case "":
		return field(p.in("data"), "required oneof field 'data' must have one initialized field")
	}
	return nil
}

// called checks a function call or response.
func (c *geminiChecker) called(v *Value, p *place, known map[string]Kind) *Refusal {
	if r := c.members(v, p, known); r != nil {
		return r
	}
	if v.Get("name").Text(c.body) == "" {
		return field(p.in("name"), "Name cannot be empty.")
	}
	return c.name(v.Get("name"), p.in("name"))
}

// name checks the name of a function. Newer models take up to 128 letters.
func (c *geminiChecker) name(v *Value, p *place) *Refusal {
	s := v.Text(c.body)
	ok := len(s) >= 1 && len(s) <= 64
	for i := 0; ok && i < len(s); i++ {
		b := s[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
		ok = letter || i > 0 && (b >= '0' && b <= '9' || b == '.' || b == ':' || b == '-')
	}
	if !ok {
		return field(p, "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.")
	}
	return nil
}

// isBase64 reports whether s is bytes as proto JSON spells them: in either
// alphabet, padded or not.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	_, std := base64.RawStdEncoding.DecodeString(s)
	_, url := base64.RawURLEncoding.DecodeString(s)
	return std == nil || url == nil
}
