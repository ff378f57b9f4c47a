package modelview

import (
	"bytes"
	"strconv"

	"weir"
	"weir/model"
)

// anthropic is the Messages API.
//
// A user-side record's fragment is its content blocks, joined by a comma; an
// update's, where the endpoint takes system messages in mid-conversation, a
// whole system message whose blocks Section takes out; an answer's its whole
// wire message.
type anthropic struct{}

// Anthropic returns the dialect of the Anthropic Messages API.
func Anthropic() Dialect { return anthropic{} }

const (
	anthropicUser     = `{"role":"user","content":[`
	anthropicSystem   = `{"role":"system","content":[`
	anthropicAnswer   = `{"role":"assistant","content":[`
	anthropicEnd      = `]}`
	anthropicText     = `{"type":"text","text":`
	anthropicCall     = `{"type":"tool_use","id":"`
	anthropicResult   = `{"type":"tool_result","tool_use_id":"`
	anthropicDefault  = 4096 // max_tokens is required
	anthropicCallSize = 64
)

func (anthropic) Tag() string    { return "anthropic/1" }
func (anthropic) CallLimit() int { return anthropicCallSize }
func (anthropic) Mark() string   { return `,"cache_control":{"type":"ephemeral"}` }

func (anthropic) Head(p model.Profile, _ Mode, e *weir.Epoch) ([]byte, int, error) {
	tools, err := neutralTools(e)
	if err != nil {
		return nil, 0, err
	}
	mark := -1
	dst := append([]byte(nil), `{"model":`...)
	dst = appendString(dst, p.Name)
	if !blank(e.Baseline) {
		dst = append(dst, `,"system":[`...)
		dst = appendTextBlock(dst, e.Baseline)
		mark = len(dst) - 1
		dst = append(dst, ']')
	}
	for i, t := range tools {
		dst = append(dst, separator(i, `,"tools":[`)...)
		dst = append(dst, `{"name":`...)
		dst = appendString(dst, t.Name)
		dst = append(dst, `,"description":`...)
		dst = appendString(dst, t.Description)
		dst = append(dst, `,"input_schema":`...)
		dst = appendJSON(dst, t.InputSchema)
		dst = append(dst, '}')
	}
	if len(tools) > 0 {
		if mark < 0 {
			mark = len(dst) - 1
		}
		dst = append(dst, ']')
	}
	return append(dst, `,"messages":[`...), mark, nil
}

func (anthropic) Tail(p model.Profile, o Options, head []byte, _ string) string {
	limit := o.limit(p)
	if limit <= 0 {
		limit = anthropicDefault
	}
	tail := `],"max_tokens":` + strconv.FormatInt(limit, 10)
	if o.ToolsOff && hasTools(head) {
		tail += `,"tool_choice":{"type":"none"}`
	}
	return tail + `,"stream":true}`
}

func (anthropic) Fragment(f Form, b weir.Body) []byte {
	switch m := b.(type) {
	case *weir.AssistantMessage:
		return anthropicMessage(f, m)
	case *weir.ToolResult:
		text := resultText(m)
		dst := append([]byte(nil), anthropicResult...)
		dst = append(dst, f.Calls[0]...)
		dst = append(dst, `","content":`...)
		dst = appendString(dst, text)
		if m.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
		return append(dst, '}')
	case *weir.Update:
		return anthropicUpdate(f.Mode, m)
	}
	return blocks(b, appendTextBlock)
}

func anthropicUpdate(mode Mode, m *weir.Update) []byte {
	text := updateText(m)
	if mode.Mid == model.MidNone {
		return appendTextBlock(nil, marked(text))
	}
	dst := append([]byte(nil), anthropicSystem...)
	dst = appendTextBlock(dst, text)
	return append(dst, anthropicEnd...)
}

// anthropicMessage renders an answer. Reasoning may not come last: behind the
// last thing said it is left out, and where nothing was said, that is said.
func anthropicMessage(f Form, m *weir.AssistantMessage) []byte {
	shown := visible(m)
	dst := append([]byte(nil), anthropicAnswer...)
	said, call := 0, 0
	for i, p := range m.Parts {
		text, ok := shown[i]
		signed := f.Signed && p.Type == weir.PartReasoning && isObject(p.Raw)
		if !ok && !signed && p.Type != weir.PartToolCall {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		switch {
		case ok:
			dst = appendTextBlock(dst, text)
		case signed:
			dst = append(dst, p.Raw...)
			continue
		default:
			dst = append(dst, anthropicCall...)
			dst = append(dst, f.Calls[call]...)
			dst = append(dst, `","name":`...)
			dst = appendString(dst, scrub(p.Name, toolNameLimit, fallbackTool))
			dst = append(dst, `,"input":`...)
			dst = append(appendObject(dst, p.Input), '}')
			call++
		}
		said = len(dst)
	}
	if said > 0 {
		return append(dst[:said], anthropicEnd...)
	}
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	dst = appendTextBlock(dst, noAnswer)
	return append(dst, anthropicEnd...)
}

func (anthropic) Class(mode Mode, fragment []byte) Class {
	told := anthropicSystem
	if mode.Mid == model.MidNone {
		told = anthropicText + `"` + markerOpen
	}
	switch {
	case bytes.HasPrefix(fragment, []byte(anthropicAnswer)):
		return Answer
	case bytes.HasPrefix(fragment, []byte(anthropicResult)):
		return Result
	case bytes.HasPrefix(fragment, []byte(told)):
		return Told
	}
	return Said
}

func (anthropic) Calls(fragment []byte) []string {
	if id, ok := quoted(fragment, anthropicResult); ok {
		return []string{id}
	}
	return callsAmong(bytes.TrimPrefix(fragment, []byte(anthropicAnswer)), anthropicCall)
}

func (anthropic) Section(dst []byte, mode Mode, results, said, told [][]byte) ([]byte, int) {
	dst = append(dst, anthropicUser...)
	for i, r := range results {
		dst = append(append(dst, separator(i, "")...), r...)
	}
	for i, s := range said {
		dst = append(append(dst, separator(i+len(results), "")...), s...)
	}
	if len(results)+len(said) == 0 {
		dst = appendTextBlock(dst, continued)
	}
	if mode.Mid == model.MidNone {
		for _, t := range told {
			dst = append(append(dst, ','), t...)
		}
	} else if len(told) > 0 {
		dst = append(dst, anthropicEnd...)
		for i, t := range told {
			dst = append(dst, separator(i, ","+anthropicSystem)...)
			dst = append(dst, t[len(anthropicSystem):len(t)-len(anthropicEnd)]...)
		}
	}
	mark := len(dst) - 1 // before the last block's brace
	return append(dst, anthropicEnd...), mark
}

// anthropicLookback is how many blocks before a mark the vendor looks for what
// it has in its cache (provider-facts.md, 1.2).
const anthropicLookback = 20

// Spare marks the last of so many results that the section's end does not see
// past them: what stands behind them may be arranged anew while the section is
// open, and they are the dear part of it.
func (anthropic) Spare(results, said, told [][]byte) int {
	if len(results) < anthropicLookback || len(said)+len(told) == 0 {
		return -1
	}
	at := len(anthropicUser) + len(results) - 1 // commas
	for _, r := range results {
		at += len(r)
	}
	return at - 1 // before the last block's brace
}

func appendTextBlock(dst []byte, text string) []byte {
	dst = append(dst, anthropicText...)
	dst = appendString(dst, text)
	return append(dst, '}')
}
