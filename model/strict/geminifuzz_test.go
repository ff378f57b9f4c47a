package strict

import "testing"

func FuzzGemini(f *testing.F) {
	f.Add([]byte(`{"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}},{"name":"g","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"id":"c","name":"f","args":{"a":[1]}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"r"}}},{"text":"n"}]}],"generationConfig":{"maxOutputTokens":9,"thinkingConfig":{"includeThoughts":true}}}`))
	f.Add([]byte(`{"contents":[{"role":"user","parts":[{"text":""}]},{"role":"model","parts":[{"text":"","thoughtSignature":"YQ=="}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		strictest, err := Gemini(body, GeminiRules{})
		if err != nil {
			if r, ok := err.(*Refusal); !ok || r.Status != 400 || r.Type == "" || r.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if old, err := Gemini(body, GeminiRules{Old: true}); err != nil || len(old.Contents) != len(strictest.Contents) {
			t.Fatalf("what the strictest takes, another refuses: %v\n%s", err, body)
		}
		if n := len(strictest.Contents); n == 0 || strictest.Contents[n-1].Role != "user" || strictest.Turn() >= n {
			t.Fatalf("%s is taken", body)
		}
	})
}
