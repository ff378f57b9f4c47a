package turn_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
	"weir/turn"
)

const continued = "notice: the answer above was cut off; continue from where it stopped"

// faults are what providers do, and what becomes of it.
var faults = map[string]struct {
	answers []strictpeer.Answer // nil: it says until when to wait
	pause   time.Duration       // before the second attempt
	want    []string            // after the message
	helps   string              // in the reason that a person reads
}{
	"429 that says how long": {answers: []strictpeer.Answer{{strictpeer.Fail(429, "", "7")}}, pause: 7 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"429 that says until when": {answers: nil, pause: 90 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"529": {answers: []strictpeer.Answer{{strictpeer.Fail(529, "")}}, pause: 2 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"500": {answers: []strictpeer.Answer{{strictpeer.Fail(500, "")}}, pause: 2 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"a reset before any output": {answers: []strictpeer.Answer{{strictpeer.Reset()}}, pause: 2 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"a stream with nothing in it": {answers: []strictpeer.Answer{{strictpeer.Cut()}}, pause: 2 * time.Second,
		want: []string{"step", "assistant: fine", "end done"}},
	"a reset after some": {answers: []strictpeer.Answer{{strictpeer.Say("half"), strictpeer.Reset()}}, pause: 2 * time.Second,
		want: []string{"step", "assistant, cut off: half", "end failed provider_connection_lost", continued, "step", "assistant: fine", "end done"}},
	"a stream that stops without an end": {answers: []strictpeer.Answer{{strictpeer.Say("half"), strictpeer.Cut()}}, pause: 2 * time.Second,
		want: []string{"step", "assistant, cut off: half", "end failed provider_connection_lost", continued, "step", "assistant: fine", "end done"}},
	"an error amid the stream": {answers: []strictpeer.Answer{{strictpeer.Say("half"), strictpeer.Fail(500, "")}}, pause: 2 * time.Second,
		want: []string{"step", "assistant, cut off: half", "end failed provider_failed", continued, "step", "assistant: fine", "end done"}},
	"malformed arguments": {answers: []strictpeer.Answer{{strictpeer.Call("c1", "work", `{"a":`)}},
		want: []string{"step", "assistant: call work",
			`result work: The arguments are not a JSON object, so "work" was not run. Call it again with valid arguments.`,
			"end done", "step", "assistant: fine", "end done"}},
	"a reason to finish that is not known": {answers: []strictpeer.Answer{{strictpeer.Say("so"), strictpeer.Stop("tired")}}, helps: "Retry",
		want: []string{"step", "assistant, cut off: so", "end done provider_stopped"}},
	"no credit": {answers: []strictpeer.Answer{{strictpeer.Fail(402, "")}}, helps: "Add credit",
		want: []string{"step", "end failed provider_quota"}},
	"a wrong key": {answers: []strictpeer.Answer{{strictpeer.Fail(401, "")}}, helps: "api_key_env",
		want: []string{"step", "end failed provider_auth"}},
	"a full context": {answers: []strictpeer.Answer{{strictpeer.Fail(400, "prompt is too long: 200001 tokens > 200000 maximum; maximum context length")}}, helps: "too long",
		want: []string{"step", "end failed provider_context_overflow"}},
	"busy for too long": {answers: []strictpeer.Answer{
		{strictpeer.Fail(529, "")}, {strictpeer.Fail(503, "")}, {strictpeer.Fail(500, "")}, {strictpeer.Fail(429, "")}, {strictpeer.Fail(529, "")}},
		pause: 2 * time.Second, helps: "try again", want: []string{"step", "end failed provider_overloaded"}},
}

func TestEveryFaultOfAProviderEndsWithWordsThatHelp(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for _, profile := range []string{strictpeer.Anthropic, strictpeer.Responses, strictpeer.OpenAIChat} {
			for name, f := range faults {
				t.Run(profile+"/"+name, func(t *testing.T) {
					w := newWorld(t, s, stopped)
					p := newProvider(t, profile)
					p.Script(f.answers...)
					if f.answers == nil {
						p.Script(strictpeer.Answer{strictpeer.Fail(429, "", time.Now().Add(f.pause).UTC().Format(http.TimeFormat))})
					}
					p.Otherwise(func(*strictpeer.Request) strictpeer.Answer { return strictpeer.Answer{strictpeer.Say("fine")} })
					w.engine = w.another(stopped, withModels(p), withTools(fakeTool{name: "work", run: nil}))
					w.start()
					c := w.conversation(weir.ConversationID(profile + name))
					w.send(c, "one")
					w.rests(c)
					want(t, w.transcript(c), append([]string{"title: one", "user: one"}, f.want...)...)
					if naps := w.naps.all(); f.pause != 0 && (len(naps) == 0 || naps[0] < f.pause-5*time.Second || naps[0] > f.pause+2*time.Second) || f.pause == 0 && len(naps) > 0 {
						t.Errorf("it paused for %v, want %v at first", naps, f.pause)
					}
					steps := w.steps(c)
					if reason := steps[len(steps)-1].Reason; !strings.Contains(reason, f.helps) || f.helps == "" && reason != "" {
						t.Errorf("a person reads %q, want %q in it", reason, f.helps)
					}
					w.send(c, "two") // the conversation is usable
					w.rests(c)
					lines := w.transcript(c)
					if got := strings.Join(lines[len(lines)-4:], ", "); got != "user: two, step, assistant: fine, end done" {
						t.Errorf("then came %s", got)
					}
					for _, r := range p.Refusals() {
						t.Errorf("the peer refused: %s", r)
					}
					w.engine.Stop()
				})
			}
		}
		w := newWorld(t, s)
		w.clean()
	})
}

func TestALoopOfToolsWithoutAnEndEndsWithTheAllowance(t *testing.T) {
	for _, profile := range []string{strictpeer.Anthropic, strictpeer.Responses, strictpeer.OpenAIChat} {
		stores.Each(t, func(t *testing.T, s store.Store) {
			w := newWorld(t, s)
			p := newProvider(t, profile)
			p.Otherwise(func(r *strictpeer.Request) strictpeer.Answer {
				if !r.Free { // it may call none
					return strictpeer.Answer{strictpeer.Say("enough")}
				}
				return strictpeer.Answer{strictpeer.Use("work", "{}")}
			})
			w.engine = w.another(withModels(p), withTools(fakeTool{name: "work", run: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Text: "more to do"}, nil
			}}), func(c *turn.Config) { c.Allowance = 6 })
			w.start()
			c := w.conversation("c")
			w.send(c, "one")
			w.rests(c)
			lines := w.transcript(c)
			if got := strings.Join(lines[len(lines)-4:], ", "); got != "update core/limits, step, assistant: enough, end done" {
				t.Errorf("it ended with %s", got)
			}
			if n := len(w.steps(c)); n != 6 {
				t.Errorf("%d steps", n)
			}
			for _, r := range p.Refusals() {
				t.Errorf("the peer refused: %s", r)
			}
			w.clean()
		})
	}
}
