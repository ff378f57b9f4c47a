package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"weir"
)

// meter keeps what steps come to as metrics. Providers are labels, because the
// configuration bounds them; models and conversations are not.
type meter struct {
	requests *prometheus.CounterVec
	breaks   *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	attempts *prometheus.CounterVec
	withheld *prometheus.CounterVec
	defects  prometheus.Counter
}

func newMeter(reg *prometheus.Registry) (*meter, error) {
	var err error
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		if err == nil {
			err = reg.Register(c)
		}
		return c
	}
	m := &meter{
		requests: counters("weir_model_requests_total", "Requests made for models, by provider.", "provider"),
		breaks: counters("weir_prefix_breaks_total",
			"Requests that do not extend the one before them, by reason. The reason defect is a fault of this program.", "reason"),
		bytes: counters("weir_prefix_bytes_total", "Bytes of requests without options, by whether the request before had them in the same place.", "part"),
		tokens: counters("weir_model_tokens_total",
			"Tokens as the provider counts them: fresh input, input read from and written to its cache, output.", "provider", "kind"),
		attempts: counters("weir_model_attempts_total",
			"Requests sent to models, by provider and by code; no code: answered.", "provider", "code"),
		withheld: counters("weir_model_requests_withheld_total",
			"Requests that were not sent, because their exact bytes were refused before, by provider.", "provider"),
	}
	m.defects = prometheus.NewCounter(prometheus.CounterOpts{Name: "weir_prefix_defects_total",
		Help: "Requests that do not extend the one before them for no reason that is allowed. Anything but 0 is a fault of this program."})
	if err == nil {
		err = reg.Register(m.defects)
	}
	for _, r := range weir.BreakReasons() {
		m.breaks.WithLabelValues(string(r)) // a reason that never came up is 0, not absent
	}
	return m, err
}

// Began implements turn.Meter.
func (m *meter) Began(s *weir.Step) {
	l := &s.Ledger
	m.requests.WithLabelValues(s.Provider).Inc()
	m.bytes.WithLabelValues("shared").Add(float64(l.Shared))
	m.bytes.WithLabelValues("new").Add(float64(max(l.PrefixBytes-l.Shared, 0)))
	if l.Reason != "" {
		m.breaks.WithLabelValues(string(l.Reason)).Inc()
	}
	if l.Reason == weir.BreakDefect {
		m.defects.Inc()
	}
}

// Withheld implements turn.Meter.
func (m *meter) Withheld(provider string) {
	m.withheld.WithLabelValues(provider).Inc()
}

// Tried implements turn.Meter.
func (m *meter) Tried(s *weir.Step, u weir.Usage, code string) {
	m.attempts.WithLabelValues(s.Provider, code).Inc()
	for kind, n := range map[string]int64{"fresh": u.Fresh, "read": u.Read, "write": u.Write, "output": u.Output} {
		m.tokens.WithLabelValues(s.Provider, kind).Add(float64(max(n, 0)))
	}
}
