package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAProviderMayAskForAWaitOfAtMostFifteenMinutes(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 0},
		{http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{http.Header{"Retry-After": {" 0.25 "}}, 250 * time.Millisecond},
		{http.Header{"Retry-After": {"900"}}, 15 * time.Minute},
		{http.Header{"Retry-After": {"901"}}, 15 * time.Minute},
		{http.Header{"Retry-After": {"1e300"}}, 15 * time.Minute},
		{http.Header{"Retry-After": {"inf"}}, 15 * time.Minute},
		{http.Header{"Retry-After": {"NaN"}}, 0},
		{http.Header{"Retry-After": {"-7"}}, 0},
		{http.Header{"Retry-After": {"soon"}}, 0},
		{http.Header{"Retry-After": {date(90 * time.Second)}}, 90 * time.Second},
		{http.Header{"Retry-After": {date(-time.Hour)}}, 0},
		{http.Header{"Retry-After": {date(24 * time.Hour)}}, 15 * time.Minute},
		{http.Header{"Retry-After": {date(time.Hour)}, "Date": {date(59 * time.Minute)}}, time.Minute},
		{http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
	} {
		if got := RetryAfter(c.header, now); got != c.want {
			t.Errorf("%v: %v, want %v", c.header, got, c.want)
		}
	}
}

func TestWhatIsShownIsOneBoundedLineWithoutKeys(t *testing.T) {
	for in, want := range map[string]string{
		"  a\r\n\tb\x00c\u0085d  ":                 "a b c d",
		"bad \xff byte":                            "bad \ufffd byte",
		"key my-own-secret is wrong":               "key [key] is wrong",
		"Incorrect API key provided: sk-proj-ab*":  "Incorrect API key provided: [key]",
		"authorization: Bearer eyJhbGciOi.abc":     "authorization: [key]",
		"the bearer of bad news, risk-averse":      "the bearer of bad news, risk-averse",
		"tool_use ids toolu_01AbCd were found":     "tool_use ids toolu_01AbCd were found",
		strings.Repeat("é", 1000):                  strings.Repeat("é", 1000),
		strings.Repeat("é", 1001):                  strings.Repeat("é", 999) + "…",
		strings.Repeat("x", 1<<20):                 strings.Repeat("x", 999) + "…",
		strings.Repeat("\n", 5000) + "at the end.": "at the end.",
	} {
		if got := Shown(in, "my-own-secret"); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", in, got, want)
		}
	}
	if got := Shown("a short secret: ab", "ab"); got != "a short secret: ab" {
		t.Errorf("%q", got) // too short to be a key; masking it would spoil the words
	}
	rapid.Check(t, func(t *rapid.T) {
		got := Shown(rapid.StringN(0, 3000, -1).Draw(t, "in")+string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")), "k")
		if utf8.RuneCountInString(got) > MaxPublic || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x00") {
			t.Fatalf("%q", got)
		}
	})
}
