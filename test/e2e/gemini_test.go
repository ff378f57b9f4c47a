package e2e

import (
	"strings"
	"testing"
	"time"

	"weir/model/strict"
	. "weir/test/strictpeer/strictpeer"
)

// A tool loop that is steered, a fact that changes and a restart: the model
// gets the signatures that it made back, and never the word that stands in.
func TestGeminiGetsBackWhatItSigned(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gemini := w.elsewhere()[Gemini]
		tools := w.withTools("allow")
		c := w.create(m{})
		w.patch(at(c), m{"model": Gemini + "/m"}).is(200)
		name := w.Name()
		gemini.Script(
			Answer{Think("Two things."), Say("I look."), held(name), Use("t__echo", `{"text":"<b> & é"}`)},
			Answer{Use("t__echo", `{"text":"again"}`)},
			Answer{Think("hm"), Say("done")},
		)
		w.send(c, "go")
		w.began(tools, name)
		w.fact(c, "alpha", "one", time.Now())
		w.send(c, "hurry")
		tools.Release(name, "held")
		w.rests(c)
		w.restart()
		w.say(c, "and now?")
		w.rests(c)
		bodies := gemini.Bodies()
		last := string(bodies[len(bodies)-1])
		if n := strings.Count(last, `"thoughtSignature":`); len(bodies) != 4 || n != 3 || strings.Contains(last, strict.GeminiBypass) {
			t.Errorf("%d requests, %d signatures in %s", len(bodies), n, last)
		}
		for _, s := range w.steps(c)[1:] {
			if s.Ledger.Reason != "" {
				t.Errorf("a step does not extend the one before: %+v", s)
			}
		}
		for _, e := range gemini.Exchanges() {
			if e.Refusal != "" {
				t.Errorf("refused: %s", e.Refusal)
			}
		}
		w.verified()
	})
}

// An answer that breaks off after its first call, and one that is interrupted
// after a text: what is stored of them can be sent back.
func TestGeminiTakesWhatIsLeftOfABrokenAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gemini := w.elsewhere()[Gemini]
		w.withTools("allow")
		c := w.create(m{})
		w.patch(at(c), m{"model": Gemini + "/m"}).is(200)
		gemini.Script(
			Answer{Say("I look."), Use("t__echo", `{"text":"x"}`), Fail(400, "broken")},
			Answer{Say("half an ans"), Fail(400, "broken")},
		)
		w.send(c, "go")
		w.rests(c)
		w.send(c, "go on")
		w.rests(c)
		w.say(c, "and now?")
		bodies := gemini.Bodies()
		last := string(bodies[len(bodies)-1])
		for _, want := range []string{`{"text":"I look.\n\n(interrupted)"},{"functionCall":{`, `"name":"t__echo"`, `half an ans\n\n(interrupted)`, `{"text":"and now?"}`} {
			if !strings.Contains(last, want) {
				t.Errorf("%s is not in %s", want, last)
			}
		}
		for _, e := range gemini.Exchanges() {
			if e.Refusal != "" {
				t.Errorf("refused: %s", e.Refusal)
			}
		}
		w.verified()
	})
}
