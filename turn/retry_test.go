package turn_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

// steps returns a conversation's steps, oldest first.
func (w *world) steps(c weir.ConversationID) []weir.Step {
	w.t.Helper()
	all, err := w.s.Steps(w.t.Context(), c, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	out := make([]weir.Step, len(all))
	for i := range all {
		out[len(all)-1-i] = all[i]
	}
	return out
}

func seconds(n ...float64) []time.Duration {
	var out []time.Duration
	for _, s := range n {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

func TestWhatFailsBeforeAnyOutputIsSentAgain(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, stopped).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.failFor(model.FailRateLimit, "slow down", 7*time.Second)
		w.next().fail(model.FailOverload, "busy")
		w.next().failFor(model.FailServer, "sorry", time.Hour)
		w.next().fail(model.FailBroken, "lost")
		b := w.next()
		if !bytes.Equal(a.body, b.body) {
			t.Errorf("the fifth attempt sent\n%s\nthe first one\n%s", b.body, a.body)
		}
		b.say("1").end()
		w.rests(c)
		if d := cmp.Diff(seconds(7, 4, 900, 16), w.naps.all()); d != "" {
			t.Error(d)
		}
		step := w.steps(c)[0]
		if step.Attempts != 5 || step.State != weir.StepDone || step.Code != "" || !step.NextTry.IsZero() {
			t.Errorf("the step is %+v", step)
		}
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: 1", "end done")
		w.clean()
	})
}

func TestPausesAreSpread(t *testing.T) {
	for _, at := range []struct{ rand, want float64 }{{0, 1.6}, {1, 2.4}} {
		w := newWorld(t, stores.SQLite(t))
		w.engine = w.another(stopped, func(c *turn.Config) { c.Rand = func() float64 { return at.rand } })
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").fail(model.FailServer, "sorry")
		w.next().say("1").end()
		w.rests(c)
		if d := cmp.Diff(seconds(at.want), w.naps.all()); d != "" {
			t.Error(d)
		}
	}
}

func TestFiveAttemptsAreAllThereAre(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.send(c, "one")
		for range 5 {
			w.next().fail(model.FailOverload, "The endpoint is busy; wait a little.")
		}
		w.rests(c)
		w.notAsked()
		step := w.steps(c)[0]
		if step.Attempts != 5 || step.Code != "provider_overloaded" || step.Reason != "The endpoint is busy; wait a little." {
			t.Errorf("the step is %+v", step)
		}
		w.asks(c, "two").say("2").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "end failed provider_overloaded", "user: two", "step", "assistant: 2", "end done")
		w.clean()
	})
}

// napping waits until a step waits for its next attempt.
func (w *world) napping(c weir.ConversationID) weir.Step {
	w.t.Helper()
	var step weir.Step
	w.until(c, "the step waits for its next attempt", func() bool {
		s, err := w.s.UnsettledStep(w.t.Context(), c)
		step = s
		return err == nil && !s.NextTry.IsZero()
	})
	return step
}

func TestWhatAStepWaitsForIsShownAndAnybodyCanEndIt(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, end := range map[string]func(w *world, c weir.ConversationID){
			"an interrupt": func(w *world, c weir.ConversationID) { w.interrupt(c) },
			"somebody who wants it to himself": func(w *world, c weir.ConversationID) {
				if err := w.engine.Exclusive(t.Context(), c, func(turn.Tx, int64) error { return nil }); err != nil {
					t.Error(err)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, s).start()
				w.naps.hold = make(chan struct{})
				c := w.conversation(weir.ConversationID(name))
				before := time.Now()
				w.asks(c, "one").failFor(model.FailRateLimit, "slow down", time.Minute)
				step := w.napping(c)
				if step.Attempts != 1 || step.Code != "provider_rate_limited" || step.Reason != "slow down" ||
					step.NextTry.Before(before.Add(59*time.Second)) || step.NextTry.After(time.Now().Add(time.Minute)) {
					t.Errorf("the step is %+v", step)
				}
				end(w, c)
				w.rests(c)
				w.notAsked()
				want(t, w.transcript(c), "title: one", "user: one", "step", "end interrupted interrupted")
				if step := w.steps(c)[0]; !step.NextTry.IsZero() {
					t.Errorf("the step is %+v", step)
				}
				w.clean()
			})
		}
	})
}

func TestARestartWaitsForTheRestOfThePause(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		w.naps.hold = make(chan struct{})
		c := w.conversation("c")
		w.asks(c, "one").failFor(model.FailRateLimit, "slow down", time.Hour)
		w.napping(c)
		w.engine.Stop()
		w.engine = w.another()
		w.start()
		var step weir.Step
		w.until(c, "another step waits", func() bool { step = w.napping(c); return step.Chained == 1 })
		if step.Attempts != 0 || step.Code != "provider_rate_limited" {
			t.Errorf("the step is %+v", step)
		}
		close(w.naps.hold)
		w.next().say("1").end()
		w.rests(c)
		naps := w.naps.all()
		if len(naps) != 2 || naps[1] > 15*time.Minute || naps[1] < 14*time.Minute {
			t.Errorf("it waited for %v", naps)
		}
		w.clean()
	})
}

