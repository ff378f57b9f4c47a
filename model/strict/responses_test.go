package strict

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzOpenAIResponses(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":"hi","stream":true,"prompt_cache_options":{"mode":"explicit","ttl":"12h"}}`))
	f.Add([]byte(`{"model":"m","instructions":"i","tools":[{"type":"function","name":"f","parameters":{},"strict":false}],"tool_choice":"none","input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]},` +
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"},` +
		`{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"t","annotations":[]}]},` +
		`{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":[{"prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"},"type":"input_text","text":"r"}]},` +
		`{"role":"developer","content":"n"}],"store":false,"include":["reasoning.encrypted_content"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := OpenAIResponses(body, nil)
		if err != nil {
			if r, ok := err.(*Refusal); !ok || r.Status < 400 || r.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(q.Items) == 0 || q.Model == "" || q.Items[len(q.Items)-1].Answers() {
			t.Fatalf("%s is taken", body)
		}
		var bare bytes.Buffer
		q.Unmarked(&bare, Span{0, len(body)})
		if !json.Valid(bare.Bytes()) {
			t.Fatalf("%s\nwithout breakpoints is\n%s", body, bare.Bytes())
		}
		again, err := OpenAIResponses(bare.Bytes(), nil)
		if err != nil || len(again.Marks) > 0 || len(again.Items) != len(q.Items) {
			t.Fatalf("%s\nwithout breakpoints: %v", bare.Bytes(), err)
		}
	})
}
