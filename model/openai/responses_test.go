package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/model/internal/wiretest"
	"weir/model/openai"
	"weir/test/strictpeer/strictpeer"
)

const (
	input    = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	included = `"include":["reasoning.encrypted_content"]`
)

func asked(items string) []byte {
	return []byte(`{"model":"m","input":[` + items + `],"store":false,` + included + `,"stream":true,"prompt_cache_key":"k"}`)
}

// responded is a stream of these data lines, as a client of responses takes it.
func responded(t testing.TB, data ...string) (model.Answer, wiretest.Seen, error) {
	t.Helper()
	s := wiretest.Server(t, 200, nil, wiretest.Events(data...))
	var seen wiretest.Seen
	a, err := openai.NewResponses(s.URL, "", s.Client()).Stream(t.Context(), nil, seen.Emit)
	return a, seen, err
}

// The lines of streams.
func addedItem(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func doneItem(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

func deltaOf(kind string, index int, delta string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","output_index":%d,"content_index":0,"delta":%q}`, kind, index, delta)
}

const completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`

func TestARequestGoesToResponsesExactly(t *testing.T) {
	p := strictpeer.New(strictpeer.Responses)
	s := httptest.NewServer(p)
	defer s.Close()
	body := append([]byte(" "), asked(input)...)
	if _, err := openai.NewResponses(s.URL+"/v1", "sk-right ", s.Client()).Stream(t.Context(), body, new(wiretest.Seen).Emit); err != nil {
		t.Fatal(err)
	}
	e := p.Exchanges()[0]
	if string(e.Body) != string(body) || e.Header.Get("Authorization") != "Bearer sk-right" {
		t.Errorf("%q arrived with %v", e.Body, e.Header)
	}
}

// whole reads what the peer streams, item by item, as the answer must hold it.
func TestItemsAreTheSameHoweverTheirBytesCome(t *testing.T) {
	var p *strictpeer.Peer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		p = strictpeer.New(strictpeer.Responses)
		text := rapid.StringN(1, 40, -1)
		thought, words, value := text.Draw(t, "thought"), text.Draw(t, "words"), rapid.String().Draw(t, "value")
		arguments, _ := json.Marshal(map[string]string{"a": value})
		p.Script(strictpeer.Answer{
			strictpeer.Pieces(rapid.IntRange(1, 9).Draw(t, "pieces")), strictpeer.Think(thought), strictpeer.Say(words),
			strictpeer.Call("c1", "f", string(arguments)), strictpeer.Call("c2", "g", ""),
		})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 8).Draw(t, "sizes")
		c := openai.NewResponses(s.URL+"/v1", "k", &http.Client{Transport: &wiretest.Pieces{Next: s.Client().Transport, Sizes: sizes}})
		var seen wiretest.Seen
		got, err := c.Stream(context.Background(), asked(input), seen.Emit)
		if err != nil {
			t.Fatal(err)
		}
		var raw [4]map[string]any
		for i := range got.Parts {
			if err := json.Unmarshal(got.Parts[i].Raw, &raw[i]); err != nil {
				t.Fatal(err)
			}
			got.Parts[i].Raw = nil
		}
		want := []weir.Part{
			{Type: weir.PartReasoning, Text: thought}, {Type: weir.PartText, Text: words},
			{Type: weir.PartToolCall, Call: "c1", Name: "f", Input: model.Stable(arguments)}, {Type: weir.PartToolCall, Call: "c2", Name: "g", Input: json.RawMessage("{}")},
		}
		if d := cmp.Diff(want, got.Parts); d != "" || got.Finish != model.FinishTools {
			t.Fatal(got.Finish, d)
		}
		if raw[0]["type"] != "reasoning" || len(fmt.Sprint(raw[0]["encrypted_content"])) < 64 || raw[1]["phase"] != "commentary" {
			t.Fatalf("beside them came %v", raw)
		}
		for i, prefix := range []string{"rs_", "msg_", "fc_", "fc_"} {
			if !strings.HasPrefix(fmt.Sprint(raw[i]["id"]), prefix) {
				t.Fatalf("beside them came %v", raw)
			}
		}
		wantSeen := wiretest.Seen{Text: words, Reasoning: thought, Calls: []wiretest.Call{{ID: "c1", Name: "f", Input: string(arguments)}, {ID: "c2", Name: "g"}}, Events: seen.Events}
		if d := cmp.Diff(wantSeen, seen); d != "" {
			t.Fatal(d)
		}
	})
}

func part(kind weir.PartType, text, raw string) weir.Part {
	p := weir.Part{Type: kind, Text: text}
	if raw != "" {
		p.Raw = json.RawMessage(raw)
	}
	return p
}

func called(id, name, input, raw string) weir.Part {
	p := part(weir.PartToolCall, "", raw)
	p.Call, p.Name, p.Input = id, name, json.RawMessage(input)
	return p
}

// Streams of the vendor and of those that are like it.
func TestAStreamOfItemsBecomesTheirParts(t *testing.T) {
	const (
		rs    = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"a<b"}`
		fc    = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{\"a\": 1}"}`
		msg   = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"hello","annotations":[]}]}`
		ended = `{"type":"response.completed","response":{"output":[` + rs + `,` + msg + `],"usage":{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}}`
	)
	said := part(weir.PartText, "hello", `{"id":"msg_1","phase":"final_answer"}`)
	thought := part(weir.PartReasoning, "", `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"a\u003cb"}`)
	for name, c := range map[string]struct {
		stream []string
		want   []weir.Part
		finish model.Finish
		text   string
	}{
		"reasoning is what it is when it is done": {
			[]string{addedItem(0, `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"not yet"}`), doneItem(0, rs),
				addedItem(1, `{"id":"msg_1","type":"message","content":[]}`), deltaOf("output_text", 1, "hel"), deltaOf("output_text", 1, "lo"), doneItem(1, msg), completed},
			[]weir.Part{thought, said}, model.FinishEnd, "hello"},
		"items without a delta": {[]string{doneItem(0, rs), doneItem(1, msg), completed}, []weir.Part{thought, said}, model.FinishEnd, "hello"},
		"a text of which less was streamed": {
			[]string{deltaOf("output_text", 0, "hel"), doneItem(0, msg), completed}, []weir.Part{said}, model.FinishEnd, "hello"},
		"only the whole response":  {[]string{ended}, []weir.Part{thought, said}, model.FinishEnd, "hello"},
		"the whole response again": {[]string{doneItem(0, rs), doneItem(1, msg), ended}, []weir.Part{thought, said}, model.FinishEnd, "hello"},
		"arguments keep their spelling": {
			[]string{addedItem(0, `{"type":"function_call","call_id":"c","name":"f"}`), deltaOf("function_call_arguments", 0, `{"a"`), doneItem(0, fc), completed},
			[]weir.Part{called("c", "f", `{"a":1}`, `{"id":"fc_1","arguments":"{\"a\": 1}"}`)}, model.FinishTools, ""},
		"two calls of one id": {
			[]string{doneItem(0, fc), doneItem(1, strings.Replace(fc, "fc_1", "fc_2", 1)), completed},
			[]weir.Part{called("c", "f", `{"a":1}`, `{"id":"fc_1","arguments":"{\"a\": 1}"}`), called("*", "f", `{"a":1}`, `{"id":"fc_2","arguments":"{\"a\": 1}"}`)}, model.FinishTools, ""},
		"several texts of one message": {
			[]string{addedItem(0, `{"type":"message"}`), deltaOf("output_text", 0, "a"), `{"type":"response.output_text.delta","output_index":0,"content_index":1,"delta":"b"}`,
				doneItem(0, `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`), completed},
			[]weir.Part{part(weir.PartText, "a", `{"id":"msg_1"}`), part(weir.PartText, "b", `{"id":"msg_1"}`)}, model.FinishEnd, "ab"},
		"a refusal": {
			[]string{addedItem(0, `{"type":"message"}`), deltaOf("refusal", 0, "no"), doneItem(0, `{"id":"msg_1","type":"message","content":[{"type":"refusal","refusal":"no"}]}`), completed},
			[]weir.Part{part(weir.PartText, "no", `{"id":"msg_1"}`)}, model.FinishFiltered, "no"},
		"cut off by the limit": {
			[]string{doneItem(0, rs), deltaOf("output_text", 1, "hel"), doneItem(1, `{"id":"msg_1","type":"message","status":"incomplete","content":[{"type":"output_text","text":"hel"}]}`),
				`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`},
			[]weir.Part{thought, part(weir.PartText, "hel", "")}, model.FinishLength, "hel"},
		"a call cut off by the limit": {
			[]string{addedItem(0, `{"type":"function_call","call_id":"c","name":"f"}`), deltaOf("function_call_arguments", 0, `{"a"`),
				doneItem(0, `{"id":"fc_1","type":"function_call","status":"incomplete","call_id":"c","name":"f","arguments":"{\"a\""}`),
				`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`},
			nil, model.FinishLength, ""},
		"stopped by a filter": {
			[]string{deltaOf("output_text", 0, "x"), `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`},
			[]weir.Part{part(weir.PartText, "x", "")}, model.FinishFiltered, "x"},
		"stopped for a new reason": {
			[]string{deltaOf("output_text", 0, "x"), `{"type":"response.incomplete","response":{}}`},
			[]weir.Part{part(weir.PartText, "x", "")}, model.FinishUnknown, "x"},
		"events and members that do not exist yet": {
			[]string{`{"type":"response.created","response":7}`, `{"type":"keepalive"}`, `{"type":"response.thing.delta","output_index":"x","delta":{"a":1}}`,
				deltaOf("output_text", 0, "hello"), doneItem(0, strings.Replace(msg, `"role"`, `"new":[1],"role"`, 1)), completed},
			[]weir.Part{said}, model.FinishEnd, "hello"},
		"an item of a kind that is not known": {
			[]string{doneItem(0, rs), addedItem(1, `{"type":"web_search_call","id":"ws_1"}`), doneItem(1, `{"type":"web_search_call","id":"ws_1"}`), doneItem(2, msg), completed},
			[]weir.Part{thought, {Type: "other"}, said}, model.FinishEnd, "hello"},
		"reasoning in the open": {
			[]string{addedItem(0, `{"type":"reasoning"}`), deltaOf("reasoning_text", 0, "hm"), doneItem(0, `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`),
				doneItem(1, msg), completed},
			[]weir.Part{part(weir.PartReasoning, "hm", ""), said}, model.FinishEnd, "hello"},
		"no indexes": {
			[]string{`{"type":"response.output_item.added","item":{"type":"reasoning"}}`, `{"type":"response.output_item.done","item":` + rs + `}`,
				`{"type":"response.output_item.added","item":{"type":"message"}}`, `{"type":"response.output_text.delta","delta":"hello"}`, `{"type":"response.output_item.done","item":` + msg + `}`, completed},
			[]weir.Part{thought, said}, model.FinishEnd, "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			got, seen, err := responded(t, c.stream...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.Parts {
				if i < len(c.want) && c.want[i].Call == "*" && got.Parts[i].Call != got.Parts[0].Call && got.Parts[i].Call != "" {
					got.Parts[i].Call = "*" // one of our own
				}
			}
			if d := cmp.Diff(c.want, got.Parts); d != "" || got.Finish != c.finish || seen.Text != c.text {
				t.Errorf("finish %s, emitted %q\n%s", got.Finish, seen.Text, d)
			}
		})
	}
	got, _, err := responded(t, ended)
	if want := (weir.Usage{Fresh: 10, Read: 60, Write: 30, Output: 7}); err != nil || got.Usage != want {
		t.Errorf("usage %+v, %v", got.Usage, err)
	}
}

