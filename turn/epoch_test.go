package turn_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

// late is a source of tools that is not ready for a while.
type late struct {
	mu    sync.Mutex
	tools []tool.Tool
	ready chan struct{}
	claim *tool.Claim // of every name, if any
}

func (l *late) Tools() []tool.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}
func (l *late) Servers() []tool.Server { return nil }

func (l *late) Claim(string) (tool.Claim, bool) {
	if l.claim == nil {
		return tool.Claim{}, false
	}
	return *l.claim, true
}

func (l *late) Ready(ctx context.Context) error {
	select {
	case <-l.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *late) comes(tools ...tool.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools = tools
	close(l.ready)
}

func withSource(l *late) option {
	return func(c *turn.Config) {
		r, err := tool.NewRegistry(tool.Limits{})
		if err != nil {
			panic(err)
		}
		r.AddSource(l)
		c.Tools = r
	}
}

func named(name string) fakeTool {
	return fakeTool{name: name, run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "r"}, nil }}
}

func TestTheFirstBaselineWaitsForToolsTenSecondsAndNoLonger(t *testing.T) {
	for _, late := range []struct {
		after time.Duration
		waits time.Duration
		there bool
	}{{3 * time.Second, 3 * time.Second, true}, {time.Hour, 10 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			src := newLate()
			w := newWorld(t, openHere(t), withSource(src)).start()
			c := w.conversation("c")
			time.AfterFunc(late.after, func() { src.comes(named("files__read")) })
			began := time.Now()
			a := w.asks(c, "hello")
			if d := time.Since(began); d != late.waits {
				t.Errorf("it waited %s, want %s", d, late.waits)
			}
			if late.there {
				a.has(t, "files__read")
			} else {
				a.lacks(t, "files__read")
			}
			a.say("hi").end()
			w.rests(c)
			w.engine.Stop()
		})
	}
}

func TestAfterARestartAStepWaitsForServersThatHaveOnlyBegunToStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := newLate()
		there.comes(named("files__read"))
		w := newWorld(t, openHere(t), withSource(there), withServers(there)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		w.engine.Stop()
		again := newLate()
		w.engine = w.another(withSource(again), withServers(again))
		w.start()
		time.AfterFunc(3*time.Second, func() { again.comes(named("files__read")) })
		began := time.Now()
		a := w.asks(c, "second")
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("it waited %s", d)
		}
		a.has(t, "files__read")
		a.say("ok").end()
		w.rests(c)
		if told := w.told(c); len(told) != 0 {
			t.Errorf("it was told %q", told)
		}
		w.engine.Stop()
	})
}

// withServers has the fact that the model is told of a source's state.
func withServers(l *late) option {
	return func(c *turn.Config) {
		facts, err := c.Facts.With(builtin.Tools(func() builtin.Guidance {
			state := "ready"
			select {
			case <-l.ready:
			default:
				state = "starting"
			}
			return builtin.Guidance{Servers: []builtin.Server{{Name: "files", State: state}}}
		}))
		if err != nil {
			panic(err)
		}
		c.Facts = facts
	}
}

func newLate() *late { return &late{ready: make(chan struct{})} }

func TestANewEpochSaysAllOfItAfreshWithTheToolsOfTheMoment(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		there, away, src := newDial("test/there", 1), newDial("test/away", 1), newLate()
		src.comes()
		w := newWorld(t, s, withDials(there, away), withSource(src)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		there.set(2)
		w.exchange(c, "second").has(t, "test/there is now 2 (was 1)")
		src.mu.Lock()
		src.tools = []tool.Tool{named("files__read")}
		src.mu.Unlock()
		w.exchange(c, "third").lacks(t, "files__read")
		away.lost()
		there.set(3)
		before := w.context(c)
		head := w.get(c).HeadSeq
		if err := w.engine.NewEpoch(t.Context(), actor(), c, &head); err != nil {
			t.Fatal(err)
		}
		w.rests(c)
		w.notAsked() // nothing is sent for that
		after := w.context(c)
		if after.Epoch <= before.Epoch || after.SHA256 == before.SHA256 {
			t.Errorf("the epoch is %d (%s), was %d", after.Epoch, after.SHA256, before.Epoch)
		}
		if want := "test/there is 3\n\ntest/away is 1"; after.Baseline != want {
			t.Errorf("the baseline is %q, want %q", after.Baseline, want)
		}
		a := w.exchange(c, "fourth")
		a.has(t, "test/there is 3", "test/away is 1", "files__read", "hello", "fourth")
		a.lacks(t, "is now")
		away.set(2)
		w.exchange(c, "fifth").has(t, "fifth", "test/away is now 2 (was 1)")
		var reasons []string
		for _, r := range w.records(c) {
			if st, ok := r.Body.(*weir.StepStart); ok {
				reasons = append(reasons, string(st.Ledger.Reason))
			}
		}
		want(t, reasons, "first", "", "", "tools", "")
		w.clean()
		w.engine.Stop()
	})
}

