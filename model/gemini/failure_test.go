package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/model/gemini"
	"weir/model/internal/wiretest"
	"weir/test/strictpeer/strictpeer"
)

func TestAnAnswerThatBreaksOffComesWithItsTextAndItsCalls(t *testing.T) {
	for _, end := range []strictpeer.Act{strictpeer.Abort(), strictpeer.Cut()} {
		p, c := peer(t)
		p.Script(strictpeer.Answer{strictpeer.Think("r"), strictpeer.Say("words"), strictpeer.Call("c1", "f", `{"a":1}`), end}, strictpeer.Answer{end})
		got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailBroken || len(got.Parts) != 2 {
			t.Fatalf("%+v, %+v", e, got)
		}
		if d := cmp.Diff([]weir.Part{{Type: weir.PartText, Text: "words"}, {Type: weir.PartToolCall, Call: "c1", Name: "f", Input: []byte(`{"a":1}`), Raw: got.Parts[1].Raw}}, got.Parts); d != "" || got.Parts[1].Raw == nil {
			t.Error(d)
		}
		got, err = c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
		if e := fault(t, err); e.Failure != model.FailBroken || got.Parts != nil {
			t.Errorf("%+v, %+v", e, got)
		}
	}
}

// status is a google.rpc.Status.
func status(code, message string, details ...string) string {
	return `{"error":{"code":400,"message":"` + message + `","status":"` + code + `","details":[` + strings.Join(details, ",") + `]}}`
}

