package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weir"
	"weir/api"
)

func TestEveryKindOfErrorHasItsStatus(t *testing.T) {
	d := serve(t, nil)
	for kind, status := range map[weir.ErrorKind]int{
		weir.Invalid: 400, weir.Unauthenticated: 401, weir.Forbidden: 403, weir.NotFound: 404, weir.Conflict: 409, weir.Gone: 410,
		weir.TooLarge: 413, weir.Unsupported: 415, weir.Unprocessable: 422, weir.Limited: 429, weir.Upstream: 502, weir.Unavailable: 503, weir.Internal: 500,
	} {
		d.fault = fmt.Errorf("wrapped: %w", weir.Fault(kind, "some_code", "Do this.").With("extra", []int{1}).With("status", "never"))
		got, p := d.do("PATCH", "/v1/conversations/c", `{"title":"x"}`)
		if got != status || p["status"] != float64(status) || p["code"] != "some_code" || p["detail"] != "Do this." || p["extra"] == nil || p["type"] != "urn:weir:problem:some_code" {
			t.Errorf("kind %d: %d %v, want %d", kind, got, p, status)
		}
	}
}

func TestAFaultOfOursShowsNothingOfItself(t *testing.T) {
	d := serve(t, nil)
	d.fault = errors.New("pq: password codeword-heron")
	got, p := d.do("PATCH", "/v1/conversations/c", `{"title":"my secret title"}`)
	if got != 500 || p["code"] != "internal" || strings.Contains(fmt.Sprint(p), "heron") || p["detail"] == "" {
		t.Errorf("%d %v", got, p)
	}
	if log := d.log.String(); !strings.Contains(log, "codeword-heron") || strings.Contains(log, "secret title") {
		t.Errorf("the log should have the cause, and nothing that was sent: %s", log)
	}
}

func TestAPanicIsAProblemAndTheServerGoesOn(t *testing.T) {
	d := serve(t, nil)
	d.panics = "a text that somebody wrote"
	got, p := d.do("PATCH", "/v1/conversations/c", `{"title":"x"}`)
	if got != 500 || p["code"] != "internal" {
		t.Errorf("%d %v", got, p)
	}
	if log := d.log.String(); !strings.Contains(log, `"panic":"string"`) || !strings.Contains(log, "stack") || strings.Contains(log, "somebody wrote") {
		t.Errorf("log: %s", log)
	}
	d.panics, d.fault = nil, weir.Fault(weir.Conflict, "x", "y")
	if got, _ := d.do("PATCH", "/v1/conversations/c", `{"title":"x"}`); got != 409 {
		t.Errorf("after it: %d", got)
	}
}

func TestARequestThatCannotBeProvedIsNotServedAsTrue(t *testing.T) {
	var fault error
	d := serve(t, func(cfg *api.Config, _ *rooms) {
		cfg.Rebuild = func(context.Context, *weir.Conversation, *weir.Record) ([]byte, error) { return []byte("{}"), fault }
	})
	d.records = []weir.Record{{Conversation: "c", Seq: 1, Body: &weir.StepStart{Step: "s"}}}
	fault = weir.Fault(weir.Internal, "request_mismatch", "")
	if got, p := d.do("GET", "/v1/conversations/c/steps/s/request", ""); got != 500 || p["code"] != "request_mismatch" {
		t.Errorf("a mismatch: %d %v", got, p)
	}
	fault = weir.Fault(weir.Gone, "redacted", "Parts of it were removed on purpose.")
	if got, p := d.do("GET", "/v1/conversations/c/steps/s/request", ""); got != 410 || p["code"] != "redacted" {
		t.Errorf("redacted: %d %v", got, p)
	}
	d.records[0].Body = &weir.StepEnd{Step: "s"}
	if got, p := d.do("GET", "/v1/conversations/c/steps/s/request", ""); got != 404 {
		t.Errorf("a step without a beginning: %d %v", got, p)
	}
}

func TestAnIncompleteConfigurationIsRefused(t *testing.T) {
	if _, err := api.New(api.Config{}); err == nil {
		t.Error("a server of nothing")
	}
}
