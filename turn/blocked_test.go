package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/fact"
	"weir/model"
	"weir/test/stores"
	"weir/turn"
)

func TestTheFirstBaselineWaitsForARequiredFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there atomic.Bool
		facts, err := fact.Compose(fact.Fact{
			Key: "test/place", Required: true,
			Observe: func(context.Context, fact.Subject) fact.Observation {
				if !there.Load() {
					return fact.Observation{State: fact.Unavailable}
				}
				return fact.Observed("here")
			},
			Baseline: func(v json.RawMessage) (string, error) { return "You are " + string(v), nil },
			Update:   func(_, v json.RawMessage) (string, error) { return "You are now " + string(v), nil },
			Removed:  func(json.RawMessage) (string, error) { return "You are nowhere.", nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, openHere(t), func(c *turn.Config) { c.Facts = facts }).start()
		c := w.conversation("c")
		w.send(c, "one")
		w.until(c, "it is blocked", func() bool { return w.get(c).State == weir.Blocked })
		if got := w.get(c).WaitingFor; got != "test/place" {
			t.Errorf("it waits for %q", got)
		}
		time.Sleep(time.Minute)
		if n := len(w.pending(c)); n != 1 || w.get(c).HeadSeq != 0 {
			t.Errorf("%d inputs are pending, and the log has %d records", n, w.get(c).HeadSeq)
		}
		there.Store(true) // nobody rings
		begun := time.Now()
		a := w.next()
		if d := time.Since(begun); d > 70*time.Second {
			t.Errorf("it took %s to look again", d)
		}
		a.has(t, "You are", "here", "one")
		a.say("1").end()
		w.rests(c)
		if got := w.get(c).WaitingFor; got != "" {
			t.Errorf("it still waits for %q", got)
		}
		w.clean()
		w.engine.Stop()
	})
}

func TestAnAnswerThatHasComeIsStoredThoughTheEngineStops(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	a := w.asks(c, "one").say("whole")
	stopped := make(chan struct{})
	a.do <- func(func(model.Event) error) (bool, error) {
		go func() { w.engine.Stop(); close(stopped) }()
		for w.engine.Start(t.Context()) == nil { // until it is stopping
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.out.Finish = model.FinishEnd
		return true, nil
	}
	<-stopped
	want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: whole", "end done")
	if got := w.get(c).State; got != weir.Idle {
		t.Errorf("the conversation is %s", got)
	}
	w.clean()
}

func TestAPanicEndsOneStepAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, openHere(t)).start()
		c, d := w.conversation("c"), w.conversation("d")
		a, b := w.asks(c, "one"), w.asks(d, "one")
		a.do <- func(func(model.Event) error) (bool, error) { panic("of a test") }
		b.say("1").end()
		w.rests(d)
		w.next().say("1").end() // it is run again, as after a crash
		w.rests(c)
		if got := strings.Join(w.transcript(c), ","); !strings.Contains(got, "step,end interrupted cut_off,step,assistant: 1,end done") {
			t.Error(got)
		}
		w.clean()
		w.engine.Stop()
	})
}
