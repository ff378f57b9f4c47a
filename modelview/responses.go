package modelview

import (
	"bytes"
	"slices"
	"strconv"

	"weir"
	"weir/model"
)

// openAIResponses is the Responses API, stateless: a request holds the whole
// history and names nothing that the vendor keeps.
//
// What was said on the user's side is a fragment of input_text parts, joined by
// a comma; a result and an update are whole items, an answer its items, joined
// by a comma. Where the endpoint takes breakpoints, the last text of every
// section carries one, and a result's output is a list so that it can.
type openAIResponses struct{}

// OpenAIResponses returns the dialect of OpenAI's Responses API.
func OpenAIResponses() Dialect { return openAIResponses{} }

const (
	responsesUser      = `{"type":"message","role":"user","content":[`
	responsesDeveloper = `{"type":"message","role":"developer","content":[`
	responsesEnd       = `]}`
	responsesText      = `{"type":"input_text","text":`
	responsesAnswer    = `{"type":"message","role":"assistant","content":`
	responsesCall      = `{"type":"function_call","call_id":"`
	responsesResult    = `{"type":"function_call_output","call_id":"`
	responsesBreak     = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	responsesCallSize  = 64
	responsesLeast     = 16 // max_output_tokens
)

func (openAIResponses) Tag() string    { return "openai-responses/1" }
func (openAIResponses) CallLimit() int { return responsesCallSize }
func (openAIResponses) Mark() string   { return "" }

func (openAIResponses) Head(p model.Profile, _ Mode, e *weir.Epoch) ([]byte, int, error) {
	tools, err := neutralTools(e)
	if err != nil {
		return nil, 0, err
	}
	dst := append([]byte(nil), `{"model":`...)
	dst = appendString(dst, p.Name)
	if !blank(e.Baseline) {
		dst = append(dst, `,"instructions":`...)
		dst = appendString(dst, e.Baseline)
	}
	for i, t := range tools {
		dst = append(dst, separator(i, `,"tools":[`)...)
		dst = append(dst, `{"type":"function","name":`...)
		dst = appendString(dst, t.Name)
		dst = append(dst, `,"description":`...)
		dst = appendString(dst, t.Description)
		dst = append(dst, `,"parameters":`...)
		dst = appendJSON(dst, t.InputSchema)
		dst = append(dst, `,"strict":false}`...) // without it, schemas are held to a subset
	}
	if len(tools) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, `,"input":[`...), -1, nil
}

func (openAIResponses) Tail(p model.Profile, o Options, head []byte, cacheKey string) string {
	limit := o.limit(p)
	tail := `]`
	if limit > 0 {
		tail += `,"max_output_tokens":` + strconv.FormatInt(max(limit, responsesLeast), 10)
	}
	if o.ToolsOff && hasTools(head) {
		tail += `,"tool_choice":"none"`
	}
	tail += `,"store":false`
	if p.ThinkingBinding != model.BindNothing {
		tail += `,"include":["reasoning.encrypted_content"]`
	}
	tail += `,"stream":true`
	if p.CacheStyle.Keyed() {
		tail += cacheKeyMember(cacheKey)
	}
	return tail + `}`
}

func (openAIResponses) Fragment(f Form, b weir.Body) []byte {
	switch m := b.(type) {
	case *weir.AssistantMessage:
		return responsesItems(f, m)
	case *weir.ToolResult:
		return responsesOutput(f, m)
	case *weir.Update:
		text := updateText(m)
		if f.Mode.Mid == model.MidNone {
			return appendInputText(nil, marked(text))
		}
		return append(appendInputText([]byte(responsesDeveloper), text), responsesEnd...)
	}
	return blocks(b, appendInputText)
}

func responsesOutput(f Form, m *weir.ToolResult) []byte {
	text := resultText(m)
	if m.IsError {
		text = errorOutput + text
	}
	dst := append([]byte(nil), responsesResult...)
	dst = append(dst, f.Calls[0]...)
	dst = append(dst, `","output":`...)
	if !f.Mode.Breakpoints {
		return append(appendString(dst, text), '}')
	}
	return append(appendInputText(append(dst, '['), text), responsesEnd...)
}

func appendInputText(dst []byte, text string) []byte {
	return append(appendString(append(dst, responsesText...), text), '}')
}

func (openAIResponses) Class(mode Mode, fragment []byte) Class {
	told := responsesDeveloper
	if mode.Mid == model.MidNone {
		told = responsesText + `"` + markerOpen
	}
	switch {
	case bytes.HasPrefix(fragment, []byte(responsesResult)):
		return Result
	case bytes.HasPrefix(fragment, []byte(told)):
		return Told
	case bytes.HasPrefix(fragment, []byte(responsesText)):
		return Said
	}
	return Answer
}

func (openAIResponses) Calls(fragment []byte) []string {
	if id, ok := quoted(fragment, responsesResult); ok {
		return []string{id}
	}
	return callsAmong(fragment, responsesCall)
}

func (openAIResponses) Section(dst []byte, mode Mode, results, said, told [][]byte) ([]byte, int) {
	if len(results)+len(said) == 0 {
		said = [][]byte{appendInputText(nil, continued)}
	}
	if mode.Mid == model.MidNone {
		said, told = slices.Concat(said, told), nil
	}
	for i, r := range results {
		dst = append(append(dst, separator(i, "")...), r...)
	}
	if len(said) == 0 && mode.Breakpoints {
		dst = append(dst[:len(dst)-len(`}`+responsesEnd)], responsesBreak+`}`+responsesEnd...)
	}
	if len(said) > 0 {
		dst = append(dst, separator(len(results), "")...)
		for i, s := range said {
			dst = append(append(dst, separator(i, responsesUser)...), s...)
		}
		if mode.Breakpoints {
			dst = append(dst[:len(dst)-len(`}`)], responsesBreak+`}`...)
		}
		dst = append(dst, responsesEnd...)
	}
	for _, t := range told {
		dst = append(append(dst, ','), t...)
	}
	return dst, -1
}