func TestThePartsOfASummaryAreApart(t *testing.T) {
	summary := func(index int, text string) string {
		return fmt.Sprintf(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":%d,"delta":%q}`, index, text)
	}
	got, seen, err := responded(t, addedItem(0, `{"type":"reasoning"}`), summary(0, "one"), summary(0, "!"), summary(1, "two"), completed)
	if err != nil || seen.Reasoning != "one!\n\ntwo" || got.Parts[0].Text != seen.Reasoning {
		t.Errorf("%q, %+v, %v", seen.Reasoning, got.Parts, err)
	}
}

func TestWhatWasLeftOutOfTheInputIsSaid(t *testing.T) {
	got, _, err := responded(t, `{"type":"response.completed","response":{"input_transformations":[`+
		`{"type":"reasoning","id":"rs_1","action":"removed","reason":"prefix_mismatch"},{"reason":"prefix_mismatch"},{"reason":"<script>"}]}}`)
	if d := cmp.Diff([]string{"prefix_mismatch", "unknown"}, got.Dropped); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestOfAnAnswerThatBrokeOffWhatIsWholeIsKept(t *testing.T) {
	const rs = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"e"}`
	whole := []string{doneItem(0, rs), doneItem(1, `{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}`),
		deltaOf("output_text", 2, "as I was"), addedItem(3, `{"type":"function_call","call_id":"d","name":"g"}`), deltaOf("function_call_arguments", 3, "{}")}
	want := []weir.Part{part(weir.PartReasoning, "", rs2stable(rs)), called("c", "f", `{}`, `{"id":"fc_1"}`), part(weir.PartText, "as I was", "")}
	for name, c := range map[string]struct {
		end     []string
		failure model.Failure
		words   string
	}{
		"the stream ends":       {nil, model.FailBroken, "closed the connection"},
		"it says that it ended": {[]string{"[DONE]"}, model.FailBroken, "closed the connection"},
		"the response failed":   {[]string{`{"type":"response.failed","response":{"error":{"code":"server_error","message":"An error occurred."}}}`}, model.FailServer, "An error occurred."},
		"too many requests":     {[]string{`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}}`}, model.FailRateLimit, "Slow down."},
		"it may not be answered": {[]string{`{"type":"response.failed","response":{"error":{"code":"bio_policy","message":"Not this."}}}`},
			model.FailRefused, "Not this."},
		"an error":                 {[]string{`{"type":"error","code":"server_error","message":"Oh.","param":null}`}, model.FailServer, "Oh."},
		"an error in another form": {[]string{`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window."}}`}, model.FailTooLong, "context window"},
		"an error without words":   {[]string{`{"type":"error"}`}, model.FailServer, "failed"},
		"something else":           {[]string{`<html>`}, model.FailBroken, "cannot be understood"},
	} {
		got, _, err := responded(t, append(whole, c.end...)...)
		if e := fault(t, err); e.Failure != c.failure || !strings.Contains(e.Public, c.words) {
			t.Errorf("%s: %s, %q", name, e.Failure, e.Public)
		}
		if d := cmp.Diff(want, got.Parts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestAResponseThatFailedMayHaveCost(t *testing.T) {
	got, _, err := responded(t, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"Oh."},"usage":{"input_tokens":5,"output_tokens":2}}}`)
	if want := (weir.Usage{Fresh: 5, Output: 2}); got.Usage != want || err == nil {
		t.Errorf("%+v, %v", got.Usage, err)
	}
}

func rs2stable(raw string) string { return string(model.Stable([]byte(raw))) }

func TestAnAnswerOfTooManyItemsIsRefused(t *testing.T) {
	var lines []string
	for i := range 1001 {
		lines = append(lines, addedItem(i, `{"type":"message"}`))
	}
	_, _, err := responded(t, append(lines, completed)...)
	if e := fault(t, err); e.Failure != model.FailBroken {
		t.Errorf("%s %s", e.Failure, e.Public)
	}
	_, _, err = responded(t, lines[0], fmt.Sprintf(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[%s]}}`,
		strings.TrimSuffix(strings.Repeat(`{"type":"output_text","text":"x"},`, 1001), ",")), completed)
	if e := fault(t, err); e.Failure != model.FailBroken {
		t.Errorf("%s %s", e.Failure, e.Public)
	}
}

func TestTheVendorsRefusalsOfItemsAreClassed(t *testing.T) {
	p := strictpeer.New(strictpeer.Responses, strictpeer.Key("sk-right"))
	s := httptest.NewServer(p)
	defer s.Close()
	for name, c := range map[string]struct {
		key, body string
		failure   model.Failure
		words     string
	}{
		"a wrong key":     {"sk-wrong", string(asked(input)), model.FailAuth, "Incorrect API key"},
		"a broken pair":   {"sk-right", string(asked(input + `,{"type":"function_call_output","call_id":"c","output":"r"}`)), model.FailRefused, "No tool call found for function call output with call_id c."},
		"a member more":   {"sk-right", `{"model":"m","input":"hi","messages":[]}`, model.FailRefused, "Unknown parameter: 'messages'."},
		"nothing to read": {"sk-right", string(asked("")), model.FailRefused, "empty array"},
	} {
		_, err := openai.NewResponses(s.URL+"/v1", c.key, s.Client()).Stream(t.Context(), []byte(c.body), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != c.failure || !strings.Contains(e.Public, c.words) {
			t.Errorf("%s: %s, %q", name, e.Failure, e.Public)
		}
	}
}
