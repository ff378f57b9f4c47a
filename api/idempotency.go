package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"weir"
)

const maxKey = 255

// idempotent answers a POST that comes again under its Idempotency-Key as it
// answered the first time. Only successes are remembered, for 24 hours, by
// owner and route. Two at once under one key are served one after the other
// by this process; what a crash cuts off between doing and remembering is done
// again. A message is not remembered here, where its text would outlive the
// conversation: its key becomes its id, see [server.send].
func (s *server) idempotent(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		owner := actorOf(r.Context()).Owner
		if key == "" || r.Method != http.MethodPost || owner == "" {
			next.ServeHTTP(w, r)
			return
		}
		if len(key) > maxKey || !weir.ValidID(key) {
			s.refuse(w, r, parameterInvalid("An Idempotency-Key has 1 to %d bytes.", maxKey))
			return
		}
		if !remembered(r) {
			next.ServeHTTP(w, r)
			return
		}
		route := r.Method + " " + r.URL.EscapedPath() + "?" + r.URL.RawQuery
		unlock, err := s.keys.lock(r, string(owner)+"\x00"+route+"\x00"+key)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		digest := canonicalDigest(body)
		stored, err := s.cfg.Answers.Answer(r.Context(), owner, route, key)
		switch {
		case err == nil && stored.Digest != digest:
			s.refuse(w, r, keyTaken())
			return
		case err == nil:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Idempotency-Replayed", "true")
			w.WriteHeader(stored.Status)
			_, _ = w.Write(stored.Body)
			return
		case weir.KindOf(err) != weir.NotFound:
			s.refuse(w, r, err)
			return
		}
		rec := &recorder{header: w.Header()}
		next.ServeHTTP(rec, r)
		if rec.status >= 200 && rec.status < 300 {
			err := s.cfg.Answers.RememberAnswer(r.Context(), owner, route, key,
				weir.IdempotentAnswer{Digest: digest, Status: rec.status, Body: rec.body.Bytes()})
			if err != nil {
				_ = s.noted(r.Context(), err) // done all the same: the log says so
			}
		}
		w.WriteHeader(rec.status)
		_, _ = w.Write(rec.body.Bytes())
	})
}

func keyTaken() *weir.Error {
	return weir.Fault(weir.Conflict, "idempotency_conflict",
		"This Idempotency-Key was used for another body. Use a new key for a new request.")
}

// remembered says for which routes answers are kept: not where doing it twice
// is harmless, nor where an answer quotes what people wrote.
func remembered(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path != importPath && path != previewPath && !strings.HasSuffix(path, "/messages")
}

// keyedInput is the id of a message that was sent under a key.
func keyedInput(c weir.ConversationID, key string) weir.InputID {
	sum := sha256.Sum256([]byte(string(c) + "\x00" + key))
	return weir.InputID("inp_key_" + hex.EncodeToString(sum[:16]))
}

// canonicalDigest is the same for bodies that differ only in white space and
// in the order of members.
func canonicalDigest(body []byte) string {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		if canonical, err := json.Marshal(v); err == nil {
			body = canonical
		}
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// recorder keeps an answer until it is remembered.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// keyLocks is a lock for each key in use.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	turn  chan struct{}
	users int
}

func newKeyLocks() *keyLocks { return &keyLocks{held: map[string]*keyLock{}} }

func (k *keyLocks) lock(r *http.Request, key string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.held[key]
	if l == nil {
		l = &keyLock{turn: make(chan struct{}, 1)}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
	}
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; leave() }, nil
	case <-r.Context().Done():
		leave()
		return nil, r.Context().Err()
	}
}
