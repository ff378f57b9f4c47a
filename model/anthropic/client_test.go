package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/model/anthropic"
	"weir/model/internal/wiretest"
	"weir/test/strictpeer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(messages string) []byte {
	return []byte(`{"model":"m","system":[{"type":"text","text":"s"}],"messages":[` + messages + `],"max_tokens":100,"stream":true}`)
}

const hi = `{"role":"user","content":[{"type":"text","text":"hi"}]}`

// peer starts a strict peer and a client of it.
func peer(t testing.TB, sizes ...int) (*strictpeer.Peer, model.Client) {
	p := strictpeer.New(strictpeer.Anthropic, strictpeer.CacheMinimum(1))
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, anthropic.New(s.URL, "sk-ant-right", &http.Client{Transport: &wiretest.Pieces{Next: s.Client().Transport, Sizes: sizes}})
}

// fault returns the *model.Error that err must be.
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
	body := []byte("  {\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"<&>\u2028\\u00e9\"}], \"max_tokens\":100,\"stream\":true }\n")
	if _, err := c.Stream(t.Context(), body, new(wiretest.Seen).Emit); err != nil {
		t.Fatal(err)
	}
	e := p.Exchanges()[0]
	if string(e.Body) != string(body) {
		t.Errorf("%q arrived", e.Body)
	}
	for name, want := range map[string]string{
		"X-Api-Key": "sk-ant-right", "Anthropic-Version": "2023-06-01", "Content-Type": "application/json", "Anthropic-Beta": "",
		"Content-Length": fmt.Sprint(len(body)), "Authorization": "",
	} {
		if got := e.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAnAnswerIsTheSameHoweverItsBytesCome(t *testing.T) {
	var p *strictpeer.Peer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		p = strictpeer.New(strictpeer.Anthropic)
		text := rapid.StringN(1, 40, -1)
		first, thought, second, input := text.Draw(t, "first"), rapid.String().Draw(t, "thought"), text.Draw(t, "second"), rapid.String().Draw(t, "input")
		arguments, _ := json.Marshal(map[string]string{"a": input})
		p.Script(strictpeer.Answer{
			strictpeer.Pieces(rapid.IntRange(1, 9).Draw(t, "pieces")), strictpeer.Say(first), strictpeer.Think(thought), strictpeer.Redacted(),
			strictpeer.Say(second), strictpeer.Call("t1", "f", string(arguments)), strictpeer.Call("t2", "g", ""),
		})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 8).Draw(t, "sizes")
		c := anthropic.New(s.URL, "k", &http.Client{Transport: &wiretest.Pieces{Next: s.Client().Transport, Sizes: sizes}})
		var seen wiretest.Seen
		got, err := c.Stream(context.Background(), ask(hi), seen.Emit)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Parts) != 6 {
			t.Fatalf("%d parts: %+v", len(got.Parts), got.Parts)
		}
		raw := []json.RawMessage{got.Parts[1].Raw, got.Parts[2].Raw}
		got.Parts[1].Raw, got.Parts[2].Raw = nil, nil
		want := []weir.Part{
			{Type: weir.PartText, Text: first}, {Type: weir.PartReasoning, Text: thought}, {Type: weir.PartReasoning}, {Type: weir.PartText, Text: second},
			{Type: weir.PartToolCall, Call: "t1", Name: "f", Input: model.Stable(arguments)}, {Type: weir.PartToolCall, Call: "t2", Name: "g", Input: json.RawMessage("{}")},
		}
		if d := cmp.Diff(want, got.Parts); d != "" {
			t.Fatal(d)
		}
		wantSeen := wiretest.Seen{Text: first + second, Reasoning: thought, Calls: []wiretest.Call{{ID: "t1", Name: "f", Input: string(arguments)}, {ID: "t2", Name: "g"}}, Events: seen.Events}
		if d := cmp.Diff(wantSeen, seen); d != "" {
			t.Fatal(d)
		}
		if got.Finish != model.FinishTools {
			t.Fatalf("finish %q", got.Finish)
		}
		// What was signed is taken back behind its prefix.
		quoted, _ := json.Marshal(first)
		next := hi + `,{"role":"assistant","content":[` + string(raw[0]) + `,` + string(raw[1]) + `,{"type":"text","text":` + string(quoted) + `}]},` + hi
		if strings.TrimSpace(first) == "" {
			return // no vendor takes that text back
		}
		if _, err := c.Stream(context.Background(), ask(next), seen.Emit); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSignedReasoningKeepsItsBytes(t *testing.T) {
	block := `{"type":"thinking","thinking":"","signature":"","kept":{"b":1,"a":"<>"}}`
	s := wiretest.Server(t, 200, nil, wiretest.Events(
		`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":`+block+`}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a<b> & ","estimated_tokens":3}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\u2028 \"é\""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln+/=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":"alone"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{ "type":"redacted_thinking", "data":"<x>" }}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`,
		`{"type":"message_stop"}`))
	got, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if err != nil {
		t.Fatal(err)
	}
	want := []weir.Part{
		{Type: weir.PartReasoning, Text: "a<b> & \u2028 \"é\"", Raw: json.RawMessage(`{"type":"thinking","thinking":"a\u003cb\u003e \u0026 \u2028 \"é\"","signature":"c2ln+/==","kept":{"b":1,"a":"\u003c\u003e"}}`)},
		{Type: weir.PartReasoning, Raw: json.RawMessage(`{"type":"thinking","thinking":"","signature":"alone"}`)},
		{Type: weir.PartReasoning, Raw: json.RawMessage(`{"type":"redacted_thinking","data":"\u003cx\u003e"}`)},
	}
	if d := cmp.Diff(want, got.Parts); d != "" {
		t.Fatal(d)
	}
	for _, p := range got.Parts {
		stored, _ := json.Marshal(p)
		var back weir.Part
		if err := json.Unmarshal(stored, &back); err != nil || string(back.Raw) != string(p.Raw) {
			t.Errorf("%s came back from the store as %s, %v", p.Raw, back.Raw, err)
		}
	}
}

