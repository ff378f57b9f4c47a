package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "weir/test/strictpeer/strictpeer"
	"weir/test/toolserver"
)

// began waits until a held call runs.
func (w *world) began(s *toolserver.Server, name string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.must(s.Began(ctx, name))
}

// offered waits until the tools are there, so that the first epoch has them.
func (w *world) offered(n int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for ctx.Err() == nil {
		if strings.Count(string(w.get("/v1/tools").is(200).body), `"name":"t__`) >= n {
			return
		}
	}
	w.Fatalf("the tools are %s", w.get("/v1/tools").body)
}

func held(name string) Act { return Use("t__hold", fmt.Sprintf(`{"name":%q}`, name)) }

func TestASteerWhileToolsRunComesAfterTheirResults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		w.peer.Otherwise(func(*Request) Answer { return Answer{Say("fine")} })
		w.peer.Script(Answer{Say("Two things."), held("a"), held("b")})
		c := w.create(m{})
		w.send(c, "go")
		w.began(tools, "a")
		w.began(tools, "b")
		w.send(c, "one")
		w.send(c, "later", m{"delivery": "queue"})
		w.send(c, "two")
		tools.Release("b", "b is done")
		w.until(c, "the result is there", func() bool { return strings.Contains(fmt.Sprint(w.timeline(c, "")), "b is done") })
		if n := len(w.peer.Bodies()); n != 1 {
			t.Errorf("%d requests while a tool runs", n)
		}
		tools.Release("a", "a is done")
		w.rests(c)
		w.sections(c, "go", [][]string{
			{"user: go"},
			{"result: a is done", "result: b is done", "user: one", "user: two"},
			{"user: later"},
		})
		w.accepted()
		w.verified()
	})
}

func TestAnInterruptSettlesEveryCallOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		w.peer.Otherwise(func(*Request) Answer { return Answer{Say("fine")} })
		for done := range 4 { // how many have settled when the person interrupts
			w.interrupted(tools, done)
		}
		w.accepted()
		w.verified()
	})
}

func (w *world) interrupted(tools *toolserver.Server, done int) {
	w.Helper()
	first := fmt.Sprint("go ", done)
	name := func(i int) string { return fmt.Sprintf("%s/%d/%d", w.Name(), done, i) }
	w.peer.When(Opening(first), Answer{Think("hm"), held(name(0)), held(name(1)), held(name(2))})
	c := w.create(m{})
	w.send(c, first)
	for i := range 3 {
		w.began(tools, name(i))
	}
	w.send(c, "waiting", m{"delivery": "queue"})
	for i := range min(done, 2) { // from the last backwards
		tools.Release(name(2-i), "done")
		w.until(c, "a result is there", func() bool {
			return strings.Count(fmt.Sprint(w.timeline(c, "")), "text:done") == i+1
		})
	}
	if done == 3 { // at the very moment
		go tools.Release(name(0), "done")
	}
	w.post(at(c, "interrupt"), nil).is(202)
	w.post(at(c, "interrupt"), nil).is(202)
	w.until(c, "it stops", func() bool { return w.state(c) != "running" })
	if got := w.pending(c); !slices.Equal(got, []string{"waiting"}) && done < 3 {
		w.Errorf("%d done: %q wait", done, got)
	}
	w.send(c, "go on")
	w.rests(c)
	requests := w.requests(first)
	var results []string
	for _, l := range requests[len(requests)-1].Lines {
		if strings.HasPrefix(l, "result: ") {
			results = append(results, l)
		}
	}
	const cut = "result: interrupted; it may or may not have taken effect"
	want := [][]string{{cut, cut, cut}, {cut, cut, "result: done"}, {cut, "result: done", "result: done"}}
	if len(results) != 3 || done < 3 && !slices.Equal(results, want[done]) {
		w.Errorf("%d done: the results are %q", done, results)
	}
	for i := range 3 {
		if n := tools.Ran("hold " + name(i)); n != 1 {
			w.Errorf("%d done: call %d ran %d times", done, i, n)
		}
	}
}

func TestAnInterruptThenSteersGoesOnWithSteersOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		tools := w.withTools("allow")
		w.peer.Otherwise(func(*Request) Answer { return Answer{Say("fine")} })
		w.peer.Script(Answer{held("x")})
		c := w.create(m{})
		w.send(c, "go")
		w.began(tools, "x")
		w.send(c, "later", m{"delivery": "queue"})
		w.send(c, "rather this")
		w.post(at(c, "interrupt"), m{"then": "steer"}).is(202)
		w.until(c, "the steer is answered", func() bool { return strings.Contains(w.answers(c), "fine") && w.state(c) != "running" })
		if got := w.pending(c); !slices.Equal(got, []string{"later"}) {
			t.Errorf("%q wait", got)
		}
		w.send(c, "and now the rest")
		w.rests(c)
		w.accepted()
		w.verified()
	})
}

func TestAResultThatIsTooLongIsCutAndKeptWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withTools("allow")
		w.peer.Script(Answer{Use("t__fill", `{"bytes":100000}`)}, Answer{Say("fine")})
		c := w.create(m{})
		w.send(c, "go")
		w.rests(c)
		requests := w.requests("go")
		result := requests[len(requests)-1].said()[0]
		if len(result) > 33<<10 || !strings.HasPrefix(result, "result: 0123456789abcde\n") || !strings.HasSuffix(result, "0123456789abcde\n") {
			t.Errorf("%d bytes: %s", len(result), short([]byte(result)))
		}
		var id string
		for _, i := range w.timeline(c, "") {
			if tool, ok := i["tool"].(m); ok && tool["artefact"] != nil {
				id = tool["artefact"].(string)
			}
		}
		whole := w.get(at(c, "artefacts", id)).is(200).body
		if len(whole) != 100000 || !strings.Contains(result, id) {
			t.Errorf("the whole has %d bytes; is it named in the result? %v", len(whole), strings.Contains(result, id))
		}
		w.accepted()
		w.verified()
	})
}
