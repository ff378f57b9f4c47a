package strictpeer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// in is a Responses body with these items, and members before.
func in(items string, members ...string) string {
	return `{"model":"m",` + strings.Join(append(members, ""), ",") + `"input":[` + items + `]}`
}

const (
	encrypted  = `"include":["reasoning.encrypted_content"]`
	itemHi     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	itemHello  = `{"type":"message","role":"assistant","content":"hello"}`
	itemNote   = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"note"}]}`
	itemCall   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	itemOutput = `{"type":"function_call_output","call_id":"c1","output":"r"}`
	itemTool   = `{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}`
	itemThink  = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`
	markedText = `{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}`
)

func TestResponsesRefusesWhatTheVendorRefuses(t *testing.T) {
	const (
		noOutput  = "No tool output found for function call c1."
		noCall    = "No tool call found for function call output with call_id "
		alone     = "Item 'rs_1' of type 'reasoning' was provided without its required following item."
		isInput   = "input"
		parameter = "unknown_parameter"
	)
	user := func(part string) string { return `{"type":"message","role":"user","content":[` + part + `]}` }
	for _, c := range []struct {
		name, body, want, code, param string
		key                           string
		status                        int
	}{
		// Histories.
		{name: "1 a call nobody answered", body: in(itemHi + "," + itemCall + "," + itemHi), want: noOutput, param: isInput},
		{name: "a call at the end", body: in(itemHi + "," + itemCall), want: noOutput, param: isInput},
		{name: "2 an output nobody asked for", body: in(itemHi + "," + itemHello + "," + strings.Replace(itemOutput, "c1", "c9", 1)), want: noCall + "c9.", param: isInput},
		{name: "an output before its call", body: in(itemHi + "," + itemOutput + "," + itemCall), want: noCall + "c1.", param: isInput},
		{name: "3 a note between call and output", body: in(itemHi + "," + itemCall + "," + itemNote + "," + itemOutput), want: noOutput, param: isInput},
		{name: "an answer between two outputs", body: in(itemHi + "," + itemCall + "," + strings.Replace(itemCall, "c1", "c2", 1) + "," + strings.Replace(itemOutput, "c1", "c2", 1) + "," + itemHello + "," + itemOutput), want: noOutput, param: isInput},
		{name: "two outputs of a call", body: in(itemHi + "," + itemCall + "," + itemOutput + "," + itemOutput), want: noCall + "c1.", param: isInput},
		{name: "an id of a call twice", body: in(itemHi + "," + itemCall + "," + itemOutput + "," + itemCall + "," + itemOutput), want: "Duplicate value for 'call_id' of 'c1'", param: "input[3].call_id"},
		{name: "words put into its mouth", body: in(itemHi + "," + itemHello), want: "Assistant response prefill is not supported.", param: isInput},
		{name: "20 reasoning with nothing after it", body: in(itemHi + "," + itemThink + "," + itemHi), want: alone, param: isInput},
		{name: "20 reasoning before a text without an id", body: in(itemHi + "," + itemThink + "," + itemHello + "," + itemHi), want: alone, param: isInput},
		{name: "reasoning at the end", body: in(itemHi + "," + itemThink), want: alone, param: isInput},
		{name: "reasoning before an output", body: in(itemHi + "," + itemCall + "," + itemThink + "," + itemOutput), want: alone, param: isInput},
		{name: "an item twice", body: in(itemHi + `,{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},` + itemOutput + `,{"type":"function_call","id":"fc_1","call_id":"c2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"r"}`), want: "Duplicate item found with id fc_1.", param: isInput},

		// Items.
		{name: "nothing to read", body: in(``), want: "Invalid 'input': empty array.", code: "empty_array", param: isInput},
		{name: "no input", body: `{"model":"m"}`, want: "Missing required parameter: 'input'.", code: "missing_required_parameter", param: isInput},
		{name: "an input of another type", body: `{"model":"m","input":{}}`, want: "Invalid type for 'input'", code: "invalid_type", param: isInput},
		{name: "an item that is none", body: in(`"hi"`), want: "Invalid type for 'input[0]'", code: "invalid_type", param: "input[0]"},
		{name: "an item without a type", body: in(`{"call_id":"c"}`), want: "Missing required parameter: 'input[0].type'.", code: "missing_required_parameter", param: "input[0].type"},
		{name: "an item that the server keeps", body: in(`{"type":"item_reference","id":"rs_1"}`), want: "Invalid value: 'item_reference'.", code: "invalid_value", param: "input[0].type"},
		{name: "a role nobody has", body: in(`{"type":"message","role":"tool","content":"a"}`), want: "Invalid value: 'tool'.", code: "invalid_value", param: "input[0].role"},
		{name: "an id that is not one of calls", body: in(itemHi + `,{"type":"function_call","id":"call_1","call_id":"c1","name":"f","arguments":"{}"},` + itemOutput), want: "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.", code: "invalid_value", param: "input[1].id"},
		{name: "an id that is not one of texts", body: in(itemHi + `,{"type":"message","id":"fc_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]},` + itemHi), want: "Invalid 'input[1].id': 'fc_1'. Expected an ID that begins with 'msg'.", code: "invalid_value", param: "input[1].id"},
		{name: "an id that is not one of reasoning", body: in(itemHi + "," + strings.Replace(itemThink, "rs_1", "msg_1", 1)), want: "Invalid 'input[1].id': 'msg_1'. Expected an ID that begins with 'rs'.", code: "invalid_value", param: "input[1].id"},
		{name: "a text with an id and no status", body: in(itemHi + `,{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]},` + itemHi), want: "Missing required parameter: 'input[1].status'.", code: "missing_required_parameter", param: "input[1].status"},
		{name: "a text without annotations", body: in(itemHi + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},` + itemHi), want: "Missing required parameter: 'input[1].content[0].annotations'.", code: "missing_required_parameter", param: "input[1].content[0].annotations"},
		{name: "input as output", body: in(itemHi + `,{"type":"message","role":"assistant","content":[{"type":"input_text","text":"a"}]},` + itemHi), want: "Invalid value: 'input_text'. Supported values are: 'output_text' or 'refusal'.", code: "invalid_value", param: "input[1].content[0].type"},
		{name: "output as input", body: in(user(`{"type":"output_text","text":"a"}`)), want: "Invalid value: 'output_text'.", code: "invalid_value", param: "input[0].content[0].type"},
		{name: "an image in a developer's text", body: in(itemHi + `,{"type":"message","role":"developer","content":[{"type":"input_image","image_url":"data:"}]}`), want: "Invalid value: 'input_image'.", code: "invalid_value", param: "input[1].content[0].type"},
		{name: "a phase of a question", body: in(`{"type":"message","role":"user","content":"a","phase":"commentary"}`), want: "Unknown parameter: 'input[0].phase'.", code: parameter, param: "input[0].phase"},
		{name: "a phase nobody knows", body: in(itemHi + `,{"type":"message","role":"assistant","content":"a","phase":"x"},` + itemHi), want: "Invalid value: 'x'.", code: "invalid_value", param: "input[1].phase"},
		{name: "an empty text", body: in(user(`{"type":"input_text","text":""}`)), want: "Invalid 'input[0].content[0].text': string too short.", code: "string_below_min_length", param: "input[0].content[0].text"},
		{name: "an empty content", body: in(user(``)), want: "Invalid 'input[0].content': empty array.", code: "empty_array", param: "input[0].content"},
		{name: "an empty output", body: in(itemHi + "," + itemCall + `,{"type":"function_call_output","call_id":"c1","output":""}`), want: "Invalid 'input[2].output': string too short.", code: "string_below_min_length", param: "input[2].output"},
		{name: "arguments that are no text", body: in(itemHi + `,{"type":"function_call","call_id":"c1","name":"f","arguments":{}}`), want: "Invalid type for 'input[1].arguments'", code: "invalid_type", param: "input[1].arguments"},
		{name: "a call's id that is too long", body: in(itemHi + `,{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"f","arguments":"{}"}`), want: "Invalid 'input[1].call_id': string too long.", code: "string_above_max_length", param: "input[1].call_id"},
		{name: "a name with spaces", body: in(itemHi + `,{"type":"function_call","call_id":"c1","name":"f g","arguments":"{}"}`), want: "Invalid 'input[1].name'", code: "invalid_value", param: "input[1].name"},
		{name: "a member more", body: in(`{"type":"message","role":"user","content":"a","name":"b"}`), want: "Unknown parameter: 'input[0].name'.", code: parameter, param: "input[0].name"},
		{name: "a member twice", body: in(`{"type":"message","role":"user","content":"a","content":"b"}`), want: "Duplicate parameter: 'input[0].content'.", code: "duplicate_parameter", param: "input[0].content"},
		{name: "reasoning that only the server could know", body: in(itemHi + `,{"type":"reasoning","id":"rs_1","summary":[]},` + itemHi), want: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", param: isInput, status: 404},
		{name: "reasoning without a summary", body: in(itemHi + `,{"type":"reasoning","id":"rs_1","encrypted_content":"e"},` + itemHi), want: "Missing required parameter: 'input[1].summary'.", code: "missing_required_parameter", param: "input[1].summary"},
		{name: "reasoning of somebody else's", body: in(itemHi + "," + itemThink + `,{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},` + itemOutput), want: "The encrypted content for item rs_1 could not be verified.", code: "invalid_encrypted_content"},

		// Breakpoints.
		{name: "a breakpoint in an answer", body: in(itemHi + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"prompt_cache_breakpoint":{"mode":"explicit"}}]},` + itemHi), want: "Unknown parameter: 'input[1].content[0].prompt_cache_breakpoint'.", code: parameter, param: "input[1].content[0].prompt_cache_breakpoint"},
		{name: "a breakpoint in a developer's text", body: in(itemHi + `,{"type":"message","role":"developer","content":[` + markedText + `]}`), want: "Unknown parameter", code: parameter, param: "input[1].content[0].prompt_cache_breakpoint"},
		{name: "a breakpoint of a message", body: in(`{"type":"message","role":"user","content":"a","prompt_cache_breakpoint":{"mode":"explicit"}}`), want: "Unknown parameter", code: parameter, param: "input[0].prompt_cache_breakpoint"},
		{name: "a breakpoint without a mode", body: in(user(`{"type":"input_text","text":"a","prompt_cache_breakpoint":{}}`)), want: "Missing required parameter", code: "missing_required_parameter", param: "input[0].content[0].prompt_cache_breakpoint.mode"},
		{name: "a breakpoint for an hour", body: in(user(`{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"1h"}}`)), want: "Invalid value: '1h'.", code: "invalid_value", param: "input[0].content[0].prompt_cache_breakpoint.ttl"},

		// Options.
		{name: "not JSON", body: `{"model":`, want: "We could not parse the JSON body of your request."},
		{name: "a member of the other API", body: `{"model":"m","messages":[]}`, want: "Unknown parameter: 'messages'.", code: parameter, param: "messages"},
		{name: "no model", body: `{"input":"hi"}`, want: "Missing required parameter: 'model'.", code: "missing_required_parameter", param: "model"},
		{name: "a limit of the other API", body: in(itemHi, `"max_tokens":100`), want: "Unknown parameter: 'max_tokens'.", code: parameter, param: "max_tokens"},
		{name: "a limit that is too low", body: in(itemHi, `"max_output_tokens":15`), want: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.", code: "integer_below_min_value", param: "max_output_tokens"},
		{name: "what the server kept", body: in(itemHi, `"previous_response_id":"resp_1"`), want: "Previous response with id 'resp_1' not found.", code: "previous_response_not_found", param: "previous_response_id"},
		{name: "a conversation that it kept", body: in(itemHi, `"conversation":"conv_1"`), want: "Nothing is kept here", param: "conversation"},
		{name: "an include nobody knows", body: in(itemHi, `"include":["x"]`), want: "Invalid value: 'x'.", code: "invalid_value", param: "include[0]"},
		{name: "a cache key that is too long", body: in(itemHi, `"prompt_cache_key":"`+strings.Repeat("k", 65)+`"`), want: "Invalid 'prompt_cache_key': string too long.", code: "string_above_max_length", param: "prompt_cache_key"},
		{name: "both ways to keep a cache", body: in(itemHi, `"prompt_cache_retention":"24h","prompt_cache_options":{"mode":"implicit"}`), want: "Setting 'prompt_cache_options' and 'prompt_cache_retention'", code: "invalid_parameter_combination"},
		{name: "a tool of the other API", body: in(itemHi, `"tools":[`+chatTool+`]`), want: "Unknown parameter: 'tools[0].function'.", code: parameter, param: "tools[0].function"},
		{name: "a tool that may be strict", body: in(itemHi, `"tools":[{"type":"function","name":"f","parameters":{}}]`), want: "Missing required parameter: 'tools[0].strict'.", code: "missing_required_parameter", param: "tools[0].strict"},
		{name: "a tool twice", body: in(itemHi, `"tools":[`+itemTool+`,`+itemTool+`]`), want: "Tool names must be unique: 'f'.", param: "tools[1].name"},
		{name: "no tools in the list", body: in(itemHi, `"tools":[]`), want: "Invalid 'tools': empty array.", code: "empty_array", param: "tools"},
		{name: "a choice without tools", body: in(itemHi, `"tool_choice":"none"`), want: "Tool choices other than 'auto'", param: "tool_choice"},
		{name: "a wrong key", body: in(itemHi), key: "right", want: "Incorrect API key provided", code: "invalid_api_key", status: 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.status == 0 {
				c.status = 400
			}
			p := New(Responses, Key(c.key))
			status, answer := post(t, p, c.body)
			var doc struct {
				Error struct {
					Message, Type string
					Code, Param   *string
				}
			}
			if err := json.Unmarshal([]byte(answer), &doc); err != nil {
				t.Fatalf("status %d, not an error document: %.200s", status, answer)
			}
			e := doc.Error
			if status != c.status || e.Type != "invalid_request_error" || !strings.HasPrefix(e.Message, c.want) || or(e.Code) != c.code || or(e.Param) != c.param {
				t.Errorf("status %d, %q, code %q, param %q\nwant %d, %q, %q, %q", status, e.Message, or(e.Code), or(e.Param), c.status, c.want, c.code, c.param)
			}
			if got := p.Refusals(); len(got) != 1 {
				t.Errorf("recorded as %q", got)
			}
		})
	}
}

