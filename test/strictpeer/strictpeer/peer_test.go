package strictpeer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is a message of the Messages API that was not streamed.
type reply struct {
	Content []json.RawMessage
	Stop    string `json:"stop_reason"`
	Usage   struct {
		Input  int `json:"input_tokens"`
		Write  int `json:"cache_creation_input_tokens"`
		Read   int `json:"cache_read_input_tokens"`
		Output int `json:"output_tokens"`
	}
	Error struct{ Message string }
}

// ask posts a body and reads the reply.
func ask(t *testing.T, p *Peer, body string) reply {
	t.Helper()
	_, answer := post(t, p, body)
	var r reply
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return r
}

// turn is the message that returns a reply.
func (r *reply) turn(leave ...int) string {
	var blocks []string
	for i, b := range r.Content {
		if len(leave) == 0 || leave[0] != i {
			blocks = append(blocks, string(b))
		}
	}
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func TestReasoningIsTakenBehindExactlyItsPrefix(t *testing.T) {
	p := New(Anthropic)
	const system = `"system":[{"type":"text","text":"s"}]`
	one := ask(t, p, with(hi, system))
	first := hi + "," + one.turn() + `,{"role":"user","content":[{"type":"text","text":"more"}]}`
	two := ask(t, p, with(first, system))
	if len(one.Content) != 2 || len(two.Content) != 2 {
		t.Fatalf("%s\n%s", one.Content, two.Content)
	}
	whole := first + "," + two.turn() + "," + hi
	const bound = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	for name, c := range map[string]struct{ body, want string }{
		"as it was":                      {with(whole, system), ""},
		"another limit":                  {strings.Replace(with(whole, system), `"max_tokens":100`, `"max_tokens":7`, 1), ""},
		"a mark in the system text":      {with(whole, `"system":[{"type":"text","text":"s",`+mark+`}]`), ""},
		"a mark first in a block":        {with(strings.Replace(whole, `{"type":"text","text":"more"}`, `{`+mark+`,"type":"text","text":"more"}`, 1), system), ""},
		"reasoning dropped at the front": {with(hi+","+one.turn(0)+`,{"role":"user","content":[{"type":"text","text":"more"}]},`+two.turn()+","+hi, system), ""},
		"all reasoning dropped":          {with(hi+","+one.turn(0)+`,{"role":"user","content":[{"type":"text","text":"more"}]},`+two.turn(0)+","+hi, system), ""},
		"reasoning at the end dropped":   {with(first+","+two.turn(0)+","+hi, system), ""},
		"another system text":            {with(whole, `"system":[{"type":"text","text":"S"}]`), "messages.1.content.0: " + bound},
		"a tool more":                    {with(whole, system, `"tools":[`+tool+`]`), "messages.1.content.0: " + bound},
		"another model":                  {strings.Replace(with(whole, system), `"model":"m"`, `"model":"n"`, 1), "messages.1.content.0: " + bound},
		"another first question":         {with(strings.Replace(whole, `"hi"`, `"ho"`, 1), system), "messages.1.content.0: " + bound},
		"a message more in front":        {with(hi+","+whole, system), "messages.2.content.0: " + bound},
		"the same in another spelling":   {with(strings.Replace(whole, `"hi"`, `"h\u0069"`, 1), system), "messages.1.content.0: " + bound},
		"a later question reworded":      {with(strings.Replace(whole, `"more"`, `"less"`, 1), system), "messages.3.content.0: " + bound},
		"a note slipped in":              {with(hi+","+note+","+strings.TrimPrefix(whole, hi+","), system), "messages.2.content.0: " + bound},
		"its words changed":              {with(strings.Replace(whole, "I repeat it.", "I do not.", 1), system), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		"the answer after it changed":    {with(strings.Replace(whole, "You said: hi", "You said: ho", 1), system), "messages.3.content.0: " + bound},
		"reasoning put in the front":     {with(first+","+strings.Replace(two.turn(), `[`, `[`+string(one.Content[0])+`,`, 1)+","+hi, system), "messages.3.content.0: " + bound},
	} {
		if got := ask(t, p, c.body).Error.Message; (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReasoningLeftOutOfTheMiddleIsFound(t *testing.T) {
	p := New(Anthropic)
	history := hi
	var replies []reply
	for range 3 {
		r := ask(t, p, with(history))
		replies = append(replies, r)
		history += "," + r.turn() + "," + hi
	}
	gap := hi + "," + replies[0].turn() + "," + hi + "," + replies[1].turn(0) + "," + hi + "," + replies[2].turn() + "," + hi
	if got := ask(t, p, with(gap)).Error.Message; !strings.HasPrefix(got, "messages.5.content.0: Invalid `signature`") {
		t.Errorf("%q", got)
	}
}

func TestHiddenReasoningIsBoundToo(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Redacted(), Say("a")})
	r := ask(t, p, with(hi))
	if got := ask(t, p, with(hi+","+r.turn()+","+hi)).Error.Message; got != "" {
		t.Error(got)
	}
	if got := ask(t, p, with(`{"role":"user","content":"ho"},`+r.turn()+","+hi)).Error.Message; !strings.Contains(got, "bound to a different conversation") {
		t.Error(got)
	}
}

// long is a text of n tokens as a block, with or without a mark.
func long(n int, marked bool) string {
	block := `{"type":"text","text":"%s"}`
	if marked {
		block = `{"type":"text","text":"%s",` + mark + `}`
	}
	return fmt.Sprintf(block, strings.Repeat("x", 4*n-len(`{"type":"text","text":""}`)))
}

func TestTheCacheOfMarksReadsWhatWasWritten(t *testing.T) {
	now := time.Unix(0, 0)
	p := New(Anthropic, CacheMinimum(100), Clock(func() time.Time { return now }))
	check := func(name, body string, fresh, write, read int) {
		t.Helper()
		if u := ask(t, p, body).Usage; u.Input != fresh || u.Write != write || u.Read != read {
			t.Errorf("%s: %+v, want fresh %d, write %d, read %d", name, u, fresh, write, read)
		}
	}
	system := `"system":[` + long(200, true) + `]`
	check("nothing is there", with(user(long(50, true)), system), 0, 250, 0)
	check("all of it is", with(user(long(50, true)), system), 0, 0, 250)
	check("the system text is, under another question", with(user(long(60, true)), system), 0, 60, 200)
	check("what has no mark is fresh", with(user(long(50, false)+","+long(10, true)+","+long(8, false)), system), 8, 10, 250)
	check("the mark moved on", with(user(long(50, false)+","+long(10, false)+","+long(8, true)), system), 0, 8, 260)
	check("another model has a cache of its own", strings.Replace(with(user(long(50, true)), system), `"model":"m"`, `"model":"n"`, 1), 0, 250, 0)
	check("too short to be cached", with(user(long(99, true))), 99, 0, 0)
	check("still too short", with(user(long(99, true))), 99, 0, 0)
	check("tools come before the system text", with(user(long(50, true)), `"tools":[`+tool+`]`, system), 0, 250+tokens(len(tool)), 0)
	check("a mark at the end by the root", with(user(long(150, false)), mark), 0, 150, 0)
	check("reads as any", with(user(long(150, true))), 0, 0, 150)

	now = now.Add(4 * time.Minute)
	check("use keeps it", with(user(long(50, true)), system), 0, 0, 250)
	now = now.Add(4 * time.Minute)
	check("use kept it", with(user(long(50, true)), system), 0, 0, 250)
	now = now.Add(6 * time.Minute)
	check("time took it", with(user(long(50, true)), system), 0, 250, 0)
}

func TestAMarkLooksBackTwentyBlocks(t *testing.T) {
	p := New(Anthropic, CacheMinimum(0))
	blocks := func(n int, markAt ...int) string {
		var all []string
		for i := range n {
			all = append(all, long(10, len(markAt) > 0 && markAt[0] == i))
		}
		return with(user(strings.Join(all, ",")))
	}
	ask(t, p, blocks(1, 0))
	if u := ask(t, p, blocks(20, 19)).Usage; u.Read != 10 {
		t.Errorf("19 blocks behind: %+v", u)
	}
	other := strings.NewReplacer("xxxx", "yyyy")
	if u := ask(t, p, other.Replace(blocks(1, 0))).Usage; u.Write != 10 {
		t.Errorf("the other one was not written: %+v", u)
	}
	if u := ask(t, p, other.Replace(blocks(21, 20))).Usage; u.Read != 0 || u.Write != 210 {
		t.Errorf("20 blocks behind: %+v", u)
	}
}

func TestTheOtherCacheReadsTheLongestCommonPrefix(t *testing.T) {
	p := New(OpenAIChat, CacheMinimum(1))
	counts := func(body string) (prompt, cached int) {
		_, answer := post(t, p, body)
		var r struct {
			Usage struct {
				Prompt  int `json:"prompt_tokens"`
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		if err := json.Unmarshal([]byte(answer), &r); err != nil {
			t.Fatal(err)
		}
		return r.Usage.Prompt, r.Usage.Details.Cached
	}
	big := `{"role":"user","content":"` + strings.Repeat("word ", 3000) + `"}`
	if _, cached := counts(chat(big)); cached != 0 {
		t.Errorf("the first read %d", cached)
	}
	prompt, cached := counts(chat(big + "," + hello + "," + hi))
	if cached != (len(big)+1)/4 || prompt <= cached {
		t.Errorf("read %d of %d, want %d", cached, prompt, (len(big)+1)/4)
	}
	if _, cached := counts(chat(baseline + "," + big)); cached > 10 {
		t.Errorf("behind another beginning %d", cached)
	}
}

func TestScriptsAnswerWhomTheyAreFor(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Say("first")}, Answer{Say("second")})
	p.When(Saying("apples"), Answer{Say("about apples")})
	p.When(Opening("trees"), Answer{Say("about trees")}, Answer{Say("more about trees")})
	p.Otherwise(func(r *Request) Answer { return Answer{Say(fmt.Sprintf("%d: %s", r.N, r.Last))} })
	said := func(messages string) string {
		var b struct{ Text string }
		json.Unmarshal(ask(t, p, with(messages)).Content[0], &b)
		return b.Text
	}
	q := func(s string) string { return `{"role":"user","content":"` + s + `"}` }
	for i, c := range []struct{ messages, want string }{
		{q("a"), "first"},
		{q("tell of apples"), "about apples"},
		{q("trees"), "about trees"},
		{q("apples again"), "second"},
		{q("trees") + "," + hello + "," + q("and?"), "more about trees"},
		{q("trees") + "," + hello + "," + q("and?") + "," + note, "5: and?\n\nnote"},
	} {
		if got := said(c.messages); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func TestARefusalDoesNotConsumeAScript(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Say("kept")})
	post(t, p, with(``))
	if r := ask(t, p, with(hi)); !strings.Contains(string(r.Content[0]), "kept") {
		t.Errorf("%s", r.Content)
	}
}

func TestAFailureHasTheVendorsShape(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Fail(529, "", "7")})
	status, answer := post(t, p, with(hi))
	if status != 529 || !strings.Contains(answer, `"overloaded_error"`) {
		t.Errorf("%d %s", status, answer)
	}
	if e := p.Exchanges()[0]; e.Status != 529 || e.Refusal != "" {
		t.Errorf("recorded as %d %q", e.Status, e.Refusal)
	}
}

// stream opens a stream and returns its lines.
func stream(t *testing.T, p *Peer, ctx context.Context) (*http.Response, *bufio.Scanner) {
	t.Helper()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	req, _ := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/messages", strings.NewReader(with(hi, `"stream":true`)))
	req.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp, bufio.NewScanner(resp.Body)
}

func TestAHeldAnswerIsSentUpToThere(t *testing.T) {
	p := New(Anthropic)
	release := make(chan struct{})
	p.Script(Answer{Pieces(2), Say("abcd"), Hold(release), Say("ef")})
	_, lines := stream(t, p, t.Context())
	var deltas []string
	for lines.Scan() {
		if !strings.Contains(lines.Text(), "text_delta") {
			continue
		}
		deltas = append(deltas, lines.Text())
		if len(deltas) == 2 {
			close(release) // only what was sent before brought us here
		}
	}
	if len(deltas) != 3 || !strings.Contains(deltas[2], `"ef"`) {
		t.Errorf("%q", deltas)
	}
}

func TestAHeldAnswerEndsWhenItsClientGoes(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Say("a"), Hold(make(chan struct{}))})
	ctx, cancel := context.WithCancel(t.Context())
	_, lines := stream(t, p, ctx)
	lines.Scan()
	cancel() // that the handler ends is what goleak and the server's Close see
}

func TestAnAbortedAnswerBreaksTheConnection(t *testing.T) {
	p := New(Anthropic)
	p.Script(Answer{Say("abc"), Abort()})
	resp, _ := stream(t, p, t.Context())
	all, err := io.ReadAll(resp.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(string(all), "abc") {
		t.Errorf("%v after %q", err, all)
	}
}

func TestWaitReturnsWhenEnoughHaveArrived(t *testing.T) {
	p := New(Anthropic)
	done := make(chan [][]byte)
	go func() {
		bodies, err := p.Wait(t.Context(), 2)
		if err != nil {
			t.Error(err)
		}
		done <- bodies
	}()
	post(t, p, with(hi))
	post(t, p, with(hello+","+hi))
	if bodies := <-done; len(bodies) != 2 || string(bodies[0]) != with(hi) || string(bodies[1]) != with(hello+","+hi) {
		t.Errorf("%q", bodies)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
