package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/test/strictpeer/strictpeer"
)

// holding makes the peer begin an answer and stop; the message that it answers
// has been sent when this returns.
func (w *world) holding(c string, s *stream) (goOn chan struct{}) {
	w.Helper()
	goOn = make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Hold(goOn), strictpeer.Say(", and on")})
	w.post(at(c, "messages"), m{"text": "begin"}).is(202)
	s.until(func(e event) bool { return e.name == "delta" && e.data["text"] != nil })
	return goOn
}

func idle(e event) bool { return e.name == "state" && e.data["state"] == "idle" }

func (w *world) texts(c string) (said []string) {
	w.Helper()
	for _, i := range w.timeline(c, "") {
		if i["kind"] == "user" {
			said = append(said, i["text"].(string))
		}
	}
	return said
}

func TestQueuedInputsGoInTheOrderInWhichAPersonPutThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		s := w.watch(c, 0)
		defer s.close()
		goOn := w.holding(c, s)
		ids := map[string]string{}
		for _, text := range []string{"one", "two", "three"} {
			in := w.post(at(c, "messages"), m{"text": text, "delivery": "queue"}).is(202).object()["input"].(m)
			ids[text] = in["id"].(string)
		}
		order := func() (texts []string) {
			last := -1.0
			for _, in := range w.get(at(c, "inputs")).is(200).object()["items"].([]any) {
				if p := in.(m)["position"].(float64); p <= last {
					t.Errorf("the list is not in the order of its positions")
				} else {
					last = p
				}
				texts = append(texts, in.(m)["text"].(string))
			}
			return texts
		}
		three := at(c, "inputs", ids["three"])
		w.patch(three, m{"revision": 1, "before": ids["one"], "text": "x"}).problem(400, "body_invalid")
		w.patch(three, m{"revision": 7, "before": ids["one"]}).problem(409, "moved_on")
		w.patch(three, m{"revision": 1, "before": "inp_x"}).problem(422, "move_invalid")
		w.patch(three, m{"revision": 1, "before": "a\x00"}).problem(422, "move_invalid")
		if got := w.patch(three, m{"revision": 1, "before": ids["one"]}).is(200).object()["input"].(m); got["revision"] != 2.0 {
			t.Errorf("moved, it is at revision %v", got["revision"])
		}
		if got := order(); !slices.Equal(got, []string{"three", "one", "two"}) {
			t.Errorf("the order is %v", got)
		}
		s.until(func(e event) bool {
			return e.name == "input" && e.data["id"] == ids["three"] && e.data["revision"] == 2.0
		})
		one := w.get(at(c, "inputs")).is(200).object()["items"].([]any)[1].(m)
		w.patch(at(c, "inputs", ids["one"]), m{"revision": one["revision"], "before": ""}).is(200)
		if got := order(); !slices.Equal(got, []string{"three", "two", "one"}) {
			t.Errorf("the order is %v", got)
		}
		close(goOn)
		s.until(idle)
		if got := w.texts(c); !slices.Equal(got, []string{"begin", "three", "two", "one"}) {
			t.Errorf("it was said %v", got)
		}
		w.patch(three, m{"revision": 2, "before": ""}).problem(409, "input_promoted")
	})
}

func TestAnInterruptGoesOnWithWhatSteersWhenAskedTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		s := w.watch(c, 0)
		defer s.close()
		w.holding(c, s)
		w.post(at(c, "messages"), m{"text": "later", "delivery": "queue"}).is(202)
		w.post(at(c, "messages"), m{"text": "rather this"}).is(202)
		w.post(at(c, "interrupt"), m{"then": "steer"}).is(202)
		cut := s.until(func(e event) bool { return e.item["kind"] == "assistant" })
		if cut.item["interrupted"] != true || cut.item["text"] != "so far" {
			t.Errorf("what came is told as %v", cut.item)
		}
		s.until(func(e event) bool { return e.item["text"] == "rather this" })
		s.until(func(e event) bool { return e.item["kind"] == "assistant" && e.item["interrupted"] == nil })
		s.until(func(e event) bool { return e.name == "state" && e.data["state"] == "waiting" })
		if got := w.texts(c); !slices.Equal(got, []string{"begin", "rather this"}) {
			t.Errorf("it was said %v", got)
		}
		if left := w.get(at(c, "inputs")).is(200).object()["items"].([]any); len(left) != 1 || left[0].(m)["text"] != "later" {
			t.Errorf("waiting: %v", left)
		}
	})
}