func TestUsageIsTheLastThatWasSaid(t *testing.T) {
	s := wiretest.Server(t, 200, nil, wiretest.Events(
		`{"type":"message_start","message":{"usage":{"input_tokens":15,"cache_creation_input_tokens":7,"cache_read_input_tokens":3935,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":20}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":50,"input_tokens":16}}`,
		`{"type":"message_stop"}`))
	got, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if want := (weir.Usage{Fresh: 16, Write: 7, Read: 3935, Output: 50}); err != nil || got.Usage != want {
		t.Errorf("%+v, %v", got.Usage, err)
	}
}

func TestWhatTheCacheReadIsReported(t *testing.T) {
	p, c := peer(t)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"max_tokens":100,"stream":true}`)
	tokens := int64((len(`{"type":"text","text":"hi"}`) + 3) / 4)
	p.Script(strictpeer.Answer{strictpeer.Say("12345")}, strictpeer.Answer{strictpeer.Say("12345")})
	for i, want := range []weir.Usage{{Write: tokens, Output: 2}, {Read: tokens, Output: 2}} {
		got, err := c.Stream(t.Context(), body, new(wiretest.Seen).Emit)
		if err != nil || got.Usage != want {
			t.Errorf("%d: %+v, %v, want %+v", i, got.Usage, err, want)
		}
	}
}

func TestAReasonToStopIsOneOfOurs(t *testing.T) {
	p, c := peer(t)
	for reason, want := range map[string]model.Finish{
		"end_turn": model.FinishEnd, "stop_sequence": model.FinishEnd, "tool_use": model.FinishEnd, "max_tokens": model.FinishLength,
		"model_context_window_exceeded": model.FinishLength, "refusal": model.FinishFiltered, "pause_turn": model.FinishUnknown, "never_heard": model.FinishUnknown,
	} {
		p.Script(strictpeer.Answer{strictpeer.Say("a"), strictpeer.Stop(reason)})
		got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if err != nil || got.Finish != want {
			t.Errorf("%s: %q, %v", reason, got.Finish, err)
		}
	}
	p.Script(strictpeer.Answer{strictpeer.Call("t1", "f", "{}"), strictpeer.Stop("end_turn")})
	if got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit); err != nil || got.Finish != model.FinishTools {
		t.Errorf("a call and end_turn: %q, %v", got.Finish, err)
	}
}

func TestWhatIsNotKnownIsPassedOver(t *testing.T) {
	s := wiretest.Server(t, 200, nil, strings.ReplaceAll(": hello\n\nevent: ping\ndata:\n\n"+wiretest.Events(
		`{"type":"message_start","message":{"usage":{}},"new":1}`, `{"type":"ping"}`, `{"type":"weather","sun":true}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}`,
		`{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","container":null},"usage":{"server_tool_use":{}}}`,
		`{"type":"message_stop"}`), "\n", "\r\n"))
	var seen wiretest.Seen
	got, err := anthropic.New(s.URL+"/", "", s.Client()).Stream(t.Context(), nil, seen.Emit)
	want := model.Answer{Parts: []weir.Part{{Type: weir.PartText, Text: "ab"}}, Finish: model.FinishEnd}
	if d := cmp.Diff(want, got); d != "" || err != nil || seen.Text != "ab" || seen.Calls != nil {
		t.Error(d, err, seen)
	}
}

