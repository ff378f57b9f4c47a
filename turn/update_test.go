package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

func TestTwoChangesAreToldInTheOrderInWhichTheyHappened(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		eachOrder(t, func(t *testing.T, first, second int) {
			dials := []*dial{newDial("test/a", "one"), newDial("test/b", "one")}
			w := newWorld(t, s, withDials(dials...)).start()
			c := w.conversation(weir.ConversationID(fmt.Sprint("c", first)))
			w.exchange(c, "hello").has(t, `test/a is \"one\"\n\ntest/b is \"one\"`, "hello")
			now := time.Now()
			dials[first].setAt("two", now.Add(-2*time.Second))
			dials[second].setAt("two", now.Add(-time.Second))
			a := w.exchange(c, "and now?")
			a.has(t, "hello", "to hello", "and now?",
				fmt.Sprintf(`%s is now \"two\" (was \"one\")`, dials[first].key),
				fmt.Sprintf(`%s is now \"two\" (was \"one\")`, dials[second].key))
			want(t, w.transcript(c), "title: hello", "user: hello", "step", "assistant: to hello", "end done",
				"user: and now?", "update "+dials[first].key, "update "+dials[second].key, "step", "assistant: to and now?", "end done")
			w.exchange(c, "anything else?").has(t, dials[second].key+` is now`, "to and now?", "anything else?")
			if n := len(w.told(c)); n != 2 {
				t.Errorf("%d updates were told, want 2", n)
			}
			w.clean()
			w.engine.Stop()
		})
	})
}

func TestThereAndBackIsToldOnlyIfAToolRanMeanwhile(t *testing.T) {
	for _, ran := range []bool{false, true} {
		t.Run(fmt.Sprint("a tool ran: ", ran), func(t *testing.T) {
			stores.Each(t, func(t *testing.T, s store.Store) {
				c, began, goOn := weir.ConversationID("c"), make(chan struct{}), make(chan struct{})
				slow := fakeTool{name: "slow", run: func(context.Context, tool.Call) (tool.Result, error) {
					close(began)
					<-goOn
					return tool.Result{Text: "done"}, nil
				}}
				w := newWorld(t, s, withDials(newDial("test/branch", "main")), withTools(slow)).start()
				w.conversation(c)
				w.exchange(c, "hello")
				a := w.asks(c, "go")
				if !ran {
					w.journal(c, "test/branch", "dev", moment())
					w.journal(c, "test/branch", "main", moment())
					moment()
				}
				a.call("1", "slow", "{}").end()
				<-began
				if ran {
					w.journal(c, "test/branch", "dev", moment())
					moment()
				}
				close(goOn)
				b := w.next()
				if ran {
					b.has(t, "done", `test/branch is now \"dev\" (was \"main\")`, `test/branch is now \"main\" (was \"dev\")`)
				} else {
					b.lacks(t, "is now")
				}
				b.say("there").end()
				w.rests(c)
				w.exchange(c, "and now?").lacks(t, `is now \"main\" (was \"main\")`)
				if n, want := len(w.told(c)), map[bool]int{true: 2}[ran]; n != want {
					t.Errorf("%d updates were told, want %d: %q", n, want, w.told(c))
				}
				w.clean()
				w.engine.Stop()
			})
		})
	}
}

func TestAToolThatADeadProcessRanCountsToo(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d, began := newDial("test/branch", "main"), make(chan struct{}, 1)
		hang := fakeTool{name: "hang", run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			began <- struct{}{}
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		w, dead := dying(t, s, withDials(d), withTools(hang))
		c := w.conversation("c")
		w.asks(c, "one").call("1", "hang", "{}").end()
		<-began
		w.journal(c, "test/branch", "dev", moment())
		moment()
		dead.kill()
		w.successor(withDials(d), withTools(hang))
		a := w.next()
		a.has(t, "may or may not have taken effect", `is now \"dev\"`, `is now \"main\"`)
		a.say("I see").end()
		w.rests(c)
		w.clean()
	})
}

