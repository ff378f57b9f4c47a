package openai_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/model/internal/wiretest"
	"weir/model/openai"
	"weir/test/strictpeer/strictpeer"
)

func variant(t *testing.T, profile string, options ...strictpeer.Option) (*strictpeer.Peer, model.Client) {
	p := strictpeer.New(profile, options...)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, openai.New(s.URL+"/v1", "", s.Client())
}

// llama.cpp and Ollama say with status 500 that a history cannot be rendered;
// such a request is never worth another attempt.
func TestWhatATemplateRefusesIsNotTriedAgain(t *testing.T) {
	for profile, c := range map[string]struct{ history, words string }{
		strictpeer.QwenTemplate:        {hi + `,{"role":"system","content":"note"}`, "System message must be at the beginning."},
		strictpeer.AlternatingTemplate: {hi + "," + hi, "Conversation roles must alternate user/assistant/user/assistant/..."},
	} {
		for status, options := range map[int][]strictpeer.Option{400: nil, 500: {strictpeer.Jinja()}} {
			_, client := variant(t, profile, options...)
			_, err := client.Stream(t.Context(), ask(c.history), new(wiretest.Seen).Emit)
			e := fault(t, err)
			if e.Status != status || e.Failure != model.FailRefused || e.Failure.Retryable() || !strings.Contains(e.Public, c.words) {
				t.Errorf("%s: %+v", profile, e)
			}
		}
	}
}

func TestDeepSeekGetsItsReasoningBackWithTheCalls(t *testing.T) {
	p, client := variant(t, strictpeer.DeepSeek, strictpeer.CacheMinimum(1))
	p.Script(strictpeer.Answer{strictpeer.Think("I <look> \"there\""), strictpeer.Call("c1", "f", `{}`)})
	a, err := client.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if err != nil {
		t.Fatal(err)
	}
	want := []weir.Part{
		{Type: weir.PartReasoning, Text: `I <look> "there"`, Raw: kept(`I <look> "there"`)},
		{Type: weir.PartToolCall, Call: "c1", Name: "f", Input: []byte(`{}`)},
	}
	if d := cmp.Diff(want, a.Parts); d != "" {
		t.Error(d)
	}
	calls := `"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}`
	member := strings.Trim(string(a.Parts[0].Raw), "{}")
	b, err := client.Stream(t.Context(), ask(hi+`,{"role":"assistant",`+member+","+calls), new(wiretest.Seen).Emit)
	if err != nil || b.Usage.Read == 0 || b.Usage.Fresh == 0 {
		t.Errorf("%+v, %v", b.Usage, err)
	}
	_, err = client.Stream(t.Context(), ask(hi+`,{"role":"assistant",`+calls), new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailRefused || !strings.Contains(e.Public, "The reasoning_content in the thinking mode must be passed back to the API.") {
		t.Errorf("%+v", e)
	}
}
