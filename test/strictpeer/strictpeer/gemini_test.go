package strictpeer

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// contents is a generateContent body with these contents, and members before.
func contents(list string, members ...string) string {
	return `{` + strings.Join(append(members, ""), ",") + `"contents":[` + list + `]}`
}

const (
	gUser     = `{"role":"user","parts":[{"text":"hi"}]}`
	gModel    = `{"role":"model","parts":[{"text":"hello"}]}`
	gCall     = `{"functionCall":{"id":"c1","name":"f","args":{}}}`
	gBypassed = `{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`
	gAnswer   = `{"functionResponse":{"id":"c1","name":"f","response":{"output":"r"}}}`
	gTool     = `"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}}]}]`
)

func gModels(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }
func gUsers(parts string) string  { return `{"role":"user","parts":[` + parts + `]}` }

// generate posts a body to a method of a peer's and returns status and answer.
func generate(t testing.TB, p *Peer, method, body string, header ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest("POST", "/v1beta/models/"+method, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Goog-Api-Key", "k")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	out, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(out)
}

func TestGenerateContentRefusesWhatTheVendorRefuses(t *testing.T) {
	const (
		count   = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		follows = "Please ensure that function response turn comes immediately after a function call turn."
		calls   = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
		missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:f` , position "
		empty   = "required oneof field 'data' must have one initialized field"
		name    = "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore."
	)
	second := `{"functionCall":{"id":"c2","name":"f","args":{}}}`
	for _, c := range []struct{ name, body, want string }{
		// Histories.
		{"1 a call nobody answered", contents(gUser + "," + gModels(gBypassed) + "," + gUser), count},
		{"2 a result nobody asked for", contents(gUser + "," + gModel + "," + gUsers(gAnswer)), follows},
		{"4 results in two contents", contents(gUser + "," + gModels(gBypassed+","+second) + "," + gUsers(gAnswer) + "," + gUsers(`{"functionResponse":{"id":"c2","name":"f","response":{}}}`)), count},
		{"5 text before a result", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(`{"text":"a"},`+gAnswer)), "* GenerateContentRequest.contents[2].parts[0]: function response parts must come before other parts"},
		{"10 words put into its mouth", contents(gUser + "," + gModel), "Please ensure that multiturn requests end with a user role or a function response."},
		{"22 a call without its signature", contents(gUser + "," + gModels(gCall) + "," + gUsers(gAnswer)), missing + "2."},
		{"22 a later step without one", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(gAnswer) + "," + gModels(second) + "," + gUsers(`{"functionResponse":{"id":"c2","name":"f","response":{}}}`)), missing + "4."},
		{"22 the second of two has it", contents(gUser + "," + gModels(second+","+gBypassed) + "," + gUsers(`{"functionResponse":{"id":"c2","name":"f","response":{}}},`+gAnswer)), missing + "2."},
		{"22 text behind a result is no new turn", contents(gUser + "," + gModels(gCall) + "," + gUsers(gAnswer+`,{"text":"and?"}`)), missing + "2."},
		{"23 two calls, one result and a text", contents(gUser + "," + gModels(gBypassed+","+second) + "," + gUsers(gAnswer+`,{"text":"note"}`)), count},
		{"a result of another call", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(`{"functionResponse":{"id":"c9","name":"f","response":{}}}`)), `* GenerateContentRequest.contents[2].parts[0].function_response.id: the function response does not match its function call, "c1".`},
		{"a result of another function", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(`{"functionResponse":{"id":"c1","name":"g","response":{}}}`)), `* GenerateContentRequest.contents[2].parts[0].function_response.name: the function response does not match its function call, "f".`},
		{"a call of the user's", contents(gUsers(gCall)), calls},
		{"a result of the model's", contents(gUser + "," + gModels(gAnswer) + "," + gUser), follows},
		{"a call first", contents(gModels(gBypassed) + "," + gUsers(gAnswer)), calls},
		{"an answer first", contents(gModel + "," + gUser), "Please ensure that multiturn requests begin with a user role."},
		{"a call after an answer", contents(gUser + "," + gModel + "," + gModels(gBypassed) + "," + gUsers(gAnswer)), calls},
		{"two questions", contents(gUser + "," + gUser), "Please ensure that multiturn requests alternate between user and model."},
		{"a system role", contents(`{"role":"system","parts":[{"text":"a"}]}`), "Please use a valid role: user, model."},
		{"no contents", contents(``), "* GenerateContentRequest.contents: contents is not specified\n"},
		{"no parts", contents(gUsers(``)), "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n"},
		{"an empty part", contents(gUsers(`{"text":"a"},{}`)), "* GenerateContentRequest.contents[0].parts[1].data: " + empty},
		{"an empty text", contents(gUsers(`{"text":""}`)), "* GenerateContentRequest.contents[0].parts[0].data: " + empty},
		{"an empty system text", contents(gUser, `"systemInstruction":{"parts":[{"text":""}]}`), "* GenerateContentRequest.system_instruction.parts[0].data: " + empty},
		{"a signature of nobody's", contents(gUser + "," + gModels(`{"text":"a","thoughtSignature":"c2ln"}`) + "," + gUser), "Corrupted thought signature in contents[1].parts[0]."},

		// Members.
		{"an unknown member", contents(gUser, `"model":"m"`), `Invalid JSON payload received. Unknown name "model": Cannot find field.`},
		{"an unknown member of a content", contents(`{"role":"user","content":"a"}`), `Invalid JSON payload received. Unknown name "content" at 'contents[0]': Cannot find field.`},
		{"an id of a part", contents(gUsers(`{"text":"a","id":"x"}`)), `Invalid JSON payload received. Unknown name "id" at 'contents[0].parts[0]': Cannot find field.`},
		{"an unknown member of a result", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(`{"functionResponse":{"name":"f","is_error":true}}`)), `Invalid JSON payload received. Unknown name "is_error" at 'contents[2].parts[0].function_response': Cannot find field.`},
		{"JSON Schema in parameters", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","const":"x"}}}}]}]`), `Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.`},
		{"a list of types in parameters", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":["STRING"]}}]}]`), `Invalid JSON payload received. Unknown name "type" at 'tools[0].function_declarations[0].parameters': Proto field is not repeating, cannot start list.`},
		{"both schemas", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"f","parameters":{},"parametersJsonSchema":{}}]}]`), "* GenerateContentRequest.tools[0].function_declarations[0]: only one of"},
		{"a member twice", contents(gUser, `"store":true`, `"store":true`), `Invalid JSON payload received. Duplicate name "store".`},
		{"two kinds of data", contents(gUsers(`{"text":"a","inlineData":{}}`)), "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'"},

		// Types and values.
		{"a text that is a number", contents(gUsers(`{"text":1}`)), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 1"},
		{"parts that are none", contents(`{"role":"user","parts":"a"}`), "Invalid value at 'contents[0].parts'"},
		{"arguments that are a text", contents(gUser + "," + gModels(`{"functionCall":{"name":"f","args":"{}"}}`) + "," + gUser), "Invalid value at 'contents[1].parts[0].function_call.args' (type message), \"{}\""},
		{"a signature that is no bytes", contents(gUser + "," + gModels(`{"text":"a","thoughtSignature":"?"}`) + "," + gUser), "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"?\""},
		{"a tool that begins with a digit", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"7zip"}]}]`), "* GenerateContentRequest.tools[0].function_declarations[0].name: " + name},
		{"a tool with a space in its name", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"a b"}]}]`), "* GenerateContentRequest.tools[0].function_declarations[0].name: " + name},
		{"a call with a slash in its name", contents(gUser + "," + gModels(`{"functionCall":{"name":"a/b"}}`) + "," + gUser), "* GenerateContentRequest.contents[1].parts[0].function_call.name: " + name},
		{"a call of nothing", contents(gUser + "," + gModels(`{"functionCall":{"args":{}}}`) + "," + gUser), "* GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty."},
		{"a result of nothing", contents(gUser + "," + gModels(gBypassed) + "," + gUsers(`{"functionResponse":{"name":"f"}}`)), "* GenerateContentRequest.contents[2].parts[0].function_response.response: response is not specified"},
		{"two tools of one name", contents(gUser, `"tools":[{"functionDeclarations":[{"name":"f"},{"name":"f"}]}]`), "Duplicate function declaration found: f"},
		{"a tool of nothing", contents(gUser, `"tools":[{}]`), "* GenerateContentRequest.tools[0]: tool_type"},
		{"a choice of no tools", contents(gUser, `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`), "Function calling config is set without function_declarations."},
		{"a choice nobody has", contents(gUser, gTool, `"toolConfig":{"functionCallingConfig":{"mode":"none"}}`), "Invalid value at 'tool_config.function_calling_config.mode'"},
		{"a limit of nothing", contents(gUser, `"generationConfig":{"maxOutputTokens":0}`), "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive."},
		{"a limit with a point", contents(gUser, `"generationConfig":{"maxOutputTokens":1.5}`), "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), 1.5"},
		{"an unknown option", contents(gUser, `"generationConfig":{"max_tokens":1}`), `Invalid JSON payload received. Unknown name "max_tokens" at 'generation_config': Cannot find field.`},
		{"not JSON", `{`, "Invalid JSON payload received. "},
		{"a list", `[]`, "Invalid value"},
	} {
		p := New(Gemini)
		status, answer := generate(t, p, "m:generateContent", c.body)
		var doc struct {
			Error struct {
				Code            int
				Message, Status string
			}
		}
		if err := json.Unmarshal([]byte(answer), &doc); err != nil {
			t.Errorf("%s: status %d, not an error document: %.200s", c.name, status, answer)
			continue
		}
		if e := doc.Error; status != 400 || e.Code != 400 || e.Status != "INVALID_ARGUMENT" || !strings.HasPrefix(e.Message, c.want) {
			t.Errorf("%s: status %d, %+v\nwant %q", c.name, status, e, c.want)
		}
		if got := p.Refusals(); len(got) != 1 {
			t.Errorf("%s: recorded as %q", c.name, got)
		}
	}
}

func TestGenerateContentTakesWhatTheVendorTakes(t *testing.T) {
	for name, body := range map[string]string{
		"a question":                       contents(gUser),
		"a system text":                    contents(gUser, `"systemInstruction":{"parts":[{"text":"s"}]}`),
		"question and answer":              contents(gUser + "," + gModel + "," + gUser),
		"call and result":                  contents(gUser+","+gModels(gBypassed)+","+gUsers(gAnswer), gTool),
		"words, call, result and a note":   contents(gUser + "," + gModels(`{"text":"a"},`+gBypassed) + "," + gUsers(gAnswer+`,{"text":"note"}`)),
		"parallel calls, the first signed": contents(gUser + "," + gModels(gBypassed+`,{"functionCall":{"name":"g"}}`) + "," + gUsers(gAnswer+`,{"functionResponse":{"name":"g","response":{"error":"no"}}}`)),
		"a call of an earlier turn":        contents(gUser + "," + gModels(gCall) + "," + gUsers(gAnswer) + "," + gModel + "," + gUser),
		"an empty text with a bypass":      contents(gUser + "," + gModels(`{"text":"a"},{"text":"","thoughtSignature":"skip_thought_signature_validator"}`) + "," + gUser),
		"tools, none to be used":           contents(gUser, gTool, `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`),
		"options":                          contents(gUser, `"generationConfig":{"maxOutputTokens":5,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}}`),
	} {
		p := New(Gemini)
		if status, answer := generate(t, p, "m:generateContent", body); status != 200 || len(p.Refusals()) > 0 {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
}

func TestWhatIsNotThereIsNotFoundAndWhoIsNotKnownIsNotServed(t *testing.T) {
	for _, c := range []struct {
		method, key string
		status      int
		want        string
	}{
		{"m:streamGenerateContent?alt=sse", "right", 200, ""},
		{"m:generateContent", "right", 200, ""},
		{"m:streamGenerateContent", "right", 404, "NOT_FOUND"}, // answers with a list, which nobody here reads
		{"m:countTokens", "right", 404, "NOT_FOUND"},
		{"m", "right", 404, "NOT_FOUND"},
		{"a/m:generateContent", "right", 404, "NOT_FOUND"},
		{"m:generateContent", "wrong", 400, "API_KEY_INVALID"},
		{"m:generateContent", "", 403, "PERMISSION_DENIED"},
	} {
		status, answer := generate(t, New(Gemini, Key("right")), c.method, contents(gUser), "X-Goog-Api-Key", c.key)
		if status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%s with the key %q: status %d: %s", c.method, c.key, status, answer)
		}
	}
}

// given is an answer that was not streamed.
type given struct {
	Candidates []struct {
		Content struct{ Parts []json.RawMessage }
	}
}

func answered(t *testing.T, p *Peer, body string) string {
	t.Helper()
	_, answer := generate(t, p, "m:generateContent", body)
	var g given
	if err := json.Unmarshal([]byte(answer), &g); err != nil || len(g.Candidates) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	var parts []string
	for _, p := range g.Candidates[0].Content.Parts {
		if !strings.Contains(string(p), `"thought":true`) {
			parts = append(parts, string(p))
		}
	}
	return gModels(strings.Join(parts, ","))
}

func TestASignatureIsTakenBehindExactlyItsPrefix(t *testing.T) {
	p := New(Gemini)
	const system = `"systemInstruction":{"parts":[{"text":"s"}]}`
	p.Script(Answer{Think("hm"), Say("a")}, Answer{Say("b"), Call("c1", "f", `{"b":1e3,"a":"<"}`), Call("c2", "f", `{}`)})
	one := answered(t, p, contents(gUser, system))
	first := gUser + "," + one + "," + gUser
	two := answered(t, p, contents(first, system))
	responses := gUsers(gAnswer + `,{"functionResponse":{"id":"c2","name":"f","response":{}}}`)
	both := first + "," + two + "," + responses
	if strings.Count(two, "thoughtSignature") != 1 || strings.Index(two, "thoughtSignature") > strings.Index(two, `"c2"`) {
		t.Fatalf("the first call alone is signed: %s", two)
	}
	respelled := strings.NewReplacer(`"args":{"b":1e3,"a":"\u003c"}`, `"args":{ "a" : "<", "b":1e3}`).Replace(two)
	for name, c := range map[string]struct{ body, want string }{
		"as it was":            {contents(both, system), ""},
		"options may change":   {contents(both, system, `"generationConfig":{"maxOutputTokens":7}`), ""},
		"arguments respelled":  {contents(first+","+respelled+","+responses, system), ""},
		"another model":        {contents(both, system), "is bound to a different conversation"},
		"another system text":  {contents(both), "is bound to a different conversation"},
		"a tool more":          {contents(both, system, gTool), "is bound to a different conversation"},
		"an earlier text":      {contents(strings.Replace(both, `"hi"`, `"ho"`, 1), system), "is bound to a different conversation"},
		"a signature left out": {contents(gUser+","+gModels(`{"text":"a"}`)+","+gUser+","+two+","+responses, system), "is bound to a different conversation"},
		"other words":          {contents(strings.Replace(first, `"text":"a"`, `"text":"A"`, 1), system), "Corrupted thought signature in contents[1].parts[0]"},
		"other arguments":      {contents(strings.Replace(both, `1e3`, `1e4`, 1), system), "Corrupted thought signature in contents[3].parts[1]"},
		"another's signature":  {contents(strings.Replace(both, `"thoughtSignature":"`, `"thoughtSignature":"AAAA`, 1), system), "Corrupted thought signature in contents[1].parts[0]"},
		"on the user's side":   {contents(gUser+","+one+","+strings.Replace(one, "model", "user", 1), system), "Corrupted thought signature"},
	} {
		method := "m:generateContent"
		if name == "another model" {
			method = "n:generateContent"
		}
		status, answer := generate(t, p, method, c.body)
		if (status == 200) != (c.want == "") || !strings.Contains(answer, c.want) {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
}

func TestAStreamSignsItsTextAtItsEnd(t *testing.T) {
	p := New(Gemini)
	p.Script(Answer{Think("hm"), Say("hello world"), Pieces(3), Say("!!!!")}, Answer{Think("only")})
	status, stream := generate(t, p, "m:streamGenerateContent?alt=sse", contents(gUser))
	events := strings.Split(strings.TrimSpace(stream), "\r\n\r\n")
	last := events[len(events)-1]
	if status != http.StatusOK || strings.Count(stream, "thoughtSignature") != 1 || !strings.Contains(last, `"text":"","thoughtSignature":`) ||
		!strings.Contains(last, `"finishReason":"STOP"`) || !strings.Contains(last, `"thoughtsTokenCount":1`) || len(events) != 6 {
		t.Errorf("status %d: %s", status, stream)
	}
	if _, stream = generate(t, p, "m:streamGenerateContent?alt=sse", contents(gUser)); strings.Contains(stream, "thoughtSignature") || strings.Contains(stream, `"text":""`) {
		t.Errorf("nothing was said: %s", stream)
	}
}