func TestANewEpochIsABarrierAndSurvives(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d := newDial("test/a", 1)
		w := newWorld(t, s, withDials(d)).start()
		c := w.conversation("c")
		codeIs(t, w.engine.NewEpoch(t.Context(), actor(), c, nil), "nothing_to_renew")
		a := w.asks(c, "hello")
		w.queue(c, "before it")
		d.set(2)
		for range 2 { // asking twice is asking once
			if err := w.engine.NewEpoch(t.Context(), actor(), c, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.send(c, "behind it")
		if n := len(w.pending(c)); n != 3 {
			t.Errorf("%d inputs are pending, want 3", n)
		}
		stale := weir.Seq(1)
		codeIs(t, w.engine.NewEpoch(t.Context(), actor(), c, &stale), weir.CodeMoved)
		w.engine.Stop() // the step is resumed by the next
		<-a.over
		w.engine = w.another(withDials(d))
		w.start()
		w.next().say("1").end()
		b := w.next()
		b.has(t, "test/a is now 2 (was 1)", "before it")
		b.lacks(t, "behind it")
		b.say("2").end()
		e := w.next()
		e.has(t, "test/a is 2", "before it", "behind it")
		e.lacks(t, "is now")
		e.say("3").end()
		w.rests(c)
		w.clean()
		w.engine.Stop()
	})
}

func TestAnEpochThatWasRewoundAwayIsNoLongerInForce(t *testing.T) {
	d := newDial("test/a", 1)
	w := newWorld(t, stores.SQLite(t), withDials(d)).start()
	c := w.conversation("c")
	w.exchange(c, "hello")
	w.exchange(c, "second")
	d.set(2)
	if err := w.engine.NewEpoch(t.Context(), actor(), c, nil); err != nil {
		t.Fatal(err)
	}
	w.rests(c)
	w.exchange(c, "third").has(t, "test/a is 2")
	if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "anew", Replaces: w.messageOf(c, "second")}); err != nil {
		t.Fatal(err)
	}
	a := w.next()
	a.has(t, "test/a is 1", "hello", "anew", "test/a is now 2 (was 1)")
	a.say("fine").end()
	w.rests(c)
	w.clean()
}

func TestABlockedBaselineIsTriedAgainEveryFifteenSecondsAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDial("test/place", "here")
		d.required = true
		d.lost()
		w := newWorld(t, openHere(t), withDials(d)).start()
		c := w.conversation("c")
		w.send(c, "hello")
		w.until(c, "it is blocked", func() bool { return w.get(c).State == weir.Blocked })
		time.Sleep(10 * time.Minute)
		if got := w.get(c); got.State != weir.Blocked || got.WaitingFor != "test/place" || len(w.pending(c)) != 1 {
			t.Errorf("it is %s, waits for %q, %d inputs pending", got.State, got.WaitingFor, len(w.pending(c)))
		}
		if since := time.Since(w.context(c).Unavailable["test/place"].Since); since < 9*time.Minute {
			t.Errorf("it is said to be unavailable for %s only", since)
		}
		looks := d.looked()
		time.Sleep(10 * time.Minute)
		if n := d.looked() - looks; n < 30 || n > 50 {
			t.Errorf("in ten minutes it was looked at %d times", n)
		}
		if _, err := w.engine.Withdraw(t.Context(), actor(), c, w.pending(c)[0].ID); err != nil {
			t.Fatal(err)
		}
		if got := w.get(c); got.State != weir.Idle || got.WaitingFor != "" {
			t.Errorf("with nothing pending it is %s and waits for %q", got.State, got.WaitingFor)
		}
		w.send(c, "hello again")
		w.until(c, "it is blocked again", func() bool { return w.get(c).State == weir.Blocked })
		d.set("here")
		began := time.Now()
		w.next().say("hi").end()
		if d := time.Since(began); d > 18*time.Second {
			t.Errorf("it took %s to go on", d)
		}
		w.rests(c)
		w.clean()
		w.engine.Stop()
	})
}

