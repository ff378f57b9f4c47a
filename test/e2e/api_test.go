package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

func TestAPostUnderAnIdempotencyKeyIsDoneOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		under := func(key, path, body string) answer {
			return w.do(ask{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": key}})
		}
		const path = "/v1/conversations"
		first := under("k1", path, `{"title":"a","workspace":"/w"}`).is(201)
		again := under("k1", path, "{\"workspace\": \"/w\",\n \"title\": \"\\u0061\"}").is(201)
		if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s, and again %s", first.body, again.body)
		}
		under("k1", path, `{"title":"b","workspace":"/w"}`).problem(409, "idempotency_conflict")
		under("k2", path, `{"kind":"x"}`).is(400)
		under("k2", path, `{"title":"c"}`).is(201) // a refusal is not remembered
		_, mid := w.say(first.id(), "hello")
		child := under("k1", at(first.id(), "branch"), `{"at":"`+mid+`"}`).is(201).id() // another route
		w.restart()
		if again := under("k1", at(first.id(), "branch"), `{"at":"`+mid+`"}`).is(201); again.id() != child {
			t.Errorf("after a restart it made %s beside %s", again.id(), child)
		}
		var all sync.WaitGroup
		ids := make([]string, 8)
		for i := range ids {
			all.Go(func() { ids[i] = under("k3", path, `{"title":"d"}`).id() })
		}
		all.Wait()
		if slices.Sort(ids); ids[0] == "" || ids[0] != ids[7] {
			t.Errorf("eight at once made %v", ids)
		}
		c := first.id()
		in := under("k1", at(c, "messages"), `{"text":"once"}`).is(202).object()["input"].(m)["id"]
		if again := under("k1", at(c, "messages"), `{ "text":"once" }`).is(202).object()["input"].(m)["id"]; again != in {
			t.Errorf("a message under a key was admitted as %v and as %v", in, again)
		}
		under("k1", at(c, "messages"), `{"text":"twice"}`).problem(409, "idempotency_conflict")
		under("k2", at(c, "messages"), `{"text":"once"}`).is(202)
		if n := len(w.get(path + "?limit=100").is(200).object()["items"].([]any)); n != 4 {
			t.Errorf("%d conversations, want 4", n)
		}
	})
}

func TestAMessageUnderTheSameIdIsAdmittedOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		body := m{"id": "inp_mine", "text": "hello"}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { w.post(at(c, "messages"), body).is(202) })
		}
		all.Wait()
		w.post(at(c, "messages"), m{"id": "inp_mine", "text": "other"}).problem(409, "input_conflict")
		w.say(c, "done")
		n := 0
		for _, i := range w.timeline(c, "") {
			if i["input"] == "inp_mine" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("it is in the timeline %d times", n)
		}
	})
}

func TestTheRequestOfAStepIsWhatTheModelGot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, c := w.create(m{}), w.create(m{})
		said, _ := w.say(source, "a </quote> and </framework>")
		w.say(c, "one", quote(source, said))
		w.do(ask{method: "DELETE", path: at(source)}).is(200)
		w.restart()
		w.say(c, "two")
		bodies := w.peer.Bodies()
		steps := w.get(at(c, "steps")).is(200).object()["items"].([]any)
		if len(steps) != 2 {
			t.Fatalf("%d steps", len(steps))
		}
		for i, s := range steps {
			step := s.(m)
			sid := step["id"].(string)
			got := w.get(at(c, "steps", sid, "request")).is(200)
			sent := bodies[len(bodies)-1-i] // newest first
			if !bytes.Equal(got.body, sent) {
				t.Errorf("step %d: rebuilt\n%s\nand the model got\n%s", i, got.body, sent)
			}
			if got.header.Get("X-Weir-Verified") != "true" || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("headers %v", got.header)
			}
			if sum := sha256.Sum256(sent); step["request_sha256"] != hex.EncodeToString(sum[:]) {
				t.Errorf("step %d: digest %v", i, step["request_sha256"])
			}
			if one := w.get(at(c, "steps", sid)).is(200).object(); one["state"] != "done" || one["usage"] == nil {
				t.Errorf("step: %v", one)
			}
			w.get(at(source, "steps", sid)).problem(404, "conversation_not_found")
		}
		page := w.get(at(c, "steps") + "?limit=1").is(200).object()
		rest := w.get(at(c, "steps") + "?limit=1&cursor=" + page["next"].(string)).is(200).object()
		if a, b := page["items"].([]any)[0].(m)["id"], rest["items"].([]any)[0].(m)["id"]; a == b {
			t.Error("the second page repeats the first")
		}
	})
}