func TestWhatABoundaryIsTheFirstToSeeIsJournaledOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d, at := newDial("test/a", 1), time.Now().Add(-time.Hour).Truncate(time.Microsecond)
		w := newWorld(t, s, withDials(d)).start()
		c := w.conversation("c")
		entries := func() []weir.Change {
			t.Helper()
			all, err := s.Changes(t.Context(), []weir.ChangeScope{weir.OfConversation(c)}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		w.exchange(c, "hello")
		if n := len(entries()); n != 0 {
			t.Errorf("a first baseline made %d entries", n)
		}
		d.setAt(2, at)
		w.exchange(c, "and now?")
		w.exchange(c, "still?")
		all := entries()
		if len(all) != 1 || all[0].Fact != "test/a" || string(all[0].Value) != "2" || !all[0].At.Equal(at) {
			t.Errorf("the journal has %+v", all)
		}
		w.journal(c, "test/a", 3, time.Now()) // a watcher was first
		d.set(3)
		w.exchange(c, "and now?")
		d.gone()
		w.exchange(c, "and now?")
		if all = entries(); len(all) != 3 || all[2].Value != nil {
			t.Errorf("the journal has %+v", all)
		}
		w.clean()
		w.engine.Stop()
	})
}

// moment returns a time that differs from those before and after it, in the
// microseconds that a store keeps.
func moment() time.Time {
	began := time.Now()
	for time.Since(began) < 10*time.Microsecond {
	}
	defer func() {
		for time.Since(began) < 20*time.Microsecond {
		}
	}()
	return time.Now()
}

func TestAnUpdateStaysAsItIsWhenTheAttemptAfterItFails(t *testing.T) {
	a, b := newDial("test/a", 1), newDial("test/b", 1)
	w := newWorld(t, stores.SQLite(t), withDials(a, b)).start()
	c := w.conversation("c")
	w.exchange(c, "hello")
	a.set(2)
	first := w.asks(c, "and now?")
	looks := a.looked()
	first.has(t, "test/a is now 2 (was 1)")
	first.fail(model.FailAuth, "The key is wrong.")
	w.rests(c)
	b.set(2)
	if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
		t.Fatal(err)
	}
	second := w.next()
	second.has(t, "and now?", "test/a is now 2 (was 1)", "test/b is now 2 (was 1)")
	second.say("fine").end()
	w.rests(c)
	if n := a.looked() - looks; n != 1 {
		t.Errorf("the second step looked %d times", n)
	}
	want(t, w.told(c), "test/a is now 2 (was 1)", "test/b is now 2 (was 1)")
	w.clean()
}

func TestAFactThatHangsCostsItsDeadlineAndFreezesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := newDial("test/slow", 1), newDial("test/quick", 1)
		w := newWorld(t, openHere(t), withDials(slow, quick)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		slow.mu.Lock()
		slow.hangs = make(chan struct{})
		slow.mu.Unlock()
		slow.set(2)
		quick.set(2)
		began := time.Now()
		w.exchange(c, "and now?").has(t, "test/quick is now 2 (was 1)")
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("the boundary took %s", d)
		}
		if got := w.context(c).Unavailable["test/slow"].Reason; got != "It did not answer within 2s." {
			t.Errorf("the reason is %q", got)
		}
		if since := w.context(c).Unavailable["test/slow"].Since; since.Before(began) {
			t.Errorf("it is unavailable since %s", since)
		}
		quick.set(3)
		began = time.Now()
		w.exchange(c, "once more").has(t, "test/quick is now 3 (was 2)")
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("the boundary after it took %s", d)
		}
		time.Sleep(time.Minute)
		slow.mu.Lock()
		close(slow.hangs)
		slow.hangs = nil
		slow.mu.Unlock()
		synctest.Wait()
		w.exchange(c, "is it back?").has(t, "test/slow is now 2 (was 1)")
		if n := len(w.context(c).Unavailable); n != 0 {
			t.Errorf("%d facts are still unavailable", n)
		}
		w.clean()
		w.engine.Stop()
	})
}

