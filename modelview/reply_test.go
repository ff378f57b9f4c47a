package modelview_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/modelview"
)

// reply is what a provider is to answer with.
type reply struct {
	parts []weir.Part
	cut   bool // the stream ends behind them, without an end
}

// provider answers a request in its own spelling, or fails when it refuses the
// body. What came of a reply that is cut may be less.
type provider func(p model.Profile, r *modelview.Request, want reply) ([]weir.Part, error)

// answered asks the provider about the newest request.
func (w *world) answered(x *life, want reply) []weir.Part {
	parts, err := w.ask(x.profile, x.last, want)
	if err != nil {
		w.t.Fatalf("refused: %v\n%s", err, x.last.Body)
	}
	x.asked = true
	return parts
}

// unanswered sends the newest request where nothing is made of the answer.
func (w *world) unanswered(x *life) {
	if !x.asked {
		w.answered(x, reply{parts: []weir.Part{text("lost")}})
	}
}

// turn is a whole turn: inputs, and steps until nothing is called.
func (w *world) turn(x *life) {
	inputs := w.inputs(x, 1)
	for range 4 {
		w.step(x, inputs)
		answer := &weir.AssistantMessage{Step: x.stepID(), Model: x.profile.ID}
		switch w.draw(6, "outcome") {
		case 0: // failed before any output
			w.unanswered(x)
			x.events[weir.BreakOpenSection] = true
			return
		case 1: // interrupted, or the connection was lost
			answer.Interrupted = true
			answer.Parts = w.answered(x, reply{w.parts(x), true})
			if len(answer.Parts) == 0 {
				x.events[weir.BreakOpenSection] = true
				return
			}
		default:
			answer.Parts = w.answered(x, reply{w.parts(x), false})
		}
		w.append(x, answer)
		end := &weir.StepEnd{Step: x.stepID(), Outcome: weir.StepDone}
		if answer.Interrupted {
			end.Outcome = weir.StepInterrupted
		}
		w.append(x, append(w.results(answer), end)...)
		switch {
		case len(answer.Calls()) > 0:
			inputs = w.inputs(x, 0)
		case answer.Interrupted && rapid.Bool().Draw(w.t, "goes on"):
			inputs = nil
		default:
			return
		}
	}
}

// parts are a random answer, empty ones included. Models reason before
// they call.
func (w *world) parts(x *life) []weir.Part {
	var parts []weir.Part
	for i := range w.draw(6, "parts") {
		switch w.draw(6, "part") {
		case 0, 1:
			parts = append(parts, weir.Part{Type: weir.PartReasoning, Text: "hm"})
		case 2, 3:
			parts = append(parts, text(w.text("answer")))
		default:
			id := rapid.SampledFrom([]string{fmt.Sprintf("toolu_%s_%d_%d", x.c.ID, x.n, i), fmt.Sprintf("call.%d", i), "same"}).Draw(w.t, "call")
			args := rapid.SampledFrom([]string{`{"p": 1}`, `{}`, `{"s":"\u003ca\ud83d"}`, `{"p": broken`, `[1]`, ``}).Draw(w.t, "arguments")
			p := call(id, "read", "")
			p.Text, p.Input = args, model.Arguments(args) // the text is for who spells it
			parts = append(parts, p)
		}
	}
	calls := slices.IndexFunc(parts, func(p weir.Part) bool { return p.Type == weir.PartToolCall })
	if calls >= 0 {
		parts = append(parts[:calls], slices.DeleteFunc(parts[calls:], func(p weir.Part) bool { return p.Type == weir.PartReasoning })...)
	}
	return parts
}

// results answer all calls, in any order, with decisions between.
func (w *world) results(answer *weir.AssistantMessage) []weir.Body {
	var results []weir.Body
	for i, c := range answer.Calls() {
		r := &weir.ToolResult{Call: c.Call, Text: w.text("result"), IsError: i == 1}
		if answer.Interrupted {
			r.Text, r.IsError = "not run", true
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil
	}
	results = rapid.Permutation(results).Draw(w.t, "results")
	if rapid.Bool().Draw(w.t, "asked a person") {
		results = append([]weir.Body{&weir.Approval{Call: answer.Calls()[0].Call, Decision: weir.Deny}}, results...)
	}
	return results
}

// rules is a provider that knows the vendors' rules and signs what it thinks.
func rules(p model.Profile, r *modelview.Request, want reply) ([]weir.Part, error) {
	var parts []weir.Part
	for i, part := range want.parts {
		switch {
		case p.Dialect == model.OpenAIResponses:
			part = itemOf(part, fmt.Sprintf("%s_%d", sign(r)[:12], i), sign(r))
		case part.Type == weir.PartReasoning && p.Dialect == model.Anthropic:
			part.Raw = json.RawMessage(fmt.Sprintf(`{"type":"thinking","thinking":"","signature":"%s"}`, sign(r)))
		case part.Type == weir.PartReasoning && p.ReasoningRequired == model.ReasoningContent:
			part.Raw = json.RawMessage(`{"reasoning_content":"hm"}`)
		case part.Type == weir.PartToolCall:
			part.Text = ""
		}
		parts = append(parts, part)
	}
	if want.cut {
		parts = slices.DeleteFunc(parts, func(p weir.Part) bool { return p.Type != weir.PartText })
	}
	if err := behind(r); err != nil {
		return nil, err
	}
	return parts, accepted(p, r.Body)
}

// itemOf is a part with what the Responses API gives beside it.
func itemOf(p weir.Part, id, signature string) weir.Part {
	switch p.Type {
	case weir.PartReasoning:
		p.Raw = json.RawMessage(fmt.Sprintf(`{"id":"rs_%s","type":"reasoning","summary":[],"encrypted_content":"%s"}`, id, signature))
	case weir.PartToolCall:
		p.Raw = json.RawMessage(fmt.Sprintf(`{"id":"fc_%s"}`, id))
		if _, malformed := model.Malformed(p.Input); !malformed {
			p.Raw, _ = json.Marshal(map[string]string{"id": "fc_" + id, "arguments": p.Text})
		}
		p.Text = ""
	default:
		p.Raw = json.RawMessage(fmt.Sprintf(`{"id":"msg_%s","phase":"commentary"}`, id))
	}
	return p
}
