package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/model/internal/wiretest"
	"weir/model/openai"
	"weir/test/strictpeer/strictpeer"
)

func TestAnAnswerThatBreaksOffComesWithItsText(t *testing.T) {
	for _, end := range []strictpeer.Act{strictpeer.Abort(), strictpeer.Cut()} {
		p, c := peer(t)
		p.Script(strictpeer.Answer{strictpeer.Think("r"), strictpeer.Say("words"), strictpeer.Call("c1", "f", `{"a":1}`), end}, strictpeer.Answer{end})
		got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailBroken {
			t.Errorf("%+v", e)
		}
		if d := cmp.Diff([]weir.Part{{Type: weir.PartText, Text: "words"}}, got.Parts); d != "" {
			t.Error(d)
		}
		got, err = c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailBroken || got.Parts != nil {
			t.Errorf("%+v, %+v", e, got)
		}
	}
}

func TestAFailureIsClassed(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   model.Failure
		public string
	}{
		"OpenAI, a bad request":           {400, `{"error":{"message":"Unknown parameter: 'x'.","type":"invalid_request_error","param":"x","code":"unknown_parameter"}}`, model.FailRefused, "Unknown parameter: 'x'."},
		"OpenAI, too long":                {400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, model.FailTooLong, "This model's maximum context length is 128000 tokens."},
		"OpenAI, a wrong key":             {401, `{"error":{"message":"Incorrect API key provided: sk-abcd****wxyz. You can find yours.","type":"invalid_request_error","code":"invalid_api_key"}}`, model.FailAuth, "Incorrect API key provided: [key]. You can find yours."},
		"OpenAI, no credit":               {429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`, model.FailQuota, "You exceeded your current quota."},
		"OpenAI, too fast":                {429, `{"error":{"message":"Rate limit reached.","type":"tokens","code":"rate_limit_exceeded"}}`, model.FailRateLimit, "Rate limit reached."},
		"OpenAI, a fault of theirs":       {500, `{"error":{"message":"The server had an error.","type":"server_error","param":null,"code":null}}`, model.FailServer, "The server had an error."},
		"OpenAI, busy":                    {503, `{"error":{"message":"The engine is currently overloaded.","type":"server_error"}}`, model.FailOverload, "The engine is currently overloaded."},
		"OpenRouter, no credit":           {402, `{"error":{"message":"Insufficient credits.","code":402}}`, model.FailQuota, "Insufficient credits."},
		"OpenRouter, whoever is behind":   {502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"it broke","provider_name":"X"}}}`, model.FailServer, "Provider returned error it broke"},
		"llama.cpp, a template":           {500, `{"error":{"code":500,"message":"Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.","type":"server_error"}}`, model.FailRefused, ""},
		"llama.cpp, a template's word":    {500, `{"error":{"code":500,"message":"System message must be at the beginning.","type":"server_error"}}`, model.FailRefused, ""},
		"llama.cpp, too long":             {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}`, model.FailTooLong, ""},
		"llama.cpp, loading":              {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.FailOverload, "Loading model"},
		"Ollama, a template":              {500, `{"error":"qwen3.8: system message must be at the beginning"}`, model.FailRefused, "qwen3.8: system message must be at the beginning"},
		"Ollama, no such model":           {404, `{"error":"model 'x' not found"}`, model.FailRefused, "model 'x' not found"},
		"vLLM, a template":                {400, `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","param":null,"code":400}`, model.FailRefused, ""},
		"Fireworks, a template":           {400, `{"error":{"message":"jinja template rendering failed. System message must be at the beginning."}}`, model.FailRefused, ""},
		"DeepSeek, no credit":             {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error"}}`, model.FailQuota, "Insufficient Balance"},
		"FastAPI":                         {422, `{"detail":[{"loc":["body","model"],"msg":"field required"}]}`, model.FailRefused, `[{"loc":["body","model"],"msg":"field required"}]`},
		"words":                           {500, `something broke`, model.FailServer, "something broke"},
		"a page":                          {504, `<html>Gateway Timeout</html>`, model.FailServer, " failed (status 504). Try again"},
		"nothing":                         {403, ``, model.FailAuth, " did not allow the request (status 403). Check "},
		"an answer where a stream is due": {200, `{"choices":[]}`, model.FailRefused, ` answered POST /chat/completions with "application/json" instead of an event stream; check its base_url.`},
		"an error that says it is none":   {200, `{"error":{"message":"no","code":429}}`, model.FailRateLimit, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			s := wiretest.Server(t, c.status, http.Header{"Content-Type": {"application/json"}}, c.body)
			got, err := openai.New(s.URL, "k", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
			e := fault(t, err)
			if e.Failure != c.want || e.Status != c.status || got.Parts != nil || !strings.Contains(e.Public, c.public) || !strings.Contains(e.Public, "endpoint at "+s.URL) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestAnErrorAmidTheStreamComesWithWhatCame(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want model.Failure
	}{
		"OpenAI":             {`{"error":{"message":"The server had an error","type":"server_error","code":null}}`, model.FailServer},
		"OpenRouter":         {`{"id":"x","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"gone"}}`, model.FailServer},
		"OpenRouter, busy":   {`{"error":{"code":503,"message":"busy"}}`, model.FailOverload},
		"OpenRouter, limits": {`{"error":{"code":429,"message":"slow"}}`, model.FailRateLimit},
		"a word":             {`{"error":"out of memory"}`, model.FailServer},
		"a bad request":      {`{"error":{"message":"no","type":"invalid_request_error"}}`, model.FailRefused},
		"a template":         {`{"error":{"code":500,"message":"Jinja Exception: no","type":"server_error"}}`, model.FailRefused},
		"a named event":      {"x\n\nevent: error\ndata: {\"object\":\"error\",\"message\":\"no\",\"type\":\"BadRequestError\"}", ""},
	} {
		if c.want == "" { // the data of a named event, after a chunk
			s := wiretest.Server(t, 200, nil, wiretest.Events(delta(`{"content":"a"}`))+strings.TrimPrefix(c.data, "x\n\n")+"\n\n")
			_, err := openai.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
			if e := fault(t, err); e.Failure != model.FailRefused || !strings.Contains(e.Public, ": no. ") {
				t.Errorf("%s: %+v", name, e)
			}
			continue
		}
		got, _, err := said(t, delta(`{"content":"so far"}`), c.data)
		if e := fault(t, err); e.Failure != c.want || e.Public == "" || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
			t.Errorf("%s: %+v, %+v", name, e, got)
		}
	}
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Say("a"), strictpeer.Fail(429, "")})
	_, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailRateLimit {
		t.Errorf("the peer: %+v", e)
	}
}

