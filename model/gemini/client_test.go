package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/model/gemini"
	"weir/model/internal/wiretest"
	"weir/test/strictpeer/strictpeer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(contents string) []byte {
	return []byte(`{"contents":[` + contents + `],"generationConfig":{"maxOutputTokens":100}}`)
}

const hi = `{"role":"user","parts":[{"text":"hi"}]}`

// peer starts a strict peer and a client of it.
func peer(t testing.TB) (*strictpeer.Peer, model.Client) {
	p := strictpeer.New(strictpeer.Gemini, strictpeer.CacheMinimum(1), strictpeer.Key("AIza-right"))
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, gemini.New(s.URL+"/v1beta", "AIza-right", "gemini-4-argon", s.Client())
}

// said is a stream of these data lines, as a client takes it.
func said(t testing.TB, data ...string) (model.Answer, wiretest.Seen, error) {
	t.Helper()
	s := wiretest.Server(t, 200, nil, wiretest.Events(data...))
	var seen wiretest.Seen
	a, err := gemini.New(s.URL, "", "m", s.Client()).Stream(t.Context(), nil, seen.Emit)
	return a, seen, err
}

// chunk is a response with these parts and perhaps a reason to finish.
func chunk(parts string, reason ...string) string {
	r := ""
	if len(reason) > 0 {
		r = `,"finishReason":"` + reason[0] + `"`
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0` + r + `}]}`
}

func signed(signature string) json.RawMessage {
	return json.RawMessage(`{"thoughtSignature":"` + signature + `"}`)
}

func fault(t testing.TB, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *model.Error: %v", err)
	}
	return e
}

func TestABodyIsSentExactlyToTheModelThatTheAddressNames(t *testing.T) {
	p := strictpeer.New(strictpeer.Gemini)
	var address string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address = r.RequestURI
		p.ServeHTTP(w, r)
	}))
	defer s.Close()
	c := gemini.New(s.URL+"/v1beta/", " key\n", "gemini 4?x", s.Client())
	body := []byte("  {\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"<&>\u2028\\u00e9\"}]}] }\n")
	if _, err := c.Stream(t.Context(), body, new(wiretest.Seen).Emit); err != nil {
		t.Fatal(err)
	}
	if want := "/v1beta/models/gemini%204%3Fx:streamGenerateContent?alt=sse"; address != want {
		t.Errorf("it went to %s, want %s", address, want)
	}
	e := p.Exchanges()[0]
	if string(e.Body) != string(body) {
		t.Errorf("%q arrived", e.Body)
	}
	for name, want := range map[string]string{"X-Goog-Api-Key": "key", "Content-Type": "application/json", "Content-Length": fmt.Sprint(len(body))} {
		if got := e.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestANameIsASingleModelsAndNeverAnotherAddress(t *testing.T) {
	var address string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { address = r.RequestURI }))
	defer s.Close()
	for name, want := range map[string]string{
		"gemini":           "/v/models/gemini:streamGenerateContent?alt=sse",
		"tunedModels/mine": "/v/tunedModels/mine:streamGenerateContent?alt=sse",
		"a#b%2f..":         "/v/models/a%23b%252f..:streamGenerateContent?alt=sse",
		"":                 "",
		"..":               "",
		"../../../x":       "",
		"a//b":             "",
		"models/.":         "",
	} {
		address = ""
		_, err := (&gemini.Client{BaseURL: s.URL + "/v", Name: "other", HTTP: s.Client()}).For(name).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		if address != want || want == "" && fault(t, err).Failure != model.FailUnknown {
			t.Errorf("%q went to %q, want %q: %v", name, address, want, err)
		}
	}
}

func TestAnAnswerIsTheSameHoweverItsBytesCome(t *testing.T) {
	var p *strictpeer.Peer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		p = strictpeer.New(strictpeer.Gemini)
		text := rapid.StringN(1, 40, -1)
		thought, words, input := text.Draw(t, "thought"), text.Draw(t, "words"), rapid.String().Draw(t, "input")
		arguments, _ := json.Marshal(map[string]string{"a": input})
		p.Script(strictpeer.Answer{
			strictpeer.Pieces(rapid.IntRange(1, 9).Draw(t, "pieces")), strictpeer.Think(thought), strictpeer.Say(words),
			strictpeer.Call("c1", "f", string(arguments)), strictpeer.Call("c2", "g", "{}"),
		})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 8).Draw(t, "sizes")
		c := gemini.New(s.URL+"/v1beta", "k", "m", &http.Client{Transport: &wiretest.Pieces{Next: s.Client().Transport, Sizes: sizes}})
		var seen wiretest.Seen
		got, err := c.Stream(context.Background(), ask(hi), seen.Emit)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Parts) != 4 || len(got.Parts[2].Raw) == 0 {
			t.Fatalf("the first call has no signature: %+v", got.Parts)
		}
		want := []weir.Part{
			{Type: weir.PartReasoning, Text: thought}, {Type: weir.PartText, Text: words},
			{Type: weir.PartToolCall, Call: "c1", Name: "f", Input: model.Arguments(string(arguments)), Raw: got.Parts[2].Raw},
			{Type: weir.PartToolCall, Call: "c2", Name: "g", Input: json.RawMessage("{}")},
		}
		if d := cmp.Diff(want, got.Parts); d != "" || got.Finish != model.FinishTools {
			t.Fatal(got.Finish, d)
		}
		seen.Calls[0].Input = string(model.Stable([]byte(seen.Calls[0].Input)))
		wantSeen := wiretest.Seen{Text: words, Reasoning: thought, Calls: []wiretest.Call{{ID: "c1", Name: "f", Input: string(want[2].Input)}, {ID: "c2", Name: "g", Input: "{}"}}, Events: seen.Events}
		if d := cmp.Diff(wantSeen, seen); d != "" {
			t.Fatal(d)
		}
	})
}

func TestASignatureStaysWithItsPart(t *testing.T) {
	text := func(s string, raw json.RawMessage) weir.Part {
		return weir.Part{Type: weir.PartText, Text: s, Raw: raw}
	}
	call := func(id string, raw json.RawMessage) weir.Part {
		return weir.Part{Type: weir.PartToolCall, Call: id, Name: "f", Input: json.RawMessage(`{}`), Raw: raw}
	}
	for name, c := range map[string]struct {
		chunks []string
		want   []weir.Part
	}{
		"on an empty text at the end":  {[]string{chunk(`{"text":"hel"}`), chunk(`{"text":"lo"}`), chunk(`{"text":"","thoughtSignature":"c2ln"}`)}, []weir.Part{text("hello", nil), text("", signed("c2ln"))}},
		"on a whole text":              {[]string{chunk(`{"text":"hello","thoughtSignature":"c2ln"}`)}, []weir.Part{text("hello", signed("c2ln"))}},
		"on the end of a text":         {[]string{chunk(`{"text":"hel"}`), chunk(`{"text":"lo","thoughtSignature":"c2ln"}`)}, []weir.Part{text("hello", json.RawMessage(`{"thoughtSignature":"c2ln","text":"lo"}`))}},
		"and what follows is another":  {[]string{chunk(`{"text":"a","thoughtSignature":"c2ln"},{"text":"b"}`), chunk(`{"text":"c"}`)}, []weir.Part{text("a", signed("c2ln")), text("bc", nil)}},
		"two of them":                  {[]string{chunk(`{"text":"","thoughtSignature":"YQ=="},{"text":"","thoughtSignature":"Yg=="}`)}, []weir.Part{text("", signed("YQ==")), text("", signed("Yg=="))}},
		"as Google escapes it":         {[]string{chunk(`{"text":"","thoughtSignature":"YQ\u003d\u003d"}`)}, []weir.Part{text("", signed("YQ=="))}},
		"on the first call":            {[]string{chunk(`{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"b","name":"f"}}`)}, []weir.Part{call("a", signed("c2ln")), call("b", nil)}},
		"a thought keeps none":         {[]string{chunk(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"}`), chunk(`{"text":"a"}`)}, []weir.Part{{Type: weir.PartReasoning, Text: "hm"}, text("a", nil)}},
		"unknown parts are left out":   {[]string{chunk(`{"executableCode":{"code":"x"}},{"inlineData":{}},5,{"text":7},{"text":"a"}`)}, []weir.Part{text("a", nil)}},
		"a call without a name":        {[]string{chunk(`{"functionCall":{"args":{}}},{"text":"a"}`)}, []weir.Part{text("a", nil)}},
		"another candidate's are not":  {[]string{`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}}]}`, chunk(`{"text":"a"}`)}, []weir.Part{text("a", nil)}},
		"nothing without words either": {[]string{chunk(`{"text":""}`), chunk(`{}`), `{}`}, nil},
	} {
		got, _, err := said(t, append(c.chunks, chunk("", "STOP"))...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(c.want, got.Parts); d != "" {
			t.Errorf("%s\n%s", name, d)
		}
	}
}

