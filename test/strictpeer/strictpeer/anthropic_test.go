package strictpeer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// post sends a body to a peer over HTTP and returns status and answer.
func post(t testing.TB, p *Peer, body string, header ...string) (int, string) {
	t.Helper()
	s := httptest.NewServer(p)
	defer s.Close()
	path := "/v1/messages"
	if _, chat := chatRules(p.profile); chat {
		path = "/v1/chat/completions"
	}
	if p.profile == Responses {
		path = "/v1/responses"
	}
	req, err := http.NewRequest("POST", s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.profile != OpenAIChat {
		req.Header.Set("X-Api-Key", "k")
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(out)
}

// with is a body of the Messages API with these messages, and members before.
func with(messages string, members ...string) string {
	return `{"model":"m","max_tokens":100,` + strings.Join(append(members, ""), ",") + `"messages":[` + messages + `]}`
}

const (
	hi     = `{"role":"user","content":"hi"}`
	hello  = `{"role":"assistant","content":"hello"}`
	note   = `{"role":"system","content":[{"type":"text","text":"note"}]}`
	called = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
	result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}`
	tool   = `{"name":"f","input_schema":{"type":"object"}}`
	mark   = `"cache_control":{"type":"ephemeral"}`

	clearAt      = "mid-conversation-system-clear-at-2026-08-21"
	outputConfig = "mid-conversation-output-config-2026-07-01"
)

func user(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
func text(s string) string      { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
func marked(n int) string {
	var blocks []string
	for range n {
		blocks = append(blocks, `{"type":"text","text":"x",`+mark+`}`)
	}
	return user(strings.Join(blocks, ","))
}

const directive = "; the directive-only form (content: [] with output_config) is accepted at any position"

type refused struct {
	name, profile, body, want string
	header                    []string
	status                    int
}

func anthropicRefusals() []refused {
	unpaired := "`tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	all := []refused{
		// Histories: the vectors of provider-facts.md §7.
		{name: "1 a call nobody answered", body: with(hi + "," + called + "," + hi), want: "messages.1: " + unpaired},
		{name: "2 a result nobody asked for", body: with(hi + "," + hello + "," + user(`{"type":"tool_result","tool_use_id":"x9","content":"r"},`+text("a"))),
			want: "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{name: "3 a note between call and result", body: with(hi + "," + called + "," + note + "," + result), want: "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result" + directive},
		{name: "4 a note between two results", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{}}]},` + result + "," + note + `,` + user(`{"type":"tool_result","tool_use_id":"t2","content":"r"}`)),
			want: "messages.3: role 'system' must precede an 'assistant' message or end the array" + directive},
		{name: "5 a result after other words", body: with(hi + "," + called + "," + user(text("a")+`,{"type":"tool_result","tool_use_id":"t1","content":"r"}`)), want: "messages.1: " + unpaired},
		{name: "5b a result after a message of words", body: with(hi + "," + called + "," + hi + "," + result), want: "messages.1: " + unpaired},
		{name: "6 a note at the beginning", body: with(note + "," + hi), want: "messages.0: use the top-level 'system' parameter for the initial system prompt" + directive},
		{name: "7 a note while idle", body: with(hi + "," + hello + "," + note + "," + hi), want: "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result" + directive},
		{name: "8 a note between two questions", body: with(hi + "," + note + "," + hi), want: "messages.1: role 'system' must precede an 'assistant' message or end the array" + directive},
		{name: "8b two notes between two questions", body: with(hi + "," + note + "," + note + "," + hi), want: "messages.2: role 'system' must precede an 'assistant' message or end the array" + directive},
		{name: "10 words put into its mouth", body: with(hi + "," + hello), want: "This model does not support assistant message prefill. The conversation must end with a user message."},
		{name: "10b the same after a note", body: with(hi + "," + note + "," + hello), want: "This model does not support assistant message prefill. The conversation must end with a user message."},
		{name: "13 an empty text", body: with(user(text(""))), want: "messages: text content blocks must be non-empty"},
		{name: "13b an empty note", body: with(hi + `,{"role":"system","content":""}`), want: "messages.1: system content must contain at least one block"},
		{name: "13c a note without blocks", body: with(hi + `,{"role":"system","content":[]}`), want: "messages.1: system content must contain at least one block"},
		{name: "13d a note with an empty text", body: with(hi + `,{"role":"system","content":[{"type":"text","text":""}]}`), want: "messages: text content blocks must be non-empty"},
		{name: "13e an empty result", body: with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":""}]}`)), want: "messages: text content blocks must be non-empty"},
		{name: "13f an empty result as a string", body: with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1","content":""}`)), want: "messages: text content blocks must be non-empty"},
		{name: "white space only", body: with(user(text(" \n\t"))), want: "messages: text content blocks must contain non-whitespace text"},
		{name: "white space only as a string", body: with(`{"role":"user","content":"\n"}`), want: "messages: text content blocks must contain non-whitespace text"},
		{name: "14 five marks", body: with(marked(5)), want: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{name: "14b five marks, one at the root", body: with(marked(4), mark), want: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{name: "14c five marks in every place", body: with(marked(2), `"tools":[{"name":"f","input_schema":{"type":"object"},`+mark+`}],"system":[{"type":"text","text":"s",`+mark+`}]`, mark),
			want: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{name: "15 clear_at without its header", body: with(hi + `,{"role":"system","content":"n","clear_at":"never"}`), want: "messages.1.clear_at: Extra inputs are not permitted"},
		{name: "15b clear_at on a user's message", header: []string{"Anthropic-Beta", clearAt}, body: with(`{"role":"user","content":"n","clear_at":"never"}`), want: "messages.0.clear_at: clear_at is only permitted on role 'system' messages"},
		{name: "15c clear_at of another kind", header: []string{"Anthropic-Beta", clearAt}, body: with(hi + `,{"role":"system","content":"n","clear_at":"soon"}`), want: "messages.1.clear_at: Input should be 'next_user_message' or 'never'"},
		{name: "15d a marked turn-scoped note", header: []string{"Anthropic-Beta", clearAt}, body: with(hi + `,{"role":"system","content":[{"type":"text","text":"n",` + mark + `}],"clear_at":"next_user_message"}`), want: "messages.1.content.0: cache_control is not permitted on a turn-scoped system message"},
		{name: "15e an image in a turn-scoped note", header: []string{"Anthropic-Beta", clearAt}, body: with(hi + `,{"role":"system","content":[{"type":"image"}],"clear_at":"next_user_message"}`), want: "messages.1: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')"},
		{name: "15f effort on a turn-scoped note", header: []string{"Anthropic-Beta", clearAt + "," + outputConfig}, body: with(hi + `,{"role":"system","content":"n","output_config":{"effort":"low"},"clear_at":"next_user_message"}`), want: "messages.1: output_config is not permitted on a turn-scoped system message"},
		{name: "effort of a message without its header", body: with(hi + `,{"role":"system","content":[],"output_config":{"effort":"low"}}`), want: "messages.1.output_config: Extra inputs are not permitted"},
		{name: "16 a note for an old model", profile: AnthropicOld, body: with(hi + "," + note + "," + hello + "," + hi), want: "role 'system' is not supported on this model"},
		{name: "an image in a note", body: with(hi + `,{"role":"system","content":[{"type":"image"}]}`), want: "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only"},
		{name: "old words that end in a space", profile: AnthropicOld, body: with(hi + `,{"role":"assistant","content":"Sure, "}`), want: "messages: final assistant content cannot end with trailing whitespace"},
		{name: "two answers to a call", body: with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t1","content":"b"}`)), want: "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1"},
		{name: "an id used twice", body: with(hi + "," + called + "," + result + "," + called + "," + result), want: "messages.3.content.0: `tool_use` ids must be unique"},
		{name: "a call at the end", body: with(hi + "," + called), want: "messages.1: " + unpaired},
		{name: "reasoning at the end of an answer", body: with(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},` + hi), want: "messages.1: The final block in an assistant message cannot be `thinking`."},
		{name: "no messages", body: with(``), want: "messages: at least one message is required"},
		{name: "an empty message", body: with(`{"role":"user","content":""}`), want: "messages.0: all messages must have non-empty content except for the optional final assistant message"},
		{name: "a message without blocks", body: with(`{"role":"user","content":[]}`), want: "messages.0: all messages must have non-empty content except for the optional final assistant message"},

		// Signed reasoning that nobody signed.
		{name: "an invented signature", body: with(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},` + text("a") + `]},` + hi), want: "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{name: "invented hidden reasoning", body: with(hi + `,{"role":"assistant","content":[{"type":"redacted_thinking","data":"c2ln"},` + text("a") + `]},` + hi), want: "messages.1.content.0: Invalid `data` in `redacted_thinking` block"},

		// Marks.
		{name: "a mark on reasoning", body: with(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s",` + mark + `},` + text("a") + `]},` + hi), want: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"},
		{name: "a mark of another kind", body: with(user(`{"type":"text","text":"a","cache_control":{"type":"lasting"}}`)), want: "messages.0.content.0.text.cache_control.type: Input should be 'ephemeral'"},
		{name: "a mark of another length", body: with(user(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"2h"}}`)), want: "messages.0.content.0.text.cache_control.ttl: Input should be '5m' or '1h'"},
		{name: "a long mark after a short one", body: with(user(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}`), `"system":[{"type":"text","text":"s",`+mark+`}]`),
			want: "messages.0.content.0.text.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."},
		{name: "a mark on a message", body: with(`{"role":"user","content":"a",` + mark + `}`), want: "messages.0.cache_control: Extra inputs are not permitted"},

		// Members.
		{name: "an unknown member", body: with(hi, `"foo":1`), want: "foo: Extra inputs are not permitted"},
		{name: "an unknown member of a message", body: with(`{"role":"user","content":"a","id":"msg_1"}`), want: "messages.0.id: Extra inputs are not permitted"},
		{name: "an unknown member of a block", body: with(user(`{"type":"text","text":"a","id":"x"}`)), want: "messages.0.content.0.text.id: Extra inputs are not permitted"},
		{name: "an unknown member of a result", body: with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1","content":"r","name":"f"}`)), want: "messages.2.content.0.tool_result.name: Extra inputs are not permitted"},
		{name: "an unknown member in a result's block", body: with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r","x":1}]}`)), want: "messages.2.content.0.tool_result.content.0.text.x: Extra inputs are not permitted"},
		{name: "an unknown member of a tool", body: with(hi, `"tools":[{"name":"f","input_schema":{"type":"object"},"x":1}]`), want: "tools.0.custom.x: Extra inputs are not permitted"},
		{name: "an unknown member of the system text", body: with(hi, `"system":[{"type":"text","text":"s","x":1}]`), want: "system.0.x: Extra inputs are not permitted"},
		{name: "an unknown member of metadata", body: with(hi, `"metadata":{"x":1}`), want: "metadata.x: Extra inputs are not permitted"},
		{name: "a member twice", body: with(hi, `"model":"n"`), want: "model: Duplicate member"},
		{name: "no limit", body: `{"model":"m","messages":[` + hi + `]}`, want: "max_tokens: Field required"},
		{name: "no model", body: `{"max_tokens":1,"messages":[` + hi + `]}`, want: "model: Field required"},
		{name: "no messages at all", body: `{"model":"m","max_tokens":1}`, want: "messages: Field required"},
		{name: "a role is missing", body: with(`{"content":"a"}`), want: "messages.0.role: Field required"},
		{name: "a content is missing", body: with(`{"role":"user"}`), want: "messages.0.content: Field required"},
		{name: "a type is missing", body: with(user(`{"text":"a"}`)), want: "messages.0.content.0.type: Field required"},
		{name: "an id is missing", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]},` + hi), want: "messages.1.content.0.tool_use.id: Field required"},
		{name: "a schema is missing", body: with(hi, `"tools":[{"name":"f"}]`), want: "tools.0.custom.input_schema: Field required"},
		{name: "a signature is missing", body: with(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t"},` + text("a") + `]},` + hi), want: "messages.1.content.0.thinking.signature: Field required"},

		// Types and values.
		{name: "a body that is a list", body: `[]`, want: "Input should be a valid dictionary"},
		{name: "a limit of nothing", body: `{"model":"m","max_tokens":0,"messages":[` + hi + `]}`, want: "max_tokens: Input should be greater than or equal to 1"},
		{name: "a limit in words", body: `{"model":"m","max_tokens":"1","messages":[` + hi + `]}`, want: "max_tokens: Input should be a valid integer"},
		{name: "a limit with a point", body: `{"model":"m","max_tokens":1.5,"messages":[` + hi + `]}`, want: "max_tokens: Input should be a valid integer"},
		{name: "a model that is a number", body: `{"model":1,"max_tokens":1,"messages":[` + hi + `]}`, want: "model: Input should be a valid string"},
		{name: "a model without a name", body: `{"model":"","max_tokens":1,"messages":[` + hi + `]}`, want: "model: String should have at least 1 character"},
		{name: "stream in words", body: with(hi, `"stream":"true"`), want: "stream: Input should be a valid boolean"},
		{name: "messages that are an object", body: `{"model":"m","max_tokens":1,"messages":{}}`, want: "messages: Input should be a valid list"},
		{name: "a message that is a string", body: with(`"hi"`), want: "messages.0: Input should be a valid dictionary"},
		{name: "a role nobody has", body: with(`{"role":"developer","content":"a"}`), want: "messages.0.role: Input should be 'user', 'assistant' or 'system'"},
		{name: "a content that is a number", body: with(`{"role":"user","content":1}`), want: "messages.0.content: Input should be a valid list"},
		{name: "a text that is a number", body: with(user(`{"type":"text","text":1}`)), want: "messages.0.content.0.text.text: Input should be a valid string"},
		{name: "a block of no known type", body: with(user(`{"type":"note","text":"a"}`)), want: "messages.0.content.0: Input tag 'note' found using 'type' does not match any of the expected tags"},
		{name: "a call by the user", body: with(user(`{"type":"tool_use","id":"t1","name":"f","input":{}}`)), want: "messages.0.content.0: Input tag 'tool_use' found using 'type' does not match any of the expected tags"},
		{name: "a result by the assistant", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t1"}]},` + hi), want: "messages.1.content.0: Input tag 'tool_result' found using 'type' does not match any of the expected tags"},
		{name: "reasoning by the user", body: with(user(`{"type":"thinking","thinking":"t","signature":"s"}`)), want: "messages.0.content.0: Input tag 'thinking' found using 'type' does not match any of the expected tags"},
		{name: "an input that is a string", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":"{}"}]},` + result), want: "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{name: "an id with a dot", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"f","input":{}}]},` + hi), want: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{name: "a call with a space in its name", body: with(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f g","input":{}}]},` + hi), want: "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"},
		{name: "a tool with a slash in its name", body: with(hi, `"tools":[{"name":"a/b","input_schema":{"type":"object"}}]`), want: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"},
		{name: "a tool with 65 letters", body: with(hi, `"tools":[{"name":"`+strings.Repeat("a", 65)+`","input_schema":{"type":"object"}}]`), want: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"},
		{name: "two tools of one name", body: with(hi, `"tools":[`+tool+`,`+tool+`]`), want: "tools: Tool names must be unique."},
		{name: "a schema of a list", body: with(hi, `"tools":[{"name":"f","input_schema":{"type":"array"}}]`), want: "tools.0.custom.input_schema.type: Input should be 'object'"},
		{name: "a schema with a choice at its top", body: with(hi, `"tools":[{"name":"f","input_schema":{"type":"object","anyOf":[]}}]`), want: "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"},
		{name: "an empty system text", body: with(hi, `"system":""`), want: "system: text content blocks must be non-empty"},
		{name: "an empty system block", body: with(hi, `"system":[{"type":"text","text":""}]`), want: "system: text content blocks must be non-empty"},
		{name: "an image as system text", body: with(hi, `"system":[{"type":"image"}]`), want: "system.0.type: Input should be 'text'"},
		{name: "a document without a source", body: with(user(`{"type":"document"}`)), want: "messages.0.content.0.document.source: Field required"},
		{name: "a search result without a title", body: with(user(`{"type":"search_result","source":"weir:x","content":[{"type":"text","text":"a"}]}`)), want: "messages.0.content.0.search_result.title: Field required"},

		// Options that depend on the model.
		{name: "temperature", body: with(hi, `"temperature":0.5`), want: "`temperature` is not supported on this model."},
		{name: "a manual budget", body: with(hi, `"thinking":{"type":"enabled","budget_tokens":1024}`), want: `thinking.type: "enabled" is not supported on this model.`},
		{name: "a forced tool", body: with(hi, `"tools":[`+tool+`]`, `"tool_choice":{"type":"any"}`), want: "tool_choice: forced tool use is not supported on this model."},
		{name: "a choice of no tools", body: with(hi, `"tool_choice":{"type":"none"}`), want: "tool_choice may only be specified while providing tools."},
		{name: "a budget over the limit", profile: AnthropicOld, body: with(hi, `"thinking":{"type":"enabled","budget_tokens":1024}`), want: "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{name: "a call without reasoning where reasoning is on", profile: AnthropicOld, body: `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + hi + "," + called + "," + result + `]}`,
			want: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"},

		// Before the body.
		{name: "no key", header: []string{"X-Api-Key", ""}, body: with(hi), status: 401, want: "x-api-key header is required"},
		{name: "no version", header: []string{"Anthropic-Version", ""}, body: with(hi), want: "anthropic-version: header is required"},
		{name: "an unknown beta", header: []string{"Anthropic-Beta", "warp-2026-01-01"}, body: with(hi), want: "Unexpected value(s) `warp-2026-01-01` for the `anthropic-beta` header."},
		{name: "another media type", header: []string{"Content-Type", "text/plain"}, body: with(hi), status: 415, want: "Content-Type must be application/json"},
		{name: "not JSON", body: `{"model":`, want: "The request body is not valid JSON: "},
		{name: "half a surrogate pair", body: with(`{"role":"user","content":"\ud83d"}`), want: "The request body is not valid JSON: no low surrogate in string"},
		{name: "not UTF-8", body: with("{\"role\":\"user\",\"content\":\"\xff\"}"), want: "The request body is not valid JSON: invalid UTF-8 in string"},
		{name: "too large", body: with(`{"role":"user","content":"` + strings.Repeat("x", 32<<20) + `"}`), status: 413, want: "Request exceeds the maximum size"},
	}
	return all
}

func TestTheMessagesAPIRefusesWhatTheVendorRefuses(t *testing.T) {
	for _, c := range anthropicRefusals() {
		t.Run(c.name, func(t *testing.T) {
			if c.profile == "" {
				c.profile = Anthropic
			}
			if c.status == 0 {
				c.status = 400
			}
			p := New(c.profile)
			status, answer := post(t, p, c.body, c.header...)
			var doc struct {
				Type      string
				RequestID string `json:"request_id"`
				Error     struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(answer), &doc); err != nil {
				t.Fatalf("status %d, not an error document: %.200s", status, answer)
			}
			if status != c.status || doc.Type != "error" || doc.RequestID == "" || !strings.HasPrefix(doc.Error.Message, c.want) {
				t.Errorf("status %d, %+v\nwant %d %s", status, doc, c.status, c.want)
			}
			wantType := map[int]string{400: "invalid_request_error", 401: "authentication_error", 413: "request_too_large", 415: "invalid_request_error"}[c.status]
			if doc.Error.Type != wantType {
				t.Errorf("type %q, want %q", doc.Error.Type, wantType)
			}
			if got := p.Refusals(); len(got) != 1 || got[0] != doc.Error.Message {
				t.Errorf("recorded as %q", got)
			}
			if b := p.Bodies(); len(b) != 1 || (c.status != 413 && string(b[0]) != c.body) {
				t.Error("the body was not recorded exactly")
			}
		})
	}
}

func TestTheMessagesAPITakesWhatTheVendorTakes(t *testing.T) {
	two := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":{"a":1,"a":2}}},{"type":"tool_use","id":"t2","name":"f","input":{}}]}`
	second := user(`{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"r"}],"is_error":true}`)
	for name, c := range map[string]struct {
		profile, body string
		header        []string
	}{
		"a question":                             {"", with(hi), nil},
		"consecutive questions":                  {"", with(hi + "," + hi), nil},
		"consecutive answers":                    {"", with(hi + "," + hello + "," + hello + "," + hi), nil},
		"an answer first":                        {"", with(hello + "," + hi), nil},
		"a note at the end":                      {"", with(hi + "," + note), nil},
		"a note between question and answer":     {"", with(hi + "," + note + "," + hello + "," + hi), nil},
		"9 two notes in a row":                   {"", with(hi + "," + note + "," + note), nil},
		"a note after results":                   {"", with(hi + "," + called + "," + result + "," + note), nil},
		"results in two messages":                {"", with(hi + "," + two + "," + result + "," + second), nil},
		"results, then words":                    {"", with(hi + "," + called + "," + user(`{"type":"tool_result","tool_use_id":"t1"},`+text("and"))), nil},
		"four marks":                             {"", with(marked(4)), nil},
		"a long mark before a short one":         {"", with(marked(1), `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]`), nil},
		"a mark at the root":                     {"", with(hi, mark), nil},
		"a system text":                          {"", with(hi, `"system":"s"`), nil},
		"tools, none to be used":                 {"", with(hi, `"tools":[`+tool+`]`, `"tool_choice":{"type":"none"}`), nil},
		"reasoning by the model's own measure":   {"", with(hi, `"thinking":{"type":"adaptive","display":"omitted"}`), nil},
		"effort":                                 {"", with(hi, `"output_config":{"effort":"high"}`), nil},
		"a document and a search result":         {"", with(user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"},{"type":"search_result","source":"weir:x","title":"t","content":[` + text("a") + `]},` + text("q"))), nil},
		"an image":                               {"", with(user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aa"}},` + text("q"))), nil},
		"clear_at with its header":               {"", with(hi + `,{"role":"system","content":"n","clear_at":"next_user_message"}`), []string{"Anthropic-Beta", clearAt}},
		"effort of a message, anywhere":          {"", with(`{"role":"system","content":[],"output_config":{"effort":"low"}},` + hi + "," + hello + `,{"role":"system","content":[],"output_config":{"effort":"max"}},` + hi), []string{"Anthropic-Beta", outputConfig}},
		"temperature on an old model":            {AnthropicOld, with(hi, `"temperature":0.5`), nil},
		"a forced tool on an old model":          {AnthropicOld, with(hi, `"tools":[`+tool+`]`, `"tool_choice":{"type":"tool","name":"f"}`), nil},
		"every script, joiners and directions":   {"", with(`{"role":"user","content":"中文 👨‍👩‍👧 می‌خواهم ‮abc"}`), nil},
		"white space between everything":         {"", " {\n\"model\" : \"m\" ,\r\n\"max_tokens\":\t1, \"messages\" : [ " + hi + " ] } ", nil},
		"members in another order, messages 1st": {"", `{"messages":[` + hi + `],"stream":false,"max_tokens":1,"model":"m"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.profile == "" {
				c.profile = Anthropic
			}
			p := New(c.profile)
			status, answer := post(t, p, c.body, c.header...)
			if status != 200 || len(p.Refusals()) != 0 {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
}