func TestABoundaryThatIsOvertakenObservesAnew(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d := newDial("test/a", 1)
		w := newWorld(t, s, withDials(d)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		var once sync.Once
		d.look = func(fact.Subject) {
			once.Do(func() { // it changes, and is journaled, after it was read
				d.set(2)
				w.journal(c, "test/a", 2, time.Now())
			})
		}
		before := d.looked()
		w.exchange(c, "and now?").has(t, "and now?", "test/a is now 2 (was 1)")
		if n := d.looked() - before; n != 2 {
			t.Errorf("it was looked at %d times, want twice", n)
		}
		want(t, w.told(c), "test/a is now 2 (was 1)")
		w.engine.Stop()
	})
}

func TestWhatChangedBeforeAMessageIsToldWithIt(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for _, edited := range []bool{false, true} {
			d := newDial("test/a", 1)
			w := newWorld(t, s, withDials(d)).start()
			c := w.conversation(weir.ConversationID(fmt.Sprint("c", edited)))
			w.exchange(c, "hello")
			var once sync.Once
			d.look = func(fact.Subject) {
				once.Do(func() { // after it was read, and nobody journals it
					d.set(2)
					if edited {
						in := w.pending(c)[0]
						if _, err := w.engine.Edit(w.t.Context(), actor(), turn.Admission{Conversation: c, ID: in.ID, Text: "what is it now?"}, in.Revision); err != nil {
							t.Error(err)
						}
						return
					}
					w.send(c, "what is it now?")
				})
			}
			w.exchange(c, "go on").has(t, "what is it now?", "test/a is now 2 (was 1)")
			w.clean()
			w.engine.Stop()
		}
	})
}

func TestWhatNeverHoldsStillIsToldAllTheSame(t *testing.T) {
	d := newDial("test/a", 1)
	w := newWorld(t, stores.SQLite(t), withDials(d)).start()
	c := w.conversation("c")
	w.exchange(c, "hello")
	n := 1
	d.look = func(fact.Subject) {
		n++
		w.journal(c, "test/a", n, time.Now())
	}
	before := d.looked()
	w.exchange(c, "and now?").has(t, "and now?")
	if n := d.looked() - before; n != 6 {
		t.Errorf("it was looked at %d times, want six", n)
	}
	w.clean()
}

func TestAStepIsAboutTheConversationAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDial("test/a", 1)
		w := newWorld(t, openHere(t), withDials(d)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		changed := 0
		d.look = func(s fact.Subject) {
			if changed < 8 { // while it is looked at, it is given to another agent
				changed++
				agent := fmt.Sprint("agent ", changed)
				w.change(c, weir.ConversationChange{Agent: &agent})
			}
		}
		began := time.Now()
		a := w.asks(c, "and now?") // five times anew, a pause, then to the end
		if d := time.Since(began); d == 0 || d > 5*time.Second {
			t.Errorf("it took %s", d)
		}
		if w.get(c).Agent != "agent 8" {
			t.Errorf("the agent is %q", w.get(c).Agent)
		}
		a.say("fine").end()
		w.rests(c)
		agents := 0
		for _, r := range w.records(c) {
			if b, ok := r.Body.(*weir.AgentSet); ok {
				agents++
				if b.Agent != "agent 8" {
					t.Errorf("the log has the agent %q", b.Agent)
				}
			}
		}
		if agents != 1 {
			t.Errorf("the log has %d agents", agents)
		}
		w.clean()
		w.engine.Stop()
	})
}

