package strictpeer

import (
	"encoding/json"
	"strings"
	"testing"
)

// chat is a Chat Completions body with these messages, and members before.
func chat(messages string, members ...string) string {
	return `{"model":"m",` + strings.Join(append(members, ""), ",") + `"messages":[` + messages + `]}`
}

const (
	baseline   = `{"role":"system","content":"be good"}`
	developer  = `{"role":"developer","content":"note"}`
	chatCalled = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	chatResult = `{"role":"tool","tool_call_id":"c1","content":"r"}`
	chatTool   = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
)

func calling(call string) string { return `{"role":"assistant","tool_calls":[` + call + `]}` }

func TestChatCompletionsRefusesWhatTheVendorRefuses(t *testing.T) {
	unpaired := "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
	for _, c := range []struct {
		name, body, want, code, param string
		key                           string
		status                        int
	}{
		// Histories.
		{name: "1 a call nobody answered", body: chat(hi + "," + chatCalled + "," + hi), want: unpaired + "c1", param: "messages.[2].role"},
		{name: "2 a result nobody asked for", body: chat(hi + "," + hello + `,{"role":"tool","tool_call_id":"c9","content":"r"}`), want: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", param: "messages.[2].role"},
		{name: "3 a note between call and result", body: chat(hi + "," + chatCalled + "," + developer + "," + chatResult), want: unpaired + "c1", param: "messages.[2].role"},
		{name: "3b a note between two results", body: chat(hi + "," + calling(`{"id":"c1","type":"function","function":{"name":"f","arguments":""}},{"id":"c2","type":"function","function":{"name":"f","arguments":""}}`) + "," + chatResult + "," + developer + `,{"role":"tool","tool_call_id":"c2","content":"r"}`), want: unpaired + "c2", param: "messages.[2].role"},
		{name: "a result of another call", body: chat(hi + "," + chatCalled + `,{"role":"tool","tool_call_id":"c9","content":"r"}`), want: "Invalid parameter: 'tool_call_id' of 'c9' not found in 'tool_calls' of previous message.", param: "messages.[2].tool_call_id"},
		{name: "two results of a call", body: chat(hi + "," + chatCalled + "," + chatResult + "," + chatResult), want: "Invalid parameter: 'tool_call_id' of 'c1' not found", param: "messages.[3].tool_call_id"},
		{name: "a result first", body: chat(chatResult + "," + hi), want: "Invalid parameter: messages with role 'tool'", param: "messages.[0].role"},
		{name: "an id used twice", body: chat(hi + "," + chatCalled + "," + chatResult + "," + chatCalled + "," + chatResult), want: "Duplicate value for 'tool_call_id' of 'c1'", param: "messages.[3].tool_calls"},
		{name: "words put into its mouth", body: chat(hi + "," + hello), want: "Assistant response prefill is not supported.", param: "messages"},
		{name: "no messages", body: chat(``), want: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", code: "empty_array", param: "messages"},
		{name: "an empty question", body: chat(`{"role":"user","content":""}`), want: "Invalid 'messages[0].content': string too short.", code: "string_below_min_length", param: "messages[0].content"},
		{name: "an empty system text", body: chat(`{"role":"system","content":""},` + hi), want: "Invalid 'messages[0].content': string too short.", code: "string_below_min_length", param: "messages[0].content"},
		{name: "an empty result", body: chat(hi + "," + chatCalled + `,{"role":"tool","tool_call_id":"c1","content":""}`), want: "Invalid 'messages[2].content': string too short.", code: "string_below_min_length", param: "messages[2].content"},
		{name: "an empty part", body: chat(`{"role":"user","content":[{"type":"text","text":""}]}`), want: "Invalid 'messages[0].content[0].text': string too short.", code: "string_below_min_length", param: "messages[0].content[0].text"},
		{name: "no parts", body: chat(`{"role":"user","content":[]}`), want: "Invalid 'messages[0].content': empty array.", code: "empty_array", param: "messages[0].content"},
		{name: "an answer of nothing", body: chat(hi + `,{"role":"assistant","content":null},` + hi), want: "Invalid value for 'content': expected a string, got null.", param: "messages.[1].content"},
		{name: "an empty list of calls", body: chat(hi + `,{"role":"assistant","content":"a","tool_calls":[]},` + hi), want: "Invalid 'messages[1].tool_calls': empty array.", code: "empty_array", param: "messages[1].tool_calls"},

		// Members.
		{name: "an unknown member", body: chat(hi, `"foo":1`), want: "Unknown parameter: 'foo'.", code: "unknown_parameter", param: "foo"},
		{name: "an unknown member of a message", body: chat(`{"role":"user","content":"a","id":"x"}`), want: "Unknown parameter: 'messages[0].id'.", code: "unknown_parameter", param: "messages[0].id"},
		{name: "reasoning sent back", body: chat(hi + `,{"role":"assistant","content":"a","reasoning_content":"r"},` + hi), want: "Unknown parameter: 'messages[1].reasoning_content'.", code: "unknown_parameter", param: "messages[1].reasoning_content"},
		{name: "an unknown member of a call", body: chat(hi + "," + calling(`{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`) + "," + chatResult), want: "Unknown parameter: 'messages[1].tool_calls[0].index'.", code: "unknown_parameter", param: "messages[1].tool_calls[0].index"},
		{name: "an unknown member of a part", body: chat(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`), want: "Unknown parameter: 'messages[0].content[0].cache_control'.", code: "unknown_parameter", param: "messages[0].content[0].cache_control"},
		{name: "an unknown member of a tool", body: chat(hi, `"tools":[{"type":"function","function":{"name":"f","x":1}}]`), want: "Unknown parameter: 'tools[0].function.x'.", code: "unknown_parameter", param: "tools[0].function.x"},
		{name: "a name on a result", body: chat(hi + "," + chatCalled + `,{"role":"tool","tool_call_id":"c1","name":"f","content":"r"}`), want: "Unknown parameter: 'messages[2].name'.", code: "unknown_parameter", param: "messages[2].name"},
		{name: "a member twice", body: chat(hi, `"model":"n"`), want: "Duplicate parameter: 'model'.", code: "duplicate_parameter", param: "model"},
		{name: "no model", body: `{"messages":[` + hi + `]}`, want: "Missing required parameter: 'model'.", code: "missing_required_parameter", param: "model"},
		{name: "no messages at all", body: `{"model":"m"}`, want: "Missing required parameter: 'messages'.", code: "missing_required_parameter", param: "messages"},
		{name: "no content", body: chat(`{"role":"user"}`), want: "Missing required parameter: 'messages[0].content'.", code: "missing_required_parameter", param: "messages[0].content"},
		{name: "no role", body: chat(`{"content":"a"}`), want: "Missing required parameter: 'messages[0].role'.", code: "missing_required_parameter", param: "messages[0].role"},
		{name: "a result without its call", body: chat(hi + "," + chatCalled + `,{"role":"tool","content":"r"}`), want: "Missing required parameter: 'messages[2].tool_call_id'.", code: "missing_required_parameter", param: "messages[2].tool_call_id"},

		// Types and values.
		{name: "a body that is a list", body: `[]`, want: "Invalid type for '': expected an object, but got an array instead.", code: "invalid_type"},
		{name: "an empty model", body: `{"model":"","messages":[` + hi + `]}`, want: "you must provide a model parameter", param: "model"},
		{name: "stream in words", body: chat(hi, `"stream":"yes"`), want: "Invalid type for 'stream': expected a boolean, but got a string instead.", code: "invalid_type", param: "stream"},
		{name: "a limit with a point", body: chat(hi, `"max_tokens":1.5`), want: "Invalid type for 'max_tokens': expected an integer, but got a number instead.", code: "invalid_type", param: "max_tokens"},
		{name: "a limit of nothing", body: chat(hi, `"max_completion_tokens":0`), want: "Invalid 'max_completion_tokens': integer below minimum value.", code: "integer_below_min_value", param: "max_completion_tokens"},
		{name: "both limits", body: chat(hi, `"max_tokens":1,"max_completion_tokens":1`), want: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", code: "invalid_parameter_combination"},
		{name: "usage of what is not streamed", body: chat(hi, `"stream_options":{"include_usage":true}`), want: "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param: "stream_options"},
		{name: "an unknown stream option", body: chat(hi, `"stream":true,"stream_options":{"x":true}`), want: "Unknown parameter: 'stream_options.x'.", code: "unknown_parameter", param: "stream_options.x"},
		{name: "a role nobody has", body: chat(`{"role":"model","content":"a"}`), want: "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'tool' or 'developer'.", code: "invalid_value", param: "messages[0].role"},
		{name: "a content that is a number", body: chat(`{"role":"user","content":1}`), want: "Invalid value for 'content': expected a string, got number.", param: "messages.[0].content"},
		{name: "arguments that are an object", body: chat(hi + "," + calling(`{"id":"c1","type":"function","function":{"name":"f","arguments":{}}}`) + "," + chatResult), want: "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.", code: "invalid_type", param: "messages[1].tool_calls[0].function.arguments"},
		{name: "an id of 41 letters", body: chat(hi + "," + calling(`{"id":"`+strings.Repeat("c", 41)+`","type":"function","function":{"name":"f","arguments":"{}"}}`) + "," + chatResult), want: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.", code: "string_above_max_length", param: "messages[1].tool_calls[0].id"},
		{name: "a call with a dot in its name", body: chat(hi + "," + calling(`{"id":"c1","type":"function","function":{"name":"a.b","arguments":"{}"}}`) + "," + chatResult), want: "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern.", code: "invalid_value", param: "messages[1].tool_calls[0].function.name"},
		{name: "a tool with a space in its name", body: chat(hi, `"tools":[{"type":"function","function":{"name":"a b"}}]`), want: "Invalid 'tools[0].function.name': string does not match pattern.", code: "invalid_value", param: "tools[0].function.name"},
		{name: "no tools", body: chat(hi, `"tools":[]`), want: "Invalid 'tools': empty array.", code: "empty_array", param: "tools"},
		{name: "two tools of one name", body: chat(hi, `"tools":[`+chatTool+`,`+chatTool+`]`), want: "Tool names must be unique: 'f'.", param: "tools[1].function.name"},
		{name: "a choice of no tools", body: chat(hi, `"tool_choice":"none"`), want: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", param: "tool_choice"},
		{name: "a choice nobody has", body: chat(hi, `"tools":[`+chatTool+`],"tool_choice":"some"`), want: "Invalid value: 'some'.", code: "invalid_value", param: "tool_choice"},
		{name: "a part nobody has", body: chat(`{"role":"assistant","content":[{"type":"image_url","image_url":{}}]},` + hi), want: "Invalid value: 'image_url'. Supported values are: 'text' or 'refusal'.", code: "invalid_value", param: "messages[0].content[0].type"},

		// Before the body.
		{name: "another key", key: "sk-right", body: chat(hi), status: 401, want: "Incorrect API key provided: ", code: "invalid_api_key"},
		{name: "not JSON", body: `{`, want: "We could not parse the JSON body of your request."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.status == 0 {
				c.status = 400
			}
			p := New(OpenAIChat, Key(c.key))
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

func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestChatCompletionsTakesWhatTheVendorTakes(t *testing.T) {
	for name, body := range map[string]string{
		"a question":                    chat(hi),
		"a system text first":           chat(baseline + "," + hi),
		"notes anywhere else":           chat(baseline + "," + developer + "," + hi + "," + developer + "," + hello + "," + baseline + "," + hi + "," + developer),
		"consecutive questions":         chat(hi + "," + hi),
		"call and result":               chat(hi + "," + chatCalled + "," + chatResult),
		"call, result and a note":       chat(hi + "," + chatCalled + "," + chatResult + "," + developer + "," + hello + "," + hi),
		"words with a call":             chat(hi + `,{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"not json"}}]},` + chatResult),
		"a call without content":        chat(hi + "," + calling(`{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`) + "," + chatResult),
		"parts":                         chat(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}`),
		"tools, none to be used":        chat(hi, `"tools":[`+chatTool+`],"tool_choice":"none"`),
		"a limit, a key, a stream":      chat(hi, `"max_completion_tokens":5,"prompt_cache_key":"cnv_1","stream":true,"stream_options":{"include_usage":true}`),
		"a limit as local servers have": chat(hi, `"max_tokens":5`),
	} {
		p := New(OpenAIChat)
		if status, answer := post(t, p, body); status != 200 || len(p.Refusals()) > 0 {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
}
