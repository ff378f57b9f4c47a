package modelview_test

import "weir"

// Histories in pieces, as each dialect spells them.
const (
	hi = `{"role":"user","content":"hi"}`
	ho = `{"role":"assistant","content":"hello"}`

	aCall  = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"list","input":{}}]}`
	aCalls = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"list","input":{}},{"type":"tool_use","id":"t2","name":"list","input":{}}]}`
	aRes   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}`
	aRes2  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"b"}]}`
	aTold  = `{"role":"system","content":[{"type":"text","text":"It rains."}]}`

	cCall = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]}`
	cRes  = `{"role":"tool","tool_call_id":"c1","content":"a"}`
	cTold = `{"role":"system","content":"It rains."}`

	rHi   = `{"type":"message","role":"user","content":"hi"}`
	rHo   = `{"type":"message","role":"assistant","content":"hello"}`
	rCall = `{"type":"function_call","call_id":"c1","name":"list","arguments":"{}"}`
	rRes  = `{"type":"function_call_output","call_id":"c1","output":"a"}`
	rTold = `{"type":"message","role":"developer","content":"It rains."}`

	gHi    = `{"role":"user","parts":[{"text":"hi"}]}`
	gHo    = `{"role":"model","parts":[{"text":"hello"}]}`
	gCall  = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]}`
	gCalls = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"list","args":{}}}]}`
	gAnsw  = `{"functionResponse":{"id":"c1","name":"list","response":{"output":"a"}}}`
)

// What the vendors say.
const (
	noResult  = "`tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	noMessage = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
	noOutputs = "No tool output found for function call c1."
	unequal   = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	follows   = "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result; the directive-only form"
	precedes  = "role 'system' must precede an 'assistant' message or end the array; the directive-only form"
	onlyFirst = "System message must be at the beginning."
	prefilled = "This model does not support assistant message prefill. The conversation must end with a user message."
	oldModel  = "role 'system' is not supported on this model"
)

func facts() []fact { return append(placed(), shaped()...) }