func TestWhyAStepIsTriedAgainAndWhenIsSeen(t *testing.T) {
	w := start(t, "")
	c := w.create(m{})
	w.peer.Script(strictpeer.Answer{strictpeer.Fail(529, "")})
	s := w.watch(c, 0)
	defer s.close()
	w.post(at(c, "messages"), m{"text": "hello"}).is(202)
	waits := func(e event) bool {
		step, _ := e.data["step"].(m)
		return (e.name == "state" || e.name == "snapshot") && step["next_try"] != nil
	}
	step := s.until(waits).data["step"].(m)
	at, err := time.Parse(time.RFC3339, step["next_try"].(string))
	if err != nil || step["attempts"] != 1.0 || step["code"] == nil || step["reason"] == nil || step["text"] != nil {
		t.Errorf("it waits as %v", step)
	}
	if in := time.Until(at); in > 4*time.Second {
		t.Errorf("the next try is in %v", in)
	}
	late := w.watch(c, 0)
	defer late.close()
	if first := late.next(); !waits(first) {
		t.Errorf("who comes now is told %s", first.raw)
	}
	s.until(func(e event) bool { return e.item["kind"] == "assistant" })
	if last := s.until(idle); last.data["step"] != nil {
		t.Errorf("at rest there is a step: %s", last.raw)
	}
	for _, i := range w.timeline(c, "") {
		if i["outcome"] != nil {
			t.Errorf("a retry is in the timeline: %v", i)
		}
	}
}

func TestAFactOfAClientIsToldOnceAndTakenBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c, other := w.create(m{}), w.create(m{})
		w.say(c, "hello")
		w.say(other, "hello")
		path := at(c, "context", "facts", "ci", "status")
		put := func(path string, body any) m {
			return w.do(ask{method: "PUT", path: path, body: body}).is(200).object()
		}
		then := "2026-01-02T03:04:05.678Z"
		got := put(path, m{"value": m{"Build-No": 7, "": []any{}}, "changed_at": then, "update_text": "The build is red."})
		if got["fact"] != "ci/status" || got["scope"] != "conversation" || got["changed_at"] != then || got["update_text"] != "The build is red." {
			t.Errorf("kept as %v", got)
		}
		put("/v1/context/facts/team/on%2Fcall", m{"value": "Ada"})
		about := w.get(at(c, "context")).is(200).object()
		if len(about["journal"].([]any)) != 2 || about["baseline"] == "" || len(about["baseline_sha256"].(string)) != 64 || about["epoch"].(float64) < 1 {
			t.Errorf("the context is %v", about)
		}
		told := func(conversation, text string) (updates []m) {
			head := w.head(conversation)
			w.say(conversation, text)
			for _, i := range w.timeline(conversation, fmt.Sprintf("?after=%d", head)) {
				if u, ok := i["update"].(m); ok {
					updates = append(updates, u)
				}
			}
			return updates
		}
		updates := told(c, "and now?")
		if len(updates) != 2 || updates[0]["fact"] != "ci/status" || updates[0]["at"] != then || !strings.Contains(updates[0]["text"].(string), "The build is red.") ||
			updates[1]["fact"] != "team/on/call" || !strings.Contains(updates[1]["text"].(string), "Ada") {
			t.Errorf("told: %v", updates)
		}
		if again := told(c, "and now?"); len(again) != 0 {
			t.Errorf("told again: %v", again)
		}
		if others := told(other, "and you?"); len(others) != 1 || others[0]["fact"] != "team/on/call" {
			t.Errorf("another conversation was told %v", others)
		}
		about = w.get(at(c, "context")).is(200).object()
		if snap := about["snapshot"].(m)["ci/status"].(m); fmt.Sprint(snap["value"]) != "map[:[] Build-No:7]" || snap["removed_text"] == "" || len(about["journal"].([]any)) != 0 {
			t.Errorf("the context is %v", about)
		}
		w.do(ask{method: "DELETE", path: path}).is(200)
		w.do(ask{method: "DELETE", path: path}).problem(404, "fact_not_found")
		if removed := told(c, "and now?"); len(removed) != 1 || removed[0]["fact"] != "ci/status" {
			t.Errorf("told: %v", removed)
		}
		if list := w.get("/v1/context/facts").is(200).object()["items"].([]any); len(list) != 1 || list[0].(m)["fact"] != "team/on/call" || list[0].(m)["scope"] != "owner" {
			t.Errorf("kept: %v", list)
		}
		w.restart()
		if refused := w.peer.Refusals(); len(refused) > 0 {
			t.Errorf("the peer refused: %v", refused)
		}
	})
}

func TestOneFactTooManyIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		put := func(i int) answer {
			return w.do(ask{method: "PUT", path: fmt.Sprintf("/v1/context/facts/n/f%d", i), body: m{"value": i}})
		}
		for i := range 64 {
			put(i).is(200)
		}
		put(64).problem(422, "too_many_facts")
		put(3).is(200)
	})
}

func TestANewEpochIsADividerWithoutItsText(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		w.say(c, "hello")
		before := w.get(at(c, "context")).is(200).object()
		w.post(at(c, "epoch"), m{"if_seq": w.head(c)}).is(202)
		w.say(c, "again")
		after := w.get(at(c, "context")).is(200).object()
		if after["epoch"].(float64) <= before["epoch"].(float64) {
			t.Errorf("the epoch was at %v and is at %v", before["epoch"], after["epoch"])
		}
		var dividers []m
		for _, i := range w.timeline(c, "") {
			if i["kind"] == "epoch" {
				dividers = append(dividers, i)
			}
		}
		if len(dividers) != 1 || dividers[0]["seq"] != after["epoch"] || dividers[0]["text"] != nil {
			t.Errorf("dividers: %v", dividers)
		}
		whole := w.get(at(c, "messages") + "?hidden=include").is(200).body
		if line, _, _ := strings.Cut(after["baseline"].(string), "\n"); line == "" || strings.Contains(string(whole), line) {
			t.Errorf("the baseline is in the timeline: %q", line)
		}
		if waiting := w.get(at(c, "inputs")).is(200).object()["items"].([]any); len(waiting) != 0 {
			t.Errorf("waiting: %v", waiting)
		}
	})
}

func TestAChangeOfARowIsInTheJournalAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		w.say(c, "hello")
		w.patch(at(c), m{"visibility": m{"level": "isolated"}}).is(200)
		var facts []string
		for _, j := range w.get(at(c, "context")).is(200).object()["journal"].([]any) {
			facts = append(facts, j.(m)["fact"].(string))
		}
		if !slices.Equal(facts, []string{"core/visibility"}) {
			t.Errorf("the journal has %v", facts)
		}
	})
}

func TestAKeyedPostOfATurnIsDoneOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		w.say(c, "hello")
		under := func(path, body string) answer {
			return w.do(ask{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": "k"}})
		}
		head := w.head(c)
		body := fmt.Sprintf(`{"if_seq":%d}`, head)
		under(at(c, "epoch"), body).is(202)
		w.say(c, "again")
		if again := under(at(c, "epoch"), body).is(202); again.header.Get("Idempotency-Replayed") != "true" {
			t.Error("it was done twice")
		}
		under(at(c, "epoch"), `{}`).problem(409, "idempotency_conflict")
		under(at(c, "interrupt"), `{"then":"steer"}`).is(202)
		under(at(c, "interrupt"), `{}`).problem(409, "idempotency_conflict")
	})
}
