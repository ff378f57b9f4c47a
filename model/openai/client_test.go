package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/model/internal/wiretest"
	"weir/model/openai"
	"weir/test/strictpeer/strictpeer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(messages string) []byte {
	return []byte(`{"model":"m","messages":[` + messages + `],"max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}`)
}

const hi = `{"role":"user","content":"hi"}`

// peer starts a strict peer and a client of it.
func peer(t testing.TB) (*strictpeer.Peer, model.Client) {
	p := strictpeer.New(strictpeer.OpenAIChat, strictpeer.CacheMinimum(1))
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, openai.New(s.URL+"/v1", "sk-right", s.Client())
}

// said is a stream of these data lines, as a client takes it.
func said(t testing.TB, data ...string) (model.Answer, wiretest.Seen, error) {
	t.Helper()
	s := wiretest.Server(t, 200, nil, wiretest.Events(data...))
	var seen wiretest.Seen
	a, err := openai.New(s.URL, "", s.Client()).Stream(t.Context(), nil, seen.Emit)
	return a, seen, err
}

// kept is what stays of reasoning for a vendor that wants it back.
func kept(text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"reasoning_content": text})
	return model.Stable(raw)
}

// delta is a chunk with a delta and perhaps a reason to finish.
func delta(d string, reason ...string) string {
	r := "null"
	if len(reason) > 0 {
		r = `"` + reason[0] + `"`
	}
	return `{"choices":[{"index":0,"delta":` + d + `,"finish_reason":` + r + `}]}`
}

func fault(t testing.TB, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *model.Error: %v", err)
	}
	return e
}

func TestABodyIsSentExactly(t *testing.T) {
	p, c := peer(t)
	body := []byte("  {\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"<&>\u2028\\u00e9\"}],\"stream\":true }\n")
	if _, err := c.Stream(t.Context(), body, new(wiretest.Seen).Emit); err != nil {
		t.Fatal(err)
	}
	e := p.Exchanges()[0]
	if string(e.Body) != string(body) {
		t.Errorf("%q arrived", e.Body)
	}
	for name, want := range map[string]string{"Authorization": "Bearer sk-right", "Content-Type": "application/json", "Content-Length": fmt.Sprint(len(body))} {
		if got := e.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	p := strictpeer.New(strictpeer.OpenAIChat)
	s := httptest.NewServer(p)
	defer s.Close()
	if _, err := openai.New(s.URL+"/v1/", " ", s.Client()).Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit); err != nil {
		t.Fatal(err)
	}
	if h, there := p.Exchanges()[0].Header["Authorization"]; there {
		t.Errorf("%q", h)
	}
}

func TestAnAnswerIsTheSameHoweverItsBytesCome(t *testing.T) {
	var p *strictpeer.Peer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		p = strictpeer.New(strictpeer.OpenAIChat)
		text := rapid.StringN(1, 40, -1)
		thought, words, input := text.Draw(t, "thought"), text.Draw(t, "words"), rapid.String().Draw(t, "input")
		arguments, _ := json.Marshal(map[string]string{"a": input})
		p.Script(strictpeer.Answer{
			strictpeer.Pieces(rapid.IntRange(1, 9).Draw(t, "pieces")), strictpeer.Think(thought), strictpeer.Say(words),
			strictpeer.Call("c1", "f", string(arguments)), strictpeer.Call("c2", "g", ""),
		})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 8).Draw(t, "sizes")
		c := openai.New(s.URL+"/v1", "k", &http.Client{Transport: &wiretest.Pieces{Next: s.Client().Transport, Sizes: sizes}})
		var seen wiretest.Seen
		got, err := c.Stream(context.Background(), ask(hi), seen.Emit)
		if err != nil {
			t.Fatal(err)
		}
		want := []weir.Part{
			{Type: weir.PartReasoning, Text: thought, Raw: kept(thought)}, {Type: weir.PartText, Text: words},
			{Type: weir.PartToolCall, Call: "c1", Name: "f", Input: model.Stable(arguments)}, {Type: weir.PartToolCall, Call: "c2", Name: "g", Input: json.RawMessage("{}")},
		}
		if d := cmp.Diff(want, got.Parts); d != "" || got.Finish != model.FinishTools {
			t.Fatal(got.Finish, d)
		}
		wantSeen := wiretest.Seen{Text: words, Reasoning: thought, Calls: []wiretest.Call{{ID: "c1", Name: "f", Input: string(arguments)}, {ID: "c2", Name: "g"}}, Events: seen.Events}
		if d := cmp.Diff(wantSeen, seen); d != "" {
			t.Fatal(d)
		}
	})
}