func TestCallsGetIdsOfTheirOwnWhereTheyHaveNone(t *testing.T) {
	got, seen, err := said(t, chunk(`{"functionCall":{"name":"f","args":{"b":1,"a":2.50}}},{"functionCall":{"id":"x","name":"f","args":null}},{"functionCall":{"id":"x","name":"g","args":"no object"}}`, "STOP"))
	if err != nil || len(got.Parts) != 3 || got.Finish != model.FinishTools {
		t.Fatalf("%+v, %v", got, err)
	}
	ids := map[string]bool{}
	for i, p := range got.Parts {
		ids[p.Call] = true
		if p.Call == "" || seen.Calls[i].ID != p.Call {
			t.Errorf("%+v was seen as %+v", p, seen.Calls[i])
		}
	}
	_, malformed := model.Malformed(got.Parts[2].Input)
	if len(ids) != 3 || string(got.Parts[0].Input) != `{"b":1,"a":2.50}` || string(got.Parts[1].Input) != `{}` || !malformed {
		t.Errorf("%+v", got.Parts)
	}
}

func TestUsageIsTakenApart(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  weir.Usage
	}{
		"nothing cached":  {`{"promptTokenCount":100,"candidatesTokenCount":7,"totalTokenCount":107}`, weir.Usage{Fresh: 100, Output: 7}},
		"cached":          {`{"promptTokenCount":5000,"cachedContentTokenCount":4096,"candidatesTokenCount":7}`, weir.Usage{Fresh: 904, Read: 4096, Output: 7}},
		"thoughts":        {`{"promptTokenCount":10,"candidatesTokenCount":7,"thoughtsTokenCount":90}`, weir.Usage{Fresh: 10, Output: 97}},
		"tools of theirs": {`{"promptTokenCount":10,"toolUsePromptTokenCount":5}`, weir.Usage{Fresh: 15}},
		"nonsense":        {`{"promptTokenCount":"many","cachedContentTokenCount":-4,"candidatesTokenCount":1e300}`, weir.Usage{}},
		"more than all":   {`{"promptTokenCount":10,"cachedContentTokenCount":11}`, weir.Usage{Read: 11}},
	} {
		got, _, err := said(t, `{"usageMetadata":{"promptTokenCount":1}}`, chunk(`{"text":"a"}`, "STOP"), `{"usageMetadata":`+c.usage+`}`)
		if err != nil || got.Usage != c.want {
			t.Errorf("%s: %+v, want %+v; %v", name, got.Usage, c.want, err)
		}
	}
}

