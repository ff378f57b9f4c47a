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
	"weir/test/strictpeer/strictpeer"
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

// A count is not worth an answer.
func TestACountThatIsNoneIsNothing(t *testing.T) {
	for counted, want := range map[string]weir.Usage{
		`{"input_tokens":12.0,"output_tokens":2}`:                                   {Fresh: 12, Output: 2},
		`{"input_tokens":"12","output_tokens":2}`:                                   {Output: 2},
		`{"input_tokens":-12,"cache_read_input_tokens":null,"output_tokens":1}`:     {Output: 1},
		`{"input_tokens":9223372036854775807,"cache_read_input_tokens":1e30}`:       {},
		`{"input_tokens":{},"cache_creation_input_tokens":[],"output_tokens":true}`: {},
	} {
		s := wiretest.Server(t, 200, nil, `data: {"type":"message_start","message":{"usage":`+counted+`}}`+"\n\n"+
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}`+"\n\n"+
			`data: {"type":"content_block_stop","index":0}`+"\n\n"+
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}`+"\n\ndata: {\"type\":\"message_stop\"}\n\n")
		got, err := anthropic.New(s.URL, "k", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		if err != nil || got.Usage != want || len(got.Parts) != 1 {
			t.Errorf("%s: %+v, %v", counted, got, err)
		}
		s.CloseClientConnections()
	}
}

func TestBlocksWithoutEndAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"a","name":"b"}}`+"\n\n", i)
	}
	s := wiretest.Server(t, 200, nil, b.String())
	var fault *model.Error
	_, err := anthropic.New(s.URL, "k", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
	if !errors.As(err, &fault) || fault.Failure != model.FailBroken || fault.Err == nil || !strings.Contains(fault.Err.Error(), "more blocks") {
		t.Errorf("%v", err)
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