func TestMalformedArgumentsAreKeptAsText(t *testing.T) {
	p, c := peer(t)
	for _, text := range []string{`{"a": `, `[1]`, `nonsense`, `{"a":"\ud800"}`} {
		p.Script(strictpeer.Answer{strictpeer.Call("t1", "f", text)})
		got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if err != nil || len(got.Parts) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if raw, malformed := model.Malformed(got.Parts[0].Input); !malformed || raw != text || !json.Valid(got.Parts[0].Input) {
			t.Errorf("%q became %s", text, got.Parts[0].Input)
		}
	}
}

func TestAFailureIsClassed(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		kind, text   string
		want         model.Failure
		header, body string
		wait         time.Duration
	}{
		"a bad request":             {status: 400, kind: "invalid_request_error", text: "messages: at least one message is required", want: model.FailRefused},
		"too long":                  {status: 400, kind: "invalid_request_error", text: "prompt is too long: 200001 tokens > 200000 maximum", want: model.FailTooLong},
		"no credit":                 {status: 400, kind: "invalid_request_error", text: "Your credit balance is too low to access the Anthropic API.", want: model.FailQuota},
		"a limit of one's own":      {status: 400, kind: "invalid_request_error", text: "You have reached your specified API usage limits.", want: model.FailQuota},
		"a wrong key":               {status: 401, kind: "authentication_error", text: "invalid x-api-key", want: model.FailAuth},
		"billing":                   {status: 402, kind: "billing_error", text: "pay", want: model.FailQuota},
		"not allowed":               {status: 403, kind: "permission_error", text: "no", want: model.FailAuth},
		"no such model":             {status: 404, kind: "not_found_error", text: "model: m", want: model.FailRefused},
		"too large":                 {status: 413, kind: "request_too_large", text: "Request exceeds the maximum size", want: model.FailTooLong},
		"too fast":                  {status: 429, kind: "rate_limit_error", text: "slow down", header: "12", want: model.FailRateLimit, wait: 12 * time.Second},
		"too fast for a day":        {status: 429, kind: "rate_limit_error", text: "slow down", header: "86400", want: model.FailRateLimit, wait: 15 * time.Minute},
		"a fault of theirs":         {status: 500, kind: "api_error", text: "Internal server error", want: model.FailServer},
		"busy":                      {status: 529, kind: "overloaded_error", text: "Overloaded", want: model.FailOverload},
		"away":                      {status: 503, kind: "api_error", text: "away", want: model.FailOverload},
		"a template that could not": {status: 500, kind: "api_error", text: "Jinja Exception: System message must be at the beginning.", want: model.FailRefused},
		"a page":                    {status: 502, body: "<html>Bad Gateway</html>", want: model.FailServer},
		"nothing at all":            {status: 429, body: " ", want: model.FailRateLimit},
		"a missing page":            {status: 404, body: "404 page not found", want: model.FailRefused},
	} {
		t.Run(name, func(t *testing.T) {
			body := c.body
			if body == "" {
				doc, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": c.kind, "message": c.text}})
				body = string(doc)
			}
			s := wiretest.Server(t, c.status, http.Header{"Content-Type": {"application/json"}, "Retry-After": {c.header}}, body)
			got, err := anthropic.New(s.URL, "k", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
			e := fault(t, err)
			if e.Failure != c.want || e.Status != c.status || e.RetryAfter != c.wait || got.Parts != nil {
				t.Errorf("%+v, %+v", e, got)
			}
			if c.text != "" && e.Public != c.text || e.Public == "" || strings.Contains(e.Public, "<") {
				t.Errorf("said %q", e.Public)
			}
		})
	}
}

