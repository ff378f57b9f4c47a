package gemini

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
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"r\",\"thought\":true},{\"text\":\"a\"}]}}]}\r\n\r\n" +
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\",\"thoughtSignature\":\"c2ln\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9}}\r\n\r\n")
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}},\"thoughtSignature\":\"YQ\\u003d\\u003d\"},{\"functionCall\":{\"id\":\"c\",\"name\":\"g\",\"args\":[]}}]}}]}\n\n")
	f.Add("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\ndata: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"1s\"}]}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		called := false
		a, err := New("http://model.test", "", "m", &http.Client{Transport: fixed(stream)}).Stream(t.Context(), nil, func(e model.Event) error {
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
			var raw struct {
				Signature string `json:"thoughtSignature"`
				Text      string `json:"text"`
			}
			if len(p.Raw) > 0 && (json.Unmarshal(p.Raw, &raw) != nil || raw.Signature == "" || !strings.HasSuffix(p.Text, raw.Text)) {
				t.Errorf("%+v", p)
			}
			if p.Type == weir.PartToolCall && (!json.Valid(p.Input) || p.Call == "" || p.Name == "" || ids[p.Call]) || p.Type != weir.PartToolCall && p.Text == "" && len(p.Raw) == 0 {
				t.Errorf("%+v", p)
			}
			ids[p.Call] = ids[p.Call] || p.Type == weir.PartToolCall
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT","details":[{"reason":"x","violations":[{"quotaId":"PerDay"}]}]}}`)
	f.Add(429, `[{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"26s"}]}}]`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if e := classify(status, []byte(body)); e != nil && (e.Failure == "" || e.RetryAfter < 0) {
			t.Errorf("%+v", e)
		}
	})
}
