package api

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// operatorRoutes are for those who run the server. They name nobody's words.
func (s *server) operatorRoutes() {
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	s.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Ready != nil {
			if err := s.cfg.Ready(r.Context()); err != nil {
				plain(w, http.StatusServiceUnavailable, "the store cannot be reached\n")
				return
			}
		}
		plain(w, http.StatusOK, "ready\n")
	})
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// metrics counts requests and streams.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	open     atomic.Int64
}

func newMetrics(reg *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_http_requests_total", Help: "Requests answered, by route, method, status and problem code.",
		}, []string{"route", "method", "status", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "weir_http_request_seconds", Help: "Time to answer, streams included.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"route"}),
	}
	streams := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "weir_event_streams", Help: "Event streams open.",
	}, func() float64 { return float64(m.open.Load()) })
	for _, c := range []prometheus.Collector{m.requests, m.seconds, streams} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) done(n *note, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(n.pattern, methodName(method), strconv.Itoa(status), n.code).Inc()
	m.seconds.WithLabelValues(n.pattern).Observe(took.Seconds())
}

// enter takes a place among at most limit streams.
func (m *metrics) enter(limit int) bool {
	if m.open.Add(1) > int64(limit) {
		m.open.Add(-1)
		return false
	}
	return true
}

func (m *metrics) leave() { m.open.Add(-1) }