func TestWhatIsShownHasNoSecretsAndAnEnd(t *testing.T) {
	const key = "sk-ant-api03-verysecret"
	message := "key " + key + " and sk-other-123456789\x00\n\tis \xff wrong: " + strings.Repeat("é", 2000)
	doc, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "authentication_error", "message": message}})
	s := wiretest.Server(t, 401, http.Header{"Content-Type": {"application/json"}}, string(doc))
	_, err := anthropic.New(s.URL, key, s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	got := fault(t, err).Public
	if !strings.HasPrefix(got, "key [key] and [key] is \ufffd wrong: éé") || len([]rune(got)) != 1000 || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d: %q", len([]rune(got)), got)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestAFaultAmidTheStreamComesWithWhatCame(t *testing.T) {
	p, c := peer(t)
	for status, want := range map[int]model.Failure{529: model.FailOverload, 500: model.FailServer, 429: model.FailRateLimit, 400: model.FailRefused, 401: model.FailAuth} {
		p.Script(strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Fail(status, "words")})
		got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != want || e.Public != "words" || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
			t.Errorf("%d: %+v, %+v", status, e, got)
		}
	}
}

func TestAnAnswerThatBreaksOffComesWithWhatIsWhole(t *testing.T) {
	whole := strictpeer.Answer{strictpeer.Think("a thought"), strictpeer.Say("words"), strictpeer.Call("t1", "f", `{"a":1}`)}
	for name, end := range map[string]strictpeer.Act{"the connection is lost": strictpeer.Abort(), "the stream ends": strictpeer.Cut(), "half an event": strictpeer.Raw("event: message_stop\ndata: {\"type\":\"message_stop\"}")} {
		t.Run(name, func(t *testing.T) {
			p, c := peer(t)
			ended := []strictpeer.Act{end}
			if name == "half an event" {
				ended = append(ended, strictpeer.Cut())
			}
			p.Script(
				append(append(strictpeer.Answer{}, whole...), append([]strictpeer.Act{strictpeer.Call("t2", "g", `{"b"`)}, ended...)...),
				append(strictpeer.Answer{strictpeer.Think("half a thought")}, ended...),
				append(strictpeer.Answer{}, ended...),
			)
			var seen wiretest.Seen
			got, err := c.Stream(t.Context(), ask(hi), seen.Emit)
			if e := fault(t, err); e.Failure != model.FailBroken {
				t.Errorf("%+v", e)
			}
			if len(got.Parts) != 3 || got.Parts[0].Raw == nil || got.Parts[1].Text != "words" || string(got.Parts[2].Input) != `{"a":1}` {
				t.Errorf("%+v", got.Parts)
			}
			if len(seen.Calls) != 2 || got.Usage.Fresh+got.Usage.Read+got.Usage.Write == 0 {
				t.Errorf("%+v, %+v", seen, got.Usage)
			}
			for range 2 { // unsigned reasoning, and nothing
				got, err := c.Stream(t.Context(), ask(hi), seen.Emit)
				if e := fault(t, err); e.Failure != model.FailBroken || got.Parts != nil {
					t.Errorf("%+v, %+v", e, got)
				}
			}
		})
	}
}

