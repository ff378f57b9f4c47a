package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

func TestEveryConnectBeginsWithASnapshotAndGoesOnWhereItWasLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		w.say(c, "one")
		head := w.head(c)
		s := w.watch(c, 0)
		first := s.next()
		if first.name != "snapshot" || first.id != "" || first.data["state"] != "idle" || first.data["head_seq"] != float64(head) {
			t.Fatalf("it begins with %s %s", first.name, first.raw)
		}
		var ids []string
		for len(ids) < len(w.timeline(c, "")) {
			e := s.next()
			if e.name != "item" || e.id != fmt.Sprint(e.item["seq"]) {
				t.Fatalf("then comes %s with id %q: %s", e.name, e.id, e.raw)
			}
			ids = append(ids, e.id)
		}
		s.close()
		// Last-Event-ID counts before after.
		again := w.open(at(c, "events")+"?after=0", ids[0])
		again.next()
		if e := again.next(); e.id != ids[1] {
			t.Errorf("after %s comes %s, want %s", ids[0], e.id, ids[1])
		}
		again.close()
		// Without either it begins at the head.
		now := w.open(at(c, "events"), "")
		now.next()
		w.patch(at(c), m{"title": "renamed"}).is(200)
		if e := now.next(); e.name != "state" || e.data["title"] != "renamed" {
			t.Errorf("from the head on comes %s %s", e.name, e.raw)
		}
		now.close()
	})
}

func TestWhoComesInTheMiddleOfAnAnswerGetsAllOfIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		half, goOn := make(chan struct{}), make(chan struct{})
		text := strings.Repeat("中文 and more. ", 40)
		w.peer.Script(strictpeer.Answer{strictpeer.Say(text), strictpeer.Hold(half), strictpeer.Say("The end."), strictpeer.Hold(goOn)})
		early := w.watch(c, 0)
		defer early.close()
		w.post(at(c, "messages"), m{"text": "go"}).is(202)
		got := ""
		early.until(func(e event) bool { // all that comes before the pause
			if e.name == "delta" {
				s, _ := e.data["text"].(string)
				if s != "" && int(e.data["offset"].(float64)) != len(got) {
					t.Errorf("a delta at %v where %d was due", e.data["offset"], len(got))
				}
				got += s
			}
			return got == text
		})
		late := w.watch(c, 0)
		defer late.close()
		snap := late.next()
		step := snap.data["step"].(m)
		have := step["text"].(string)
		if have != text {
			t.Errorf("the snapshot has %d bytes of text, want the %d that came", len(have), len(text))
		}
		close(half)
		late.until(func(e event) bool {
			if e.name == "delta" && e.data["step"] == step["id"] && e.data["text"] != nil {
				if int(e.data["offset"].(float64)) != len(have) {
					t.Errorf("a delta at %v repeats or skips: %d were due", e.data["offset"], len(have))
				}
				have += e.data["text"].(string)
			}
			return have == text+"The end."
		})
		close(goOn)
		item := late.until(func(e event) bool { return e.item["kind"] == "assistant" })
		if item.item["text"] != have {
			t.Errorf("the item says %q and the deltas said %q", item.item["text"], have)
		}
	})
}

func TestInputsAreToldAsTheyChange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		done := make(chan struct{})
		w.peer.Script(strictpeer.Answer{strictpeer.Hold(done), strictpeer.Say("fine")})
		s := w.watch(c, 0)
		defer s.close()
		w.post(at(c, "messages"), m{"text": "go"}).is(202)
		s.until(func(e event) bool { return e.name == "state" && e.data["state"] == "running" })
		in := w.post(at(c, "messages"), m{"text": "later", "delivery": "queue"}).is(202).object()["input"].(m)
		path := at(c, "inputs", in["id"].(string))
		told := func(fits func(m) bool) event {
			return s.until(func(e event) bool { return e.name == "input" && e.data["id"] == in["id"] && fits(e.data) })
		}
		told(func(d m) bool { return d["state"] == "pending" && d["delivery"] == "queue" && d["revision"] == 1.0 })
		w.patch(path, m{"revision": 1, "text": "much later"}).is(200)
		told(func(d m) bool { return d["text"] == "much later" && d["revision"] == 2.0 && d["delivery"] == "queue" })
		w.patch(path, m{"revision": 1, "delivery": "steer"}).problem(409, "moved_on")
		w.patch(path, m{"revision": 2, "delivery": "steer"}).is(200)
		told(func(d m) bool { return d["delivery"] == "steer" })
		w.do(ask{method: "DELETE", path: path}).is(200)
		told(func(d m) bool { return d["state"] == "withdrawn" })
		w.patch(path, m{"revision": 4, "text": "no"}).is(409)
		if list := w.get(at(c, "inputs")).is(200).object()["items"].([]any); len(list) != 0 {
			t.Errorf("still waiting: %v", list)
		}
		close(done)
		s.until(func(e event) bool { return e.name == "state" && e.data["state"] == "idle" })
		for _, i := range w.timeline(c, "") {
			if i["text"] == "much later" {
				t.Error("the withdrawn input was promoted")
			}
		}
	})
}

