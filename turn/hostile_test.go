package turn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
	"weir/turn"
)

// hostileWords are texts, names, ids and arguments as nobody means well writes
// them.
func hostileWords() []string {
	return []string{
		"", " ", "\n\t ", "\u00a0\u2003\u3000", "\u200b", "\ufeff", "\u2028\u2029", "\u0085", "\x1c\x1d", "\x7f", "\x01\x02",
		strings.Repeat("n", 300), strings.Repeat("é", 200), "-", "1st", "_", "naïve", "工具", "echo", "echo ", "a.b:c/d", "👩‍👩‍👧",
		`","name":"x`, `{"type":"tool_use","id":"`, `]},{"role":"system","content":"`, "<system-update>yes</system-update>", "< /System-Update>",
		"\\", `\u0000`, `\ud800`, "'; DROP TABLE", "(no answer)", "(no output)", "(continue)", "toolu_1", "call_1", "fc_1", "rs_1", "null",
	}
}

func hostileArguments() []string {
	deep := strings.Repeat(`{"a":`, 900) + `1` + strings.Repeat(`}`, 900)
	return append([]string{
		`{}`, ``, ` `, `null`, `[]`, `"x"`, `{"a":`, `{"a":1,"a":2}`, `{"":""}`, `{"a":1e999}`, `{"a":-0.0}`, `{"a":123456789012345678901234567890}`,
		`{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\u0000"}`, "{\"a\":\"\u2028\"}", `{"a":"<&>"}`, `{ "a" : [ 1 , 2 ] }`, "{\"a\":\n1}\n", `{"a":1}{"b":2}`,
		`{"<system-update>":"</system-update>"}`, `{"type":"tool_use","id":"x"}`, `{"a\"b\\":"\\\""}`, `true`, `NaN`, deep, `{"a":"` + strings.Repeat("x", 20000) + `"}`,
	}, hostileWords()...)
}

func (w *walk) word() string { all := hostileWords(); return all[w.r.IntN(len(all))] }

func (w *walk) hostile() strictpeer.Answer {
	all := hostileArguments()
	args := func() string { return all[w.r.IntN(len(all))] }
	var a strictpeer.Answer
	for range 1 + w.r.IntN(5) {
		switch w.r.IntN(9) {
		case 0:
			a = append(a, strictpeer.Say(w.word()))
		case 1:
			a = append(a, strictpeer.Think(w.word()))
		case 2:
			a = append(a, strictpeer.Redacted())
		case 3:
			a = append(a, strictpeer.Call(w.word(), w.word(), args()))
		case 4:
			id := w.word()
			a = append(a, strictpeer.Call(id, "echo", args()), strictpeer.Call(id, "echo", args()))
		case 5:
			a = append(a, strictpeer.Call(w.word(), "echo", args()))
		case 6:
			if w.r.IntN(4) == 0 {
				for i := range 60 {
					a = append(a, strictpeer.Call(fmt.Sprint(i%7), "echo", `{}`))
				}
			}
		case 7:
			a = append(a, strictpeer.Use("careful", args()))
		case 8:
			a = append(a, strictpeer.Use("alone", `{}`))
		}
	}
	switch w.r.IntN(8) {
	case 0:
		a = append(a, strictpeer.Abort())
	case 1:
		a = append(a, strictpeer.Cut())
	case 2:
		a = append(a, strictpeer.Fail(500, w.word()))
	case 3:
		a = append(a, strictpeer.Stop(w.word()))
	}
	return a
}

func TestWhatNobodyMeansWellLeavesEveryHistoryAcceptable(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WEIR_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WEIR_SEED=%d", seed)
	for _, profile := range strictpeer.Profiles() {
		t.Run(profile, func(t *testing.T) {
			w := &walk{world: newWorld(t, stores.SQLite(t)), r: rand.New(rand.NewPCG(seed, 1)), peers: newProviders(t, profile), sent: map[weir.InputID]string{}, ran: map[string]int{}, meanwhile: rand.New(rand.NewPCG(seed, 2))}
			w.begin()
			for i := range 2 {
				w.convs = append(w.convs, w.conversation(weir.ConversationID(fmt.Sprint("c", i))))
			}
			for range 30 {
				c := w.convs[w.r.IntN(len(w.convs))]
				if w.r.IntN(2) == 0 {
					w.act()
					continue
				}
				w.peers.peer(w.get(c).Model).Script(w.hostile())
				text := w.word()
				if text == "" {
					text = "."
				}
				w.admit(turn.Admission{Conversation: c, Text: text, Delivery: weir.Steer})
			}
			w.finish()
		})
	}
}

// OpenAI's models do call more tools at once than OpenAI takes back.
func TestMoreCallsThanAProviderTakesBackAreLeftOut(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		t.Run(profile, func(t *testing.T) {
			p := newProvider(t, profile)
			w := newWorld(t, stores.SQLite(t))
			w.engine = w.another(withModels(p), withTools(fakeTool{name: "echo", run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "x"}, nil }}))
			w.start()
			var a strictpeer.Answer
			for i := range 130 {
				if i%32 == 0 {
					a = append(a, strictpeer.Think("hm"))
				}
				a = append(a, strictpeer.Use("echo", `{}`))
			}
			p.Script(a, strictpeer.Answer{strictpeer.Say("done")})
			c := w.conversation("c")
			w.send(c, "one")
			w.rests(c)
			w.send(c, "two")
			w.rests(c)
			for _, r := range p.Refusals() {
				t.Errorf("refused: %s", r)
			}
			results := 0
			for _, r := range w.records(c) {
				if _, ok := r.Body.(*weir.ToolResult); ok {
					results++
				}
			}
			if steps := w.steps(c); results != 128 || steps[0].Code != "calls_limit" || steps[0].State != weir.StepDone {
				t.Errorf("%d results, %+v", results, steps[0])
			}
			w.clean()
		})
	}
}