func TestIdsMayHoldAnyCharacters(t *testing.T) {
	ids := []string{"a/b", "...", "../x", "a b+c%2F", "ü?#&=", "👩‍👩‍👧 中文", strings.Repeat("x", 512), "//", "events", "a\nb", `"\`}
	each(t, func(t *testing.T, w *world) {
		for _, id := range ids {
			if got := w.create(m{"id": id}); got != id {
				t.Errorf("asked for %q, got %q", id, got)
				continue
			}
			asked, _ := w.say(id, "hello")
			if got := w.get(at(id)).is(200).id(); got != id {
				t.Errorf("%q reads as %q", id, got)
			}
			if got := w.get(at(id, "messages", asked)).is(200).id(); got != asked {
				t.Errorf("%q: message %q", id, got)
			}
			w.post(at(id, "interrupt"), m{}).is(202)
		}
		target := w.create(m{})
		for _, id := range ids[:6] {
			mid := w.timeline(id, "")[0]["id"].(string)
			for _, i := range w.timeline(id, "") {
				if i["kind"] == "user" {
					mid = i["id"].(string)
				}
			}
			w.say(target, "look", quote(id, mid))
		}
	})
}

func TestTheTimelineIsReadInPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		for i := range 7 {
			w.say(c, fmt.Sprint("message ", i))
		}
		all := w.timeline(c, "")
		seqs := func(items []m) (s []int) {
			for _, i := range items {
				s = append(s, int(i["seq"].(float64)))
			}
			return s
		}
		whole := seqs(all)
		if !slices.IsSorted(whole) || len(whole) != 14 { // seven times two; an automatic title is no event
			t.Fatalf("the timeline is %v", whole)
		}
		check := func(query string, want []int) {
			t.Helper()
			if got := seqs(w.timeline(c, query)); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		check("?limit=4", whole[10:])
		check(fmt.Sprintf("?limit=4&before=%d", whole[10]), whole[6:10])
		check(fmt.Sprintf("?limit=4&after=%d", whole[3]), whole[4:8])
		check(fmt.Sprintf("?after=%d&before=%d", whole[3], whole[6]), whole[4:6])
		check("?after=0&limit=500", whole)
		check("?after=999", nil)
		check("?before=1", nil)
		check("?generation=gen_x", nil)
		check("?generation="+all[0]["generation"].(string), whole)
		for _, first := range []string{"?limit=4", "?limit=4&after=0"} {
			var got []int
			next := first
			for pages := 0; next != "" && pages < 9; pages++ {
				page := w.get(at(c, "messages") + next).is(200).object()
				var items []m
				for _, i := range page["items"].([]any) {
					items = append(items, i.(m))
				}
				got = append(got, seqs(items)...)
				if next, _ = page["next"].(string); next != "" {
					next = "?limit=4&cursor=" + next
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, whole) {
				t.Errorf("%s and on: %v, want %v", first, got, whole)
			}
		}
	})
}

func TestARewindHidesAndAnUndoShowsAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{"title": "T"})
		_, keep := w.say(c, "one")
		w.say(c, "two")
		done := w.post(at(c, "rewind"), m{"to": keep, "if_seq": w.head(c)}).is(200).object()
		texts := func(query string) (all []string) {
			for _, i := range w.timeline(c, query) {
				if i["kind"] == "user" {
					all = append(all, i["text"].(string))
				}
			}
			return all
		}
		if got := texts(""); !slices.Equal(got, []string{"one"}) {
			t.Errorf("after the rewind it shows %v", got)
		}
		if got := texts("?hidden=include"); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("with what is hidden it shows %v", got)
		}
		for _, i := range w.timeline(c, "?hidden=include") {
			seq := i["seq"].(float64)
			if hidden := i["hidden"] == true; hidden != (seq >= done["from"].(float64) && seq <= done["upto"].(float64)) {
				t.Errorf("%v is hidden: %v, and %v to %v are", seq, hidden, done["from"], done["upto"])
			}
		}
		w.post(at(c, "rewind", "undo"), nil).is(200)
		if got := texts(""); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("after the undo it shows %v", got)
		}
		w.post(at(c, "rewind"), m{"to": keep, "if_seq": w.head(c)}).is(200)
		w.say(c, "three")
		bodies := w.peer.Bodies()
		if last := string(bodies[len(bodies)-1]); strings.Contains(last, `"two"`) || !strings.Contains(last, `"three"`) {
			t.Errorf("the model got %s", last)
		}
	})
}

func TestARewindStopsARunningAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		_, keep := w.say(c, "one")
		never := make(chan struct{})
		w.peer.Script(strictpeer.Answer{strictpeer.Say("so far"), strictpeer.Hold(never)})
		s := w.watch(c, w.head(c))
		defer s.close()
		w.post(at(c, "messages"), m{"text": "two"}).is(202)
		s.until(func(e event) bool { return e.name == "delta" && e.data["text"] != nil })
		w.post(at(c, "rewind"), m{"to": keep, "if_seq": w.head(c)}).is(200)
		s.until(func(e event) bool { return e.item["kind"] == "rewind" })
		for _, i := range w.timeline(c, "") {
			if i["text"] == "two" || i["text"] == "so far" {
				t.Errorf("it still shows %v", i)
			}
		}
		w.say(c, "three")
	})
}

func TestReplacingAMessageRewindsAndSendsWithItsOldReferences(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, c := w.create(m{}), w.create(m{"title": "T"})
		said, _ := w.say(source, "codeword heron")
		asked, _ := w.say(c, "wich?", quote(source, said))
		w.post(at(c, "messages"), m{"text": "which?", "replaces": asked, "if_seq": w.head(c), "references": []m{quote(source, said)}}).is(202)
		w.say(c, "and then?")
		var shown []string
		for _, i := range w.timeline(c, "") {
			if i["kind"] == "user" {
				shown = append(shown, i["text"].(string))
				if refs, _ := i["references"].([]any); i["text"] == "which?" && len(refs) != 1 {
					t.Errorf("the new message has references %v", refs)
				}
			}
		}
		if !slices.Equal(shown, []string{"which?", "and then?"}) {
			t.Errorf("it shows %v", shown)
		}
	})
}

func TestTheWholeTextOfAQuoteIsReadThroughItsTarget(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, target := w.create(m{"title": "S"}), w.create(m{})
		text := strings.Repeat("long ", 200)
		said, _ := w.say(source, text)
		asked, _ := w.say(target, "look", quote(source, said), pointer(source))
		item := w.get(at(target, "messages", asked)).is(200).object()
		card := item["references"].([]any)[0].(m)
		if card["title"] != "S" || len(card["excerpt"].(string)) != 280 || card["note"] != nil || card["source_scope"] != nil || card["confirmation"] != nil {
			t.Errorf("the card is %v", card)
		}
		w.do(ask{method: "DELETE", path: at(source)}).is(200)
		if body := w.get(at(target, "messages", asked, "references", "0", "body")).is(200).object(); body["text"] != text || body["role"] != "user" {
			t.Errorf("the body is %v", body)
		}
		if body := w.get(at(target, "messages", asked, "references", "1", "body")).is(200).object(); body["text"] != "" || body["type"] != "pointer" {
			t.Errorf("the pointer's is %v", body)
		}
		w.get(at(target, "messages", asked, "references", "2", "body")).problem(404, "reference_not_found")
	})
}

func TestDeletingListsBranchesFirstAndThenWhereQuotesStay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		source, target := w.create(m{"title": "S"}), w.create(m{"title": "T"})
		said, _ := w.say(source, "codeword heron")
		asked, _ := w.say(target, "look", quote(source, said))
		child := w.branch(source, nil)
		p := w.do(ask{method: "DELETE", path: at(source)}).problem(409, "branches_undecided")
		if list := p["branches"].([]any); len(list) != 1 || list[0].(m)["id"] != child {
			t.Errorf("it lists %v", p)
		}
		got := w.do(ask{method: "DELETE", path: at(source) + "?branches=keep"}).is(200).object()
		copies := got["copies"].([]any)
		if len(copies) != 1 {
			t.Fatalf("copies: %v", copies)
		}
		if c := copies[0].(m); c["conversation"] != target || c["title"] != "T" || c["in"] != asked || c["link"] != "/#/c/"+target+"/m/"+asked {
			t.Errorf("the copy is %v", c)
		}
		w.get(at(source)).problem(404, "conversation_not_found")
		w.say(child, "still here")
		w.say(target, "you too")
	})
}

func TestAFailedStepLeavesTheConversationUsableAndRetryGoesOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		w.peer.Script(strictpeer.Answer{strictpeer.Fail(401, "")})
		s := w.watch(c, 0)
		defer s.close()
		w.post(at(c, "messages"), m{"text": "hello"}).is(202)
		end := s.until(func(e event) bool { return e.item["kind"] == "step_end" })
		if end.item["outcome"] != "failed" || end.item["reason"] == "" {
			t.Errorf("the timeline says %v", end.item)
		}
		s.until(func(e event) bool { return e.name == "state" && e.data["state"] == "idle" })
		w.post(at(c, "retry"), m{"if_seq": w.head(c)}).is(202)
		s.until(func(e event) bool { return e.item["kind"] == "assistant" })
	})
}

func TestCandidatesSayWhatWouldBeAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		target := w.create(m{"title": "target", "workspace": "/a"})
		near := w.create(m{"title": "Nginx notes", "workspace": "/a"})
		far := w.create(m{"title": "nginx secrets", "workspace": "/b", "visibility": isolated})
		w.create(m{"title": "else"})
		w.say(near, "x")
		w.say(far, "x")
		items := w.get(at(target, "candidates") + "?query=NGINX").is(200).object()["items"].([]any)
		if len(items) != 2 {
			t.Fatalf("candidates: %v", items)
		}
		a, b := items[0].(m), items[1].(m)
		if a["conversation"] != near || a["flow"] != "free" || a["same_workspace"] != true || b["conversation"] != far || b["flow"] != "confirm" || b["recall"] != false {
			t.Errorf("candidates: %v", items)
		}
		w.get(at(target, "candidates")+"?limit=51").problem(400, "parameter_invalid")
	})
}
