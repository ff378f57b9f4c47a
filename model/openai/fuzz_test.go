package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"weir"
	"weir/model"
)

// fixed answers every request with the same stream.
type fixed string

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(string(f)))}, nil
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"reasoning\":\"r\"}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9}}\n\ndata: [DONE]\n\n")
	f.Add("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}},{\"function\":{\"arguments\":{}}}]},\"finish_reason\":\"tool_calls\"}]}\n\n")
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"text\":\"t\"}]}]}}]}\n\ndata: {\"error\":{\"code\":429}}\n")
	f.Fuzz(func(t *testing.T, stream string) {
		called := false
		a, err := New("http://model.test", "", &http.Client{Transport: fixed(stream)}).Stream(t.Context(), nil, func(e model.Event) error {
			called = called || e.Call != nil
			if e.CallInput != "" && !called {
				t.Error("arguments before a call")
			}
			return nil
		})
		if e, ok := err.(*model.Error); err != nil && (!ok || e.Public == "") {
			t.Errorf("%#v", err)
		}
		for _, p := range a.Parts {
			if len(p.Raw) > 0 && !json.Valid(p.Raw) || p.Type == weir.PartToolCall && (!json.Valid(p.Input) || p.Call == "") || p.Type == weir.PartText && p.Text == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
