package openai

import (
	"encoding/json"
	"strings"

	"weir"
	"weir/model"
	"weir/model/internal/wire"
)

// The kinds of items that are understood.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
)

// maxItemID is the longest id of an item that is kept.
const maxItemID = 256

// item is one item of an answer in the making.
type item struct {
	kind  string
	id    string
	phase string
	whole bool            // it came to its end
	raw   json.RawMessage // of reasoning that is whole and can be returned
	texts []*text         // of a message, or of a summary
	call  weir.Part       // of a call
	begun bool            // the call was emitted as begun
	args  strings.Builder
}

// text is one part of an item.
type text struct {
	index int
	strings.Builder
}

// described is an item as an event describes it.
type described struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	Phase     string     `json:"phase"`
	CallID    string     `json:"call_id"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"`
	Content   []itemText `json:"content"`
	Summary   []itemText `json:"summary"`
	Encrypted string     `json:"encrypted_content"`
}

type itemText struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// at finds the item an event is of, or makes it. Some servers do not announce
// an item; then its kind follows from the event.
func (r *response) at(h *happening, kind string) *item {
	index := len(r.items) - 1
	if h.OutputIndex != nil {
		index = *h.OutputIndex
	}
	it := r.byIndex[index]
	if it == nil {
		it = &item{}
		r.byIndex[index] = it
		r.items = append(r.items, it)
	}
	if it.kind == "" {
		it.kind = kind
	}
	return it
}

func (r *response) added(h *happening) error {
	if h.OutputIndex == nil {
		next := len(r.items)
		h.OutputIndex = &next
	}
	it := r.at(h, "")
	var d described
	if json.Unmarshal(h.Item, &d) != nil {
		return r.bounded()
	}
	it.kind = d.Type
	if it.kind == kindCall {
		it.call.Call, it.call.Name = d.CallID, d.Name
		if err := r.begin(it); err != nil {
			return err
		}
	}
	return r.bounded()
}

func (r *response) bounded() error {
	if len(r.items) > maxItems {
		return errTooManyItems
	}
	return nil
}

// part returns the part of an item at an index.
func (it *item) part(index int) *text {
	for i := len(it.texts) - 1; i >= 0; i-- {
		if it.texts[i].index == index {
			return it.texts[i]
		}
	}
	t := &text{index: index}
	it.texts = append(it.texts, t)
	return t
}

func (r *response) say(it *item, index int, words string) error {
	if it.kind != kindMessage || it.whole || words == "" {
		return r.bounded()
	}
	it.part(index).WriteString(words)
	if len(it.texts) > maxItems {
		return errTooManyItems
	}
	return r.emit(model.Event{Text: words})
}

func (r *response) think(it *item, index int, words string) error {
	if it.kind != kindReasoning || it.whole || words == "" {
		return r.bounded()
	}
	t := it.part(index)
	if len(it.texts) > maxItems {
		return errTooManyItems
	}
	shown := words
	if t.Len() == 0 && len(it.texts) > 1 {
		shown = between + words
	}
	t.WriteString(words)
	return r.emit(model.Event{Reasoning: shown})
}

// between stands between the parts of a summary.
const between = "\n\n"

// begin emits a call as begun, once its name is known.
func (r *response) begin(it *item) error {
	if it.begun || it.call.Name == "" {
		return nil
	}
	it.begun, r.calling = true, it
	it.call.Type = weir.PartToolCall
	id := wire.CallID(it.call.Call)
	for _, o := range r.items {
		if o != it && o.begun && o.call.Call == id {
			id = wire.CallID("")
		}
	}
	it.call.Call = id
	return r.emit(model.Event{Call: &weir.Part{Type: it.call.Type, Call: id, Name: it.call.Name}})
}

func (r *response) argue(it *item, more string) error {
	if it.kind != kindCall || it.whole || more == "" {
		return r.bounded()
	}
	it.args.WriteString(more)
	if it != r.calling {
		return r.bounded() // a watcher could not tell whose it is; the answer has it
	}
	return r.emit(model.Event{CallInput: more})
}