func TestReasoningWhoseEndDidNotComeIsNotKept(t *testing.T) {
	s := wiretest.Server(t, 200, nil, wiretest.Events(
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":"s"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`))
	got, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailBroken || got.Parts != nil {
		t.Errorf("%+v, %+v", e, got)
	}
}

func TestAnAnswerWithItsReasonToStopIsComplete(t *testing.T) {
	head := wiretest.Events(
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"all"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)
	s := wiretest.Server(t, 200, nil, head)
	got, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if err != nil || len(got.Parts) != 1 || got.Finish != model.FinishEnd {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBytesThatAreNoEventsAreNotAnAnswer(t *testing.T) {
	for name, body := range map[string]string{"words": wiretest.Events("hello"), "a list": wiretest.Events("[]"), "half": wiretest.Events(`{"type":`)} {
		s := wiretest.Server(t, 200, nil, body)
		_, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailBroken {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAnAnswerWithoutAnEndIsCutOff(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, wiretest.Events(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so far"}}`))
		delta := ":" + strings.Repeat("x", 1<<20) + "\n" // also what is passed over counts
		for {
			if _, err := fmt.Fprint(w, delta); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	got, err := anthropic.New(s.URL, "", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailBroken || !strings.Contains(e.Public, "larger") || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
		t.Errorf("%+v", e)
	}
}

func TestCancellingEndsARequestAtOnce(t *testing.T) {
	for name, held := range map[string]strictpeer.Answer{
		"before an answer": {strictpeer.Hold(make(chan struct{}))},
		"amid an answer":   {strictpeer.Say("so far"), strictpeer.Hold(make(chan struct{}))},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := peer(t)
			p.Script(held)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("interrupted")
			go func() {
				p.Wait(t.Context(), 1)
				if len(held) == 1 {
					cancel(why)
				}
			}()
			got, err := c.Stream(ctx, ask(hi), func(e model.Event) error { cancel(why); return nil })
			if e := fault(t, err); e.Failure != model.FailBroken || !errors.Is(err, why) {
				t.Errorf("%+v", e)
			}
			if len(held) == 2 && (len(got.Parts) != 1 || got.Parts[0].Text == "") {
				t.Errorf("what came is lost: %+v", got)
			}
		})
	}
}

func TestAnErrorOfTheWatcherComesBackAsItIs(t *testing.T) {
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Pieces(3), strictpeer.Say("abcdef"), strictpeer.Hold(make(chan struct{}))})
	full := errors.New("full")
	got, err := c.Stream(t.Context(), ask(hi), func(model.Event) error { return full })
	if err != full || len(got.Parts) != 1 || got.Parts[0].Text != "abc" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestNothingForTooLongEndsARequest(t *testing.T) {
	stream := wiretest.Events(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so far"}}`)
	client := func(p *wiretest.Pipe) model.Client {
		return &anthropic.Client{BaseURL: "http://model.test", HTTP: &http.Client{Transport: p}, HeaderTimeout: time.Minute, IdleTimeout: 10 * time.Second}
	}
	t.Run("no header", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := client(wiretest.NewPipe()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
			if e := fault(t, err); e.Failure != model.FailBroken || time.Since(start) != time.Minute {
				t.Errorf("%+v after %v", e, time.Since(start))
			}
		})
	})
	t.Run("a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := wiretest.NewPipe()
			close(p.Begin)
			go func() {
				time.Sleep(9 * time.Second)
				p.W.Write([]byte(": still here\n\n"))
				time.Sleep(9 * time.Second)
				p.W.Write([]byte(stream))
			}()
			got, err := client(p).Stream(t.Context(), nil, func(model.Event) error {
				time.Sleep(time.Hour) // a slow watcher is not a pause of the stream
				return nil
			})
			if e := fault(t, err); e.Failure != model.FailBroken || time.Since(start) != time.Hour+28*time.Second || len(got.Parts) != 1 {
				t.Errorf("%+v after %v, %+v", e, time.Since(start), got)
			}
		})
	})
	t.Run("an endless end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := wiretest.NewPipe()
			close(p.Begin)
			go p.W.Write([]byte(wiretest.Events(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)))
			if _, err := client(p).Stream(t.Context(), nil, new(wiretest.Seen).Emit); err != nil || time.Since(start) > time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := wiretest.Server(t, 200, nil, "")
	got := make(chan struct{}, 1)
	elsewhere.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got <- struct{}{} })
	for _, status := range []int{301, 302, 307, 308} {
		s := wiretest.Server(t, status, http.Header{"Location": {elsewhere.URL}}, "")
		_, err := anthropic.New(s.URL, "k", s.Client()).Stream(t.Context(), []byte("{}"), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailRefused || !strings.Contains(e.Public, "redirect") {
			t.Errorf("%+v", e)
		}
	}
	if len(got) > 0 {
		t.Error("followed")
	}
}

func TestAnEndpointThatIsNoneSaysSo(t *testing.T) {
	page := wiretest.Server(t, 200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<html>sign in</html>")
	list := wiretest.Server(t, 200, http.Header{"Content-Type": {"application/json"}}, `{"models":[]}`)
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		base string
		key  string
		want model.Failure
	}{
		"a page": {page.URL, "", model.FailRefused}, "a document": {list.URL, "", model.FailRefused}, "nobody": {gone.URL, "", model.FailBroken},
		"no scheme": {"api.anthropic.com", "", model.FailUnknown}, "another scheme": {"file:///etc", "", model.FailUnknown},
		"no address": {"http://", "", model.FailUnknown}, "a broken key": {gone.URL, "sk-a\nb", model.FailAuth},
	} {
		_, err := anthropic.New(c.base, c.key, nil).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		e := fault(t, err)
		if e.Failure != c.want || e.Public == "" || (c.key != "" && strings.Contains(e.Error(), c.key)) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestAnAnswerIsReadToItsEndSoThatItsConnectionServesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := wiretest.NewPipe()
		close(p.Begin)
		go func() {
			p.W.Write([]byte(wiretest.Events(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)))
			time.Sleep(50 * time.Millisecond)
			p.W.Close()
		}()
		c := &anthropic.Client{BaseURL: "http://model.test", HTTP: &http.Client{Transport: p}}
		if _, err := c.Stream(t.Context(), nil, new(wiretest.Seen).Emit); err != nil || !p.Drained {
			t.Errorf("%v, drained: %v", err, p.Drained)
		}
	})
}

func TestAConnectionServesAgain(t *testing.T) {
	p := strictpeer.New(strictpeer.Anthropic)
	s := httptest.NewUnstartedServer(p)
	opened := make(chan struct{}, 10)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c := anthropic.New(s.URL, "k", s.Client())
	for range 3 {
		if _, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit); err != nil {
			t.Fatal(err)
		}
	}
	if len(opened) != 1 {
		t.Errorf("%d connections for three answers", len(opened))
	}
}

