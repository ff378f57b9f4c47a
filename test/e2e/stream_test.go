package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// event is one server-sent event.
type event struct {
	id   string
	name string
	raw  string
	data m
	item m // the data of a durable one
}

// stream is an open event stream.
type stream struct {
	w      *world
	resp   *http.Response
	events chan event
	cancel context.CancelFunc
}

func (w *world) watch(c string, after int) *stream {
	w.Helper()
	return w.open(at(c, "events")+"?after="+strconv.Itoa(after), "")
}

func (w *world) open(path, last string) *stream {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r, err := http.NewRequestWithContext(ctx, "GET", w.run.URL+path, nil)
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := w.http.Do(r)
	w.must(err)
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, _ := io.ReadAll(resp.Body)
		w.Fatalf("%s: %d %s", path, resp.StatusCode, body)
	}
	s := &stream{w: w, resp: resp, events: make(chan event), cancel: cancel}
	go s.read(ctx)
	return s
}

// read ends with the stream, or when it is closed.
func (s *stream) read(ctx context.Context) {
	defer close(s.events)
	defer s.resp.Body.Close()
	lines := bufio.NewReader(s.resp.Body)
	var e event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" && e.name != "":
			select {
			case s.events <- e:
			case <-ctx.Done():
				return
			}
			e = event{}
		case strings.HasPrefix(line, ":"), line == "":
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "event: "):
			e.name = line[7:]
		case strings.HasPrefix(line, "data: "):
			e.raw = line[6:]
			_ = json.Unmarshal([]byte(e.raw), &e.data)
			if e.id != "" {
				e.item = e.data
			}
		default:
			s.w.Errorf("a line of an event stream: %q", line)
		}
	}
}

// next returns the next event, or fails.
func (s *stream) next() event {
	s.w.Helper()
	e, ok := s.try()
	if !ok {
		s.w.Fatal("the event stream ended, or nothing came")
	}
	return e
}

func (s *stream) try() (event, bool) {
	e, ok := <-s.events
	return e, ok
}

// until returns the first event that fits.
func (s *stream) until(fits func(event) bool) event {
	s.w.Helper()
	for {
		if e := s.next(); fits(e) {
			return e
		}
	}
}

func (s *stream) close() {
	s.cancel()
	for range s.events {
	}
}
