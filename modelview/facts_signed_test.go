package modelview_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"weir"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
)

// The rows of provider-facts.md §7 that need what a provider signed, more than
// one request, or a header.

func signedRows() []int { return []int{2, 11, 12, 14, 15, 20, 21, 22, 25} }

// taken checks what is on the wire and that the peer takes it.
func (k *asked) taken(profile, want string) *modelview.Request {
	k.t.Helper()
	r := k.step()
	if got := messages(r); got != want {
		k.t.Errorf("\n got %s\nwant %s", got, want)
	}
	if status, words := post(k.peer, profile, r.Body); status != http.StatusOK {
		k.t.Errorf("refused with status %d: %s\n%s", status, words, r.Body)
	}
	return r
}

// edited checks what the peer says when something in a body is replaced.
func (k *asked) edited(profile string, r *modelview.Request, from, to, words string) {
	k.t.Helper()
	body := strings.Replace(string(r.Body), from, to, 1)
	if body == string(r.Body) {
		k.t.Fatalf("%q is not in %s", from, body)
	}
	if status, said := post(k.peer, profile, []byte(body)); status != http.StatusBadRequest || !strings.Contains(said, words) {
		k.t.Errorf("status %d: %s\nwant %s\n%s", status, said, words, body)
	}
}

// member is what a part's raw form has under a name.
func member(k *asked, p weir.Part, name string) string {
	k.t.Helper()
	var all map[string]any
	if err := json.Unmarshal(p.Raw, &all); err != nil {
		k.t.Fatalf("%v: %s", err, p.Raw)
	}
	s, _ := all[name].(string)
	return s
}

// Row 2: an orphan result cannot be mended by appending, so it is never sent.
func TestAResultThatNobodyAskedForIsNeverSent(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		k := newAsked(t, profile)
		k.begin(oneTool)
		k.said("hi", "hello")
		k.result("toolu_9", "x")
		k.user("more")
		if _, err := k.tryStep(); weir.CodeOf(err) != "history_broken" {
			t.Errorf("%s: %v", profile, err)
		}
	}
	for profile, c := range map[string][2]string{
		aNew:        {hi + "," + ho + "," + aRes, "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		chat:        {hi + "," + ho + "," + cRes, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."},
		alternating: {hi + "," + ho + "," + cRes, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."},
		responses:   {rHi + "," + rHo + "," + rRes, "No tool call found for function call output with call_id c1."},
		gemini:      {gHi + "," + gHo + `,{"role":"user","parts":[` + gAnsw + `]}`, "Please ensure that function response turn comes immediately after a function call turn."},
	} {
		if status, words := post(strictpeer.New(profile), profile, whole(profile, c[0])); status != http.StatusBadRequest || !strings.Contains(words, c[1]) {
			t.Errorf("%s: status %d: %s", profile, status, words)
		}
	}
}

// Row 11: a block of reasoning goes back byte for byte, empty as it may be.
func TestReasoningGoesBackAsItCame(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin()
	k.user("hi")
	_, a := k.send(strictpeer.Think(""), strictpeer.Say("hello"))
	k.answer(a.Parts...)
	k.user("more")
	block := string(a.Parts[0].Raw) // in the provider's own spelling
	r := k.taken(aNew, `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[`+block+`,{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]}`)
	k.edited(aNew, r, `"thinking":""`, `"thinking":"I say hello."`, "messages.1.content.0: Invalid `signature` in `thinking` block")
	k.edited(aNew, r, `"thinking":"",`, ``, "messages.1.content.0.thinking.thinking: Field required")
}

// Row 12: what stood before reasoning is not taken back; what is so now comes
// after it.
func TestWhatReasoningStandsBehindIsNeverReworded(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin()
	k.user("hi")
	k.update("It rains.")
	_, a := k.send(strictpeer.Think("Rain."), strictpeer.Say("hello"))
	k.answer(a.Parts...)
	k.user("more")
	k.update("It snows.")
	r := k.taken(aNew, `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[{"type":"text","text":"It rains."}]},`+
		`{"role":"assistant","content":[`+string(a.Parts[0].Raw)+`,{"type":"text","text":"hello"}]},`+
		`{"role":"user","content":[{"type":"text","text":"more"}]},{"role":"system","content":[{"type":"text","text":"It snows."}]}`)
	const bound = "messages.2.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	k.edited(aNew, r, "It rains.", "It pours.", bound)
	k.edited(aNew, r, `,{"role":"system","content":[{"type":"text","text":"It rains."`+mark+`}]}`, ``, strings.Replace(bound, ".2.", ".1.", 1))
}