func TestABetaIsAskedForWhereTheHistoryNeedsIt(t *testing.T) {
	const clearAt, effort, changes, inline, binding = "mid-conversation-system-clear-at-2026-08-21", "mid-conversation-output-config-2026-07-01",
		"mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15", "thinking-binding-controls-2026-08-01"
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                 {`{"messages":[` + hi + `]}`, ""},
		"words of a person":       {`{"messages":[{"role":"user","content":"\"clear_at\": \"tool_addition\""}]}`, ""},
		"an input of that name":   {`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"clear_at":1,"output_config":{}}}]}]}`, ""},
		"effort of the request":   {`{"output_config":{"effort":"low"},"messages":[]}`, ""},
		"clear_at long ago":       {`{"messages":[` + hi + `,{"role":"system","content":"a","clear_at":"next_user_message"},` + hi + `]}`, clearAt},
		"effort of a message":     {`{"messages":[{"role":"system","content":[],"output_config":{"effort":"low"}}]}`, effort},
		"a tool by reference":     {`{"messages":[{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference"}}]}]}`, changes},
		"a tool by value":         {`{"messages":[{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference"}},{"type":"tool_addition","tool":{"type":"tool_definition"}}]}]}`, inline},
		"binding":                 {`{"thinking":{"type":"adaptive","block_binding":{}},"messages":[]}`, binding},
		"several, in fixed order": {`{"thinking":{"block_binding":{}},"messages":[{"role":"system","output_config":{},"clear_at":"never","content":"a"}]}`, clearAt + "," + effort + "," + binding},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Anthropic-Beta"); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}))
		anthropic.New(s.URL, "k", s.Client()).Stream(t.Context(), []byte(c.body), new(wiretest.Seen).Emit)
		s.Close()
	}
}
