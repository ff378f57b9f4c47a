package e2e

import (
	"strings"
	"testing"
	"time"
)

// cell is one row of the table in gate.md §1.
type cell struct {
	source, target string
	asks           bool
	reasons        []string
	make           func(w *world) (source, target string)
}

func (w *world) pair(source, target any) (string, string) {
	w.Helper()
	return w.create(m{"title": "the source", "visibility": source}), w.create(m{"title": "the target", "visibility": target})
}

// branch makes a child at the newest answer of a conversation that has one.
func (w *world) branch(parent string, visibility any) string {
	w.Helper()
	_, answered := w.say(parent, "before the branch")
	body := m{"at": answered, "title": "the branch"}
	if visibility != nil {
		body["visibility"] = visibility
	}
	return w.post(at(parent, "branch"), body).is(201).id()
}

var isolated, open = m{"level": "isolated"}, m{"level": "open"}

func category(c string) m { return m{"category": c} }

func matrix() []cell {
	plain := func(source, target any) func(*world) (string, string) {
		return func(w *world) (string, string) { return w.pair(source, target) }
	}
	island, label := []string{"isolation"}, []string{"category"}
	return []cell{
		{"open", "open", false, nil, plain(open, open)},
		{"open", "isolated", false, nil, plain(open, isolated)},
		{"isolated", "open", true, island, plain(isolated, open)},
		{"isolated", "another island", true, island, plain(isolated, isolated)},
		{"isolated", "its own branch", false, nil, func(w *world) (string, string) {
			source := w.create(m{"title": "the source", "visibility": isolated})
			return source, w.branch(source, nil)
		}},
		{"nested island", "the island around it", true, island, func(w *world) (string, string) {
			around := w.create(m{"title": "the target", "visibility": isolated})
			return w.branch(around, isolated), around
		}},
		{"an island", "a nested island in it", false, nil, func(w *world) (string, string) {
			around := w.create(m{"title": "the source", "visibility": isolated})
			return around, w.branch(around, isolated)
		}},
		{"category A", "category A", false, nil, plain(category("A"), category("A"))},
		{"category A", "category B", true, label, plain(category("A"), category("B"))},
		{"category A", "none", true, label, plain(category("A"), open)},
		{"none", "category A", false, nil, plain(open, category("A"))},
		{"isolated in category A", "open in category B", true, []string{"isolation", "category"},
			plain(m{"level": "isolated", "category": "A"}, category("B"))},
	}
}

func TestTheMatrixOfWhoMayHandWhatToWhom(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, c := range matrix() {
			for _, form := range []string{"quote", "pointer"} {
				t.Run(form+" from "+c.source+" to "+c.target, func(t *testing.T) {
					in := *w
					in.TB = t
					in.cell(c, form)
				})
			}
		}
		if refused := w.peer.Refusals(); len(refused) > 0 {
			t.Errorf("the peer refused: %v", refused)
		}
	})
}

func (w *world) cell(c cell, form string) {
	w.Helper()
	source, target := c.make(w)
	said, _ := w.say(source, "codeword heron")
	ref := quote(source, said)
	if form == "pointer" {
		ref = pointer(source)
	}
	preview := w.post("/v1/references/preview", m{"target": target, "reference": ref}).is(200).object()
	if preview["needs_confirmation"] != c.asks {
		w.Fatalf("the preview says needs_confirmation %v, want %v", preview["needs_confirmation"], c.asks)
	}
	if c.asks {
		ref = w.refusedUntilConfirmed(c, source, target, ref, preview)
	}
	sent := len(w.peer.Bodies())
	w.say(target, "what did we say there?", ref)
	bodies := w.peer.Bodies()
	request := string(bodies[len(bodies)-1])
	if want := map[string]string{"quote": "codeword heron", "pointer": source}[form]; len(bodies) != sent+1 || !strings.Contains(request, want) {
		w.Errorf("the model got %s, without %q", request, want)
	}
	var flows struct{ Items []m }
	w.get("/v1/flows?target=" + target + "&source=" + source).is(200).into(&flows)
	crossed := false
	for _, f := range flows.Items {
		if f["form"] == form {
			crossed = f["crossing"].(bool)
			if c.asks && f["confirmation"] != preview["confirmation"] {
				w.Errorf("the crossing is on record with %v, and the person saw %v", f["confirmation"], preview["confirmation"])
			}
		}
	}
	if crossed != c.asks {
		w.Errorf("on record as a crossing: %v, want %v; rows %v", crossed, c.asks, flows.Items)
	}
}