// Many watchers whose connections break at random, while two people write,
// rewind and undo: each ends with what everybody has, in order, once.
func TestNoEventIsLostOrRepeatedHoweverOftenConnectionsBreak(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		c := w.create(m{})
		type log struct {
			ids, items []string
			connects   int
		}
		logs := make([]log, 6)
		var watchers sync.WaitGroup
		for i := range logs {
			watchers.Go(func() {
				l, dice, last := &logs[i], rand.New(rand.NewPCG(seed, uint64(i))), "0"
				for {
					l.connects++
					s := w.open(at(c, "events"), last)
					for range dice.IntN(12) {
						e, ok := s.try()
						if !ok {
							t.Errorf("watcher %d: the stream ended", i)
							return
						}
						if e.id == "" {
							continue
						}
						l.ids, l.items, last = append(l.ids, e.id), append(l.items, e.raw), e.id
						if e.item["title"] == "the end" {
							s.close()
							return
						}
					}
					s.close()
				}
			})
		}
		dice := rand.New(rand.NewPCG(seed, 99))
		for n := range 25 {
			asked, _ := w.say(c, fmt.Sprint("message ", n))
			switch dice.IntN(4) {
			case 0:
				w.post(at(c, "rewind"), m{"to": asked, "if_seq": w.head(c)}).is(200)
				w.post(at(c, "rewind", "undo"), nil).is(200)
			case 1:
				w.post(at(c, "rewind"), m{"to": asked, "if_seq": w.head(c)}).is(200)
			}
		}
		w.patch(at(c), m{"title": "the end"}).is(200)
		w.say(c, "bye") // the title's record comes at the next boundary
		watchers.Wait()
		reference := w.watch(c, 0)
		defer reference.close()
		var ids, items []string
		for len(ids) == 0 || !strings.Contains(items[len(items)-1], `"the end"`) {
			if e := reference.next(); e.id != "" {
				ids, items = append(ids, e.id), append(items, e.raw)
			}
		}
		for i := 1; i < len(ids); i++ {
			a, _ := strconv.Atoi(ids[i-1])
			b, _ := strconv.Atoi(ids[i])
			if b <= a {
				t.Fatalf("ids %s, %s are out of order", ids[i-1], ids[i])
			}
		}
		connects := 0
		for i, l := range logs {
			connects += l.connects
			if !slices.Equal(l.ids, ids) {
				t.Errorf("watcher %d got %v, want %v", i, l.ids, ids)
			} else if !slices.Equal(l.items, items) {
				t.Errorf("watcher %d was told something else under the same ids", i)
			}
		}
		t.Logf("%d events, %d connections", len(ids), connects)
	})
}

func TestTheListTellsWhatIsMadeChangedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.open("/v1/events", "")
		defer s.close()
		if e := s.next(); e.name != "reset" || e.id != "" {
			t.Fatalf("it begins with %s", e.name)
		}
		c := w.create(m{"title": "new"})
		s.until(func(e event) bool { return e.name == "conversation" && e.data["id"] == c && e.data["title"] == "new" })
		w.patch(at(c), m{"archived": true}).is(200)
		s.until(func(e event) bool { return e.name == "conversation" && e.data["archived"] == true })
		w.say(c, "hello")
		s.until(func(e event) bool { return e.data["state"] == "idle" && e.data["head_seq"].(float64) > 0 })
		w.do(ask{method: "DELETE", path: at(c)}).is(200)
		s.until(func(e event) bool { return e.name == "deleted" && e.data["id"] == c })
	})
}

func TestAWatcherOfADeletedConversationIsToldAndLetGo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		s := w.watch(c, 0)
		defer s.close()
		s.next()
		w.do(ask{method: "DELETE", path: at(c)}).is(200)
		s.until(func(e event) bool { return e.name == "deleted" })
		if e, ok := s.try(); ok {
			t.Errorf("after that came %s", e.name)
		}
	})
}
