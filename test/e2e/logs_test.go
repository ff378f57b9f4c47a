package e2e

import (
	"net/url"
	"strings"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

func TestLogsHoldIdsAndCodesAndNobodysWords(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		words := []string{"heronword", "herontitle", "heroncategory", "heronlabel", "heronquery", "heronanswer", "heronfault"}
		source := w.create(m{"title": words[1], "visibility": category(words[2])})
		w.peer.Script(strictpeer.Answer{strictpeer.Say(words[5])})
		said, _ := w.say(source, words[0]+" @["+words[3]+"](weir:x)")
		target := w.create(m{})
		w.post(at(target, "messages"), m{"text": words[0], "references": []m{quote(source, said)}}).is(409)
		w.post(at(target, "messages"), m{"text": words[0], words[0]: 1}).is(400)
		w.post(at(target, "messages"), `{"text":"`+words[0]+`\u0000"}`).is(400)
		w.get("/v1/conversations?query=" + words[4]).is(200)
		w.get("/v1/conversations?limit=" + words[4]).is(400)
		w.get(at(target, "candidates") + "?query=" + url.QueryEscape(words[1])).is(200)
		w.get("/" + words[4]).is(404)
		w.patch(at(source), m{"title": words[1] + " again"}).is(200)
		w.peer.Script(strictpeer.Answer{strictpeer.Fail(400, words[6])})
		w.post(at(target, "messages"), m{"text": words[0]}).is(202)
		s := w.watch(target, 0)
		s.until(func(e event) bool { return e.item["kind"] == "step_end" })
		s.close()
		w.restart()
		log := w.log.String()
		for _, word := range append(words, token) {
			if at := strings.Index(log, word); at >= 0 {
				t.Errorf("the log has %q: %s", word, log[max(0, at-300):min(len(log), at+100)])
			}
		}
		if !strings.Contains(log, "POST /v1/conversations/{id}/messages") || !strings.Contains(log, "confirmation_required") {
			t.Errorf("the log should name routes and codes: %s", short([]byte(log)))
		}
	})
}

func TestATranscriptComesInThroughTheDoorOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		transcript := strings.Join([]string{
			`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/srv","version":"2.0.0","isSidechain":false,"userType":"external","message":{"role":"user","content":"which port?"}}`,
			`{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-01-02T03:04:06.678Z","cwd":"/srv","version":"2.0.0","isSidechain":false,"userType":"external","message":{"id":"x1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"port 5432"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"broken`,
		}, "\n")
		bring := func(query string) answer {
			return w.do(ask{method: "POST", path: "/v1/imports" + query, body: transcript, header: map[string]string{"Content-Type": "application/x-ndjson"}})
		}
		count := func() int { return len(w.get("/v1/conversations").is(200).object()["items"].([]any)) }
		bring("?dry_run=true&file=s1.jsonl").is(200)
		if n := count(); n != 0 {
			t.Errorf("a dry run made %d conversations", n)
		}
		bring("?dry_run=perhaps").problem(400, "parameter_invalid")
		bring("?level=half").problem(400, "parameter_invalid")
		report := bring("?file=s1.jsonl&level=isolated&category=A").is(200)
		if n := count(); n != 1 {
			t.Fatalf("it made %d conversations: %s", n, report.body)
		}
		bring("?file=s1.jsonl").is(200)
		if n := count(); n != 1 {
			t.Errorf("the second time made it %d", n)
		}
		c := w.get("/v1/conversations").object()["items"].([]any)[0].(m)
		if v := c["visibility"].(m); v["level"] != "isolated" || v["category"] != "A" || c["origin"] == nil {
			t.Errorf("it is %v", c)
		}
		w.say(c["id"].(string), "and the other port?")
		w.do(ask{method: "POST", path: "/v1/imports", body: transcript, anonymous: true, header: map[string]string{"Content-Type": "application/x-ndjson"}}).is(401)
	})
}

func TestStoppingTheServerEndsOpenStreams(t *testing.T) {
	w := start(t, "")
	c := w.create(m{})
	a, b := w.watch(c, 0), w.open("/v1/events", "")
	a.next()
	b.next()
	w.stop() // would take ten seconds and fail if the streams held it up
	for _, s := range []*stream{a, b} {
		if _, ok := s.try(); ok {
			t.Error("a stream goes on")
		}
		s.close()
	}
	w.boot()
}
