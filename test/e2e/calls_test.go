package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "weir/test/strictpeer/strictpeer"
)

// states are what the timeline says of each call, in order.
func (w *world) states(c string) (states []string) {
	w.Helper()
	for _, i := range w.timeline(c, "") {
		parts, _ := i["parts"].([]any)
		for _, p := range parts {
			if p.(m)["type"] == "tool_call" {
				states = append(states, fmt.Sprint(p.(m)["call"], " ", p.(m)["state"]))
			}
		}
	}
	return states
}

func TestWhoDecidesSeesWhatTheCallsWouldDoAndTheTimelineHowFarTheyAre(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withTools("ask")
		w.peer.Script(Answer{Call("c1", "t__echo", `{"text":"one"}`), Call("c2", "t__echo", `{"text":"two"}`)}, Answer{Say("done")})
		c := w.create(m{})
		w.send(c, "go")
		w.until(c, "both wait", func() bool { return w.state(c) == "waiting" })
		waiting := w.get(at(c, "approvals")).is(200).object()["items"].([]any)
		if len(waiting) != 2 || waiting[0].(m)["call"] != "c1" || waiting[0].(m)["name"] != "t__echo" ||
			!strings.Contains(waiting[1].(m)["input"].(string), `"two"`) {
			t.Fatalf("waiting: %v", waiting)
		}
		if got := w.states(c); !slices.Equal(got, []string{"c1 waiting", "c2 waiting"}) {
			t.Errorf("the timeline says %v", got)
		}
		w.decide(c, "c1", "allow").is(202)
		w.until(c, "the first has run", func() bool { return slices.Equal(w.states(c), []string{"c1 settled", "c2 waiting"}) })
		w.decide(c, "c1", "deny").problem(404, "call_not_found")
		left := w.get(at(c, "approvals")).is(200).object()["items"].([]any)
		if len(left) != 1 || left[0].(m)["call"] != "c2" {
			t.Errorf("after one decision: %v", left)
		}
		w.decide(c, "c2", "allow").is(202)
		w.rests(c)
		if got := w.states(c); !slices.Equal(got, []string{"c1 settled", "c2 settled"}) {
			t.Errorf("the timeline says %v", got)
		}
		var said []string
		for _, i := range w.timeline(c, "") {
			if a, ok := i["approval"].(m); ok {
				said = append(said, fmt.Sprint(a["call"], " ", a["name"], " ", a["decision"]))
			}
		}
		if !slices.Equal(said, []string{"c1 t__echo allow", "c2 t__echo allow"}) {
			t.Errorf("decisions in the timeline: %v", said)
		}
		if left := w.get(at(c, "approvals")).is(200).object()["items"].([]any); len(left) != 0 {
			t.Errorf("still waiting: %v", left)
		}
	})
}

func TestABranchHasTheArtefactsOfWhatItInheritsAndNoOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withTools("allow")
		fill := func() Answer { return Answer{Use("t__fill", `{"bytes":100000}`)} }
		w.peer.Script(fill(), Answer{Say("fine")}, fill(), Answer{Say("again")})
		c := w.create(m{})
		w.say(c, "go")
		items := w.timeline(c, "")
		child := w.post(at(c, "branch"), m{"at": items[len(items)-1]["id"]}).is(201).id()
		w.say(c, "more")
		var ids []string
		for _, i := range w.timeline(c, "") {
			if tool, ok := i["tool"].(m); ok {
				ids = append(ids, tool["artefact"].(string))
				if tool["size"] != 100000.0 {
					t.Errorf("its size is %v", tool["size"])
				}
			}
		}
		if len(ids) != 2 {
			t.Fatalf("artefacts: %v", ids)
		}
		got := w.get(at(child, "artefacts", ids[0])).is(200)
		if len(got.body) != 100000 || got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d bytes, %v", len(got.body), got.header)
		}
		w.get(at(child, "artefacts", ids[1])).problem(404, "artefact_not_found")
		w.get(at(w.create(m{}), "artefacts", ids[0])).problem(404, "artefact_not_found")
	})
}
