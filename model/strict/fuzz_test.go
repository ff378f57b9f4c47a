package strict

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzAnthropic(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":1,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tools":[{"cache_control":{"type":"ephemeral"},"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral","ttl":"5m"}}]}]},{"role":"system","content":"n"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"d"}]}}]}],"max_tokens":1,"model":"m","cache_control":{"type":"ephemeral"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, rules := range []Rules{{}, {Old: true}, {Betas: []string{betaClearAt, betaOutputConfig}}} {
			q, err := Anthropic(body, rules)
			if err != nil {
				if r, ok := err.(*Refusal); !ok || r.Status < 400 || r.Message == "" {
					t.Fatalf("%#v", err)
				}
				continue
			}
			var bare bytes.Buffer
			q.Unmarked(&bare, Span{0, len(body)})
			if !json.Valid(bare.Bytes()) {
				t.Fatalf("%s\nwithout marks is\n%s", body, bare.Bytes())
			}
			again, err := Anthropic(bare.Bytes(), rules)
			if err != nil || len(again.Marks) > 0 || len(again.Messages) != len(q.Messages) {
				t.Fatalf("%s\nwithout marks: %v", bare.Bytes(), err)
			}
		}
	})
}

func FuzzOpenAIChat(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}]},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"assistant","content":"a"},{"role":"user","content":"b"},{"role":"developer","content":"c"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, rules := range []ChatRules{{}, {Reasoning: true}, {Template: SystemFirst}, {Template: Alternating, Jinja: true}, {Template: Plain}} {
			q, err := OpenAIChat(body, rules)
			if err == nil {
				if len(q.Messages) == 0 || q.Model == "" || len(q.Marks) > 0 && !rules.OpenAI() {
					t.Fatalf("%+v: %s is taken", rules, body)
				}
				continue
			}
			if r, ok := err.(*Refusal); !ok || r.Status < 400 || r.Message == "" {
				t.Fatalf("%+v: %#v", rules, err)
			}
		}
	})
}
