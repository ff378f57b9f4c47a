package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"weir"
	"weir/model"
	"weir/model/internal/wire"
)

// maxBlocks is how many content blocks one answer may have.
const maxBlocks = 10_000

var errTooManyBlocks = errors.New("anthropic: more blocks than an answer can have")

// assembly puts an answer together from the events of its stream.
type assembly struct {
	emit    func(model.Event) error
	blocks  []*block
	calling *block // the last call that has begun
	open    map[int]*block
	usage   usage
	reason  string
	stopped bool // message_stop has come
}

// block is one content block in the making.
type block struct {
	kind      string
	raw       json.RawMessage // as it began
	call      weir.Part       // of a tool_use
	text      strings.Builder // text, thinking or the JSON of an input
	signature strings.Builder
	closed    bool
}

// usage are the vendor's counters. Those of message_delta are cumulative and
// may be partial, so each that is given replaces what was there. Servers that
// resemble the vendor's count in their own ways.
type usage struct {
	Input  *wire.Count `json:"input_tokens"`
	Read   *wire.Count `json:"cache_read_input_tokens"`
	Write  *wire.Count `json:"cache_creation_input_tokens"`
	Output *wire.Count `json:"output_tokens"`
}

func (u *usage) take(o usage) {
	for _, c := range []struct{ to, from **wire.Count }{{&u.Input, &o.Input}, {&u.Read, &o.Read}, {&u.Write, &o.Write}, {&u.Output, &o.Output}} {
		if *c.from != nil {
			*c.to = *c.from
		}
	}
}

func count(n *wire.Count) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// event is the union of all events.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Index int             `json:"index"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		JSON       string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// read takes the stream to its end.
func (a *assembly) read(s *wire.Stream) error {
	a.open = map[int]*block{}
	for !a.stopped {
		e, err := s.Next()
		switch {
		case err != nil && a.complete():
			return nil
		case err == io.EOF:
			return s.Incomplete()
		case err != nil:
			return err
		}
		if e.Name == "ping" || len(e.Data) == 0 {
			continue
		}
		var ev event
		if err := json.Unmarshal(e.Data, &ev); err != nil {
			return s.Garbled(err)
		}
		if ev.Type == "" {
			ev.Type = e.Name
		}
		if ev.Type == "error" {
			return s.Fault(class(200, ev.Error.Type, ev.Error.Message), ev.Error.Message)
		}
		if err := a.take(&ev); err != nil {
			return err
		}
		if len(a.blocks) > maxBlocks {
			return s.Garbled(errTooManyBlocks)
		}
	}
	if !a.complete() {
		return s.Incomplete()
	}
	return nil
}

func (a *assembly) complete() bool { return (a.reason != "" || a.stopped) && len(a.open) == 0 }

func (a *assembly) take(e *event) error {
	switch e.Type {
	case "message_start":
		a.usage.take(e.Message.Usage)
	case "content_block_start":
		return a.begin(e)
	case "content_block_delta":
		if b := a.open[e.Index]; b != nil {
			return a.delta(b, e)
		}
	case "content_block_stop":
		if b := a.open[e.Index]; b != nil {
			b.closed = true
			delete(a.open, e.Index)
		}
	case "message_delta":
		a.usage.take(e.Usage)
		if e.Delta.StopReason != "" {
			a.reason = e.Delta.StopReason
		}
	case "message_stop":
		a.stopped = true
	}
	return nil // ping, and events that do not exist yet
}

func (a *assembly) begin(e *event) error {
	var start struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(e.Block, &start) // a block of unknown shape is of no known type
	b := &block{kind: start.Type, raw: e.Block}
	a.blocks = append(a.blocks, b)
	a.open[e.Index] = b
	switch b.kind {
	case "text":
		return a.say(b, start.Text)
	case "thinking":
		b.signature.WriteString(start.Signature)
		return a.think(b, start.Thinking)
	case "tool_use":
		b.call = weir.Part{Type: weir.PartToolCall, Call: wire.CallID(start.ID), Name: start.Name}
		a.calling = b
		if err := a.emit(model.Event{Call: &weir.Part{Type: b.call.Type, Call: b.call.Call, Name: b.call.Name}}); err != nil {
			return err
		}
		if len(start.Input) > 0 && string(start.Input) != "{}" && string(start.Input) != "null" {
			return a.argue(b, string(start.Input))
		}
	}
	return nil
}

