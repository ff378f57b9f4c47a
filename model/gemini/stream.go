package gemini

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

// grace is how long a server may take, after its reason to finish, to end the
// stream.
const grace = 10 * time.Second

// maxParts is how many parts one answer may have.
const maxParts = 10_000

var errTooManyParts = errors.New("gemini: more parts than an answer can have")

// assembly puts an answer together from the chunks of its stream.
type assembly struct {
	emit    func(model.Event) error
	parts   []*part
	usage   weir.Usage
	reason  string
	blocked bool // the prompt was, so there is no answer
}

// part is one part in the making.
type part struct {
	kind      weir.PartType
	text      strings.Builder
	signature string
	end       string // what of the text the signature is of, "" for all of it
	call      weir.Part
}

// chunk is one event, a GenerateContentResponse.
type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
	Error *fault `json:"error"`
}

// piece is a part as it comes, or as much of a text as came.
type piece struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// read takes the stream to its end.
func (a *assembly) read(s *wire.Stream) error {
	for {
		e, err := s.Next()
		switch {
		case err != nil && (a.reason != "" || a.blocked):
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
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return s.Garbled(err)
		}
		if c.Error != nil {
			fault := s.Fault(c.Error.class(c.Error.Code), c.Error.Message)
			fault.RetryAfter = c.Error.wait()
			return fault
		}
		if err := a.take(&c, s); err != nil {
			return err
		}
		if len(a.parts) > maxParts {
			return s.Garbled(errTooManyParts)
		}
		if a.reason != "" || a.blocked {
			s.Hurry(grace)
		}
	}
}

func (a *assembly) take(c *chunk, s *wire.Stream) error {
	if c.Usage != nil {
		a.usage = c.Usage.normal()
	}
	if c.PromptFeedback.BlockReason != "" {
		a.blocked = true
	}
	for i := range c.Candidates {
		candidate := &c.Candidates[i]
		if candidate.Index != 0 {
			continue // we ask for one
		}
		for _, raw := range candidate.Content.Parts {
			if err := a.add(raw); err != nil {
				return err
			}
		}
		if candidate.FinishReason == "" || candidate.FinishReason == "FINISH_REASON_UNSPECIFIED" {
			continue
		}
		a.reason = candidate.FinishReason
		if f, bad := spoiled(a.reason); bad {
			return s.Fault(f, strings.TrimSpace(a.reason+" "+candidate.FinishMessage))
		}
	}
	return nil
}

// spoiled are the ends of answers that are none: the model wrote a call that
// its own endpoint could not read, or our history was not as it should be.
func spoiled(reason string) (model.Failure, bool) {
	switch reason {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return model.FailServer, true
	case "MISSING_THOUGHT_SIGNATURE":
		return model.FailRefused, true
	}
	return "", false
}

// add takes a part. One of a kind that is not known, or of another shape, is
// nothing that could be shown or sent back.
func (a *assembly) add(raw json.RawMessage) error {
	var p piece
	if json.Unmarshal(raw, &p) != nil {
		return nil
	}
	switch {
	case p.Call != nil:
		return a.call(&p)
	case p.Thought:
		return a.think(p.Text)
	}
	return a.say(p.Text, p.Signature)
}

// call takes a call, which comes whole.
func (a *assembly) call(p *piece) error {
	if p.Call.Name == "" {
		return nil // cannot be answered
	}
	id := wire.CallID(p.Call.ID)
	for _, o := range a.parts {
		if o.kind == weir.PartToolCall && o.call.Call == id {
			id = wire.CallID("")
		}
	}
	args := string(p.Call.Args)
	if args == "null" {
		args = ""
	}
	call := weir.Part{Type: weir.PartToolCall, Call: id, Name: p.Call.Name, Input: model.Arguments(args)}
	a.parts = append(a.parts, &part{kind: weir.PartToolCall, call: call, signature: p.Signature})
	if err := a.emit(model.Event{Call: &weir.Part{Type: call.Type, Call: call.Call, Name: call.Name}}); err != nil || args == "" {
		return err
	}
	return a.emit(model.Event{CallInput: args})
}

func (a *assembly) think(text string) error {
	if text == "" {
		return nil
	}
	a.last(weir.PartReasoning).text.WriteString(text)
	return a.emit(model.Event{Reasoning: text})
}

// say takes a piece of text. A signed one without words stays a part of its
// own, one with words ends the part that it goes on with.
func (a *assembly) say(text, signature string) error {
	if text == "" && signature == "" {
		return nil
	}
	if text == "" {
		a.parts = append(a.parts, &part{kind: weir.PartText, signature: signature})
		return nil
	}
	p := a.last(weir.PartText)
	if signature != "" && p.text.Len() > 0 {
		p.end = text
	}
	p.signature = signature
	p.text.WriteString(text)
	return a.emit(model.Event{Text: text})
}

// last returns the newest part, a new one if that is of another kind or signed.
func (a *assembly) last(kind weir.PartType) *part {
	if n := len(a.parts); n > 0 && a.parts[n-1].kind == kind && a.parts[n-1].signature == "" {
		return a.parts[n-1]
	}
	p := &part{kind: kind}
	a.parts = append(a.parts, p)
	return p
}

// answer returns what came. Of an answer that broke off, thoughts are left out.
func (a *assembly) answer(complete bool) model.Answer {
	out := model.Answer{Usage: a.usage}
	calls := false
	for _, p := range a.parts {
		if p.kind == weir.PartReasoning && !complete {
			continue
		}
		out.Parts = append(out.Parts, p.whole())
		calls = calls || p.kind == weir.PartToolCall
	}
	out.Finish = a.finish(calls)
	return out
}

func (p *part) whole() weir.Part {
	out := weir.Part{Type: p.kind, Text: p.text.String()}
	if p.kind == weir.PartToolCall {
		out = p.call
	}
	if p.signature != "" {
		raw, _ := json.Marshal(struct {
			Signature string `json:"thoughtSignature"`
			Text      string `json:"text,omitempty"`
		}{p.signature, p.end})
		out.Raw = model.Stable(raw)
	}
	return out
}

func (a *assembly) finish(calls bool) model.Finish {
	if a.blocked && a.reason == "" {
		return model.FinishFiltered
	}
	switch a.reason {
	case "STOP":
		if calls {
			return model.FinishTools
		}
		return model.FinishEnd
	case "MAX_TOKENS":
		return model.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return model.FinishFiltered
	}
	return model.FinishUnknown
}