func TestARewindTakesBackWhatWasTold(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d, e := newDial("test/a", 1), newDial("test/b", 1)
		w := newWorld(t, s, withDials(d, e)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		d.set(2)
		w.exchange(c, "second")
		e.set(2)
		in := w.exchange(c, "third")
		in.has(t, "test/a is now 2 (was 1)", "test/b is now 2 (was 1)")
		d.set(1) // as it was when hello was said
		at := w.messageOf(c, "second")
		if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "second, put better", Replaces: at}); err != nil {
			t.Fatal(err)
		}
		a := w.next()
		a.has(t, "hello", "second, put better", "test/b is now 2 (was 1)")
		a.lacks(t, "test/a is now")
		a.say("better").end()
		w.rests(c)
		for key, want := range map[string]string{"test/a": "1", "test/b": "2"} {
			if got := string(w.context(c).Snapshot[key].Value); got != want {
				t.Errorf("the snapshot says %s of %s, want %s", got, key, want)
			}
		}
		w.clean()
		w.engine.Stop()
	})
}

func TestABranchHasBeenToldWhatItsParentHadBeenToldThere(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		d := newDial("test/a", 1)
		w := newWorld(t, s, withDials(d)).start()
		c := w.conversation("c")
		w.exchange(c, "hello")
		d.set(2)
		w.exchange(c, "second")
		cut := w.get(c).HeadSeq
		d.set(3)
		w.exchange(c, "third")
		b := w.branch(c, "b", cut)
		a := w.exchange(b, "in the branch")
		a.has(t, "test/a is 1", "test/a is now 2 (was 1)", "in the branch", "test/a is now 3 (was 2)")
		a.lacks(t, "third")
		w.clean()
		w.engine.Stop()
	})
}

func TestAChangeOfTheConversationsRowIsARecordAndAnUpdate(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	w.exchange(c, "hello")
	agent, other := "Scribe", "puppet/other"
	w.change(c, weir.ConversationChange{Agent: &agent, Model: &other})
	if err := w.engine.Noticed(t.Context(), c, "core/agent"); err != nil {
		t.Fatal(err)
	}
	pending := w.context(c).Pending
	if len(pending) != 1 || pending[0].Fact != "core/agent" || !strings.Contains(string(pending[0].Value), "Scribe") {
		t.Errorf("what is to be told is %+v", pending)
	}
	w.exchange(c, "who are you?").has(t, "who are you?", "Scribe", "puppet/other")
	var kinds []weir.RecordKind
	for _, r := range w.records(c) {
		if k := r.Kind(); k == weir.KindAgent || k == weir.KindModel || k == weir.KindSystem || k == weir.KindUser {
			kinds = append(kinds, k)
		}
	}
	if got := fmt.Sprint(kinds); got != "[user model agent user system]" {
		t.Errorf("the log has %s", got)
	}
	if n := len(w.context(c).Pending); n != 0 {
		t.Errorf("%d entries are still to be told", n)
	}
	w.clean()
}

func TestAModelThatCalledToolsGetsTheirResults(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, withTools(fakeTool{name: "t", run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "r"}, nil }})).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		other := "puppet/other"
		w.change(c, weir.ConversationChange{Model: &other})
		a.call("1", "t", "{}").end()
		b := w.next()
		b.lacks(t, "puppet/other")
		b.call("2", "t", "{}").end()
		w.next().say("done").end()
		w.rests(c)
		w.exchange(c, "two").has(t, "two", "puppet/other")
		var models []string
		for _, r := range w.records(c) {
			if st, ok := r.Body.(*weir.StepStart); ok {
				models = append(models, st.Model)
			}
		}
		want(t, models, "puppet/default", "puppet/default", "puppet/default", "puppet/other")
		w.clean()
		w.engine.Stop()
	})
}
