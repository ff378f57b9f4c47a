package e2e

import (
	"slices"
	"testing"
)

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
