package modelview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"

	"weir/model"
)

// heard is one thing that a request tells a model: its kind, its words, and how
// the dialect carries it. Bodies are read here as plain JSON, by nothing of
// what wrote them.
type heard struct{ kind, text, how string }

// The kinds.
const (
	baseline = "baseline"
	result   = "result"
	failed   = "failed result"
	said     = "said"
	told     = "told"
	answered = "answer"
	called   = "call"
	mused    = "reasoning"
)

// object is a JSON object as it is read.
type object map[string]any

func (o object) text(name string) string { s, _ := o[name].(string); return s }

func (o object) in(name string) object { m, _ := o[name].(map[string]any); return m }

func (o object) list(name string) (all []object) {
	found, _ := o[name].([]any)
	for _, v := range found {
		m, _ := v.(map[string]any)
		all = append(all, m)
	}
	return all
}

// hear reads a body of any dialect.
func hear(d model.Dialect, body []byte) ([]heard, error) {
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	switch d {
	case model.Anthropic:
		return hearMessages(o), nil
	case model.OpenAIChat:
		return hearChat(o), nil
	case model.OpenAIResponses:
		return hearResponses(o), nil
	case model.Gemini:
		return hearGemini(o), nil
	}
	return nil, fmt.Errorf("nobody reads the dialect %s", d)
}

var marks = regexp.MustCompile(`(?s)(?:^|\n\n)<system-update>(.*?)</system-update>`)

// split takes the updates out of a text that stands at a place.
func split(text, place string, kind string) (all []heard) {
	at := 0
	for _, m := range marks.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			all = append(all, heard{kind, text[at:m[0]], place})
		}
		all = append(all, heard{told, html.UnescapeString(text[m[2]:m[3]]), "marked text, " + place})
		at = m[1]
	}
	if at < len(text) {
		all = append(all, heard{kind, text[at:], place})
	}
	return all
}

// spelled is a value as compact JSON with its members in order of their names.
func spelled(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

func hearMessages(o object) (all []heard) {
	for _, b := range o.list("system") {
		all = append(all, heard{baseline, b.text("text"), "the system member"})
	}
	for _, m := range o.list("messages") {
		for _, b := range m.list("content") {
			switch role, kind := m.text("role"), b.text("type"); {
			case role == "system":
				all = append(all, heard{told, b.text("text"), "a block of a system message"})
			case kind == "tool_result" && b["is_error"] == true:
				all = append(all, heard{failed, b.text("content"), "a tool_result block with is_error"})
			case kind == "tool_result":
				all = append(all, heard{result, b.text("content"), "a tool_result block of the user message"})
			case kind == "tool_use":
				all = append(all, heard{called, b.text("name") + " " + spelled(b["input"]), "a tool_use block"})
			case kind == "thinking":
				all = append(all, heard{mused, b.text("thinking"), "a thinking block, signed"})
			case role == "assistant":
				all = append(all, heard{answered, b.text("text"), "a text block"})
			default:
				all = append(all, split(b.text("text"), "a text block of the user message", said)...)
			}
		}
	}
	return all
}

func hearChat(o object) (all []heard) {
	for i, m := range o.list("messages") {
		switch role := m.text("role"); role {
		case "system", "developer":
			kind := told
			if i == 0 {
				kind = baseline
			}
			all = append(all, heard{kind, m.text("content"), "a " + role + " message"})
		case "user":
			for _, p := range m.list("content") {
				all = append(all, split(p.text("text"), "a part of a user message", said)...)
			}
			all = append(all, split(m.text("content"), "the string of a user message", said)...)
		case "tool":
			words, how := m.text("content"), "a tool message"
			kind := result
			if rest, bad := strings.CutPrefix(words, "(error) "); bad {
				kind, words, how = failed, rest, how+", said in words"
			}
			for _, h := range split(words, how, kind) {
				if h.kind == told {
					h.how = "marked text, at the end of the last tool message"
				}
				all = append(all, h)
			}
		default:
			if r, there := m["reasoning_content"]; there {
				all = append(all, heard{mused, r.(string), "reasoning_content of an answer with calls"})
			}
			if m.text("content") != "" {
				all = append(all, heard{answered, m.text("content"), "the content"})
			}
			for _, c := range m.list("tool_calls") {
				all = append(all, callOf(c.in("function"), "one of tool_calls"))
			}
		}
	}
	return all
}

// callOf reads a call whose arguments are JSON in a string.
func callOf(f object, how string) heard {
	var args any
	if json.Unmarshal([]byte(f.text("arguments")), &args) != nil {
		args = f.text("arguments")
	}
	return heard{called, f.text("name") + " " + spelled(args), how}
}

func hearResponses(o object) (all []heard) {
	all = append(all, heard{baseline, o.text("instructions"), "instructions"})
	for _, item := range o.list("input") {
		switch kind, role := item.text("type"), item.text("role"); {
		case kind == "reasoning":
			all = append(all, heard{mused, "", "a reasoning item, encrypted"})
		case kind == "function_call":
			all = append(all, callOf(item, "a function_call item"))
		case kind == "function_call_output":
			words, how := wordsOf(item, "output"), "a function_call_output item"
			if rest, bad := strings.CutPrefix(words, "(error) "); bad {
				all = append(all, heard{failed, rest, how + ", said in words"})
			} else {
				all = append(all, heard{result, words, how})
			}
		case role == "developer":
			all = append(all, heard{told, wordsOf(item, "content"), "a developer item"})
		case role == "assistant":
			all = append(all, heard{answered, wordsOf(item, "content"), "a message item"})
		default:
			for _, p := range item.list("content") {
				all = append(all, split(p.text("text"), "a part of a user item", said)...)
			}
			all = append(all, split(item.text("content"), "the string of a user item", said)...)
		}
	}
	return all
}

func wordsOf(item object, member string) string {
	var words []string
	for _, p := range item.list(member) {
		words = append(words, p.text("text"))
	}
	if s := item.text(member); s != "" {
		words = append(words, s)
	}
	return strings.Join(words, "\n\n")
}

func hearGemini(o object) (all []heard) {
	for _, p := range o.in("systemInstruction").list("parts") {
		all = append(all, heard{baseline, p.text("text"), "systemInstruction"})
	}
	for _, c := range o.list("contents") {
		for _, p := range c.list("parts") {
			if s := p.text("thoughtSignature"); s != "" && s != "skip_thought_signature_validator" {
				all = append(all, heard{mused, "", "thoughtSignature of what came of it"})
			}
			call, response := p.in("functionCall"), p.in("functionResponse")
			switch r := response.in("response"); {
			case call != nil:
				all = append(all, heard{called, call.text("name") + " " + spelled(call["args"]), "a functionCall part"})
			case r["error"] != nil:
				all = append(all, heard{failed, r.text("error"), "a functionResponse part with error"})
			case response != nil:
				all = append(all, heard{result, r.text("output"), "a functionResponse part"})
			case c.text("role") == "model":
				if p.text("text") != "" { // a part that only carries a signature
					all = append(all, heard{answered, p.text("text"), "a text part"})
				}
			default:
				all = append(all, split(p.text("text"), "a text part of the user content", said)...)
			}
		}
	}
	return all
}