func TestThePeerCountsWhatItReadsFromItsCache(t *testing.T) {
	_, c := peer(t)
	first, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if err != nil || first.Usage.Read != 0 || first.Usage.Fresh == 0 || again.Usage.Read == 0 ||
		again.Usage.Read+again.Usage.Fresh != first.Usage.Fresh || again.Usage.Output == 0 {
		t.Errorf("%+v, then %+v, %v", first.Usage, again.Usage, err)
	}
}

func TestAnAnswerSaysWhyItEnded(t *testing.T) {
	call := `{"functionCall":{"name":"f","args":{}}}`
	for _, c := range []struct {
		parts, reason string
		want          model.Finish
	}{
		{`{"text":"a"}`, "STOP", model.FinishEnd},
		{call, "STOP", model.FinishTools},
		{`{"text":"a"}`, "MAX_TOKENS", model.FinishLength},
		{`{"text":"a"}`, "SAFETY", model.FinishFiltered},
		{`{"text":"a"}`, "RECITATION", model.FinishFiltered},
		{`{"text":"a"}`, "BLOCKLIST", model.FinishFiltered},
		{`{"text":"a"}`, "PROHIBITED_CONTENT", model.FinishFiltered},
		{`{"text":"a"}`, "SPII", model.FinishFiltered},
		{`{"text":"a"}`, "OTHER", model.FinishUnknown},
		{`{"text":"a"}`, "LANGUAGE", model.FinishUnknown},
		{call, "TOO_MANY_TOOL_CALLS", model.FinishUnknown},
		{`{"text":"a"}`, "OF_NEXT_YEAR", model.FinishUnknown},
	} {
		got, _, err := said(t, chunk(c.parts), chunk("", c.reason))
		if err != nil || got.Finish != c.want || len(got.Parts) != 1 {
			t.Errorf("%s: %+v, %v", c.reason, got, err)
		}
	}
	for _, reason := range []string{"SAFETY", "PROHIBITED_CONTENT", "OTHER"} {
		got, _, err := said(t, `{"promptFeedback":{"blockReason":"`+reason+`","safetyRatings":[]},"usageMetadata":{"promptTokenCount":9}}`)
		if err != nil || got.Finish != model.FinishFiltered || got.Parts != nil || got.Usage.Fresh != 9 {
			t.Errorf("a prompt blocked for %s: %+v, %v", reason, got, err)
		}
	}
}

func TestAnAnswerThatIsNoneIsAFailure(t *testing.T) {
	for reason, want := range map[string]model.Failure{
		"MALFORMED_FUNCTION_CALL": model.FailServer, "UNEXPECTED_TOOL_CALL": model.FailServer, "MISSING_THOUGHT_SIGNATURE": model.FailRefused,
	} {
		_, _, err := said(t, chunk(`{"text":"a"}`), `{"candidates":[{"finishReason":"`+reason+`","finishMessage":"Malformed function call: print("}]}`)
		if e := fault(t, err); e.Failure != want || !strings.Contains(e.Public, reason+" Malformed function call: print(") {
			t.Errorf("%s: %+v", reason, e)
		}
	}
}
