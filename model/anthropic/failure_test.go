package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir/model"
	"weir/model/anthropic"
	"weir/model/internal/wiretest"
	"weir/test/strictpeer/strictpeer"
)

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
			if !strings.Contains(e.Public, "endpoint at "+s.URL) || !strings.Contains(e.Public, c.text) || !strings.HasSuffix(e.Public, ".") || strings.Contains(e.Public, "<") {
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
	if !strings.Contains(got, " did not accept the key: key [key] and [key] is \ufffd wrong: éé") || len([]rune(got)) > 1000 ||
		!strings.HasSuffix(got, "é… Check the key in the variable that api_key_env names.") {
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
		if e := fault(t, err); e.Failure != want || !strings.Contains(e.Public, ": words. ") || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
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
	if e := fault(t, err); e.Failure != model.FailTooMuch || !strings.Contains(e.Public, "larger") || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
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
