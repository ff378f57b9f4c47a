package e2e

import (
	"slices"
	"strings"
	"testing"
)

func TestAQuoteReachesTheModelBeforeThePersonsText(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, target := w.create(m{"title": "Ports"}), w.create(m{"title": "Deploy"})
		said, _ := w.say(source, "we picked port 5432")
		w.say(target, "which port was it?", quote(source, said))
		bodies := w.peer.Bodies()
		last := string(bodies[len(bodies)-1])
		note, text := strings.Index(last, "we picked port 5432"), strings.Index(last, "which port was it?")
		if note < 0 || text < 0 || note > text {
			t.Errorf("the note is at %d and the person's text at %d in %s", note, text, last)
		}
		if refused := w.peer.Refusals(); len(refused) > 0 {
			t.Errorf("the peer refused: %v", refused)
		}
		var kinds []string
		for _, i := range w.timeline(target, "") {
			kinds = append(kinds, i["kind"].(string))
		}
		if !slices.Equal(kinds, []string{"title", "user", "assistant"}) {
			t.Errorf("the timeline shows %v", kinds)
		}
	})
}
