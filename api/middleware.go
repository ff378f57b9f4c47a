package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"weir"
)

// Deadlines of an ordinary request. Streams and imports set their own.
const (
	readTime  = 30 * time.Second
	writeTime = 60 * time.Second
	workTime  = 55 * time.Second
)

const importPath = "/v1/imports"

type contextKey int

const (
	noteKey contextKey = iota
	actorKey
)

// note is what the log says of a request.
type note struct {
	id      string
	pattern string // of the route, "" for none
	code    string // of the problem it ended in
}

func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey).(*note); ok {
		return n
	}
	return &note{}
}

func actorOf(ctx context.Context) weir.Actor {
	a, _ := ctx.Value(actorKey).(weir.Actor)
	return a
}

// chain is what every request goes through, outermost last.
func (s *server) chain() http.Handler {
	var h http.Handler = http.HandlerFunc(s.route)
	h = s.idempotent(h)
	h = s.bodies(h)
	h = s.signedIn(h)
	h = s.sameOrigin(h)
	h = s.plainQuery(h)
	h = s.ownHost(h)
	return s.observed(h)
}

func (s *server) route(w http.ResponseWriter, r *http.Request) {
	s.mux.ServeHTTP(w, r)
	noteOf(r.Context()).pattern = r.Pattern
}

// observed gives a request an id, a deadline and a line in the log, and turns
// a panic into a problem.
func (s *server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id [8]byte
		rand.Read(id[:]) // never fails
		n := &note{id: hex.EncodeToString(id[:])}
		begun := time.Now()
		rw := &response{ResponseWriter: w}
		h := w.Header()
		h.Set("X-Request-Id", n.id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		deadlines(w, readTime, writeTime)
		ctx := context.WithValue(r.Context(), noteKey, n)
		if !longLived(r) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, workTime)
			defer cancel()
		}
		r = r.WithContext(ctx)
		defer func() {
			if v := recover(); v != nil {
				s.panicked(rw, r, v)
			}
			s.metrics.done(n, r.Method, rw.status, time.Since(begun))
			s.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "request", slog.String("request", n.id),
				slog.String("route", n.pattern), slog.String("method", methodName(r.Method)), slog.Int("status", rw.status),
				slog.String("code", n.code), slog.Duration("took", time.Since(begun)))
		}()
		next.ServeHTTP(rw, r)
	})
}

// panicked answers 500 where nothing was answered yet. The log gets the place
// and the kind of panic, not its words: they may quote what a person wrote.
func (s *server) panicked(w *response, r *http.Request, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	words := fmt.Sprintf("%T", v)
	if e, ok := v.(runtime.Error); ok {
		words = e.Error()
	}
	gone := r.Context().Err() != nil // writing to a client that left is no fault
	if !gone {
		s.cfg.Log.ErrorContext(r.Context(), "panic", slog.String("request", noteOf(r.Context()).id),
			slog.String("panic", words), slog.String("stack", string(debug.Stack())))
	}
	if w.status == 0 {
		s.refuse(w, r, weir.Fault(weir.Internal, "internal", ""))
		return
	}
	if !gone {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
}

// longLived says which requests set their own deadlines.
func longLived(r *http.Request) bool {
	return r.URL.Path == importPath || strings.HasSuffix(r.URL.Path, "/events")
}

func deadlines(w http.ResponseWriter, read, write time.Duration) {
	rc := http.NewResponseController(w)
	now := time.Now()
	_ = rc.SetReadDeadline(now.Add(read)) // a test's recorder has none
	_ = rc.SetWriteDeadline(now.Add(write))
}

// hostNames are the names under which the server may be spoken to.
func hostNames(more []string) map[string]bool {
	names := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	for _, n := range more {
		names[hostName(n)] = true
	}
	return names
}

// hostName strips the port and the brackets of a Host header.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// ownHost refuses requests for other names: a page whose name was made to
// point here (DNS rebinding) carries its own. Probes come by address.
func (s *server) ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hosts[hostName(r.Host)] && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			s.refuse(w, r, &problem{Status: http.StatusMisdirectedRequest, Code: "host_unknown",
				Detail: "This server is not known by that name. Use one of its own, or add the name to its configuration."})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plainQuery refuses what no parameter may hold: databases differ in what they
// do with it.
func (s *server) plainQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			values, err := url.ParseQuery(r.URL.RawQuery)
			if err != nil || len(r.URL.RawQuery) > 16<<10 {
				s.refuse(w, r, parameterInvalid("The query part of the address is broken or too long."))
				return
			}
			for name, all := range values {
				for _, v := range append(all, name) {
					if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
						s.refuse(w, r, parameterInvalid("A parameter in the address is not text."))
						return
					}
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses what another site's page makes a browser send along with
// our cookie. A bearer token is nothing that a browser sends by itself.
func (s *server) sameOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			if err := guard.Check(r); err != nil {
				s.refuse(w, r, weir.Fault(weir.Forbidden, "cross_site",
					"This came from another site's page; only the server's own page may do that."))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// signedIn lets through to the API who is known.
func (s *server) signedIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == sessionPath && r.Method == http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		actor, err := s.cfg.Account.Actor(r)
		if err != nil {
			if weir.KindOf(err) == weir.Unauthenticated {
				w.Header().Set("WWW-Authenticate", `Bearer realm="weir"`)
			}
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), actorKey, actor)))
	})
}

// bodies reads the body of everything but imports before anyone acts on it.
func (s *server) bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == importPath {
			next.ServeHTTP(w, r)
			return
		}
		data, err := readBody(w, r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		r.ContentLength = int64(len(data))
		if len(data) > 0 && len(r.Header.Get("Content-Type")) > 0 {
			r.Header.Set("Content-Type", "application/json")
		}
		next.ServeHTTP(w, r)
	})
}

// response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// methodName keeps a method that somebody made up out of logs and metrics.
func methodName(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}
