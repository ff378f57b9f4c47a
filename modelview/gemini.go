package modelview

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"weir"
	"weir/model"
)

// gemini is Google's generateContent. The name of the model is not in the
// body: it is part of the address.
//
// A user-side record's fragment is its parts, joined by a comma, so that a
// section is one content of the role user: function responses first, because
// an endpoint counts them against the calls before; an answer's is its whole
// content. A turn, in which endpoints insist on signatures, begins with the
// last user content that is no function response. Whether text behind a
// response begins one is not said, so every call that needs a signature has
// one, wherever it stands.
type gemini struct{}

// Gemini returns the dialect of Google's generateContent.
func Gemini() Dialect { return gemini{} }

const (
	geminiUser     = `{"role":"user","parts":[`
	geminiAnswer   = `{"role":"model","parts":[`
	geminiEnd      = `]}`
	geminiText     = `{"text":`
	geminiCall     = `{"functionCall":{"id":"`
	geminiResult   = `{"functionResponse":{"id":"`
	geminiTools    = `"tools":[{"functionDeclarations":[`
	geminiSigned   = `,"thoughtSignature":`
	geminiCallSize = 64
)

// geminiBypass stands where a call's own signature is not to be had.
//
// https://ai.google.dev/gemini-api/docs/thought-signatures (questions at the end)
const geminiBypass = "skip_thought_signature_validator"

func (gemini) Tag() string    { return "gemini/1" }
func (gemini) CallLimit() int { return geminiCallSize }
func (gemini) Mark() string   { return "" }

func (gemini) Head(_ model.Profile, _ Mode, e *weir.Epoch) ([]byte, int, error) {
	tools, err := neutralTools(e)
	if err != nil {
		return nil, 0, err
	}
	dst := []byte{'{'}
	if !blank(e.Baseline) {
		dst = append(dst, `"systemInstruction":{"parts":[`...)
		dst = append(appendGeminiText(dst, e.Baseline, ""), `]},`...)
	}
	for i, t := range tools {
		dst = append(dst, separator(i, geminiTools)...)
		dst = append(dst, `{"name":`...)
		dst = appendString(dst, geminiName(t.Name))
		dst = append(dst, `,"description":`...)
		dst = appendString(dst, t.Description)
		// "parameters" takes a part of OpenAPI's schemas and refuses the rest.
		dst = append(dst, `,"parametersJsonSchema":`...)
		dst = append(appendJSON(dst, t.InputSchema), '}')
	}
	if len(tools) > 0 {
		dst = append(dst, `]}],`...)
	}
	return append(dst, `"contents":[`...), -1, nil
}

func (gemini) Tail(p model.Profile, o Options, head []byte, _ string) string {
	limit := o.limit(p)
	var config []string
	if limit > 0 {
		config = append(config, `"maxOutputTokens":`+strconv.FormatInt(limit, 10))
	}
	if p.ThinkingBinding == model.BindModel || p.ThinkingBinding == model.BindPrefix {
		config = append(config, `"thinkingConfig":{"includeThoughts":true}`) // refused by models that do not think
	}
	tail := `],"generationConfig":{` + strings.Join(config, ",") + `}`
	// In a string the quotation marks would be escaped; where there is a schema
	// that could hold the words, there are tools.
	if o.ToolsOff && bytes.Contains(head, []byte(geminiTools)) {
		tail += `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`
	}
	return tail + `}`
}

func (gemini) Fragment(f Form, b weir.Body) []byte {
	switch m := b.(type) {
	case *weir.AssistantMessage:
		return geminiContent(f, m)
	case *weir.ToolResult:
		return geminiResponse(f, m)
	case *weir.Update:
		return appendGeminiText(nil, marked(updateText(m)), "")
	}
	return blocks(b, func(dst []byte, text string) []byte { return appendGeminiText(dst, text, "") })
}

// geminiResponse renders a result. It repeats the name of its call.
func geminiResponse(f Form, m *weir.ToolResult) []byte {
	text, member := resultText(m), "output"
	if m.IsError {
		member = "error"
	}
	dst := append([]byte(nil), geminiResult...)
	dst = append(dst, f.Calls[0]...)
	dst = append(dst, `","name":`...)
	dst = appendString(dst, geminiName(f.Name))
	dst = append(dst, `,"response":{"`+member+`":`...)
	return append(appendString(dst, text), "}}}"...)
}