// Row 14: marks are no part of what is stored, and never more than four.
func TestMarksAreAddedOnTheWire(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin(oneTool)
	k.called("hi", "toolu_1")
	k.result("toolu_1", "a")
	r := k.step()
	want := `{"model":"m","system":[{"type":"text","text":"Base."` + mark + `}],"tools":[{"name":"list","description":"Lists.","input_schema":{"type":"object"}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"hi"` + mark + `}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"` + mark + `}]}],"max_tokens":8192,"stream":true}`
	if string(r.Body) != want || len(r.Marks) != 3 {
		t.Errorf("marks at %v\n got %s\nwant %s", r.Marks, r.Body, want)
	}
	for _, v := range k.m.views {
		if strings.Contains(string(v.Bytes), "cache_control") {
			t.Errorf("a stored segment holds a mark: %s", v.Bytes)
		}
	}
	block := `{"type":"text","text":"hi"` + mark + `}`
	five := `{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(block+",", 5), ",") + `]}`
	if status, words := post(strictpeer.New(aNew), aNew, whole(aNew, five)); status != 400 || words != "A maximum of 4 blocks with cache_control may be provided. Found 5." {
		t.Errorf("status %d: %s", status, words)
	}
}

// Row 15: nothing of ours is turn-scoped, so no header is asked for. Were it,
// the header would have to go with every later request (model/anthropic).
func TestNothingIsTurnScoped(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin(oneTool)
	for i := range 3 {
		k.user("hi")
		k.update(fmt.Sprint("It is ", i))
		k.ask(strictpeer.Think("hm"), strictpeer.Say("hello"))
	}
	for _, e := range k.peer.Exchanges() {
		if beta := e.Header.Get("Anthropic-Beta"); beta != "" || strings.Contains(string(e.Body), "clear_at") {
			t.Errorf("asked for %q: %s", beta, e.Body)
		}
	}
	const beta = "mid-conversation-system-clear-at-2026-08-21"
	scoped := `,{"role":"system","content":[{"type":"text","text":"n"%s}],"clear_at":"next_user_message"}`
	for _, c := range []struct{ history, beta, words string }{
		{hi + fmt.Sprintf(scoped, ""), "", "messages.1.clear_at: Extra inputs are not permitted"},
		{hi + fmt.Sprintf(scoped, mark), beta, "messages.1.content.0: cache_control is not permitted on a turn-scoped system message"},
		{`{"role":"user","content":"n","clear_at":"never"}`, beta, "messages.0.clear_at: clear_at is only permitted on role 'system' messages"},
		{hi + fmt.Sprintf(scoped, ""), beta, ""},
	} {
		var header []string
		if c.beta != "" {
			header = []string{"Anthropic-Beta", c.beta}
		}
		status, words := post(strictpeer.New(aNew), aNew, whole(aNew, c.history), header...)
		if (status == 200) != (c.words == "") || !strings.Contains(words, c.words) {
			t.Errorf("status %d: %s\nwant %s", status, words, c.words)
		}
	}
}

// Row 20: an answer's items go back all, in order; without the reasoning they
// go without ids.
func TestItemsGoBackTogetherOrWithoutTheirIDs(t *testing.T) {
	k := newAsked(t, responses)
	k.begin(oneTool)
	k.user("hi")
	_, a := k.send(strictpeer.Think("I look."), strictpeer.Call("c1", "list", `{}`))
	k.answer(a.Parts...)
	k.result("c1", "a")
	if len(a.Parts) != 2 {
		t.Fatalf("%+v", a.Parts)
	}
	reasoning, id := string(a.Parts[0].Raw), member(k, a.Parts[1], "id")
	item := `{"type":"function_call","call_id":"c1","name":"list","arguments":"{}","id":"` + id + `"}`
	const asks = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]},`
	const result = `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]}`
	r := k.taken(responses, asks+reasoning+","+item+result)
	k.edited(responses, r, reasoning+",", "", "Item '"+id+"' of type 'function_call' was provided without its required 'reasoning' item: '"+member(k, a.Parts[0], "id")+"'.")
	k.edited(responses, r, item+",", "", "of type 'reasoning' was provided without its required following item.")
	k.epoch("Other.", oneTool)
	k.taken(responses, asks+`{"type":"function_call","call_id":"c1","name":"list","arguments":"{}"}`+result)
}

