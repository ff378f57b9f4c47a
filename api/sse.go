package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"weir"
)

// eventTime is how long one write to a watcher may take. Nothing else waits
// for it: the hub cuts a watcher off whose buffer is full.
const eventTime = 20 * time.Second

// stream writes server-sent events.
type stream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	err error // of the first write that failed; later ones do nothing
}

// openStream begins an answer of events.
func openStream(w http.ResponseWriter) *stream {
	s := &stream{w: w, rc: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that collects events defeats them
	_ = s.rc.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return s
}

// durable writes an event that a watcher can resume from.
func (s *stream) durable(seq weir.Seq, name string, v any) {
	s.write("id: "+strconv.FormatInt(int64(seq), 10)+"\n", name, v)
}

// passing writes an event without an id.
func (s *stream) passing(name string, v any) { s.write("", name, v) }

func (s *stream) write(head, name string, v any) {
	if s.err != nil {
		return
	}
	data, err := json.Marshal(v) // has no line breaks
	if err != nil {
		s.err = err
		return
	}
	s.send(head + "event: " + name + "\ndata: " + string(data) + "\n\n")
}

// comment keeps a silent connection open, and finds out when it is not.
func (s *stream) comment() { s.send(": \n\n") }

func (s *stream) send(text string) {
	if s.err != nil {
		return
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(eventTime))
	_, s.err = s.w.Write([]byte(text))
}

func (s *stream) flush() error {
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}