// geminiContent renders an answer. What is signed stays a part of its own, an
// empty text too.
func geminiContent(f Form, m *weir.AssistantMessage) []byte {
	shown := visible(m)
	dst := append([]byte(nil), geminiAnswer...)
	call := 0
	for i, p := range m.Parts {
		text, ok := shown[i]
		seal := signatureOf(f, p)
		if p.Type != weir.PartText && p.Type != weir.PartToolCall || ok && text != p.Text {
			seal = signature{} // it was made for other words
		}
		if p.Type == weir.PartToolCall && geminiName(p.Name) != p.Name {
			seal = signature{} // or for another name
		}
		if !ok && seal.Value == "" && p.Type != weir.PartToolCall {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		if p.Type != weir.PartToolCall {
			if !ok {
				text = p.Text
			}
			dst = appendSealed(dst, text, seal)
			continue
		}
		if call == 0 && seal.Value == "" && f.Mode.Reasoning == model.ReasoningSignature {
			seal.Value = geminiBypass
		}
		dst = append(dst, geminiCall...)
		dst = append(dst, f.Calls[call]...)
		dst = append(dst, `","name":`...)
		dst = appendString(dst, geminiName(p.Name))
		dst = append(dst, `,"args":`...)
		dst = append(appendObject(dst, p.Input), '}')
		dst = appendSignature(dst, seal.Value)
		call++
	}
	if dst[len(dst)-1] == '[' {
		dst = appendGeminiText(dst, noAnswer, "")
	}
	return append(dst, geminiEnd...)
}

// signature is what a part's own bytes hold: the signature, and where that was
// made for the end of a text alone, that end.
type signature struct {
	Value string `json:"thoughtSignature"`
	Text  string `json:"text"`
}

func signatureOf(f Form, p weir.Part) (s signature) {
	if !f.Signed || len(p.Raw) == 0 || json.Unmarshal(p.Raw, &s) != nil {
		return signature{}
	}
	return s
}

// appendSealed writes a text, whose signed end is a part of its own.
func appendSealed(dst []byte, text string, seal signature) []byte {
	if before, ok := strings.CutSuffix(text, seal.Text); ok && seal.Text != "" && before != "" {
		dst = append(appendGeminiText(dst, before, ""), ',')
		text = seal.Text
	}
	return appendGeminiText(dst, text, seal.Value)
}

func appendGeminiText(dst []byte, text, seal string) []byte {
	dst = append(dst, geminiText...)
	return appendSignature(appendString(dst, text), seal)
}

// appendSignature ends a part.
func appendSignature(dst []byte, seal string) []byte {
	if seal != "" {
		dst = append(dst, geminiSigned...)
		dst = appendString(dst, seal)
	}
	return append(dst, '}')
}

// geminiName is the name of a tool as this wire takes it: it begins with a
// letter or an underscore.
func geminiName(name string) string {
	name = scrub(name, toolNameLimit, fallbackTool)
	if c := name[0]; c == '-' || c >= '0' && c <= '9' {
		name = "_" + name[:min(len(name), toolNameLimit-1)]
	}
	return name
}

func (gemini) Class(_ Mode, fragment []byte) Class {
	switch {
	case bytes.HasPrefix(fragment, []byte(geminiAnswer)):
		return Answer
	case bytes.HasPrefix(fragment, []byte(geminiResult)):
		return Result
	case bytes.HasPrefix(fragment, []byte(geminiText+`"`+markerOpen)):
		return Told
	}
	return Said
}

func (gemini) Calls(fragment []byte) []string {
	if id, ok := quoted(fragment, geminiResult); ok {
		return []string{id}
	}
	return callsAmong(bytes.TrimPrefix(fragment, []byte(geminiAnswer)), geminiCall)
}

func (gemini) Section(dst []byte, _ Mode, results, said, told [][]byte) ([]byte, int) {
	dst = append(dst, geminiUser...)
	for i, r := range results {
		dst = append(append(dst, separator(i, "")...), r...)
	}
	for i, s := range said {
		dst = append(append(dst, separator(i+len(results), "")...), s...)
	}
	if len(results)+len(said) == 0 {
		dst = appendGeminiText(dst, continued, "")
	}
	for _, t := range told {
		dst = append(append(dst, ','), t...)
	}
	return append(dst, geminiEnd...), -1
}