func TestResponsesTakesWhatTheVendorTakes(t *testing.T) {
	for name, body := range map[string]string{
		"a question":               `{"model":"m","input":"hi"}`,
		"a list":                   in(itemHi),
		"a message without a type": in(`{"role":"user","content":"hi"}`),
		"instructions":             in(itemHi, `"instructions":"be good"`),
		"notes anywhere":           in(itemNote + "," + itemHi + "," + itemNote + "," + itemHello + "," + itemNote + "," + itemHi),
		"consecutive questions":    in(itemHi + "," + itemHi),
		"call and output":          in(itemHi + "," + itemCall + "," + itemOutput),
		"two calls, outputs in another order, a note": in(itemHi + "," + itemCall + "," + strings.Replace(itemCall, "c1", "c2", 1) + "," +
			strings.Replace(itemOutput, "c1", "c2", 1) + "," + itemOutput + "," + itemNote),
		"words around a call":         in(itemHi + "," + itemHello + "," + itemCall + "," + itemHello + "," + itemOutput),
		"outputs of several parts":    in(itemHi + "," + itemCall + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},` + markedText + `]}`),
		"many breakpoints":            in(`{"type":"message","role":"user","content":[` + strings.Join([]string{markedText, markedText, markedText, markedText, markedText, markedText}, ",") + `]}`),
		"images and files":            in(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:","detail":"low"},{"type":"input_file","file_id":"file_1"}]}`),
		"tools, none to be used":      in(itemHi, `"tools":[`+itemTool+`],"tool_choice":"none"`),
		"what a product of ours says": in(itemHi, `"max_output_tokens":16,"store":false,`+encrypted+`,"stream":true,"prompt_cache_key":"cnv_1"`),
	} {
		p := New(Responses)
		if status, answer := post(t, p, body); status != 200 || len(p.Refusals()) > 0 {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
}

// response is an answer of the Responses API that was not streamed.
type response struct {
	Output []json.RawMessage
	Status string
	Usage  struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Read  int `json:"cached_tokens"`
			Write int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	}
	Incomplete struct{ Reason string } `json:"incomplete_details"`
	Error      struct{ Message string }
}

