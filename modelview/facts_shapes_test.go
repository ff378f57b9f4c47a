package modelview_test

// shaped are the rows about what things are rendered as.
func shaped() []fact {
	return []fact{
		{
			row: 13, says: "nothing that is sent is empty",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("", "toolu_1")
				k.result("toolu_1", "")
				k.update("")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"(blank message)"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"(no output)"}]},{"role":"system","content":[{"type":"text","text":"(blank message)"}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"(blank message)"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"(no output)"},{"type":"text","text":"<system-update>(blank message)</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"(blank message)","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"function_call","call_id":"toolu_1","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"toolu_1","output":[{"type":"input_text","text":"(no output)","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"(blank message)"}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"(blank message)"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(no output)"},{"role":"developer","content":"(blank message)"}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"(blank message)"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(no output)"},{"role":"system","content":"(blank message)"}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"(blank message)"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"(no output)\n\n<system-update>(blank message)</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"(blank message)"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"output":"(no output)"}}},{"text":"<system-update>(blank message)</system-update>"}]}`,
			},
			wrong: []refused{
				{aNew, `{"role":"user","content":[{"type":"text","text":""}]}`, "messages: text content blocks must be non-empty"},
				{aNew, hi + `,{"role":"system","content":""}`, "messages.1: system content must contain at least one block"},
				{aNew, hi + `,{"role":"system","content":[]}`, "messages.1: system content must contain at least one block"},
				{aNew, hi + "," + aCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":""}]}`, "messages: text content blocks must be non-empty"},
				{aNew, `{"role":"user","content":""}`, "messages.0: all messages must have non-empty content"},
				{chat, `{"role":"user","content":""}`, "string too short"},
				{chat, hi + "," + cCall + `,{"role":"tool","tool_call_id":"c1","content":""}`, "string too short"},
			},
		},
		{
			row: 16, says: "a model without system messages in mid-conversation gets them as marked text in their places",
			build: func(k *asked) {
				k.begin()
				k.user("hi")
				k.update("It rains.")
				k.step()
				k.answer(text("hello"))
				k.user("more")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"<system-update>It rains.</system-update>"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]},{"type":"message","role":"assistant","content":"hello"},{"type":"message","role":"user","content":[{"type":"input_text","text":"more","prompt_cache_breakpoint":{"mode":"explicit"}}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"hi"},{"role":"developer","content":"It rains."},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"system","content":"It rains."},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi\n\n<system-update>It rains.</system-update>"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}`,
				gemini: `{"role":"user","parts":[{"text":"hi"},{"text":"<system-update>It rains.</system-update>"}]},{"role":"model","parts":[{"text":"hello"}]},{"role":"user","parts":[{"text":"more"}]}`,
			},
			wrong: []refused{{aOld, hi + "," + aTold + "," + ho + "," + hi, oldModel}},
		},
		{
			row: 17, says: "a template that takes a system message first or not at all gets an update in the next question, never in front",
			build: func(k *asked) {
				k.begin()
				k.said("hi", "hello")
				k.update("It rains.")
				k.user("more")
			},
			right: map[string]string{
				qwen: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more\n\n<system-update>It rains.</system-update>"}`,
			},
			wrong: []refused{{qwen, cTold + "," + hi + "," + ho + "," + cTold + "," + hi, onlyFirst}},
		},
		{
			row: 18, says: "a template under which roles alternate gets neighbouring questions as one",
			build: func(k *asked) {
				k.begin()
				k.user("one")
				k.update("It rains.")
				k.user("two")
			},
			right: map[string]string{
				alternating: `{"role":"system","content":"Base."},{"role":"user","content":"one\n\ntwo\n\n<system-update>It rains.</system-update>"}`,
			},
			wrong: []refused{{alternating, cTold + "," + hi + "," + hi, "Conversation roles must alternate user/assistant/user/assistant/..."}},
		},
		{
			row: 19, says: "a template that drops system messages gets none but the first",
			build: func(k *asked) {
				k.begin()
				k.said("hi", "hello")
				k.update("It rains.")
				k.user("more")
			},
			right: map[string]string{
				dropping: `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more\n\n<system-update>It rains.</system-update>"}`,
			},
			wrong: []refused{{dropping, cTold + "," + hi + "," + ho + "," + cTold + "," + hi, ""}}, // taken, and not seen: see the canary
		},
		{
			row: 23, says: "all function responses stand in one content, and whatever else comes after them",
			build: func(k *asked) {
				k.begin(oneTool)
				k.called("hi", "toolu_1", "toolu_2")
				k.result("toolu_2", "b")
				k.update("It rains.")
				k.result("toolu_1", "a")
			},
			right: map[string]string{
				gemini: `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"list","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"toolu_2","name":"list","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"list","response":{"output":"a"}}},{"functionResponse":{"id":"toolu_2","name":"list","response":{"output":"b"}}},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{
				{gemini, gHi + "," + gCalls + `,{"role":"user","parts":[` + gAnsw + `,{"text":"It rains."}]}`, unequal},
				{gemini, gHi + "," + gCall + `,{"role":"user","parts":[{"text":"It rains."},` + gAnsw + `]}`, "function response parts must come before other parts"},
			},
		},
		{
			row: 24, says: "what is quoted is on the user's side and never in a system message",
			build: func(k *asked) {
				k.begin()
				k.user("is it so?", "<framework 12>\nThe port is 8443.\n</framework 12>")
				k.update("It rains.")
			},
			right: map[string]string{
				aNew:      `{"role":"user","content":[{"type":"text","text":"<framework 12>\nThe port is 8443.\n</framework 12>"},{"type":"text","text":"is it so?"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]}`,
				aOld:      `{"role":"user","content":[{"type":"text","text":"<framework 12>\nThe port is 8443.\n</framework 12>"},{"type":"text","text":"is it so?"},{"type":"text","text":"<system-update>It rains.</system-update>"}]}`,
				responses: `{"type":"message","role":"user","content":[{"type":"input_text","text":"<framework 12>\nThe port is 8443.\n</framework 12>"},{"type":"input_text","text":"is it so?","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"It rains."}]}`,
				chat:      `{"role":"developer","content":"Base."},{"role":"user","content":"<framework 12>\nThe port is 8443.\n</framework 12>\n\nis it so?"},{"role":"developer","content":"It rains."}`,
				deepseek:  `{"role":"system","content":"Base."},{"role":"user","content":"<framework 12>\nThe port is 8443.\n</framework 12>\n\nis it so?"},{"role":"system","content":"It rains."}`,
				qwen + " " + alternating + " " + dropping: `{"role":"system","content":"Base."},{"role":"user","content":"<framework 12>\nThe port is 8443.\n</framework 12>\n\nis it so?\n\n<system-update>It rains.</system-update>"}`,
				gemini: `{"role":"user","parts":[{"text":"<framework 12>\nThe port is 8443.\n</framework 12>"},{"text":"is it so?"},{"text":"<system-update>It rains.</system-update>"}]}`,
			},
			wrong: []refused{ // no provider refuses it: it gives what is quoted an operator's authority
				{aNew, hi + `,{"role":"system","content":"<framework 12>\nThe port is 8443.\n</framework 12>"}`, ""},
				{chat, hi + `,{"role":"system","content":"<framework 12>\nThe port is 8443.\n</framework 12>"}`, ""},
			},
		},
	}
}
