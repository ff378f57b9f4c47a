package openai

import (
	"encoding/json"
	"net/http"
	"testing"

	"weir"
	"weir/model"
)

func FuzzResponses(f *testing.F) {
	f.Add("data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\"}}\n\n" +
		"data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{\"}\n\n" +
		"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{ }\"}}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":9}}}\n\n")
	f.Add("event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\ndata: {\"type\":\"response.refusal.delta\",\"content_index\":3,\"delta\":\"b\"}\n\n" +
		"data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[{\"type\":\"reasoning\",\"encrypted_content\":\"<\",\"summary\":[{\"text\":\"s\"}]}]}}\n\n")
	f.Add("data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":7}}}\n\ndata: {\"type\":\"error\"}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		called := false
		a, err := NewResponses("http://model.test", "", &http.Client{Transport: fixed(stream)}).Stream(t.Context(), nil, func(e model.Event) error {
			called = called || e.Call != nil
			if e.CallInput != "" && !called {
				t.Error("arguments before a call")
			}
			return nil
		})
		if e, ok := err.(*model.Error); err != nil && (!ok || e.Public == "") {
			t.Errorf("%#v", err)
		}
		ids := map[string]bool{}
		for _, p := range a.Parts {
			if len(p.Raw) > 0 && !json.Valid(p.Raw) || p.Type == weir.PartToolCall && (!json.Valid(p.Input) || p.Call == "" || ids[p.Call]) ||
				p.Type == weir.PartText && p.Text == "" {
				t.Errorf("%+v", p)
			}
			if p.Call != "" {
				ids[p.Call] = true
			}
		}
	})
}