func (a *assembly) delta(b *block, e *event) error {
	switch e.Delta.Type {
	case "text_delta":
		return a.say(b, e.Delta.Text)
	case "thinking_delta":
		return a.think(b, e.Delta.Thinking)
	case "signature_delta":
		b.signature.WriteString(e.Delta.Signature)
	case "input_json_delta":
		return a.argue(b, e.Delta.JSON)
	}
	return nil
}

func (a *assembly) say(b *block, text string) error {
	if b.kind != "text" || text == "" {
		return nil
	}
	b.text.WriteString(text)
	return a.emit(model.Event{Text: text})
}

func (a *assembly) think(b *block, text string) error {
	if b.kind != "thinking" || text == "" {
		return nil
	}
	b.text.WriteString(text)
	return a.emit(model.Event{Reasoning: text})
}

func (a *assembly) argue(b *block, text string) error {
	if b.kind != "tool_use" || text == "" {
		return nil
	}
	b.text.WriteString(text)
	if b != a.calling {
		return nil // a watcher could not tell whose it is; the answer has it
	}
	return a.emit(model.Event{CallInput: text})
}

// answer returns what came. Of an answer that broke off, calls and reasoning
// that were not whole are left out: neither can ever be sent back.
func (a *assembly) answer(complete bool) model.Answer {
	out := model.Answer{
		Usage: weir.Usage{Fresh: count(a.usage.Input), Read: count(a.usage.Read), Write: count(a.usage.Write), Output: count(a.usage.Output)},
	}
	calls := false
	for _, b := range a.blocks {
		part, ok := b.part(complete)
		if ok {
			out.Parts = append(out.Parts, part)
			calls = calls || part.Type == weir.PartToolCall
		}
	}
	out.Finish = finish(a.reason, calls)
	return out
}

func (b *block) part(complete bool) (weir.Part, bool) {
	switch b.kind {
	case "text":
		return weir.Part{Type: weir.PartText, Text: b.text.String()}, b.text.Len() > 0
	case "tool_use":
		b.call.Input = model.Arguments(b.text.String())
		return b.call, b.closed
	case "redacted_thinking":
		return weir.Part{Type: weir.PartReasoning, Raw: model.Stable(b.raw)}, b.closed
	case "thinking":
		part := weir.Part{Type: weir.PartReasoning, Text: b.text.String()}
		if b.signature.Len() > 0 {
			part.Raw = b.signed()
		}
		return part, b.closed && (part.Raw != nil || (complete && part.Text != ""))
	}
	return weir.Part{}, false
}

func finish(reason string, calls bool) model.Finish {
	switch reason {
	case "end_turn", "stop_sequence", "tool_use":
		if calls {
			return model.FinishTools
		}
		return model.FinishEnd
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishFiltered
	}
	return model.FinishUnknown
}

// signed is the thinking block as the next request must return it: as it
// began, with the texts that its deltas made.
func (b *block) signed() json.RawMessage {
	members := map[string]string{"thinking": b.text.String(), "signature": b.signature.String()}
	d := json.NewDecoder(strings.NewReader(string(b.raw)))
	_, _ = d.Token() // the brace
	var out strings.Builder
	write := func(key string, value []byte) {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(key)
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		name, _ := key.(string)
		if text, replaced := members[name]; replaced {
			value, _ = json.Marshal(text)
			delete(members, name)
		}
		write(name, value)
	}
	for _, name := range []string{"thinking", "signature"} {
		if text, missing := members[name]; missing {
			value, _ := json.Marshal(text)
			write(name, value)
		}
	}
	return model.Stable([]byte("{" + out.String() + "}"))
}
