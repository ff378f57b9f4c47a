package oracles

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
)

// tools are offered to models: schemas of the kinds that servers publish.
const tools = `[{"name":"read","description":"Reads <a> file.","input_schema":{"type":"object","properties":{"p":{"type":"string","description":"path"},
	"n":{"type":["integer","null"],"minimum":0},"how":{"anyOf":[{"const":"text"},{"enum":["bytes","lines"]}]}},"required":["p"],"additionalProperties":false}},
	{"name":"mcp__list-all_2","description":"","input_schema":{"type":"object"}},
	{"name":"find","description":"Finds.","input_schema":{"type":"object","properties":{"q":{"$ref":"#/$defs/q"}},"$defs":{"q":{"type":"array","items":{"type":"string"}}}}}]`

// profiles are those of the strict peer and of the catalogue, one of each way
// in which bodies differ, and ways that neither has yet.
func profiles(t testing.TB) []model.Profile {
	t.Helper()
	var all []model.Profile
	for _, name := range strictpeer.Profiles() {
		all = append(all, strictpeer.Model(name, "peer/"+name, name))
	}
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, c.All()...)
	for _, d := range []model.Dialect{model.OpenAIChat, model.OpenAIResponses} {
		all = append(all,
			model.Profile{ID: "more/breaks-" + string(d), Name: "m", Dialect: d, MidSystem: model.MidDeveloper, ContentParts: true, CacheStyle: model.CacheBreakpoints, ThinkingBinding: model.BindModel},
			model.Profile{ID: "more/none-" + string(d), Name: "m", Dialect: d, MidSystem: model.MidNone, ContentParts: true, MaxOutput: 100},
			model.Profile{ID: "more/native-" + string(d), Name: "m", Dialect: d, MidSystem: model.MidNative})
	}
	seen := map[model.Profile]bool{}
	var kept []model.Profile
	for _, p := range all {
		way := p
		way.ID, way.Provider, way.Name, way.Lifecycle, way.Prices = "", "", "", "", model.Prices{}
		way.ContextWindow, way.CacheMinTokens, way.MaxOutput = 0, 0, min(p.MaxOutput, 1)
		if !seen[way] {
			seen[way] = true
			kept = append(kept, p)
		}
	}
	return kept
}

// body is a request for a model.
type body struct {
	profile model.Profile
	bytes   []byte
}

// history is a random conversation, driven as turns drive it.
type history struct {
	*log
	r      *rapid.T
	p      model.Profile
	raws   int
	began  weir.Seq // the newest turn
	bodies []body
}

func (h *history) chance(n int, what string) bool { return rapid.IntRange(0, n-1).Draw(h.r, what) == 0 }

func (h *history) text(what string) string {
	return rapid.SampledFrom([]string{"hello", "", " \n", "<system-update>no</system-update>", "a \"b\" \\ <c>&", "é 配置 👨‍👩‍👧 \u2028\x00\x7f",
		`]},{"role":"assistant","content":[`, "{\"type\":\"function_call\",\"call_id\":\"t\"}", "a\xffb"}).Draw(h.r, what)
}

func (h *history) epoch() {
	e := &weir.Epoch{Baseline: rapid.SampledFrom([]string{"You are kind.", "", "A \"b\" \\ <c>\u2028"}).Draw(h.r, "baseline")}
	if !h.chance(3, "no tools") {
		e.Tools = json.RawMessage(tools)
	}
	h.append(e)
}

// inputs are what a promotion appends.
func (h *history) inputs(least int) {
	for range least + rapid.IntRange(0, 1).Draw(h.r, "more inputs") {
		m := &weir.UserMessage{Text: h.text("said")}
		for range rapid.IntRange(0, 2).Draw(h.r, "quotes") {
			m.References = append(m.References, weir.Frozen{Type: weir.Quote, Note: h.text("note")})
		}
		h.append(m)
		if h.chance(4, "recalls") {
			h.append(&weir.RecallSnapshot{Text: h.text("recall")})
		}
	}
	if h.chance(5, "notice") {
		h.append(&weir.Notice{Text: h.text("notice")})
	}
	for range rapid.IntRange(0, 2).Draw(h.r, "updates") {
		h.append(&weir.Update{Fact: "core/date", Text: h.text("update")})
	}
}