func TestUsageIsTakenApart(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  weir.Usage
	}{
		"nothing cached": {`{"prompt_tokens":100,"completion_tokens":7}`, weir.Usage{Fresh: 100, Output: 7}},
		"a part cached":  {`{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}`, weir.Usage{Fresh: 36, Read: 64, Output: 7}},
		"a part written": {`{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":30}}`, weir.Usage{Fresh: 6, Read: 64, Write: 30, Output: 7}},
		"DeepSeek":       {`{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, weir.Usage{Fresh: 36, Read: 64, Output: 7}},
		"nothing known":  {`{"prompt_tokens":null,"completion_tokens":"7","prompt_tokens_details":null}`, weir.Usage{}},
		"nonsense":       {`{"prompt_tokens":-5,"completion_tokens":7.9,"prompt_tokens_details":{"cached_tokens":1e300}}`, weir.Usage{Output: 7}},
	} {
		got, _, err := said(t, delta(`{"content":"a"}`, "stop"), `{"choices":[],"usage":`+c.usage+`}`, "[DONE]")
		if err != nil || got.Usage != c.want {
			t.Errorf("%s: %+v, %v", name, got.Usage, err)
		}
	}
}

func TestWhatTheCacheReadIsReported(t *testing.T) {
	p, c := peer(t)
	first, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if err != nil || first.Usage.Read != 0 || first.Usage.Fresh == 0 {
		t.Fatalf("%+v, %v", first.Usage, err)
	}
	second, err := c.Stream(t.Context(), ask(hi+`,{"role":"assistant","content":"a"},`+hi), new(wiretest.Seen).Emit)
	if err != nil || second.Usage.Read != int64(len("["+hi)/4) {
		t.Errorf("%+v, %v", second.Usage, err)
	}
	if r := p.Refusals(); r != nil {
		t.Error(r)
	}
}

func TestAReasonToFinishIsOneOfOurs(t *testing.T) {
	call := `{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}`
	for name, c := range map[string]struct {
		delta, reason string
		want          model.Finish
	}{
		"stop": {`{"content":"a"}`, "stop", model.FinishEnd}, "calls": {call, "tool_calls", model.FinishTools}, "stop under calls": {call, "stop", model.FinishTools},
		"calls without any": {`{"content":"a"}`, "tool_calls", model.FinishEnd}, "length": {`{"content":"a"}`, "length", model.FinishLength},
		"a filter": {`{"content":"a"}`, "content_filter", model.FinishFiltered}, "a new one": {`{"content":"a"}`, "tired", model.FinishUnknown},
		"a refusal": {`{"refusal":"I will not."}`, "stop", model.FinishFiltered},
	} {
		got, _, err := said(t, delta(c.delta, c.reason), "[DONE]")
		if err != nil || got.Finish != c.want {
			t.Errorf("%s: %q, %v", name, got.Finish, err)
		}
	}
}

func TestEveryServersSpellingIsRead(t *testing.T) {
	text := func(s string) weir.Part { return weir.Part{Type: weir.PartText, Text: s} }
	thought := func(s string) weir.Part { return weir.Part{Type: weir.PartReasoning, Text: s, Raw: kept(s)} }
	bare := func(s string) weir.Part { return weir.Part{Type: weir.PartReasoning, Text: s} }
	call := func(id, name, input string) weir.Part {
		return weir.Part{Type: weir.PartToolCall, Call: id, Name: name, Input: json.RawMessage(input)}
	}
	for name, c := range map[string]struct {
		data []string
		want []weir.Part
	}{
		"reasoning_content":          {[]string{delta(`{"reasoning_content":"r","content":null}`), delta(`{"content":"a","reasoning_content":null}`, "stop")}, []weir.Part{thought("r"), text("a")}},
		"reasoning":                  {[]string{delta(`{"reasoning":"r","content":""}`), delta(`{"content":"a","reasoning":null}`, "stop")}, []weir.Part{bare("r"), text("a")}},
		"both, equal":                {[]string{delta(`{"reasoning":"r","reasoning_content":"r"}`), delta(`{"content":"a"}`, "stop")}, []weir.Part{thought("r"), text("a")}},
		"parts":                      {[]string{delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"r"}]},{"type":"text","text":"a"}]}`), delta(`{"content":"b"}`, "stop")}, []weir.Part{bare("r"), text("ab")}},
		"a refusal":                  {[]string{delta(`{"refusal":"no"}`), delta(`{"refusal":"pe"}`, "stop")}, []weir.Part{text("nope")}},
		"reasoning again":            {[]string{delta(`{"reasoning":"r"}`), delta(`{"content":"a"}`), delta(`{"reasoning":"s"}`, "stop")}, []weir.Part{bare("r"), text("a"), bare("s")}},
		"calls, mixed":               {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}},{"index":1,"id":"y","function":{"name":"g","arguments":"{"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"}"}}]}`, "tool_calls")}, []weir.Part{call("x", "f", `{"a":1}`), call("y", "g", `{}`)}},
		"calls without an index":     {[]string{delta(`{"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}},{"id":"y","function":{"name":"g","arguments":"{"}}]}`), delta(`{"tool_calls":[{"function":{"arguments":"}"}}]}`, "tool_calls")}, []weir.Part{call("x", "f", `{}`), call("y", "g", `{}`)}},
		"a name that comes late":     {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"arguments":"{"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]}`, "stop")}, []weir.Part{call("x", "f", `{}`)}},
		"a name that is repeated":    {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"}"}}]}`, "stop")}, []weir.Part{call("x", "f", `{}`)}},
		"arguments that are no text": {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":{"a":"b"}}}]}`, "stop")}, []weir.Part{call("x", "f", `{"a":"b"}`)}},
		"arguments of null":          {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":null}}]}`, "stop")}, []weir.Part{call("x", "f", `{}`)}},
		"malformed arguments":        {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a"}}]}`, "tool_calls")}, []weir.Part{call("x", "f", `"{\"a"`)}},
		"a call nobody can answer":   {[]string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"arguments":"{}"}}]}`, "tool_calls")}, nil},
		"another choice":             {[]string{`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}`}, []weir.Part{text("yes")}},
		"members nobody knows":       {[]string{`{"id":1,"obfuscation":"x","choices":[{"index":0,"delta":{"content":"a","new":[]},"logprobs":null,"finish_reason":"stop"}],"usage":null,"error":null}`}, []weir.Part{text("a")}},
	} {
		got, _, err := said(t, append(c.data, "[DONE]")...)
		if d := cmp.Diff(c.want, got.Parts); d != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

func TestAWatcherSeesEachCallsOwnArguments(t *testing.T) {
	_, seen, err := said(t,
		delta(`{"tool_calls":[{"index":0,"id":"x","function":{"arguments":"{"}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"\"a\":"}}]}`),
		delta(`{"tool_calls":[{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "tool_calls"), "[DONE]")
	if d := cmp.Diff([]wiretest.Call{{ID: "x", Name: "f", Input: `{"a":`}, {ID: "y", Name: "g", Input: `{}`}}, seen.Calls); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestACallHasAnIDOfItsOwn(t *testing.T) {
	got, seen, err := said(t, delta(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"c","function":{"name":"f","arguments":"{}"}},{"index":2,"id":"c","function":{"name":"f","arguments":"{}"}}]}`, "tool_calls"), "[DONE]")
	if err != nil || len(got.Parts) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	ids := map[string]bool{}
	for i, p := range got.Parts {
		ids[p.Call] = true
		if p.Call == "" || p.Call != seen.Calls[i].ID {
			t.Errorf("%d: %q, emitted as %q", i, p.Call, seen.Calls[i].ID)
		}
	}
	if len(ids) != 3 || !ids["c"] {
		t.Errorf("%v", ids)
	}
}

func TestAnAnswerIsCompleteWhenTheServerSaysWhyItEnds(t *testing.T) {
	done, stop := "[DONE]", delta(`{}`, "stop")
	a := delta(`{"content":"a"}`)
	for name, c := range map[string]struct {
		data     []string
		complete bool
	}{
		"reason and [DONE]":  {[]string{a, stop, done}, true},
		"reason only":        {[]string{a, stop}, true},
		"[DONE] only":        {[]string{a, done}, true},
		"reason, no text":    {[]string{stop, done}, true},
		"neither":            {[]string{a}, false},
		"nothing":            {nil, false},
		"[DONE] and nothing": {[]string{done}, false},
	} {
		got, _, err := said(t, c.data...)
		if c.complete {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e := fault(t, err); e.Failure != model.FailBroken || (got.Parts != nil) != (name == "neither") {
			t.Errorf("%s: %+v, %+v", name, e, got)
		}
	}
	s := wiretest.Server(t, 200, nil, "data: "+a+"\n\ndata: "+stop+"\n\ndata: [DONE]")
	if _, err := openai.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit); err != nil {
		t.Errorf("without a last line end: %v", err)
	}
}
