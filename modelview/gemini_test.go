package modelview_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/model/strict"
	"weir/modelview"
)

const bypassed = `"thoughtSignature":"` + strict.GeminiBypass + `"`

// sealed gives a part a thought signature.
func sealed(p weir.Part, signature string) weir.Part {
	p.Raw, _ = json.Marshal(map[string]string{"thoughtSignature": signature})
	return p
}

// modelParts are the parts of the n-th content of the model's in a body.
func modelParts(t *testing.T, r *modelview.Request, n int) string {
	t.Helper()
	var body struct {
		Contents []struct {
			Role  string            `json:"role"`
			Parts []json.RawMessage `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, c := range body.Contents {
		if c.Role != "model" {
			continue
		}
		if n--; n < 0 {
			return string(bytes.Join(rawBytes(c.Parts), []byte(",")))
		}
	}
	t.Fatalf("no such content: %s", r.Body)
	return ""
}

func rawBytes(raw []json.RawMessage) (all [][]byte) {
	for _, r := range raw {
		all = append(all, r)
	}
	return all
}

func TestGeminiGetsEverySignatureBackOnItsOwnPart(t *testing.T) {
	end := text("hello")
	end.Raw = json.RawMessage(`{"thoughtSignature":"c2ln","text":"lo"}`)
	other := text("hello")
	other.Raw = json.RawMessage(`{"thoughtSignature":"c2ln","text":"xy"}`)
	for name, c := range map[string]struct {
		parts []weir.Part
		want  string // where calls need a signature
		old   string // where they do not; "" for the same
	}{
		"a signed text":                    {[]weir.Part{sealed(text("a"), "c2ln")}, `{"text":"a","thoughtSignature":"c2ln"}`, ""},
		"an empty one at the end":          {[]weir.Part{text("a"), sealed(text(""), "YQ==")}, `{"text":"a"},{"text":"","thoughtSignature":"YQ=="}`, ""},
		"the signed end of a text":         {[]weir.Part{end}, `{"text":"hel"},{"text":"lo","thoughtSignature":"c2ln"}`, ""},
		"an end that it has not":           {[]weir.Part{other}, `{"text":"hello","thoughtSignature":"c2ln"}`, ""},
		"neighbours stay apart":            {[]weir.Part{text("a"), sealed(text("b"), "c2ln"), text("c")}, `{"text":"a"},{"text":"b","thoughtSignature":"c2ln"},{"text":"c"}`, ""},
		"the first of parallel calls":      {[]weir.Part{sealed(call("t1", "f", `{}`), "c2ln"), call("t2", "f", `{}`)}, `{"functionCall":{"id":"t1","name":"f","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"t2","name":"f","args":{}}}`, ""},
		"a call that came without":         {[]weir.Part{sealed(text("a"), "c2ln"), call("t1", "f", `{}`), call("t2", "f", `{}`)}, `{"text":"a","thoughtSignature":"c2ln"},{"functionCall":{"id":"t1","name":"f","args":{}},` + bypassed + `},{"functionCall":{"id":"t2","name":"f","args":{}}}`, `{"text":"a","thoughtSignature":"c2ln"},{"functionCall":{"id":"t1","name":"f","args":{}}},{"functionCall":{"id":"t2","name":"f","args":{}}}`},
		"thoughts never go back":           {[]weir.Part{sealed(thought(``), "c2ln"), sealed(text("a"), "c2ln")}, `{"text":"a","thoughtSignature":"c2ln"}`, ""},
		"thoughts and a signature alone":   {[]weir.Part{thought(``), sealed(text(""), "c2ln")}, `{"text":"","thoughtSignature":"c2ln"}`, ""},
		"another vendor's bytes":           {[]weir.Part{{Type: weir.PartText, Text: "a", Raw: json.RawMessage(`{"id":"msg_1","phase":"commentary"}`)}}, `{"text":"a"}`, ""},
		"bytes of nobody's":                {[]weir.Part{{Type: weir.PartText, Text: "a", Raw: json.RawMessage(`["thoughtSignature"]`)}, {Type: weir.PartText, Raw: json.RawMessage(`{"thoughtSignature":7}`)}}, `{"text":"a"}`, ""},
		"a name that begins with a number": {[]weir.Part{sealed(call("t1", "7zip", `{}`), "c2ln")}, `{"functionCall":{"id":"t1","name":"_7zip","args":{}},` + bypassed + `}`, `{"functionCall":{"id":"t1","name":"_7zip","args":{}}}`},
		"a name that is too long":          {[]weir.Part{sealed(call("t1", "-"+strings.Repeat("x", 99), `{}`), "c2ln")}, `{"functionCall":{"id":"t1","name":"_-` + strings.Repeat("x", 62) + `","args":{}},` + bypassed + `}`, `{"functionCall":{"id":"t1","name":"_-` + strings.Repeat("x", 62) + `","args":{}}}`},
	} {
		for _, mode := range []string{"gemini", "gemini-old"} {
			k := newTalk(t, profiles()[mode])
			k.epoch("You are kind.", "")
			k.user("hello")
			k.step()
			k.answer(c.parts...)
			for _, p := range c.parts {
				if p.Type == weir.PartToolCall {
					k.result(p.Call, "r")
				}
			}
			k.user("next")
			r := k.step()
			want := c.want
			if mode == "gemini-old" && c.old != "" {
				want = c.old
			}
			if d := cmp.Diff(want, modelParts(t, r, 0)); d != "" {
				t.Errorf("%s, %s\n%s", name, mode, d)
			}
			if err := accepted(k.p, r.Body); err != nil {
				t.Errorf("%s, %s: %v", name, mode, err)
			}
			k.rebuild()
		}
	}
}

func TestGeminiGetsNoSignatureThatWasMadeForSomethingElse(t *testing.T) {
	const unsigned, bare = `{"text":"a"},{"functionCall":{"id":"t1","name":"list","args":{}},` + bypassed + `}`, `{"text":"a"},{"functionCall":{"id":"t1","name":"list","args":{}}}`
	signedParts := []weir.Part{sealed(text("a"), "bWluZQ=="), sealed(call("t1", "list", `{}`), "bWluZQ=="), sealed(text(""), "bWluZQ==")}
	for name, make := range map[string]func(k *talk){
		"of a step that is not there": func(k *talk) {
			k.m.append(k.c, &weir.AssistantMessage{Step: "stp_x", Model: k.p.ID, Parts: signedParts})
		},
		"of another model": func(k *talk) {
			k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: "g/other", Parts: signedParts})
		},
		"of another epoch": func(k *talk) {
			k.answer(signedParts...)
			k.epoch("You are kinder.", twoTools)
		},
		"of other bytes": func(k *talk) {
			k.user("and this came later")
			k.answer(signedParts...)
		},
	} {
		for mode, want := range map[string]string{"gemini": unsigned, "gemini-old": bare} {
			k := newTalk(t, profiles()[mode])
			k.epoch("You are kind.", twoTools)
			k.user("hello")
			k.step()
			make(k)
			k.result("t1", "r")
			r := k.step()
			if d := cmp.Diff(want, modelParts(t, r, 0)); d != "" || bytes.Contains(r.Body, []byte("bWluZQ==")) {
				t.Errorf("%s, %s\n%s", name, mode, d)
			}
			if err := accepted(k.p, r.Body); err != nil {
				t.Errorf("%s, %s: %v", name, mode, err)
			}
		}
	}
}

func TestGeminisInterruptedTextHasNoSignature(t *testing.T) {
	k := newTalk(t, profiles()["gemini"])
	k.epoch("You are kind.", "")
	k.user("hello")
	k.step()
	k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: k.p.ID, Interrupted: true, Parts: []weir.Part{sealed(text("a"), "YQ=="), sealed(text("b"), "Yg==")}})
	k.user("next")
	if got, want := modelParts(t, k.step(), 0), `{"text":"a","thoughtSignature":"YQ=="},{"text":"b\n\n(interrupted)"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A tool loop into which people speak, as §3 of the facts warns: the responses
// stay together and first, and no call loses its signature by it.
func TestWhatIsSaidAmidGeminisToolLoopComesAfterTheResponses(t *testing.T) {
	k := newTalk(t, profiles()["gemini"])
	k.epoch("You have tools.", twoTools)
	k.user("look")
	k.step()
	k.answer(sealed(call("t1", "read", `{"p":"a"}`), "YQ=="), call("t2", "list", `{}`))
	k.result("t2", "second")
	k.user("hurry")
	k.update("It rains.")
	k.result("t1", "first")
	k.m.append(k.c, &weir.Notice{Text: "a notice"})
	before := k.step()
	k.answer(sealed(call("t3", "list", `{}`), "Yg=="))
	k.m.append(k.c, &weir.ToolResult{Call: "t3", Text: "no", IsError: true})
	after := k.step()
	extends(t, before, after)
	want := `{"systemInstruction":{"parts":[{"text":"You have tools."}]},` +
		`"tools":[{"functionDeclarations":[{"name":"read","description":"Reads <a> file.","parametersJsonSchema":{"type":"object","properties":{"p":{"type":"string"}}}},{"name":"list","description":"Lists.","parametersJsonSchema":{"type":"object"}}]}],` +
		`"contents":[{"role":"user","parts":[{"text":"look"}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"t1","name":"read","args":{"p":"a"}},"thoughtSignature":"YQ=="},{"functionCall":{"id":"t2","name":"list","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"first"}}},{"functionResponse":{"id":"t2","name":"list","response":{"output":"second"}}},{"text":"hurry"},{"text":"a notice"},{"text":"<system-update>It rains.</system-update>"}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"t3","name":"list","args":{}},"thoughtSignature":"Yg=="}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"t3","name":"list","response":{"error":"no"}}}]}],` +
		`"generationConfig":{"maxOutputTokens":1000,"thinkingConfig":{"includeThoughts":true}}}`
	if d := cmp.Diff(want, string(after.Body)); d != "" {
		t.Error(d)
	}
	if err := accepted(k.p, after.Body); err != nil {
		t.Error(err)
	}
	k.rebuild()
}

// A response names its function. The log's result may not know it, and then
// the answer is asked, also in a window that has only frozen bytes of it.
func TestAResponseIsNamedAsItsCall(t *testing.T) {
	k := newTalk(t, profiles()["gemini"])
	k.epoch("You have tools.", twoTools)
	k.user("look")
	k.step()
	k.answer(call("same", "read", `{}`), call("same", "list", `{}`))
	k.result("same", "one")
	k.result("same", "two")
	k.step()
	k.answer(call("t3", "mcp.x/y z", `{}`))
	k.restart()
	if err := k.window.CatchUp(ctx, k.m); err != nil {
		t.Fatal(err)
	}
	k.result("t3", "three")
	r := k.step()
	for _, want := range []string{
		`{"functionResponse":{"id":"same","name":"read","response":{"output":"one"}}},{"functionResponse":{"id":"same_4","name":"list","response":{"output":"two"}}}`,
		`{"functionResponse":{"id":"t3","name":"mcp_x_y_z","response":{"output":"three"}}}`,
	} {
		if !bytes.Contains(r.Body, []byte(want)) {
			t.Errorf("%s is not in\n%s", want, r.Body)
		}
	}
	if err := accepted(k.p, r.Body); err != nil {
		t.Error(err)
	}
}

func TestOnlyAModelThatThinksIsAskedForItsThoughts(t *testing.T) {
	for binding, want := range map[model.Binding]bool{"": false, model.BindNothing: false, model.BindModel: true, model.BindPrefix: true} {
		p := profiles()["gemini-old"]
		p.ThinkingBinding = binding
		k := newTalk(t, p)
		k.epoch("You are kind.", "")
		k.user("hello")
		if got := bytes.Contains(k.step().Body, []byte(`"thinkingConfig":{"includeThoughts":true}`)); got != want {
			t.Errorf("bound to %q: %v", binding, got)
		}
	}
}