// placed are the rows about what may stand where.
func placed() []fact {
	return []fact{
		{
			row: 1, says: "a call that was interrupted is answered before anything else is said",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("hi", "toolu_1")
				k.m.append(k.c, &weir.ToolResult{Call: "toolu_1", Text: "interrupted", IsError: true})
				k.user("next")
			},
			right: map[string]string{
				aNew + " " + aOld:     `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"interrupted","is_error":true},{"type":"text","text":"next"}]}`,
				responses:             `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"function_call","call_id":"toolu_1","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"(error) interrupted"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"next","prompt_cache_breakpoint":{"mode":"explicit"}}]}`,
				chat:                  `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(error) interrupted"},{"role":"user","content":"next"}`,
				deepseek:              `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(error) interrupted"},{"role":"user","content":"next"}`,
				qwen + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(error) interrupted"},{"role":"user","content":"next"}`,
				alternating:           `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(error) interrupted"},{"role":"assistant","content":"(no answer)"},{"role":"user","content":"next"}`,
				gemini:                `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"error":"interrupted"}}},{"text":"next"}]}`,
			},
			wrong: []refused{
				{aNew, hi + "," + aCall + "," + hi, "messages.1: " + noResult},
				{aOld, hi + "," + aCall + "," + hi, "messages.1: " + noResult},
				{chat, hi + "," + cCall + "," + hi, noMessage},
				{qwen, hi + "," + cCall + "," + hi, noMessage},
				{responses, rHi + "," + rCall + "," + rHi, noOutputs},
				{gemini, gHi + "," + gCall + "," + gHi, unequal},
			},
		},
		{
			row: 3, says: "an update that comes between a call and its result waits for the result",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("hi", "toolu_1")
				k.update("It rains.")
				k.result("toolu_1", "a")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"function_call","call_id":"toolu_1","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"output":"a"}}},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{
				{aNew, hi + "," + aCall + "," + aTold + "," + aRes, "messages.2: " + follows},
				{chat, hi + "," + cCall + "," + cTold + "," + cRes, noMessage},
				{deepseek, hi + "," + cCall + "," + cTold + "," + cRes, noMessage},
				{responses, rHi + "," + rCall + "," + rTold + "," + rRes, noOutputs}, // OpenAI takes it, others do not
			},
		},
		{
			row: 4, says: "results stand in call order in one message, and an update between them after them",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("hi", "toolu_1", "toolu_2")
				k.result("toolu_2", "b")
				k.update("It rains.")
				k.result("toolu_1", "a")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}},{"type":"tool_use","id":"toolu_2","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"},{"type":"tool_result","tool_use_id":"toolu_2","content":"b"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}},{"type":"tool_use","id":"toolu_2","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"},{"type":"tool_result","tool_use_id":"toolu_2","content":"b"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"function_call","call_id":"toolu_1","name":"list","arguments":"{}"},{"type":"function_call","call_id":"toolu_2","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"a"}]},{"type":"function_call_output","call_id":"toolu_2","output":[{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}},{"id":"toolu_2","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"tool","tool_call_id":"toolu_2","content":"b"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}},{"id":"toolu_2","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"tool","tool_call_id":"toolu_2","content":"b"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}},{"id":"toolu_2","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"tool","tool_call_id":"toolu_2","content":"b\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"toolu_2","name":"list","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"output":"a"}}},{"functionResponse":{"id":"toolu_2","name":"list","response":{"output":"b"}}},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{
				{aNew, hi + "," + aCalls + "," + aRes + "," + aTold + "," + aRes2, "messages.3: " + precedes},
				{aNew, hi + "," + aCalls + "," + aRes + "," + aRes2, ""}, // merged by the vendor
				{aOld, hi + "," + aCalls + "," + aRes, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t2."},
			},
		},
		{
			row: 5, says: "what a person says beside a result stands after it",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("hi", "toolu_1")
				k.user("wait")
				k.result("toolu_1", "a")
			},
			right: map[string]string{
				aNew + " " + aOld:     `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"},{"type":"text","text":"wait"}]}`,
				responses:             `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"function_call","call_id":"toolu_1","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"a"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"wait","prompt_cache_breakpoint":{"mode":"explicit"}}]}`,
				chat:                  `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"user","content":"wait"}`,
				deepseek:              `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"user","content":"wait"}`,
				qwen + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"user","content":"wait"}`,
				alternating:           `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"a"},{"role":"assistant","content":"(no answer)"},{"role":"user","content":"wait"}`,
				gemini:                `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"output":"a"}}},{"text":"wait"}]}`,
			},
			wrong: []refused{
				{aNew, hi + "," + aCall + `,{"role":"user","content":[{"type":"text","text":"wait"},{"type":"tool_result","tool_use_id":"t1","content":"a"}]}`, "messages.1: " + noResult},
				{chat, hi + "," + cCall + "," + hi + "," + cRes, noMessage},
				{responses, rHi + "," + rCall + "," + rHi + "," + rRes, noOutputs}, // as row 3
				{gemini, gHi + "," + gCall + `,{"role":"user","parts":[{"text":"wait"},` + gAnsw + `]}`, "function response parts must come before other parts"},
			},
		},
		{
			row: 6, says: "an update before the first question stands after it; the baseline is the system text",
			build: func(k *asked) {
				k.begin()
				k.update("It rains.")
				k.user("hi")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{{aNew, aTold + "," + hi, "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form (content: [] with output_config) is accepted at any position"}},
		},
		{
			row: 7, says: "an update that comes while nothing runs stands after the next question",
			build: func(k *asked) {
				k.begin()
				k.said("hi", "hello")
				k.update("It rains.")
				k.user("more")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"assistant","content":"hello"},{"type":"message","role":"user","content":[{"type":"input_text","text":"more","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"hello"}]},{"role":"user","parts":[{"text":"more"},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{{aNew, hi + "," + ho + "," + aTold + "," + hi, "messages.2: " + follows}},
		},
		{
			row: 8, says: "an update between two questions stands after both",
			build: func(k *asked) {
				k.begin()
				k.user("one")
				k.update("It rains.")
				k.user("two")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"one"},{"role":"user","content":"two"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"one"},{"role":"user","content":"two"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"one\n\ntwo\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"one"},{"text":"two"},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{{aNew, hi + "," + aTold + "," + hi, "messages.1: " + precedes}},
		},
		{
			row: 9, says: "two updates are one system message of two blocks; two messages, which some gateways refuse, are not sent",
			build: func(k *asked) {
				k.begin()
				k.user("hi")
				k.update("It rains.")
				k.update("It is Tuesday.")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[{"type":"text","text":"It rains."},{"type":"text","text":"It is Tuesday."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"<system-update>It rains.</system-update>"},{"type":"text","text":"<system-update>It is Tuesday.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It is Tuesday."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"developer","content":"It rains."},{"role":"developer","content":"It is Tuesday."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"system","content":"It rains."},{"role":"system","content":"It is Tuesday."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi\n\n<system-update>It rains.</system-update>\n\n<system-update>It is Tuesday.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"},{"text":"<system-update>It rains.</system-update>"},{"text":"<system-update>It is Tuesday.</system-update>"}]}`,
			},
			wrong: []refused{{aNew, hi + "," + aTold + "," + aTold, ""}},
		},
		{
			row: 10, says: "an answer that broke off is a finished one, and the user's side comes last",
			build: func(k *asked) {
				k.begin()
				k.user("hi")
				k.update("It rains.")
				k.step()
				k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: k.p.ID, Interrupted: true, Parts: []weir.Part{text("Sure, ")}})
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]},{"role":"assistant","content":[{"type":"text","text":"Sure,\n\n(interrupted)"}]},{"role":"user","content":[{"type":"text","text":"(continued)"}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"<system-update>It rains.</system-update>"}]},{"role":"assistant","content":[{"type":"text","text":"Sure,\n\n(interrupted)"}]},{"role":"user","content":[{"type":"text","text":"(continued)"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]},{"type":"message","role":"assistant","content":"Sure,\n\n(interrupted)"},{"type":"message","role":"user","content":[{"type":"input_text","text":"(continued)","prompt_cache_breakpoint":{"mode":"explicit"}}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"developer","content":"It rains."},{"role":"assistant","content":"Sure,\n\n(interrupted)"},{"role":"user","content":"(continued)"}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"system","content":"It rains."},{"role":"assistant","content":"Sure,\n\n(interrupted)"},{"role":"user","content":"(continued)"}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi\n\n<system-update>It rains.</system-update>"},{"role":"assistant","content":"Sure,\n\n(interrupted)"},{"role":"user","content":"(continued)"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"},{"text":"<system-update>It rains.</system-update>"}]},{"role":"model","parts":[{"text":"Sure,\n\n(interrupted)"}]},{"role":"user","parts":[{"text":"(continued)"}]}`,
			},
			wrong: []refused{
				{aNew, hi + "," + aTold + `,{"role":"assistant","content":"Sure,"}`, prefilled},
				{aOld, hi + `,{"role":"assistant","content":"Sure,"}`, prefilled},
				{aOld, hi + `,{"role":"assistant","content":"Sure, "}`, "final assistant content cannot end with trailing whitespace"},
				{aOld, hi + "," + aTold + `,{"role":"assistant","content":"Sure,"}`, oldModel},
				{chat, hi + "," + ho, "The conversation must end with a user message."},
				{responses, rHi + "," + rHo, "The conversation must end with a user message."},
				{gemini, gHi + "," + gHo, "Please ensure that multiturn requests end with a user role"},
			},
		},
	}
}
