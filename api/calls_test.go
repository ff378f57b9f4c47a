package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/api"
)

// told returns the data of the next event of a name.
func (d *door) told(r interface{ ReadString(byte) (string, error) }, name string) map[string]any {
	d.Helper()
	found := false
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			d.Fatalf("the stream ended (%v) before %s", err, name)
		}
		found = found || strings.HasPrefix(line, "event: "+name)
		if data, ok := strings.CutPrefix(line, "data: "); ok && found {
			var v map[string]any
			if err := json.Unmarshal([]byte(data), &v); err != nil {
				d.Fatal(err)
			}
			return v
		}
	}
}

func TestTheStateTellsOfRetriesAndOfCallsThatWait(t *testing.T) {
	hub := held{make(chan weir.Signal, 8)}
	d := serve(t, func(cfg *api.Config, _ *rooms) { cfg.Live = hub })
	d.step = &weir.Step{
		ID: "stp", State: weir.StepRunning, Attempts: 2, Chained: 1, Partial: "so far", NextTry: now.Add(time.Minute),
		Code: "overloaded", Reason: "The provider is overloaded.",
	}
	r, done := d.lines("/v1/conversations/c/events")
	defer done()
	step := d.told(r, "snapshot")["step"].(map[string]any)
	for name, want := range map[string]any{
		"id": "stp", "text": "so far", "attempts": 2.0, "chained": 1.0, "next_try": "2026-11-30T12:01:00.123Z",
		"code": "overloaded", "reason": "The provider is overloaded.",
	} {
		if step[name] != want {
			t.Errorf("the snapshot's step has %s %v, want %v", name, step[name], want)
		}
	}
	d.mu.Lock()
	d.step.NextTry, d.step.Partial = time.Time{}, strings.Repeat("long ", 1<<16)
	d.calls = []weir.Call{
		{Step: "stp", ID: "done", Name: "a", State: weir.CallSettled},
		{Step: "stp", ID: "decided", Name: "b", State: weir.CallWaiting, Decision: weir.Allow},
		{Step: "stp", ID: "runs", Name: "c", State: weir.CallStarted, StartedAt: now},
		{Step: "stp", ID: "asks", Name: "d", State: weir.CallWaiting},
	}
	d.mu.Unlock()
	hub.signals <- weir.Signal{Conversation: "c", State: true}
	state := d.told(r, "state")
	if s := fmt.Sprint(state["calls"]); s != "[map[call:asks name:d state:waiting step:stp] "+
		"map[call:runs name:c started_at:2026-11-30T12:00:00.123Z state:started step:stp] "+
		"map[call:decided decision:allow name:b state:waiting step:stp]]" {
		t.Errorf("calls: %s", s)
	}
	if step := state["step"].(map[string]any); step["next_try"] != nil || step["text"] != nil || step["code"] != "overloaded" {
		t.Errorf("step: %.300v", step)
	}
	d.mu.Lock()
	for i := range 500 {
		d.calls = append(d.calls, weir.Call{Step: "stp", ID: fmt.Sprint("more", i), Name: "e", State: weir.CallStarted})
	}
	d.mu.Unlock()
	hub.signals <- weir.Signal{Conversation: "c", State: true}
	if n := len(d.told(r, "state")["calls"].([]any)); n != 100 {
		t.Errorf("%d calls in one event", n)
	}
	d.mu.Lock()
	d.step, d.calls = nil, nil
	d.mu.Unlock()
	hub.signals <- weir.Signal{Conversation: "c", State: true}
	if state := d.told(r, "state"); state["step"] != nil || len(state["calls"].([]any)) != 0 {
		t.Errorf("after the step: %v", state)
	}
}

func TestTheTimelineSaysHowFarACallHasCome(t *testing.T) {
	d := serve(t, nil)
	answer := func(seq weir.Seq, step weir.StepID, calls ...string) weir.Record {
		m := &weir.AssistantMessage{Step: step}
		for _, id := range calls {
			m.Parts = append(m.Parts, weir.Part{Type: weir.PartToolCall, Call: id, Name: "t", Input: json.RawMessage("{}")})
		}
		return weir.Record{Conversation: "c", Seq: seq, ID: weir.MessageID(fmt.Sprint("m", seq)), Time: now, Body: m}
	}
	d.records = []weir.Record{answer(1, "old", "a"), answer(2, "", "imported"), answer(3, "stp", "a", "b", "c", "d")}
	d.step = &weir.Step{ID: "stp"}
	d.calls = []weir.Call{{ID: "a", State: weir.CallSettled}, {ID: "b", State: weir.CallStarted}, {ID: "c", State: weir.CallWaiting}}
	_, page := d.do("GET", "/v1/conversations/c/messages?after=0", "")
	var got []string
	for _, it := range page["items"].([]any) {
		for _, p := range it.(map[string]any)["parts"].([]any) {
			got = append(got, fmt.Sprint(p.(map[string]any)["state"]))
		}
	}
	if s := fmt.Sprint(got); s != "[settled settled settled started waiting <nil>]" {
		t.Errorf("states: %s", s)
	}
}

func TestOnlyAPersonDecidesAboutACall(t *testing.T) {
	d := serve(t, nil) // whose actor may not confirm
	status, p := d.do("POST", "/v1/conversations/c/approvals/x", `{"decision":"allow"}`)
	if status != http.StatusForbidden || p["code"] != "may_not_decide" {
		t.Errorf("%d %v", status, p)
	}
}

func (r *rooms) Artefact(_ context.Context, _ *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error) {
	if id != "art" {
		return weir.Artefact{}, weir.Fault(weir.NotFound, "whatever", "")
	}
	return weir.Artefact{Text: "<script>alert(1)</script>\n中"}, nil
}

func TestAnArtefactIsTextWhateverItHolds(t *testing.T) {
	d := serve(t, nil)
	resp, err := http.Get(d.url + "/v1/conversations/c/artefacts/art")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if string(body) != "<script>alert(1)</script>\n中" {
		t.Errorf("it is %q", body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-store",
	} {
		if got := resp.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, path := range []string{"c/artefacts/other", "c/artefacts/%00"} {
		if status, p := d.do("GET", "/v1/conversations/"+path, ""); status != 404 || p["code"] != "artefact_not_found" {
			t.Errorf("%s: %d %v", path, status, p)
		}
	}
	if status, p := d.do("GET", "/v1/conversations/other/artefacts/art", ""); status != 404 || p["code"] != weir.CodeConversationNotFound {
		t.Errorf("of another conversation: %d %v", status, p)
	}
}