// refusedUntilConfirmed sends without a decision, without the digest, and with
// another one. None of it may leave a trace: not in the store, not at the
// model, not with those who watch.
func (w *world) refusedUntilConfirmed(c cell, source, target string, ref, preview m) m {
	w.Helper()
	before, sent := w.everything(source, target), len(w.peer.Bodies())
	watching := w.watch(target, w.head(target))
	defer watching.close()
	if e := watching.next(); e.name != "snapshot" {
		w.Fatalf("a stream begins with %s", e.name)
	}
	list := w.open("/v1/events", "")
	defer list.close()
	if e := list.next(); e.name != "reset" {
		w.Fatalf("the list's stream begins with %s", e.name)
	}
	send := func(more m, code string) m {
		return w.post(at(target, "messages"), m{"text": "x", "references": []m{with(ref, more)}}).problem(409, code)
	}
	p := send(nil, "confirmation_required")
	send(m{"confirmed": true}, "confirmation_required")
	send(m{"seen": preview["digest"]}, "confirmation_required")
	send(m{"confirmed": false, "seen": preview["digest"]}, "confirmation_required")
	send(m{"confirmed": true, "seen": "bm90IGl0"}, "confirmation_stale")
	shown := p["previews"].([]any)[0].(m)
	if p["reference"] != 0.0 || shown["digest"] != preview["digest"] || shown["confirmation"] != preview["confirmation"] || shown["confirmation"] == "" {
		w.Errorf("the refusal carries %v, and the preview was %v", p, preview)
	}
	var reasons []string
	for _, r := range shown["reasons"].([]any) {
		reasons = append(reasons, r.(string))
	}
	if strings.Join(reasons, " ") != strings.Join(c.reasons, " ") {
		w.Errorf("reasons %v, want %v", reasons, c.reasons)
	}
	if w.everything(source, target) != before || len(w.peer.Bodies()) != sent {
		w.Error("a refusal left something in the store or at the model")
	}
	// What watchers see next is this, so they have seen nothing of the refusals.
	title := "renamed at " + time.Now().String()
	w.patch(at(target), m{"title": title}).is(200)
	if e := watching.next(); e.name != "state" || e.data["title"] != title {
		w.Errorf("who watches the target saw %s %s", e.name, e.raw)
	}
	if e := list.next(); e.name != "conversation" || e.data["title"] != title {
		w.Errorf("who watches the list saw %s %s", e.name, e.raw)
	}
	// The sentence names the target's title, so the old digest is stale now.
	fresh := send(m{"confirmed": true, "seen": preview["digest"]}, "confirmation_stale")["previews"].([]any)[0].(m)
	preview["confirmation"] = fresh["confirmation"]
	return with(ref, m{"confirmed": true, "seen": fresh["digest"]})
}

// T25: a wall that went up between the question and the answer.
func TestAConfirmationOfWhatChangedMeanwhileCountsForNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, target := w.pair(category("X"), open)
		said, _ := w.say(source, "codeword heron")
		ref := quote(source, said)
		seen := w.post("/v1/references/preview", m{"target": target, "reference": ref}).is(200).object()["digest"]
		w.patch(at(source), m{"visibility": isolated}).is(200)
		before, sent := w.everything(), len(w.peer.Bodies())
		body := m{"text": "look", "references": []m{with(ref, m{"confirmed": true, "seen": seen})}}
		p := w.post(at(target, "messages"), body).problem(409, "confirmation_stale")
		fresh := p["previews"].([]any)[0].(m)
		if got := fresh["reasons"].([]any); len(got) != 2 || got[0] != "isolation" || got[1] != "category" {
			t.Errorf("the new reasons are %v", got)
		}
		if w.everything() != before || len(w.peer.Bodies()) != sent {
			t.Error("something happened all the same")
		}
		w.say(target, "look", with(ref, m{"confirmed": true, "seen": fresh["digest"]}))
	})
}

func TestTakingAWallDownOverHTTPAsksFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		top := w.create(m{"title": "top", "visibility": isolated})
		child := w.branch(top, nil)
		before := w.everything()
		p := w.patch(at(top), m{"visibility": open}).problem(409, "confirmation_required")
		if p["descendants"] != 1.0 || p["confirmation"] == "" || p["digest"] == "" || len(p["reasons"].([]any)) != 1 {
			t.Errorf("it asks %v", p)
		}
		if w.everything() != before {
			t.Error("the refusal changed something")
		}
		got := w.patch(at(top), m{"visibility": open, "confirmed": true, "seen": p["digest"]}).is(200).object()
		if v := got["visibility"].(m); v["level"] != "open" || len(v["island"].([]any)) != 0 {
			t.Errorf("it is %v now", v)
		}
		if v := w.get(at(child)).is(200).object()["visibility"].(m); len(v["island"].([]any)) != 0 {
			t.Errorf("its branch is %v", v)
		}
		var rows struct{ Items []m }
		w.get("/v1/crossings").is(200).into(&rows)
		if len(rows.Items) != 2 {
			t.Errorf("%d crossings are on record, want one for each conversation that was opened", len(rows.Items))
		}
	})
}
