package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/api"
)

// held is a hub whose one subscriber the test feeds by hand.
type held struct{ signals chan weir.Signal }

func (h held) Subscribe(weir.ConversationID, int) (<-chan weir.Signal, func()) {
	return h.signals, func() {}
}

func TestAReaderWhoFellBehindIsResetAndLetGo(t *testing.T) {
	for _, path := range []string{"/v1/conversations/c/events", "/v1/events"} {
		hub := held{make(chan weir.Signal, 4)}
		d := serve(t, func(cfg *api.Config, _ *rooms) { cfg.Live = hub })
		r, done := d.lines(path)
		first := "event: snapshot"
		if path == "/v1/events" {
			first = "event: reset"
		}
		d.until(r, first)
		hub.signals <- weir.Signal{Conversation: "c", Delta: &weir.Delta{Step: "s", Text: "x"}}
		close(hub.signals) // as the hub does with a full buffer
		d.until(r, "event: reset")
		d.until(r, "data:")
		if rest := fmt.Sprint(d.rest(r)); strings.Contains(rest, "event") {
			t.Errorf("%s: after the reset came %s", path, rest)
		}
		done()
	}
}

func (d *door) rest(r interface{ ReadString(byte) (string, error) }) (lines []string) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return lines
		}
		lines = append(lines, line)
	}
}

func TestASilentStreamGetsACommentAndCatchesUpOnWhatNobodyTold(t *testing.T) {
	d := serve(t, func(cfg *api.Config, _ *rooms) { cfg.Heartbeat = time.Millisecond })
	r, done := d.lines("/v1/conversations/c/events?after=0")
	defer done()
	d.until(r, "event: snapshot")
	d.until(r, ":")
	d.say("nobody was told of this")
	d.until(r, "id: 1")
	d.until(r, "event: item")
	d.mu.Lock()
	d.title = "nor of this"
	d.mu.Unlock()
	d.until(r, "event: state")
	if said := d.until(r, ":"); !strings.Contains(strings.Join(said, ""), "nor of this") {
		t.Errorf("it was told %q", said)
	}
	again, done2 := d.lines("/v1/events")
	defer done2()
	d.until(again, ":")
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	for _, path := range []string{"/v1/conversations/c/events", "/v1/events"} {
		d := serve(t, func(cfg *api.Config, _ *rooms) { cfg.Heartbeat = time.Millisecond })
		r, done := d.lines(path)
		d.until(r, "event: ")
		d.accounts.mu.Lock()
		d.accounts.closed = true
		d.accounts.mu.Unlock()
		d.rest(r) // returns only when the server ends it
		done()
	}
}

func TestOneStreamTooManyIsRefused(t *testing.T) {
	d := serve(t, func(cfg *api.Config, _ *rooms) { cfg.Streams = 2 })
	a, doneA := d.lines("/v1/events")
	defer doneA()
	d.until(a, "event: reset")
	b, doneB := d.lines("/v1/conversations/c/events")
	d.until(b, "event: snapshot")
	if got, p := d.do("GET", "/v1/events", ""); got != http.StatusTooManyRequests || p["code"] != "too_many_streams" {
		t.Errorf("%d %v", got, p)
	}
	doneB()
	for { // its place is free once the server has noticed
		resp, err := http.Get(d.url + "/v1/events")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == 200 {
			break
		}
	}
}

func TestDeltasThatTheSnapshotHasSaidAreNotSaidAgain(t *testing.T) {
	hub := held{make(chan weir.Signal, 8)}
	d := serve(t, func(cfg *api.Config, r *rooms) { cfg.Live = hub; r.partial = "hello wor" })
	for _, delta := range []weir.Delta{
		{Step: "stp", Offset: 0, Text: "hello "}, {Step: "stp", Offset: 6, Text: "wor"}, // known
		{Step: "stp", Offset: 6, Text: "world"}, // half known
		{Step: "stp", Offset: 0, Reasoning: "hm"}, {Step: "stp", Tool: "look"},
		{Step: "stp", Offset: 11, Text: "!"}, {Step: "next", Offset: 0, Text: "a"},
	} {
		hub.signals <- weir.Signal{Conversation: "c", Delta: &delta}
	}
	close(hub.signals)
	r, done := d.lines("/v1/conversations/c/events")
	defer done()
	d.until(r, "event: snapshot")
	var got []string
	for _, line := range d.until(r, "event: reset") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"offset"`) {
			got = append(got, data)
		}
	}
	want := []string{
		`{"step":"stp","offset":9,"text":"ld"}`, `{"step":"stp","offset":0,"reasoning":"hm"}`, `{"step":"stp","offset":0,"tool":"look"}`,
		`{"step":"stp","offset":11,"text":"!"}`, `{"step":"next","offset":0,"text":"a"}`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTimesAreWrittenInMilliseconds(t *testing.T) {
	d := serve(t, nil)
	d.say("hello")
	_, c := d.do("GET", "/v1/conversations/c", "")
	_, page := d.do("GET", "/v1/conversations/c/messages", "")
	item := page["items"].([]any)[0].(map[string]any)
	if c["created_at"] != "2026-11-30T12:00:00.123Z" || item["time"] != "2026-11-30T12:00:00.123Z" {
		t.Errorf("%v and %v", c["created_at"], item["time"])
	}
}