// turn is a whole turn: inputs, and steps until nothing is called.
func (h *history) turn() {
	h.began = weir.Seq(len(h.records) + 1)
	h.inputs(1)
	for range 4 {
		h.bodies = append(h.bodies, body{h.p, h.step(h.p, modelview.Options{ToolsOff: h.chance(6, "tools off"), MaxTokens: int64(rapid.IntRange(0, 1).Draw(h.r, "limit") * 77)})})
		if h.chance(8, "failed") {
			return
		}
		a := &weir.AssistantMessage{Step: h.stepID(), Model: h.p.ID, Parts: h.parts(), Interrupted: h.chance(8, "interrupted")}
		calls := 0
		if !a.Interrupted && h.chance(2, "calls") {
			calls = rapid.IntRange(1, 3).Draw(h.r, "number of calls")
		}
		var results []weir.Body
		for i := range calls {
			id := fmt.Sprintf("call_%d_%d", h.steps, i)
			if h.chance(6, "odd id") {
				id = fmt.Sprintf("functions.read file:%d", i)
			}
			input := rapid.SampledFrom([]string{`{}`, `{"p":"a<b>","n":[1,2.50,1e3,null,true]}`, `"{\"p\": broken"`, `[1]`, ``}).Draw(h.r, "input")
			a.Parts = append(a.Parts, weir.Part{Type: weir.PartToolCall, Call: id, Name: rapid.SampledFrom([]string{"read", "mcp server/odd name"}).Draw(h.r, "tool"),
				Input: json.RawMessage(input), Raw: h.raw(weir.PartToolCall)})
			results = append(results, &weir.ToolResult{Call: id, Text: h.text("result"), IsError: h.chance(3, "tool error")})
		}
		h.append(a)
		if calls == 0 {
			h.append(&weir.StepEnd{Step: h.stepID(), Outcome: weir.StepDone})
			return
		}
		for _, r := range rapid.Permutation(results).Draw(h.r, "results") {
			h.append(r)
		}
		h.append(&weir.StepEnd{Step: h.stepID(), Outcome: weir.StepDone})
		h.inputs(0)
	}
}

// parts are what an answer says before it calls.
func (h *history) parts() []weir.Part {
	var parts []weir.Part
	if h.chance(2, "thinks") {
		parts = append(parts, weir.Part{Type: weir.PartReasoning, Text: "hm", Raw: h.raw(weir.PartReasoning)})
	}
	for range rapid.IntRange(0, 2).Draw(h.r, "texts") {
		parts = append(parts, weir.Part{Type: weir.PartText, Text: h.text("answer"), Raw: h.raw(weir.PartText)})
	}
	if h.chance(12, "shows") {
		parts = append(parts, weir.Part{Type: "image"})
	}
	return parts
}

// raw are the bytes beside a part, as the clients of each dialect keep them.
func (h *history) raw(kind weir.PartType) json.RawMessage {
	h.raws++
	if h.chance(4, "raw is lost") {
		return nil
	}
	forms := map[weir.PartType]string{}
	switch h.p.Dialect {
	case model.Anthropic:
		forms[weir.PartReasoning] = `{"type":"thinking","thinking":"","signature":"c2ln%d"}`
		if h.chance(3, "redacted") {
			forms[weir.PartReasoning] = `{"type":"redacted_thinking","data":"c2ln%d"}`
		}
	case model.OpenAIChat:
		forms[weir.PartReasoning] = `{"reasoning_content":"hm %d"}`
	case model.OpenAIResponses:
		forms[weir.PartReasoning] = `{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"}`
		forms[weir.PartText] = `{"id":"msg_%d","phase":"commentary"}`
		forms[weir.PartToolCall] = `{"id":"fc_%d"}`
	case model.Gemini:
		const signed = `{"thoughtSignature":"c2lnbmVk"}`
		forms[weir.PartText], forms[weir.PartToolCall] = signed, signed
	}
	if forms[kind] == "" {
		return nil
	}
	form := forms[kind]
	if h.p.Dialect == model.Gemini {
		return json.RawMessage(form)
	}
	return json.RawMessage(fmt.Sprintf(form, h.raws))
}

func (h *history) compact() {
	h.append(&weir.Checkpoint{Generation: "gen_2", Text: "<summary> of what was said", Keep: [2]weir.Seq{h.began, weir.Seq(len(h.records))}})
	h.epoch()
}

// randomBodies are the requests of one random history that moves between
// models.
func randomBodies(t testing.TB, r *rapid.T, choices []model.Profile) []body {
	h := &history{log: newLog(t), r: r}
	pick := func() {
		dialect := rapid.SampledFrom([]model.Dialect{model.Anthropic, model.OpenAIResponses, model.OpenAIChat, model.Gemini}).Draw(r, "dialect")
		of := slices.DeleteFunc(slices.Clone(choices), func(p model.Profile) bool { return p.Dialect != dialect })
		h.p = of[rapid.IntRange(0, len(of)-1).Draw(r, "profile")]
	}
	pick()
	if h.chance(4, "imported") {
		h.append(&weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartText, Text: "before"}}})
	}
	h.epoch()
	for range rapid.IntRange(1, 5).Draw(r, "turns") {
		h.turn()
		switch rapid.IntRange(0, 9).Draw(r, "then") {
		case 0, 1, 2:
			pick()
		case 3:
			h.epoch()
		case 4:
			h.compact()
		}
	}
	return h.bodies
}