func TestAnAnswerThatBrokeOffIsContinuedAndTheAttemptsAreCountedOverAll(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, stopped).start()
		c := w.conversation("c")
		w.asks(c, "one").fail(model.FailServer, "sorry")
		w.next().say("half").fail(model.FailBroken, "lost")
		w.queue(c, "later")
		a := w.next()
		a.has(t, "one", "half", "cut off; continue from where it stopped")
		a.lacks(t, "later")
		a.fail(model.FailServer, "sorry")
		w.next().say("more").fail(model.FailBroken, "lost")
		b := w.next()
		b.has(t, "half", "cut off", "more", "cut off")
		b.say("and").fail(model.FailBroken, "lost")
		d := w.next()
		d.has(t, "later")
		d.say("2").end()
		w.rests(c)
		if d := cmp.Diff(seconds(2, 4, 8, 16), w.naps.all()); d != "" {
			t.Error(d)
		}
		var attempts [][2]int
		for _, step := range w.steps(c) {
			attempts = append(attempts, [2]int{step.Chained, step.Attempts})
		}
		if d := cmp.Diff([][2]int{{0, 2}, {2, 2}, {4, 1}, {0, 1}}, attempts); d != "" {
			t.Error(d)
		}
		const notice = "notice: the answer above was cut off; continue from where it stopped"
		want(t, w.transcript(c), "title: one",
			"user: one", "step", "assistant, cut off: half", "end failed provider_connection_lost", notice,
			"step", "assistant, cut off: more", "end failed provider_connection_lost", notice,
			"step", "assistant, cut off: and", "end failed provider_connection_lost",
			"user: later", "step", "assistant: 2", "end done")
		w.clean()
	})
}

func TestOfABrokenAnswerOnlyWhatCanBeSentBackIsKept(t *testing.T) {
	w := newWorld(t, stores.SQLite(t), withTools(fakeTool{name: "t", run: nil})).start()
	c := w.conversation("c")
	a := w.asks(c, "one")
	a.think("unsigned").say("half").call("1", "t", `{"whole":1}`).call("2", "t", `{"ha`).fail(model.FailBroken, "lost")
	b := w.next()
	b.has(t, "half", `"whole"`, "interrupted; it was not run", "cut off; continue")
	b.lacks(t, "unsigned", "ha\\")
	b.think("only a thought").fail(model.FailBroken, "lost")
	d := w.next() // nothing above was cut off
	if n := strings.Count(string(d.body), "cut off; continue"); n != 1 {
		t.Errorf("%d notices in %s", n, d.body)
	}
	d.say("1").end()
	w.rests(c)
	w.clean()
}

func TestAClockSetBackMakesNoPauseLonger(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		now := time.Now().Truncate(time.Microsecond)
		at := func(now time.Time) option { return func(c *turn.Config) { c.Now = func() time.Time { return now } } }
		w := newWorld(t, s, at(now))
		w.naps.hold = make(chan struct{})
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").failFor(model.FailRateLimit, "slow down", 7*time.Second)
		w.until(c, "it pauses", func() bool { return w.steps(c)[0].NextTry.Equal(now.Add(7 * time.Second)) })
		w.engine.Stop()
		close(w.naps.hold)
		w.engine = w.another(at(now.AddDate(-1, 0, 0)))
		w.start()
		w.next().say("ok").end()
		w.rests(c)
		if naps := w.naps.all(); naps[len(naps)-1] != 15*time.Minute {
			t.Errorf("it paused for %v", naps)
		}
		w.clean()
	})
}

func TestWhatWouldFailAgainIsNotTriedAgain(t *testing.T) {
	for _, f := range []model.Failure{model.FailAuth, model.FailQuota, model.FailRefused, model.FailTooLong, model.FailTooMuch, model.FailUnknown} {
		for _, said := range []string{"", "half"} {
			w := newWorld(t, stores.SQLite(t)).start()
			c := w.conversation("c")
			a := w.asks(c, "one")
			if said != "" {
				a.say(said)
			}
			a.fail(f, "what to do")
			w.rests(c)
			w.notAsked()
			if step := w.steps(c)[0]; step.Attempts != 1 || step.Code != string(f) || step.Reason != "what to do" || len(w.naps.all()) != 0 {
				t.Errorf("%s: the step is %+v", f, step)
			}
		}
	}
}

func TestASteerTakenWithAContinuationBeginsAnew(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	a := w.asks(c, "one")
	a.say("half")
	w.send(c, "no, this")
	a.fail(model.FailBroken, "lost")
	b := w.next()
	b.has(t, "half", "cut off", "no, this")
	b.say("ok").end()
	w.rests(c)
	if step := w.steps(c)[1]; step.Chained != 0 || len(w.naps.all()) != 0 {
		t.Errorf("the step is %+v", step)
	}
	w.clean()
}
