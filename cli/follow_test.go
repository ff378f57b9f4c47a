package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"weir/client"
)

// followed feeds events to one who waits for the answer to the input "in", and
// returns what was printed and said, and whether and how the wait ended.
func followed(t *testing.T, events ...string) (out, said string, f *follower) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &session{io: &IO{Out: &stdout, Err: &stderr}}
	f = &follower{s: s, target: "c", input: "in", calls: map[string]string{}, said: map[string]bool{}}
	for i, e := range events {
		name, data, _ := strings.Cut(e, " ")
		ev := client.Event{Name: name, Data: json.RawMessage(data)}
		if name == "item" {
			ev.ID = fmt.Sprint(i + 1)
		}
		err := f.event(ev)
		if errors.Is(err, io.EOF) {
			if i < len(events)-1 {
				t.Fatalf("the wait ended with %s", e)
			}
			return stdout.String(), stderr.String(), f
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return stdout.String(), stderr.String(), f
}

const (
	promoted = `item {"kind":"user","input":"in"}`
	runs     = `state {"state":"running","calls":[]}`
	rests    = `state {"state":"idle","calls":[]}`
)

func TestAWaitSaysWhatItWaitsForOnce(t *testing.T) {
	blocked := `state {"state":"blocked","waiting_for":"acme/tenant","calls":[]}`
	retry := func(n int) string {
		return fmt.Sprintf(`state {"state":"running","calls":[],"step":{"id":"s","attempts":%d,"chained":1,"next_try":"2026-11-30T14:02:00.000Z","code":"overloaded","reason":"It is overloaded."}}`, n)
	}
	out, said, f := followed(t, blocked, blocked, promoted, runs, retry(1), retry(1), retry(2),
		`delta {"step":"s","text":"Hel"}`, `delta {"step":"s","text":"lo."}`, `item {"kind":"assistant","text":"Hello."}`, rests)
	if out != "Hello.\n" || !f.done || f.failed != nil {
		t.Errorf("printed %q, ended %v with %v", out, f.done, f.failed)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) != 3 || lines[0] != "waiting until the model can be told acme/tenant" ||
		!strings.HasPrefix(lines[1], "attempt 2 failed: It is overloaded (overloaded); the next begins at ") || !strings.HasPrefix(lines[2], "attempt 3 failed") {
		t.Errorf("it was said\n%s", said)
	}
}

func TestAnAnswerThatBrokeOffAndWentOnIsNoFailure(t *testing.T) {
	_, _, f := followed(t, promoted, runs, `item {"kind":"assistant","text":"The first","interrupted":true}`,
		`item {"kind":"step_end","outcome":"failed","code":"cut_off","reason":"It broke off."}`, runs,
		`item {"kind":"notice","text":"go on"}`, `item {"kind":"assistant","text":" and the rest."}`, rests)
	if !f.done || f.failed != nil {
		t.Errorf("ended %v with %v", f.done, f.failed)
	}
	_, _, f = followed(t, promoted, runs, `item {"kind":"step_end","outcome":"failed","code":"quota","reason":"Nothing is left."}`, rests)
	if !f.done || f.failed == nil || f.failed.Error() != "Nothing is left. (quota)" {
		t.Errorf("ended %v with %v", f.done, f.failed)
	}
}

func TestAWaitGoesOnUntilAPersonHasDecided(t *testing.T) {
	call := `item {"kind":"assistant","parts":[{"type":"tool_call","call":"c1","name":"rm","input":"{\"all\":true}"}]}`
	waits := `state {"state":"waiting","waiting_for":"approval","calls":[{"call":"c1","name":"rm","state":"waiting"}]}`
	_, said, f := followed(t, promoted, runs, call, waits, waits)
	if f.done || strings.Count(said, `waiting for your decision about rm {"all":true}: weir approve c c1, or weir deny`) != 1 {
		t.Errorf("ended %v; it was said\n%s", f.done, said)
	}
	_, _, f = followed(t, promoted, runs, call, waits, runs, `item {"kind":"approval","approval":{"call":"c1","name":"rm","decision":"allow"}}`,
		`item {"kind":"tool_result","tool":{"call":"c1"}}`, `item {"kind":"assistant","text":"Gone."}`, rests)
	if !f.done || f.failed != nil {
		t.Errorf("allowed: ended %v with %v", f.done, f.failed)
	}
	_, _, f = followed(t, promoted, runs, call, waits, runs, `item {"kind":"approval","approval":{"call":"c1","name":"rm","decision":"deny"}}`,
		`item {"kind":"tool_result","tool":{"call":"c1"}}`, rests)
	if !f.done || f.failed == nil || !strings.Contains(f.failed.Error(), "call_denied") {
		t.Errorf("denied: ended %v with %v", f.done, f.failed)
	}
}