// done takes an item as it is at its end, and emits what had not been said.
func (r *response) done(it *item, raw json.RawMessage) error {
	if it.whole || r.bounded() != nil {
		return r.bounded()
	}
	var d described
	if json.Unmarshal(raw, &d) != nil {
		return nil
	}
	if it.kind == "" {
		it.kind = d.Type
	}
	if d.Type != it.kind {
		return nil
	}
	complete := d.Status == "" || d.Status == "completed"
	if len(d.ID) <= maxItemID && complete {
		it.id = d.ID
	}
	var err error
	switch it.kind {
	case kindMessage:
		it.phase = d.Phase
		err = r.message(it, d.Content)
	case kindReasoning:
		err = r.reasoning(it, &d)
		if d.Encrypted != "" && complete {
			it.raw = model.Stable(raw)
		}
	case kindCall:
		err = r.calls(it, &d)
	}
	it.whole = complete
	return err
}

// message takes the texts of a message that is done.
func (r *response) message(it *item, content []itemText) error {
	for i, c := range content {
		if i >= maxItems {
			return errTooManyItems
		}
		words := c.Text
		if c.Type == "refusal" {
			words, r.refused = c.Refusal, true
		}
		t := it.part(i)
		more, continues := strings.CutPrefix(words, t.String())
		if !continues {
			t.Reset()
			t.WriteString(words)
			continue
		}
		if err := r.say(it, i, more); err != nil {
			return err
		}
	}
	return nil
}

// reasoning takes what is readable of reasoning that is done, unless it was
// streamed.
func (r *response) reasoning(it *item, d *described) error {
	if len(it.texts) > 0 {
		return nil
	}
	from := d.Summary
	if len(from) == 0 {
		from = d.Content
	}
	for i, c := range from {
		if err := r.think(it, i, c.Text); err != nil {
			return err
		}
	}
	return nil
}

// calls takes a call that is done.
func (r *response) calls(it *item, d *described) error {
	if !it.begun {
		it.call.Call, it.call.Name = d.CallID, d.Name
		if err := r.begin(it); err != nil {
			return err
		}
	}
	more, continues := strings.CutPrefix(d.Arguments, it.args.String())
	if !continues {
		it.args.Reset()
		it.args.WriteString(d.Arguments)
		return nil
	}
	return r.argue(it, more)
}

// answer returns what came. Of an answer that broke off, calls and reasoning
// that were not whole are left out: neither can ever be sent back.
func (r *response) answer(complete bool) model.Answer {
	out := model.Answer{Usage: r.usage, Dropped: r.dropped}
	calls := false
	for _, it := range r.items {
		switch it.kind {
		case kindMessage:
			for _, t := range it.texts {
				if t.Len() > 0 {
					out.Parts = append(out.Parts, weir.Part{Type: weir.PartText, Text: t.String(), Raw: it.beside("")})
				}
			}
		case kindReasoning:
			p := weir.Part{Type: weir.PartReasoning, Text: it.said(), Raw: it.raw}
			if it.raw != nil || complete && p.Text != "" {
				out.Parts = append(out.Parts, p)
			}
		case kindCall:
			if it.whole && it.begun { // a call without a name cannot be answered
				calls = true
				out.Parts = append(out.Parts, it.called())
			}
		case "":
		default:
			out.Parts = append(out.Parts, weir.Part{Type: partOther})
		}
	}
	out.Finish = r.finish(calls)
	return out
}

// partOther is the type of a part that stands for an item which is not
// understood here, so that nobody takes the answer for whole.
const partOther weir.PartType = "other"

func (it *item) said() string {
	var parts []string
	for _, t := range it.texts {
		if t.Len() > 0 {
			parts = append(parts, t.String())
		}
	}
	return strings.Join(parts, between)
}

// called is the call, with its arguments as they were written beside it where
// the log spells them otherwise: what is sent back must be what the model made.
func (it *item) called() weir.Part {
	p, written := it.call, it.args.String()
	p.Input = model.Arguments(written)
	if _, malformed := model.Malformed(p.Input); malformed || written == string(p.Input) {
		written = ""
	}
	p.Raw = it.beside(written)
	return p
}

// beside is what goes back with a text or a call.
func (it *item) beside(arguments string) json.RawMessage {
	raw, err := json.Marshal(struct {
		ID        string `json:"id,omitempty"`
		Phase     string `json:"phase,omitempty"`
		Arguments string `json:"arguments,omitempty"`
	}{it.id, it.phase, arguments})
	if err != nil || string(raw) == "{}" {
		return nil
	}
	return model.Stable(raw)
}