func respond(t *testing.T, p *Peer, body string) response {
	t.Helper()
	_, answer := post(t, p, body)
	var r response
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return r
}

// items are an answer's, without those that are left out.
func (r *response) items(leave ...int) string {
	var kept []string
	for i, item := range r.Output {
		if len(leave) == 0 || leave[0] != i {
			kept = append(kept, string(item))
		}
	}
	return strings.Join(kept, ",")
}

func TestReasoningItemsAreTakenBehindExactlyTheirPrefix(t *testing.T) {
	p := New(Responses)
	with := func(items string) string { return in(items, `"instructions":"i"`, encrypted) }
	p.Script(Answer{Think("one"), Use("f", `{}`), Think("again"), Say("and")})
	one := respond(t, p, with(itemHi))
	id := func(item json.RawMessage, member string) string {
		var m map[string]any
		json.Unmarshal(item, &m)
		return fmt.Sprint(m[member])
	}
	output := `{"type":"function_call_output","call_id":"` + id(one.Output[1], "call_id") + `","output":"r"}`
	first := itemHi + "," + one.items() + "," + output
	two := respond(t, p, with(first))
	whole := first + "," + two.items() + "," + itemHi
	const bound, broken = "The encrypted content for item rs_", "Encrypted content could not be decrypted"
	for name, c := range map[string]struct{ body, want string }{
		"as it was":                     {with(whole), ""},
		"a longer history":              {with(whole + "," + itemHi), ""},
		"other instructions":            {strings.Replace(with(whole), `"i"`, `"j"`, 1), bound},
		"a tool more":                   {strings.Replace(with(whole), `"input"`, `"tools":[`+itemTool+`],"input"`, 1), bound},
		"another model":                 {strings.Replace(with(whole), `"m"`, `"n"`, 1), bound},
		"another question":              {with(strings.Replace(whole, `"hi"`, `"ho"`, 1)), bound},
		"the same in another spelling":  {with(strings.Replace(whole, `"hi"`, `"h\u0069"`, 1)), bound},
		"a note slipped in":             {with(itemNote + "," + whole), bound},
		"its words changed":             {with(strings.Replace(whole, `"one"`, `"two"`, 1)), bound},
		"the second without the first":  {with(strings.Replace(whole, string(one.Output[0])+",", "", 1)), "Item '" + id(one.Output[1], "id") + "' of type 'function_call' was provided without its required 'reasoning' item: '" + id(one.Output[0], "id") + "'."},
		"the first without what it had": {with(strings.Replace(whole, string(one.Output[1])+",", "", 1)), "No tool call found"},
		"both in another order":         {with(itemHi + "," + string(one.Output[2]) + "," + string(one.Output[3]) + "," + string(one.Output[0]) + "," + string(one.Output[1]) + "," + output), bound},
		"an output changed":             {with(strings.Replace(whole, `"output":"r"`, `"output":"s"`, 1)), bound},
	} {
		got := respond(t, p, c.body).Error.Message
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if strings.Contains(got, broken) != (name == "its words changed") && c.want == bound {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWithoutBeingAskedForItNothingEncryptedIsGiven(t *testing.T) {
	p := New(Responses)
	if r := respond(t, p, in(itemHi)); strings.Contains(r.items(), "encrypted_content") {
		t.Errorf("%s", r.items())
	}
}

// lasting is a text of n tokens as a part, with or without a breakpoint.
func lasting(n int, marked bool) string {
	const bare = `{"type":"input_text","text":""}`
	text := strings.Repeat("x", 4*n-len(bare))
	if marked {
		return `{"type":"input_text","text":"` + text + `","prompt_cache_breakpoint":{"mode":"explicit"}}`
	}
	return `{"type":"input_text","text":"` + text + `"}`
}

func TestTheCacheOfBreakpointsReadsUpToOneAndNoFurther(t *testing.T) {
	now := time.Unix(0, 0)
	p := New(Responses, CacheMinimum(100), Clock(func() time.Time { return now }))
	const key = `"prompt_cache_key":"k"`
	user := func(parts ...string) string {
		return `{"type":"message","role":"user","content":[` + strings.Join(parts, ",") + `]}`
	}
	check := func(name, body string, read, write bool) int {
		t.Helper()
		u := respond(t, p, body).Usage
		if (u.Details.Read > 0) != read || (u.Details.Write > 0) != write || u.Details.Read+u.Details.Write > u.Input {
			t.Errorf("%s: %+v", name, u)
		}
		return u.Details.Read
	}
	short, long := user(lasting(200, false)), user(lasting(200, true))
	check("nothing is there", in(long, key), false, true)
	first := check("the end of the latest message is written by itself", in(long, key), true, false)
	if first < 200 || first > 220 {
		t.Errorf("%d tokens were read", first)
	}
	check("an explicit one is found amid a longer request", in(long+","+itemHello+","+user(lasting(300, false)), key), true, true)
	check("without a key there is no cache", in(long), false, false)
	check("nor is it that of another", in(long, `"prompt_cache_key":"l"`), false, true)
	check("nor of another model", strings.Replace(in(long, key), `"m"`, `"n"`, 1), false, true)
	check("too short", in(user(lasting(50, true)), key), false, false)

	other := strings.NewReplacer("xxxx", "yyyy")
	check("a text without a breakpoint", other.Replace(in(short, key)), false, true)
	check("was the latest message", other.Replace(in(short, key)), true, false)
	check("and cannot be found when it is not", other.Replace(in(short+","+itemHello+","+user(lasting(300, false)), key)), false, true)
	check("a breakpoint is not part of what it ends", other.Replace(in(long+","+itemHello+","+user(lasting(400, false)), key)), true, true)
	check("nothing implicit is written where it is not wanted", strings.NewReplacer("xxxx", "zzzz").Replace(in(short, key, `"prompt_cache_options":{"mode":"explicit"}`)), false, false)

	now = now.Add(29 * time.Minute)
	check("use keeps it", in(long, key), true, false)
	now = now.Add(29 * time.Minute)
	check("use kept it", in(long, key), true, false)
	now = now.Add(31 * time.Minute)
	check("time took it", in(long, key), false, true)
}

func TestOnlyTheLatestBreakpointsAreWrittenAndRead(t *testing.T) {
	body := func(n int, end string) string {
		return in(`{"type":"message","role":"user","content":[`+strings.Repeat(lasting(10, true)+",", n)+end+`]}`, `"prompt_cache_key":"k"`)
	}
	for _, c := range []struct {
		wrote, asked int // breakpoints
		read         bool
	}{
		// The end and the latest three are written,
		{6, 2, false}, {6, 3, false}, {6, 4, true}, {6, 6, true},
		// and the end and the 79 before it are looked for.
		{1, 79, true}, {1, 80, false},
	} {
		p := New(Responses, CacheMinimum(0))
		respond(t, p, body(c.wrote, lasting(20, false)))
		if u := respond(t, p, body(c.asked, lasting(30, false))).Usage; (u.Details.Read > 0) != c.read {
			t.Errorf("%d breakpoints after %d: %+v", c.asked, c.wrote, u)
		}
	}
}

func TestAStreamOfItemsIsNumberedAndEndsOnce(t *testing.T) {
	for reason, end := range map[string]string{"": "response.completed", "max_output_tokens": "response.incomplete"} {
		p := New(Responses)
		a := Answer{Think("hm"), Say("a"), Say("b"), Redacted(), Use("f", `{"a":1}`)}
		if reason != "" {
			a = append(a, Stop(reason))
		}
		p.Script(a)
		_, answer := post(t, p, in(itemHi, `"stream":true`, encrypted))
		var kinds []string
		for i, event := range strings.Split(strings.TrimSpace(answer), "\n\n") {
			name, data, _ := strings.Cut(event, "\n")
			var e struct {
				Type     string
				Sequence int `json:"sequence_number"`
			}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e); err != nil || e.Sequence != i || name != "event: "+e.Type {
				t.Errorf("%d: %v %q", i, err, event)
			}
			kinds = append(kinds, strings.TrimPrefix(e.Type, "response."))
		}
		want := "created in_progress " +
			"output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
			"output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done output_item.done " +
			"output_item.added output_item.done " +
			"output_item.added function_call_arguments.delta function_call_arguments.done output_item.done " + strings.TrimPrefix(end, "response.")
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s", got)
		}
		if strings.Count(answer, `"encrypted_content":"not complete yet"`) < 2 {
			t.Errorf("what is added is complete: %s", answer)
		}
	}
}

func TestAFailureAmidAStreamFailsTheResponseOrIsAnEvent(t *testing.T) {
	for status, want := range map[int]string{500: "event: response.failed\n", 503: `"code":"server_error"`, 429: `event: error` + "\n", 400: `"code":"invalid_request_error"`} {
		p := New(Responses)
		p.Script(Answer{Say("a"), Fail(status, "")})
		if _, answer := post(t, p, in(itemHi, `"stream":true`)); !strings.Contains(answer, want) || strings.Contains(answer, "completed") {
			t.Errorf("%d: %s", status, answer)
		}
	}
}