const (
	retryInfo = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26.5s"}`
	perMinute = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier"}]}`
	perDay    = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}`
	wrongKey  = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	help      = `{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]}`
	exhausted = "You exceeded your current quota, please check your plan and billing details."
)

func TestAFailureIsClassed(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   model.Failure
		wait   time.Duration
		public string
	}{
		"an unknown name":                 {400, status("INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name \"x\" at 'contents[0]': Cannot find field.`), model.FailRefused, 0, `Unknown name "x" at 'contents[0]': Cannot find field.`},
		"in a list":                       {400, "[" + status("INVALID_ARGUMENT", "no") + "]", model.FailRefused, 0, ": no. "},
		"a missing signature":             {400, status("INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts."), model.FailRefused, 0, "missing a thought_signature"},
		"too long":                        {400, status("INVALID_ARGUMENT", "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."), model.FailTooLong, 0, "1200293"},
		"a wrong key":                     {400, status("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", wrongKey), model.FailAuth, 0, "API key not valid."},
		"a wrong key, by its reason":      {400, status("INVALID_ARGUMENT", "no", wrongKey), model.FailAuth, 0, ""},
		"no free tier there":              {400, status("FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable billing on your project."), model.FailQuota, 0, "enable billing"},
		"not from there":                  {400, status("FAILED_PRECONDITION", "User location is not supported for the API use."), model.FailRefused, 0, "User location"},
		"no key":                          {403, status("PERMISSION_DENIED", "Method doesn't allow unregistered callers."), model.FailAuth, 0, "unregistered"},
		"no token":                        {401, status("UNAUTHENTICATED", "no"), model.FailAuth, 0, ""},
		"no such model":                   {404, status("NOT_FOUND", "models/x is not found for API version v1beta"), model.FailRefused, 0, "models/x is not found"},
		"too fast":                        {429, status("RESOURCE_EXHAUSTED", exhausted, perMinute, help, retryInfo), model.FailRateLimit, 26*time.Second + 500*time.Millisecond, exhausted},
		"too fast, they say":              {429, status("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), model.FailRateLimit, 0, ""},
		"used up for the day":             {429, status("RESOURCE_EXHAUSTED", exhausted, perMinute, perDay, retryInfo), model.FailQuota, 26*time.Second + 500*time.Millisecond, ""},
		"used up":                         {429, status("RESOURCE_EXHAUSTED", exhausted, help), model.FailQuota, 0, ""},
		"paid for and used up":            {429, status("RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."), model.FailQuota, 0, ""},
		"a wait without end":              {429, status("RESOURCE_EXHAUSTED", "slow", `{"retryDelay":"1e30s"}`), model.FailRateLimit, 15 * time.Minute, ""},
		"a wait of nonsense":              {429, status("RESOURCE_EXHAUSTED", "slow", `{"retryDelay":"soons"}`, `{"retryDelay":"NaNs"}`), model.FailRateLimit, 0, ""},
		"a fault of theirs":               {500, status("INTERNAL", "An internal error has occurred."), model.FailServer, 0, "An internal error"},
		"too long, as their fault":        {500, status("INTERNAL", "Your input context is too long."), model.FailTooLong, 0, ""},
		"busy":                            {503, status("UNAVAILABLE", "The model is overloaded. Please try again later."), model.FailOverload, 0, "overloaded"},
		"too slow":                        {504, status("DEADLINE_EXCEEDED", "no"), model.FailServer, 0, ""},
		"gone":                            {499, status("CANCELLED", "The operation was cancelled."), model.FailServer, 0, ""},
		"a word that is new":              {418, status("TEAPOT", "short and stout"), model.FailRefused, 0, "short and stout"},
		"words":                           {502, `something broke`, model.FailServer, 0, " failed (status 502). "},
		"a list of nothing":               {503, `[]`, model.FailOverload, 0, " is busy (status 503). "},
		"no error in it":                  {500, `{"error":{}}`, model.FailServer, 0, " failed (status 500). "},
		"an answer where a stream is due": {200, `{"candidates":[]}`, model.FailRefused, 0, ` answered POST /models/m:streamGenerateContent with "application/json" instead of an event stream; check its base_url.`},
		"an error that says it is none":   {200, `{"error":{"code":503,"message":"no"}}`, model.FailOverload, 0, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			s := wiretest.Server(t, c.status, http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, c.body)
			got, err := gemini.New(s.URL, "k", "m", s.Client()).Stream(t.Context(), nil, new(wiretest.Seen).Emit)
			e := fault(t, err)
			if e.Failure != c.want || e.Status != c.status || e.RetryAfter != c.wait || got.Parts != nil || !strings.Contains(e.Public, c.public) || !strings.Contains(e.Public, "endpoint at "+s.URL) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestThePeersRefusalsAreClassed(t *testing.T) {
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Fail(429, "", "7")}, strictpeer.Answer{strictpeer.Say("a"), strictpeer.Fail(503, "")})
	_, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailRateLimit || e.RetryAfter != 7*time.Second {
		t.Errorf("%+v", e)
	}
	got, err := c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailOverload || len(got.Parts) != 1 {
		t.Errorf("%+v, %+v", e, got)
	}
	c.(*gemini.Client).Key = "AIza-wrong"
	_, err = c.Stream(t.Context(), ask(hi), new(wiretest.Seen).Emit)
	if e := fault(t, err); e.Failure != model.FailAuth || e.Status != 400 {
		t.Errorf("%+v", e)
	}
}

func TestAnErrorAmidTheStreamComesWithWhatCame(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want model.Failure
	}{
		"theirs": {`{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}`, model.FailServer},
		"busy":   {`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, model.FailOverload},
		"a code": {`{"error":{"code":429,"message":"slow"}}`, model.FailRateLimit},
		"a word": {`{"error":{"message":"hm"}}`, model.FailServer},
		"ours":   {`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`, model.FailRefused},
	} {
		got, _, err := said(t, chunk(`{"text":"so far"}`), c.data)
		if e := fault(t, err); e.Failure != c.want || e.Public == "" || len(got.Parts) != 1 || got.Parts[0].Text != "so far" {
			t.Errorf("%s: %+v, %+v", name, e, got)
		}
	}
}

func TestBytesThatAreNoChunksAreNotAnAnswer(t *testing.T) {
	for _, data := range []string{"hello", "[]", `{"candidates":`, `{"candidates":[{"finishReason":1}]}`} {
		if _, _, err := said(t, data); fault(t, err).Failure != model.FailBroken {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestPartsWithoutEndAreNotAnAnswer(t *testing.T) {
	part := `{"functionCall":{"name":"f","args":{}}}`
	if _, _, err := said(t, chunk(part+strings.Repeat(","+part, 10_000), "STOP")); fault(t, err).Failure != model.FailBroken {
		t.Error(err)
	}
}

func TestCancellingEndsARequestAtOnce(t *testing.T) {
	p, c := peer(t)
	p.Script(strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Hold(make(chan struct{}))})
	ctx, cancel := context.WithCancel(t.Context())
	got, err := c.Stream(ctx, ask(hi), func(model.Event) error { cancel(); return nil })
	if e := fault(t, err); e.Failure != model.FailBroken || !errors.Is(err, context.Canceled) || len(got.Parts) != 1 {
		t.Errorf("%+v, %+v", e, got)
	}
}

func TestAnErrorOfTheWatcherComesBackAsItIs(t *testing.T) {
	full := errors.New("full")
	for _, first := range []strictpeer.Act{strictpeer.Say("abcdef"), strictpeer.Think("abcdef"), strictpeer.Call("c", "f", "{}")} {
		p, c := peer(t)
		p.Script(strictpeer.Answer{first, strictpeer.Hold(make(chan struct{}))})
		if _, err := c.Stream(t.Context(), ask(hi), func(model.Event) error { return full }); err != full {
			t.Error(err)
		}
	}
}

func TestAServerThatNeverEndsItsStreamIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := wiretest.NewPipe()
		close(p.Begin)
		go p.W.Write([]byte(wiretest.Events(chunk(`{"text":"a"}`, "STOP"))))
		c := &gemini.Client{BaseURL: "http://model.test/v1beta", Name: "m", HTTP: &http.Client{Transport: p}}
		got, err := c.Stream(t.Context(), nil, new(wiretest.Seen).Emit)
		if took := time.Since(start); err != nil || len(got.Parts) != 1 || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("%+v, %v after %v", got, err, took)
		}
	})
}
