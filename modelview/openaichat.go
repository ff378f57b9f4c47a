package modelview

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"weir"
	"weir/model"
)

// openAIChat is the Chat Completions API, as OpenAI and many others speak it.
//
// A record's fragment is its whole wire message. Where the endpoint takes no
// system message in mid-conversation, the texts of a section's user messages
// and updates are one message, so that strict templates see roles alternate;
// in a section of tool messages alone, updates stand at the end of the last.
// What else modes make of it is said where it is done.
type openAIChat struct{}

// OpenAIChat returns the dialect of OpenAI's Chat Completions API.
func OpenAIChat() Dialect { return openAIChat{} }

const (
	chatUser      = `{"role":"user","content":`
	chatResult    = `{"role":"tool","tool_call_id":"`
	chatSystem    = `{"role":"system","content":`
	chatDeveloper = `{"role":"developer","content":`
	chatAnswer    = `{"role":"assistant","content":`
	chatText      = `{"type":"text","text":`
	chatCall      = `{"id":"`
	chatCallSize  = 40
)

func (openAIChat) Tag() string    { return "openai-chat/1" }
func (openAIChat) CallLimit() int { return chatCallSize }
func (openAIChat) Mark() string   { return "" }

func (openAIChat) Head(p model.Profile, mode Mode, e *weir.Epoch) ([]byte, int, error) {
	tools, err := neutralTools(e)
	if err != nil {
		return nil, 0, err
	}
	dst := append([]byte(nil), `{"model":`...)
	dst = appendString(dst, p.Name)
	for i, t := range tools {
		dst = append(dst, separator(i, `,"tools":[`)...)
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = appendString(dst, t.Name)
		dst = append(dst, `,"description":`...)
		dst = appendString(dst, t.Description)
		dst = append(dst, `,"parameters":`...)
		dst = append(appendJSON(dst, t.InputSchema), "}}"...)
	}
	if len(tools) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, `,"messages":[`...)
	if !blank(e.Baseline) {
		dst = append(dst, chatSystemRole(mode)...)
		dst = append(appendString(dst, e.Baseline), '}')
	}
	return dst, -1, nil
}

func chatSystemRole(mode Mode) string {
	if mode.Mid == model.MidDeveloper {
		return chatDeveloper
	}
	return chatSystem
}

func (openAIChat) Tail(p model.Profile, o Options, head []byte, cacheKey string) string {
	limit := o.limit(p)
	tail := `]`
	if limit > 0 {
		field := p.MaxTokensField
		if field == "" {
			field = "max_tokens"
		}
		tail += `,"` + field + `":` + strconv.FormatInt(limit, 10)
	}
	if o.ToolsOff && hasTools(head) {
		tail += `,"tool_choice":"none"`
	}
	tail += `,"stream":true,"stream_options":{"include_usage":true}`
	if p.CacheStyle.Keyed() {
		tail += cacheKeyMember(cacheKey)
	}
	return tail + `}`
}

func (openAIChat) Fragment(f Form, b weir.Body) []byte {
	switch m := b.(type) {
	case *weir.AssistantMessage:
		return chatMessage(f, m)
	case *weir.ToolResult:
		text := resultText(m)
		if m.IsError {
			text = errorOutput + text
		}
		dst := append([]byte(nil), chatResult...)
		dst = append(dst, f.Calls[0]...)
		dst = append(dst, `","content":`...)
		if f.Mode.Parts && f.Mode.Breakpoints {
			dst = append(append(dst, "["+chatText...), appendString(nil, text)...)
			return append(dst, "}]}"...)
		}
		return append(appendString(dst, text), '}')
	case *weir.Update:
		text, role := updateText(m), chatSystemRole(f.Mode)
		if f.Mode.Mid == model.MidNone {
			return chatSaid(f.Mode, []string{marked(text)})
		}
		return append(appendString([]byte(role), text), '}')
	}
	all := texts(b)
	if all == nil {
		return nil
	}
	var kept []string
	for _, text := range all {
		if text != "" && !(f.Mode.Parts && blank(text)) {
			kept = append(kept, unmarked(text))
		}
	}
	if len(kept) == 0 {
		kept = []string{noText}
	}
	return chatSaid(f.Mode, kept)
}

// chatSaid is a user message: one text, or a list of parts that are texts.
func chatSaid(mode Mode, texts []string) []byte {
	dst := []byte(chatUser)
	if !mode.Parts {
		return append(appendString(dst, strings.Join(texts, "\n\n")), '}')
	}
	for i, text := range texts {
		dst = append(dst, separator(i, "[")...)
		dst = append(append(dst, chatText...), appendString(nil, text)...)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

func chatMessage(f Form, m *weir.AssistantMessage) []byte {
	shown := visible(m)
	var said []string
	var calls []byte
	n := 0
	for i, p := range m.Parts {
		if text, ok := shown[i]; ok {
			said = append(said, text)
			continue
		}
		if p.Type != weir.PartToolCall {
			continue
		}
		calls = append(calls, separator(n, `,"tool_calls":[`)...)
		calls = append(calls, chatCall...)
		calls = append(calls, f.Calls[n]...)
		calls = append(calls, `","type":"function","function":{"name":`...)
		calls = appendString(calls, scrub(p.Name, toolNameLimit, fallbackTool))
		calls = append(calls, `,"arguments":`...)
		calls = appendString(calls, string(appendObject(nil, p.Input)))
		calls = append(calls, "}}"...)
		n++
	}
	dst := append([]byte(nil), chatAnswer...)
	switch {
	case len(said) > 0:
		dst = appendString(dst, strings.Join(said, "\n\n"))
	case n > 0:
		dst = append(dst, "null"...)
	default:
		dst = appendString(dst, noAnswer)
	}
	if n > 0 {
		if f.Mode.Reasoning == model.ReasoningContent {
			dst = append(dst, `,"reasoning_content":`...)
			dst = appendString(dst, chatThoughts(f, m))
		}
		dst = append(append(dst, calls...), ']')
	}
	return append(dst, '}')
}

// chatThoughts is the reasoning that goes back with an answer's calls. A
// vendor that insists on it takes an empty one.
func chatThoughts(f Form, m *weir.AssistantMessage) string {
	var all strings.Builder
	for _, p := range m.Parts {
		var raw struct {
			Content string `json:"reasoning_content"`
		}
		if f.Signed && p.Type == weir.PartReasoning && isObject(p.Raw) && json.Unmarshal(p.Raw, &raw) == nil {
			all.WriteString(raw.Content)
		}
	}
	return all.String()
}

func (openAIChat) Class(mode Mode, fragment []byte) Class {
	told := chatSystemRole(mode)
	if mode.Mid == model.MidNone {
		told = chatOpening(mode) + markerOpen
	}
	switch {
	case bytes.HasPrefix(fragment, []byte(chatAnswer)):
		return Answer
	case bytes.HasPrefix(fragment, []byte(chatResult)):
		return Result
	case bytes.HasPrefix(fragment, []byte(told)):
		return Told
	}
	return Said
}

func (openAIChat) Calls(fragment []byte) []string {
	if id, ok := quoted(fragment, chatResult); ok {
		return []string{id}
	}
	// Everything else in an answer that looks like this stands in a string,
	// where its quotation marks are escaped.
	var ids []string
	for rest := fragment; ; {
		i := bytes.Index(rest, []byte(chatCall))
		if i < 0 {
			return ids
		}
		rest = rest[i:]
		id, _ := quoted(rest, chatCall)
		ids = append(ids, id)
		rest = rest[len(chatCall):]
	}
}
