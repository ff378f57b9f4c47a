package e2e

import (
	"slices"
	"strings"
	"testing"

	. "weir/test/strictpeer/strictpeer"
)

// fault is a way in which a provider fails, and what must come of it.
type fault struct {
	name    string
	answers []Answer
	// states of the steps, oldest first, and the code of the first.
	states []string
	code   string
	reason string   // what a person reads must hold this
	tries  int      // attempts of the first step
	said   string   // by the model, as the timeline shows it at the end
	next   []string // what the last request said after the last answer
}

const goOn = "user: the answer above was cut off; continue from where it stopped"

func faults() []fault {
	fine := Answer{Say("All is well.")}
	return []fault{
		// Before any output it is tried again, within the step.
		{name: "429 with retry-after", answers: []Answer{{Fail(429, "", "1")}, fine}, states: []string{"done"}, tries: 2, said: "All is well."},
		{name: "529 once", answers: []Answer{{Fail(529, "", "1")}, fine}, states: []string{"done"}, tries: 2, said: "All is well."},
		{name: "500 without retry-after", answers: []Answer{{Fail(500, "")}, fine}, states: []string{"done"}, tries: 2, said: "All is well."},
		{name: "a reset before the first output", answers: []Answer{{Reset()}, fine}, states: []string{"done"}, tries: 2, said: "All is well."},
		{name: "a stream that stops before the first output", answers: []Answer{{Cut()}, fine}, states: []string{"done"}, tries: 2, said: "All is well."},
		{name: "529 five times", answers: slices.Repeat([]Answer{{Fail(529, "", "1")}}, 5), states: []string{"failed"}, tries: 5,
			code: "provider_overloaded", reason: "Overloaded"},
		// After output what came is kept, and a new step goes on.
		{name: "a reset after the first output", answers: []Answer{{Think("hm"), Say("It begins "), Reset()}, fine}, states: []string{"failed", "done"}, tries: 1,
			code: "provider_connection_lost", said: "It begins |All is well.", next: []string{goOn}},
		{name: "a stream that stops without an end", answers: []Answer{{Say("It begins "), Cut()}, fine}, states: []string{"failed", "done"}, tries: 1,
			code: "provider_connection_lost", said: "It begins |All is well.", next: []string{goOn}},
		{name: "an error amid the stream", answers: []Answer{{Say("It begins "), Fail(529, "")}, fine}, states: []string{"failed", "done"}, tries: 1,
			code: "provider_overloaded", said: "It begins |All is well.", next: []string{goOn}},
		{name: "a whole call, then a reset", answers: []Answer{{Say("It begins "), Call("c1", "t__echo", `{"text":"x"}`), Say("and"), Reset()}, fine},
			states: []string{"failed", "done"}, tries: 1, code: "provider_connection_lost", said: "It begins \n\nand|All is well.",
			next: []string{"result: interrupted; it was not run", goOn}},
		{name: "half a call, then a reset", answers: []Answer{{Say("It begins "), Call("c1", "t__echo", `{"text":`), Reset()}, fine},
			states: []string{"failed", "done"}, tries: 1, code: "provider_connection_lost", said: "It begins |All is well.", next: []string{goOn}},
		// What no retry mends fails the step, and the conversation is usable.
		{name: "a wrong key", answers: []Answer{{Fail(401, "")}}, states: []string{"failed"}, tries: 1, code: "provider_auth", reason: "invalid x-api-key"},
		{name: "no credit", answers: []Answer{{Fail(402, "")}}, states: []string{"failed"}, tries: 1, code: "provider_quota", reason: "credit balance"},
		{name: "a request that is refused", answers: []Answer{{Fail(400, "messages: no")}}, states: []string{"failed"}, tries: 1, code: "provider_refused_request", reason: "messages: no"},
		{name: "the content filter", answers: []Answer{{Say("I "), Stop("refusal")}}, states: []string{"failed"}, tries: 1, code: "provider_filtered", reason: "content filter", said: "I "},
		// What is odd and whole is taken as it is.
		{name: "a finish reason nobody knows", answers: []Answer{{Say("That is all."), Stop("warp")}}, states: []string{"done"}, tries: 1, said: "That is all.",
			code: "provider_stopped", reason: "what came is kept"},
		{name: "arguments that are none", answers: []Answer{{Call("c1", "t__echo", `{"text":`)}, fine}, states: []string{"done", "done"}, tries: 1, said: "|All is well.",
			next: []string{`result: The arguments are not a JSON object, so "t__echo" was not run. Call it again with valid arguments.`}},
		{name: "a tool nobody has", answers: []Answer{{Call("c1", "t__nothing", `{}`)}, fine}, states: []string{"done", "done"}, tries: 1, said: "|All is well."},
	}
}

