package anthropic

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
	f.Add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"input\":{\"a\":1}}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":1}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n")
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
