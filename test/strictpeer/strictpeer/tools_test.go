package strictpeer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// used returns the message that gives a reply back and one result a call.
func used(t *testing.T, r reply) string {
	t.Helper()
	var results []string
	for _, b := range r.Content {
		if _, after, ok := strings.Cut(string(b), `"id":"`); ok {
			id, _, _ := strings.Cut(after, `"`)
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"r"}`, id))
		}
	}
	if results == nil {
		t.Fatalf("nothing is called in %s", r.Content)
	}
	return r.turn() + "," + user(strings.Join(results, ","))
}

func TestALoopOfToolsGoesOnUntilItMayNot(t *testing.T) {
	p := New(Anthropic)
	p.Otherwise(Endless("f", `{}`))
	const tools = `"tools":[` + tool + `]`
	history := hi
	for range 5 {
		history += "," + used(t, ask(t, p, with(history, tools)))
	}
	if r := ask(t, p, with(history, tools, `"tool_choice":{"type":"none"}`)); r.Stop != "end_turn" {
		t.Errorf("where no tool may be called: %s, %s", r.Stop, r.Content)
	}
	p = New(OpenAIChat)
	p.Otherwise(Endless("f", `{}`))
	for body, want := range map[string]string{
		chat(hi, `"tools":[`+chatTool+`]`):                         `"finish_reason":"tool_calls"`,
		chat(hi, `"tools":[`+chatTool+`]`, `"tool_choice":"none"`): `"finish_reason":"stop"`,
		chat(hi): `"finish_reason":"stop"`,
	} {
		if _, answer := post(t, p, body); !strings.Contains(answer, want) {
			t.Errorf("%s to %s", answer, body)
		}
	}
}

func TestManyCallsOfOneAnswerHaveIdsOfTheirOwn(t *testing.T) {
	p := New(Anthropic)
	p.Script(Parallel("f", `{"n":1}`, `{"n":2}`, `{"n":3}`))
	p.Script(Loop("f", `{}`, 2, Answer{Say("done")})...)
	const tools = `"tools":[` + tool + `]`
	history := hi
	for range 3 {
		history += "," + used(t, ask(t, p, with(history, tools)))
	}
	if r := ask(t, p, with(history, tools)); !strings.Contains(string(r.Content[0]), "done") || len(p.Refusals()) > 0 {
		t.Errorf("%s, refused %q", r.Content, p.Refusals())
	}
}

func TestReasoningMayNotBeLeftOutWhileItsToolsAreAnswered(t *testing.T) {
	p := New(Anthropic)
	p.Otherwise(func(*Request) Answer { return Answer{Think("hm"), Use("f", `{}`)} })
	one := ask(t, p, with(hi))
	first := used(t, one)
	two := ask(t, p, with(hi+","+first))
	second := used(t, two)
	bare := func(r reply, whole string) string { return strings.Replace(whole, string(r.Content[0])+",", "", 1) }
	for name, c := range map[string]struct{ messages, want string }{
		"as it was":               {hi + "," + first + "," + second, ""},
		"without that of the 2nd": {hi + "," + first + "," + bare(two, second), "messages.3.content.0.type: Expected `thinking`"},
		"without any":             {hi + "," + bare(one, first) + "," + bare(two, second), "messages.1.content.0.type: Expected `thinking`"},
		"without any, later":      {hi + "," + bare(one, first) + "," + bare(two, second) + "," + hi, ""},
	} {
		if got := ask(t, p, with(c.messages)).Error.Message; !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAResetIsAResetBeforeAndAmidTheOutput(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		amid   bool
	}{
		"before": {Answer{Reset()}, false},
		"amid":   {Answer{Say("so far"), Reset()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Anthropic)
			p.Script(c.answer)
			s := httptest.NewServer(p)
			defer s.Close()
			req, _ := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/messages", strings.NewReader(with(hi, `"stream":true`)))
			req.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
			resp, err := s.Client().Do(req)
			if (err == nil) != c.amid {
				t.Fatal(err)
			}
			var got string
			if err == nil {
				var b strings.Builder
				_, err = io.Copy(&b, bufio.NewReader(resp.Body))
				resp.Body.Close()
				got = b.String()
			}
			if !errors.Is(err, syscall.ECONNRESET) || strings.Contains(got, "so far") != c.amid {
				t.Errorf("%v after %q", err, got)
			}
		})
	}
}

func TestAnAnswerThatBeganWithoutReasoningMayComeBackWhateverAnotherBeganWith(t *testing.T) {
	const tools = `"tools":[` + tool + `]`
	for name, first := range map[string]Answer{
		"whole": {Call("t1", "f", `{}`)},
		"cut":   {Call("t1", "f", `{}`), Cut()},
	} {
		p := New(Anthropic)
		p.Script(first, Answer{Think("hm"), Call("t1", "f", `{}`)})
		for range 2 {
			post(t, p, with(hi, tools, `"stream":true`))
		}
		if status, answer := post(t, p, with(hi+","+called+","+result, tools)); status != 200 {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}