func TestEveryFaultOfAProviderEndsWithAReasonAndAUsableConversation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		all := faults()
		ids := make([]string, len(all))
		for i, f := range all { // side by side, because some wait for a second or two
			w.peer.When(Opening(f.name), append(f.answers, Answer{Say("I am here.")})...)
			ids[i] = w.create(m{"title": f.name})
			w.send(ids[i], f.name)
		}
		for i, f := range all {
			w.rests(ids[i])
			w.faulted(ids[i], f)
		}
		if n := tools.Ran("echo"); n != 0 {
			t.Errorf("a tool ran %d times", n)
		}
		w.accepted()
		w.verified()
	})
}

func (w *world) faulted(c string, f fault) {
	w.Helper()
	steps := w.steps(c)
	var states []string
	for _, s := range steps {
		states = append(states, s.State)
	}
	if !slices.Equal(states, f.states) {
		w.Fatalf("%s: steps are %+v, want %q", f.name, steps, f.states)
	}
	if s := steps[0]; s.Code != f.code || s.Attempts != f.tries || !strings.Contains(s.Reason, f.reason) || (f.code != "") != (s.Reason != "") {
		w.Errorf("%s: the step ended as %+v, want %q, %q after %d tries", f.name, s, f.code, f.reason, f.tries)
	}
	said := w.answers(c)
	if said != f.said {
		w.Errorf("%s: the model said %q, want %q", f.name, said, f.said)
	}
	requests := w.requests(f.name)
	if last := requests[len(requests)-1].said(); f.next != nil && !slices.Equal(last, f.next) {
		w.Errorf("%s: the last request said %q, want %q", f.name, last, f.next)
	}
	w.send(c, "are you there?")
	w.rests(c)
	if got := w.answers(c); !strings.HasSuffix(got, "I am here.") {
		w.Errorf("%s: afterwards it says %q", f.name, got)
	}
}

// answers are what the model said in c, with a bar between the messages.
func (w *world) answers(c string) string {
	w.Helper()
	var said []string
	for _, i := range w.timeline(c, "?limit=500") {
		if i["kind"] == "assistant" {
			text, _ := i["text"].(string)
			said = append(said, text)
		}
	}
	return strings.Join(said, "|")
}

// A loop that never ends is ended by the allowance: its last request still
// lists the tools, lets none be called, and says so.
func TestAnEndlessLoopOfToolsIsEndedByTheAllowance(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		w.peer.Otherwise(Endless("t__echo", `{"text":"again"}`))
		c := w.create(m{})
		w.send(c, "go")
		w.rests(c)
		steps, bodies := w.steps(c), w.peer.Bodies()
		last := string(bodies[len(bodies)-1])
		if len(steps) != 50 || len(bodies) != 50 || tools.Ran("echo") != 49 {
			t.Errorf("%d steps, %d requests, %d runs of the tool", len(steps), len(bodies), tools.Ran("echo"))
		}
		if !strings.Contains(last, `"tool_choice":{"type":"none"}`) || !strings.Contains(last, `"t__echo"`) {
			t.Errorf("the last request ends with %s", last[len(last)-300:])
		}
		if said := told(w.read(bodies[49]).said()); len(said) != 1 || !strings.Contains(said[0], "used up") {
			t.Errorf("the model was told %q", said)
		}
		// Another message of the person's begins another allowance.
		w.send(c, "go on")
		w.rests(c)
		if n := len(w.peer.Bodies()); n != 100 {
			t.Errorf("%d requests after another message", n)
		}
		w.accepted()
		w.verified()
	})
}
