package e2e

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"weir"
	"weir/test/strictpeer/strictpeer"
)

// metric reads one series of /metrics: 0 where there is none, -1 where nothing
// answers any more.
func (w *world) metric(series string) float64 {
	w.Helper()
	got, err := w.http.Get(w.run.URL + "/metrics")
	if err != nil {
		return 0 // stopped already
	}
	defer got.Body.Close()
	lines := bufio.NewScanner(got.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), series+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			w.must(err)
			return n
		}
	}
	w.must(lines.Err())
	return 0
}

func TestWhatStepsComeToIsCounted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		whole := string(w.do(ask{method: "GET", path: "/metrics", anonymous: true}).is(http.StatusOK).body)
		for _, reason := range []string{"first", "compaction", "rewind", "model", "tools", "options", "redaction", "open_section", "defect"} {
			if !strings.Contains(whole, `weir_prefix_breaks_total{reason="`+reason+`"} 0`) {
				t.Errorf("before anything was sent there is no %s in %s", reason, whole)
			}
		}
		c := w.create(m{})
		long := strings.Repeat("Which port did we pick? ", 300)
		w.say(c, long)
		w.say(c, "And the host?")
		w.peer.Script(strictpeer.Answer{strictpeer.Fail(400, "messages: no")})
		w.post(at(c, "messages"), m{"text": "Refuse this."}).is(202)
		w.rests(c)
		w.post(at(c, "retry"), nil).is(202)
		w.until(c, "the retry has failed", func() bool { return len(w.steps(c)) == 4 })

		var page struct {
			Items []struct {
				Ledger weir.Ledger
				Usage  weir.Usage
			}
		}
		w.get(at(c, "steps")).is(http.StatusOK).into(&page)
		var shared, prefix int64
		var all weir.Usage
		for _, s := range page.Items {
			shared, prefix = shared+s.Ledger.Shared, prefix+s.Ledger.PrefixBytes
			all.Fresh, all.Read, all.Write, all.Output = all.Fresh+s.Usage.Fresh, all.Read+s.Usage.Read, all.Write+s.Usage.Write, all.Output+s.Usage.Output
		}
		if all.Read == 0 || all.Write == 0 || all.Output == 0 || shared == 0 {
			t.Errorf("nothing is proved by %+v and %d shared bytes", all, shared)
		}
		for series, want := range map[string]float64{
			`weir_model_requests_total{provider="peer"}`:                                 3,
			`weir_model_attempts_total{code="",provider="peer"}`:                         2,
			`weir_model_attempts_total{code="provider_refused_request",provider="peer"}`: 1,
			`weir_model_requests_withheld_total{provider="peer"}`:                        1,
			`weir_prefix_breaks_total{reason="first"}`:                                   1,
			`weir_prefix_breaks_total{reason="defect"}`:                                  0,
			`weir_prefix_defects_total`:                                                  0,
			`weir_prefix_bytes_total{part="shared"}`:                                     float64(shared),
			`weir_prefix_bytes_total{part="new"}`:                                        float64(prefix - shared),
			`weir_model_tokens_total{kind="fresh",provider="peer"}`:                      float64(all.Fresh),
			`weir_model_tokens_total{kind="read",provider="peer"}`:                       float64(all.Read),
			`weir_model_tokens_total{kind="write",provider="peer"}`:                      float64(all.Write),
			`weir_model_tokens_total{kind="output",provider="peer"}`:                     float64(all.Output),
		} {
			if got := w.metric(series); got != want {
				t.Errorf("%s is %v, want %v", series, got, want)
			}
		}
	})
}