func TestAClientsFactsAreToldAndTakenBack(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c, other := w.conversation("c"), w.conversation("other")
		w.exchange(c, "hello")
		w.exchange(other, "hello")
		put := func(c weir.ConversationID, key, value, text string) {
			t.Helper()
			if err := w.engine.PutFact(t.Context(), actor(), c, weir.ClientFact{Key: key, Value: []byte(value), Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		put("", "ci/status", `"red"`, "")
		put(c, "ci/build", `{ "b": 1, "a": 2 }`, "Build 12 is the newest.")
		put(c, "ci/build", `{"a":2,"b":1}`, "Build 12 is the newest.") // the same, spelled otherwise
		if n := len(w.context(c).Pending); n != 2 {
			t.Errorf("%d changes are to be told, want 2: %+v", n, w.context(c).Pending)
		}
		w.notAsked() // nobody is woken
		w.exchange(c, "now?").has(t, "now?", `ci/status is \"red\"`, "Build 12 is the newest.")
		w.exchange(other, "now?").lacks(t, "Build 12")
		put(c, "ci/status", `"green here"`, "")
		w.exchange(c, "and now?").has(t, `ci/status is now \"green here\"`)
		if err := w.engine.DeleteFact(t.Context(), actor(), "", "ci/status", time.Time{}); err != nil {
			t.Fatal(err)
		}
		w.exchange(other, "and now?").has(t, "ci/status no longer applies")
		w.exchange(c, "still?").lacks(t, "ci/status no longer applies")
		codeIs(t, w.engine.DeleteFact(t.Context(), actor(), "", "ci/status", time.Time{}), "fact_not_found")
		w.clean()
		w.engine.Stop()
	})
}

func TestAClientsFactThatCannotBeToldIsRefused(t *testing.T) {
	w := newWorld(t, stores.SQLite(t))
	c := w.conversation("c")
	long := make([]byte, weir.MaxFactBytes+1)
	for code, f := range map[string]weir.ClientFact{
		"fact_reserved":    {Key: "core/date", Value: []byte(`1`)},
		"fact_key_invalid": {Key: "Ci/status", Value: []byte(`1`)},
		"fact_invalid":     {Key: "ci/status", Value: []byte(`{"a":`)},
		"fact_too_long":    {Key: "ci/status", Value: []byte(`1`), Text: string(long)},
	} {
		codeIs(t, w.engine.PutFact(t.Context(), actor(), c, f), code)
	}
	stranger := weir.Actor{Owner: "somebody"}
	codeIs(t, w.engine.PutFact(t.Context(), stranger, c, weir.ClientFact{Key: "a/b", Value: []byte(`1`)}), weir.CodeConversationNotFound)
	_, err := w.engine.Context(t.Context(), stranger, c)
	codeIs(t, err, weir.CodeConversationNotFound)
	for i := range weir.MaxClientFacts {
		if err := w.engine.PutFact(t.Context(), actor(), c, weir.ClientFact{Key: fmt.Sprint("a/b", i), Value: []byte(`1`)}); err != nil {
			t.Fatal(err)
		}
	}
	codeIs(t, w.engine.PutFact(t.Context(), actor(), c, weir.ClientFact{Key: "a/more", Value: []byte(`1`)}), "too_many_facts")
}

func TestNoConversationIsHeldUpByHowMuchClientsKeep(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		big := []byte(`"` + strings.Repeat("x", 60<<10) + `"`)
		for _, scope := range []weir.ConversationID{"", c} {
			for i := range 6 {
				err := w.engine.PutFact(t.Context(), actor(), scope, weir.ClientFact{Key: fmt.Sprintf("a/b%d%.1s", i, scope), Value: big})
				if i == 0 && err != nil {
					t.Fatal(err)
				} else if i > 0 {
					codeIs(t, err, "facts_too_long")
				}
			}
		}
		sent := w.exchange(c, "hello")
		sent.has(t, "a/b0 is ", "a/b0c is ")
		sent.lacks(t, "a/b1")
		w.clean()
		w.engine.Stop()
	})
}

func TestACrashBetweenTellsNothingTwice(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d := newDial("test/a", 1)
		w := newWorld(t, s, withDials(d)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		d.set(2)
		a := w.asks(c, "and now?")
		a.has(t, "test/a is now 2 (was 1)")
		w.engine.Stop() // amid the stream
		<-a.over
		w.engine = w.another(withDials(d))
		w.start()
		b := w.next()
		b.has(t, "and now?", "test/a is now 2 (was 1)")
		b.say("fine").end()
		w.rests(c)
		want(t, w.told(c), "test/a is now 2 (was 1)")
		w.clean()
		w.engine.Stop()
	})
}