func TestBytesThatAreNoChunksAreNotAnAnswer(t *testing.T) {
	for _, data := range []string{"hello", "[]", `{"choices":`, `{"choices":[{"finish_reason":1}]}`} {
		if _, _, err := said(t, data); fault(t, err).Failure != model.FailBroken {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestCallsWithoutEndAreNotAnAnswer(t *testing.T) {
	var data []string
	for i := range 2000 {
		data = append(data, delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":""}}]}`, i, i)))
	}
	if _, _, err := said(t, data...); fault(t, err).Failure != model.FailBroken {
		t.Error(err)
	}
}

func TestCancellingEndsARequestAtOnce(t *testing.T) {
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Hold(make(chan struct{}))})
	ctx, cancel := context.WithCancel(t.Context())
	got, err := c.Stream(ctx, ask(hi), func(e model.Event) error { cancel(); return nil })
	if e := fault(t, err); e.Failure != model.FailBroken || !errors.Is(err, context.Canceled) || len(got.Parts) != 1 {
		t.Errorf("%+v, %+v", e, got)
	}
}

func TestAnErrorOfTheWatcherComesBackAsItIs(t *testing.T) {
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Say("abcdef"), strictpeer.Hold(make(chan struct{}))})
	full := errors.New("full")
	if _, err := c.Stream(t.Context(), ask(hi), func(model.Event) error { return full }); err != full {
		t.Error(err)
	}
}

func TestAServerThatNeverSaysDoneIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := wiretest.NewPipe()
		close(p.Begin)
		go p.W.Write([]byte(wiretest.Events(delta(`{"content":"a"}`, "stop"))))
		c := &openai.Client{BaseURL: "http://model.test/v1", HTTP: &http.Client{Transport: p}}
		got, err := c.Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		if took := time.Since(start); err != nil || len(got.Parts) != 1 || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("%+v, %v after %v", got, err, took)
		}
	})
}
