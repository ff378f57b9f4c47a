package model_test

import (
	"encoding/json"
	"testing"

	"weir"
	"weir/model"
)

// Whatever a patch says, it is refused in words or makes a model that can be
// asked for and that says the same of itself again.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`{"id":"local/qwen","context_window":131072,"max_output":8192,"mid_system":"none"}`,
		`{"id":"local/strict","roles_alternate":true,"system_first_only":true,"content_parts":true,"cache_style":"breakpoints"}`,
		`{"provider":"local","name":"a/b","prices":{"input":0.1,"long_above":200000,"long":{"output":1e3}}}`,
		`{"id":"local/x","dialect":"gemini","reasoning_required":"signature","lifecycle":"retired","prefill":null}`,
		`{"id":"openai/gpt-5.6-sol","Mid_System":"none","":1,"prices":[]}`,
	} {
		f.Add([]byte(seed))
	}
	built, err := model.LoadCatalogue([]model.Endpoint{{ID: "local", Dialect: model.OpenAIChat}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p model.Patch
		if json.Unmarshal(raw, &p) != nil || p == nil {
			return
		}
		c, err := built.Over(p)
		if err != nil {
			if weir.CodeOf(err) != "model_invalid" || len(err.Error()) > 4000 {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		made, err := c.Profile(p.ID())
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if c, err = built.Over(made.Patch()); err != nil {
			t.Fatalf("%q became %+v: %v", raw, made, err)
		}
		if again, err := c.Profile(made.ID); err != nil || again != made {
			t.Fatalf("%q became %+v, then %+v, %v", raw, made, again, err)
		}
	})
}
