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

// What was handed over stays as it was given, to the byte, whatever happens to
// the server and to where it came from.
func TestWhatTheModelWasGivenNeverChangesAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, target := w.create(m{"title": "Ports"}), w.create(m{"title": "Deploy"})
		_, keep := w.say(source, "hello")
		said, _ := w.say(source, "we picked port 5432")
		w.say(target, "which port was it?", quote(source, said))
		first := w.given()
		if !strings.Contains(first, `we picked port 5432\n</quote `) {
			t.Fatalf("the model was given %s", first)
		}
		for what, happens := range map[string]func(){
			"nothing":   func() {},
			"a restart": w.restart,
			"a renaming of the source": func() {
				w.patch(at(source), m{"title": "Doors"}).is(200)
			},
			"a wall around the source": func() {
				w.patch(at(source), m{"visibility": m{"level": "isolated"}}).is(200)
			},
		} {
			w.extends(target, what, happens)
		}
		w.extends(target, "a rewind of the source", func() {
			w.post(at(source, "rewind"), m{"to": keep, "if_seq": w.head(source)}).is(200)
		})
		w.extends(target, "the source's deletion", func() { w.do(ask{method: "DELETE", path: at(source)}).is(200) })
		w.extends(target, "a restart after that", w.restart)
		if refused := w.peer.Refusals(); len(refused) > 0 {
			t.Errorf("the peer refused: %v", refused)
		}
	})
}

// given is what the peer got last, without cache marks and without what
// follows the messages.
func (w *world) given() string {
	w.Helper()
	bodies := w.peer.Bodies()
	body := strings.ReplaceAll(string(bodies[len(bodies)-1]), `,"cache_control":{"type":"ephemeral"}`, "")
	messages, _, ok := strings.Cut(body, `],"max_tokens":`)
	if !ok {
		w.Fatalf("not a request: %s", body)
	}
	return messages
}

// extends lets something happen, says something in c, and holds the request
// against the one before.
func (w *world) extends(c, what string, happens func()) {
	w.Helper()
	before := w.given()
	happens()
	w.say(c, "after "+what)
	if after := w.given(); !strings.HasPrefix(after, before) || len(after) == len(before) {
		w.Errorf("after %s the model was given\n%s\nand before that\n%s", what, after, before)
	}
}