// Row 21: an answer with calls keeps its reasoning_content for good.
func TestDeepSeekIsGivenItsReasoningBack(t *testing.T) {
	k := newAsked(t, deepseek)
	k.begin(oneTool)
	k.user("hi")
	_, a := k.send(strictpeer.Think("I <look>."), strictpeer.Say("One moment."), strictpeer.Call("c1", "list", `{}`))
	k.answer(a.Parts...)
	k.result("c1", "a")
	_, a = k.send(strictpeer.Think("Not sent back."), strictpeer.Say("done"))
	k.answer(a.Parts...)
	k.user("more")
	const calls = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"assistant","content":"done"},{"role":"user","content":"more"}`
	r := k.taken(deepseek, `{"role":"system","content":"Base."},{"role":"user","content":"hi"},{"role":"assistant","content":"One moment.","reasoning_content":"I <look>.",`+calls)
	k.edited(deepseek, r, `"reasoning_content":"I <look>.",`, ``, "The reasoning_content in the thinking mode must be passed back to the API.")
	k.epoch("Other.", oneTool) // another prefix: what was thought behind it is gone
	k.taken(deepseek, `{"role":"system","content":"Other."},{"role":"user","content":"hi"},{"role":"assistant","content":"One moment.","reasoning_content":"",`+calls)
}

// Row 22: a call goes back with its signature, or with what is said to stand
// for one.
func TestGeminiIsGivenItsSignaturesBack(t *testing.T) {
	k := newAsked(t, gemini)
	k.begin(oneTool)
	k.user("hi")
	_, a := k.send(strictpeer.Think("I look."), strictpeer.Call("c1", "list", `{}`))
	k.answer(a.Parts...)
	k.result("c1", "a")
	signature := ""
	for _, p := range a.Parts {
		if p.Type == weir.PartToolCall {
			signature = member(k, p, "thoughtSignature")
		}
	}
	if signature == "" || signature == "skip_thought_signature_validator" {
		t.Fatalf("%+v", a.Parts)
	}
	wire := `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"list","args":{}},"thoughtSignature":"%s"}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"list","response":{"output":"a"}}}]}`
	r := k.taken(gemini, fmt.Sprintf(wire, signature))
	k.edited(gemini, r, `,"thoughtSignature":"`+signature+`"`, ``, "Function call is missing a thought_signature in functionCall parts.")
	k.epoch("Other.", oneTool)
	k.taken(gemini, fmt.Sprintf(wire, "skip_thought_signature_validator"))
}

// Row 25: tools change with the next epoch alone, and then no reasoning stands
// behind them that was signed before.
func TestToolsChangeWithTheEpochAlone(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin(oneTool)
	k.user("hi")
	_, a := k.send(strictpeer.Think("hm"), strictpeer.Say("hello"))
	k.answer(a.Parts...)
	k.user("more")
	r := k.step()
	if status, words := post(k.peer, aNew, r.Body); status != 200 {
		t.Errorf("status %d: %s", status, words)
	}
	k.edited(aNew, r, `"description":"Lists."`, `"description":"Lists all."`, "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.")
	k.epoch("Base.", twoTools)
	next := k.taken(aNew, `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]}`)
	if next.Ledger.Reason != weir.BreakTools {
		t.Errorf("the ledger says %q", next.Ledger.Reason)
	}
}

// A new epoch that says the same leaves the bytes before an answer as they
// were, so that its reasoning stands; in an open loop of tools it has to go back.
func TestReasoningOutlivesAnEpochOfTheSameBytes(t *testing.T) {
	for baseline, stands := range map[string]bool{"Base.": true, "Other.": false} {
		for _, restarted := range []bool{false, true} {
			k := newAsked(t, aNew)
			k.begin(oneTool)
			k.user("hi")
			_, a := k.send(strictpeer.Think("hm"), strictpeer.Call("t1", "list", `{}`))
			k.answer(a.Parts...)
			k.result("t1", "x")
			k.epoch(baseline, oneTool)
			if restarted {
				k.restart()
			}
			r := k.step()
			if signed := strings.Contains(string(r.Body), member(k, a.Parts[0], "signature")); signed != stands {
				t.Errorf("baseline %q: signed is %v\n%s", baseline, signed, r.Body)
			}
			if status, words := post(k.peer, aNew, r.Body); status != http.StatusOK {
				t.Errorf("baseline %q: status %d: %s", baseline, status, words)
			}
		}
	}
}

// Row 16, as it happens: a conversation goes on with an older model.
func TestASwitchToAnOlderModelLowersUpdatesInTheirPlaces(t *testing.T) {
	k := newAsked(t, aNew)
	k.begin()
	k.user("hi")
	k.update("It rains.")
	k.ask(strictpeer.Think("hm"), strictpeer.Say("hello"))
	k.user("more")
	k.p = strictpeer.Model(aOld, "peer/old", "old")
	k.peer, k.client = strictpeer.New(aOld), nil
	r := k.taken(aOld, `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"<system-update>It rains.</system-update>"}]},`+
		`{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"more"}]}`)
	if r.Ledger.Reason != weir.BreakModel {
		t.Errorf("the ledger says %q", r.Ledger.Reason)
	}
}

// Row 19: a template that drops system messages says nothing of it. Only what
// the model answers tells whether it was told.
func TestEveryModelSeesWhatItIsTold(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		k := newAsked(t, profile)
		k.begin(oneTool)
		k.said("hi", "hello")
		k.user("more")
		k.update("canary one")
		k.peer.When(strictpeer.Saying("canary one"), strictpeer.Answer{strictpeer.Call("c1", "list", `{}`)})
		_, a := k.send(strictpeer.Say("I saw none."))
		k.answer(a.Parts...)
		if len((&weir.AssistantMessage{Parts: a.Parts}).Calls()) != 1 {
			t.Errorf("%s: it did not see the first", profile)
			continue
		}
		k.result("c1", "a")
		k.update("canary two")
		k.peer.When(strictpeer.Saying("canary two"), strictpeer.Answer{strictpeer.Say("I saw two.")})
		if _, a := k.send(strictpeer.Say("I saw none.")); (&weir.AssistantMessage{Parts: a.Parts}).VisibleText() != "I saw two." {
			t.Errorf("%s: it did not see the second, %+v", profile, a.Parts)
		}
	}
}
