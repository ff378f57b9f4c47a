package turn_test

import (
	"strings"
	"testing"

	"weir"
	"weir/model/strict"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
)

// An answer that the filter stops is cut. Its end, which is signed and says
// nothing, is kept with what was said, and goes back.
func TestASignatureWithoutWordsOutlivesACut(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		p := newProvider(t, strictpeer.Gemini)
		w := newWorld(t, s, withModels(p)).start()
		c := w.conversation("c")
		p.Script(strictpeer.Answer{strictpeer.Say("half"), strictpeer.Stop("SAFETY")})
		w.send(c, "one")
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant, cut off: half | ", "end failed provider_filtered")
		for _, r := range w.records(c) {
			m, ok := r.Body.(*weir.AssistantMessage)
			if ok && (len(m.Parts) != 2 || m.Parts[1].Text != "" || len(m.Parts[1].Raw) == 0) {
				t.Errorf("stored is %+v", m.Parts)
			}
		}
		w.send(c, "two")
		w.rests(c)
		bodies := p.Bodies()
		last := string(bodies[len(bodies)-1])
		if !strings.Contains(last, `{"text":"half\n\n(interrupted)"},{"text":"","thoughtSignature":"`) || strings.Contains(last, strict.GeminiBypass) {
			t.Errorf("sent is %s", last)
		}
		if refused := p.Refusals(); len(refused) > 0 {
			t.Errorf("refused: %v", refused)
		}
		w.clean()
	})
}

// With nothing to read, a signature alone is nothing to keep.
func TestASignatureAloneIsNoAnswer(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		p := newProvider(t, strictpeer.Gemini)
		w := newWorld(t, s, withModels(p)).start()
		c := w.conversation("c")
		p.Script(strictpeer.Answer{strictpeer.Raw("data: " + `{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]},"finishReason":"SAFETY"}]}` + "\n\n"), strictpeer.Stop("SAFETY")})
		w.send(c, "one")
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "end failed provider_filtered")
		w.clean()
	})
}
