package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"weir"
	"weir/model"
	"weir/model/internal/wire"
)

// grace is how long a server may take, after its reason to finish, to count
// its tokens and say [DONE].
const grace = 10 * time.Second

// maxCalls is how many calls one answer may make.
const maxCalls = 1000

var errTooManyCalls = errors.New("openai: more calls than an answer can have")

// assembly puts an answer together from the chunks of its stream.
type assembly struct {
	emit    func(model.Event) error
	parts   []*part
	calls   []*part
	calling *part // the last call that was emitted as begun
	usage   weir.Usage
	reason  string
	refused bool
}

// part is one part in the making.
type part struct {
	kind  weir.PartType
	text  strings.Builder // of a call: its arguments
	index *int            // of a call, as the server counts
	id    string
	name  string
	begun bool // emitted
	bare  bool // of reasoning: some of it came in another member than reasoning_content
}

// chunk is one event.
type chunk struct {
	Choices []struct {
		Index        int     `json:"index"`
		Delta        delta   `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent *string         `json:"reasoning_content"` // DeepSeek, llama.cpp, older vLLM
	Reasoning        *string         `json:"reasoning"`         // OpenRouter, Ollama, newer vLLM
	Refusal          *string         `json:"refusal"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// read takes the stream to its end.
func (a *assembly) read(s *wire.Stream) error {
	for {
		e, err := s.Next()
		switch {
		case err != nil && a.reason != "":
			return nil
		case err == io.EOF:
			return s.Incomplete()
		case err != nil:
			return err
		}
		data := bytes.TrimSpace(e.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			if a.reason == "" && len(a.parts) == 0 {
				return s.Incomplete()
			}
			return nil
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return s.Garbled(err)
		}
		if isSet(c.Error) {
			f := faultOf(c.Error)
			return s.Fault(f.class(200), f.message)
		}
		if e.Name == "error" {
			f, _ := readFault(data)
			return s.Fault(f.class(200), f.message)
		}
		if err := a.take(&c); err != nil {
			return err
		}
		if len(a.calls) > maxCalls {
			return s.Garbled(errTooManyCalls)
		}
		if a.reason != "" {
			s.Hurry(grace)
		}
	}
}

func (a *assembly) take(c *chunk) error {
	if c.Usage != nil {
		a.usage = c.Usage.normal()
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // we ask for one
		}
		if err := a.delta(&choice.Delta); err != nil {
			return err
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			a.reason = *choice.FinishReason
		}
	}
	return nil
}

func (a *assembly) delta(d *delta) error {
	thought, bare := reasoning(d)
	if err := a.think(thought, bare); err != nil {
		return err
	}
	thought, said := content(d.Content)
	if err := a.think(thought, true); err != nil {
		return err
	}
	if d.Refusal != nil && *d.Refusal != "" {
		a.refused = true
		said += *d.Refusal
	}
	if err := a.say(said); err != nil {
		return err
	}
	for i := range d.ToolCalls {
		if err := a.argue(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

// reasoning takes one of the two members: some servers send both, equal. It
// is bare where it is not the one that a vendor may want back.
func reasoning(d *delta) (text string, bare bool) {
	for _, s := range []*string{d.ReasoningContent, d.Reasoning} {
		if s != nil && *s != "" {
			return *s, s != d.ReasoningContent
		}
	}
	return "", false
}

// content reads a delta's content: a string, or the list of parts that some
// servers send, in which reasoning has a type of its own.
func content(raw json.RawMessage) (thought, said string) {
	if json.Unmarshal(raw, &said) == nil {
		return "", said
	}
	var list []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		if p.Type == "thinking" {
			inner, text := content(p.Thinking)
			thought += inner + text
		} else {
			said += p.Text
		}
	}
	return thought, said
}

func (a *assembly) think(text string, bare bool) error {
	if text == "" {
		return nil
	}
	p := a.last(weir.PartReasoning)
	p.text.WriteString(text)
	p.bare = p.bare || bare
	return a.emit(model.Event{Reasoning: text})
}

func (a *assembly) say(text string) error {
	if text == "" {
		return nil
	}
	a.last(weir.PartText).text.WriteString(text)
	return a.emit(model.Event{Text: text})
}

// last returns the newest part, a new one if that is of another kind.
func (a *assembly) last(kind weir.PartType) *part {
	if n := len(a.parts); n > 0 && a.parts[n-1].kind == kind {
		return a.parts[n-1]
	}
	p := &part{kind: kind}
	a.parts = append(a.parts, p)
	return p
}

// argue takes a piece of a call. A call is emitted as begun when its name is
// known, with what came of its arguments until then.
func (a *assembly) argue(d *callDelta) error {
	p := a.call(d)
	if p.id == "" {
		p.id = d.ID
	}
	if p.name == "" {
		p.name = d.Function.Name
	}
	text := arguments(d.Function.Arguments)
	p.text.WriteString(text)
	if !p.begun {
		if p.name == "" {
			return nil
		}
		p.begun, a.calling = true, p
		p.id = a.callID(p)
		text = p.text.String()
		if err := a.emit(model.Event{Call: &weir.Part{Type: weir.PartToolCall, Call: p.id, Name: p.name}}); err != nil {
			return err
		}
	}
	if text == "" || p != a.calling {
		return nil
	}
	return a.emit(model.Event{CallInput: text})
}

// call finds the call a piece belongs to: by the server's index, or where it
// gives none by a new id, else it is the last one.
func (a *assembly) call(d *callDelta) *part {
	if n := len(a.calls); n > 0 && d.Index == nil {
		if last := a.calls[n-1]; d.ID == "" || d.ID == last.id {
			return last
		}
	}
	if d.Index != nil {
		for _, p := range a.calls {
			if p.index != nil && *p.index == *d.Index {
				return p
			}
		}
	}
	p := &part{kind: weir.PartToolCall, index: d.Index}
	a.calls = append(a.calls, p)
	a.parts = append(a.parts, p)
	return p
}

// callID returns the id of a call, or one of our own where the server gave
// none or gave it to another call of this answer.
func (a *assembly) callID(p *part) string {
	for _, o := range a.calls {
		if o != p && o.begun && o.id == p.id {
			return wire.CallID("")
		}
	}
	return wire.CallID(p.id)
}

// arguments returns a piece of the arguments' text. A few servers send the
// object itself instead of its text.
func arguments(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	return word(raw)
}

// answer returns what came. Of an answer that broke off only its text is kept:
// a call may lack arguments, and reasoning is not signed in this dialect.
func (a *assembly) answer(complete bool) model.Answer {
	out := model.Answer{Usage: a.usage}
	calls := false
	for _, p := range a.parts {
		switch {
		case p.kind == weir.PartText:
			out.Parts = append(out.Parts, weir.Part{Type: p.kind, Text: p.text.String()})
		case !complete:
		case p.kind == weir.PartReasoning:
			out.Parts = append(out.Parts, p.thought())
		case p.begun: // a call without a name cannot be answered
			calls = true
			out.Parts = append(out.Parts, weir.Part{Type: p.kind, Call: p.id, Name: p.name, Input: model.Arguments(p.text.String())})
		}
	}
	out.Finish = a.finish(calls)
	return out
}

// thought is a part of reasoning, with what a vendor that wants it back gets.
func (p *part) thought() weir.Part {
	out := weir.Part{Type: p.kind, Text: p.text.String()}
	if !p.bare {
		raw, err := json.Marshal(struct {
			Content string `json:"reasoning_content"`
		}{out.Text})
		if err == nil {
			out.Raw = model.Stable(raw)
		}
	}
	return out
}

func (a *assembly) finish(calls bool) model.Finish {
	switch {
	case a.refused, a.reason == "content_filter":
		return model.FinishFiltered
	case a.reason == "length":
		return model.FinishLength
	case a.reason == "stop", a.reason == "tool_calls", a.reason == "function_call":
		// Some servers say "stop" under calls, or "tool_calls" without any.
		if calls {
			return model.FinishTools
		}
		return model.FinishEnd
	}
	return model.FinishUnknown
}
