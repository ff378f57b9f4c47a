package turn_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

func (w *world) interrupt(c weir.ConversationID) {
	w.t.Helper()
	if err := w.engine.Interrupt(w.t.Context(), actor(), c, ""); err != nil {
		w.t.Fatal(err)
	}
}

// waits waits until a conversation waits for a person.
func (w *world) waits(c weir.ConversationID) {
	w.t.Helper()
	w.until(c, "the conversation waits", func() bool { return w.get(c).State == weir.Waiting })
}

func (w *world) notDue(c weir.ConversationID) {
	w.t.Helper()
	due, err := w.s.Due(w.t.Context(), 100)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range due {
		if id == c {
			w.t.Errorf("%s is due", c)
		}
	}
}

func TestAnInterruptKeepsWhatCame(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.interrupt(c) // of an idle conversation: nothing
		a := w.asks(c, "one")
		a.say("half an answer")
		w.interrupt(c)
		w.interrupt(c)
		<-a.over
		w.rests(c)
		conv := w.get(c)
		if conv.WaitingFor != "" {
			t.Errorf("it waits for %q", conv.WaitingFor)
		}
		b := w.asks(c, "two")
		b.has(t, "one", "half an answer", "two")
		b.say("2").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant, cut off: half an answer", "end interrupted interrupted",
			"user: two", "step", "assistant: 2", "end done")
		w.clean()
	})
}

func TestAfterAnInterruptPendingInputsWaitForAPerson(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, goOn := range map[string]func(w *world, c weir.ConversationID){
			"a new message": func(w *world, c weir.ConversationID) { w.send(c, "go on") },
			"a retry": func(w *world, c weir.ConversationID) {
				if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, s).start()
				c := w.conversation(weir.ConversationID("c " + name))
				a := w.asks(c, "one")
				w.queue(c, "later")
				w.send(c, "steer")
				w.interrupt(c)
				<-a.over
				w.waits(c)
				if n := len(w.pending(c)); n != 2 {
					t.Errorf("%d inputs are pending, want 2", n)
				}
				w.notDue(c)
				w.engine.Stop()
				w.engine = w.another() // a restart changes nothing
				w.start()
				w.notDue(c)
				w.notAsked()
				goOn(w, c)
				b := w.next()
				b.has(t, "one", "steer")
				b.say("ok").end()
				for w.get(c).State != weir.Idle || len(w.pending(c)) > 0 {
					select {
					case a := <-w.model.calls:
						a.say("ok").end()
					case <-time.After(time.Millisecond):
					}
				}
				w.clean()
			})
		}
	})
}

func TestWithdrawingWhatWaitsLetsTheConversationRest(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	a := w.asks(c, "one")
	in := w.queue(c, "later")
	w.interrupt(c)
	<-a.over
	w.waits(c)
	if _, err := w.engine.Withdraw(t.Context(), actor(), c, in.ID); err != nil {
		t.Fatal(err)
	}
	w.rests(c)
	if conv := w.get(c); conv.WaitingFor != "" {
		t.Errorf("it waits for %q", conv.WaitingFor)
	}
	w.notAsked()
}

func TestAMessageAfterTheInterruptGoesOnAtOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		if err := w.s.Update(t.Context(), func(tx store.Tx) error { // as another node would
			if _, err := tx.AskInterrupt(t.Context(), c); err != nil {
				return err
			}
			mark := "resume"
			return tx.ChangeActivity(t.Context(), c, weir.Activity{WaitingFor: &mark})
		}); err != nil {
			t.Fatal(err)
		}
		w.send(c, "no, this")
		<-a.over // noticed without a ring, within a second
		b := w.next()
		b.has(t, "one", "no, this")
		b.say("ok").end()
		w.rests(c)
		w.clean()
	})
}

func TestExclusiveStopsTheStepAndRunsAlone(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("half")
		w.queue(c, "later")
		err := w.engine.Exclusive(t.Context(), c, func(tx turn.Tx, fence int64) error {
			conv, err := tx.Conversation(t.Context(), c)
			if err != nil {
				return err
			}
			_, err = tx.Append(t.Context(), c, fence, nil, weir.Record{
				ID: weir.NewMessageID(time.Now()), Time: time.Now(), Generation: conv.Generation,
				Body: &weir.Rewind{From: 1, Upto: conv.HeadSeq},
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		<-a.over
		b := w.next() // what was pending goes on
		b.has(t, "later")
		b.say("ok").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant, cut off: half", "end interrupted interrupted",
			"rewind", "user: later", "step", "assistant: ok", "end done")
		w.clean()
	})
}

func TestExclusiveWaitsForAnotherProcess(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		other := w.another()
		if err := other.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("half")
		ran := false
		if err := other.Exclusive(t.Context(), c, func(turn.Tx, int64) error { ran = true; return nil }); err != nil || !ran {
			t.Fatalf("ran %v, %v", ran, err)
		}
		<-a.over
		w.rests(c)
		w.clean()
	})
}

func TestWhatWouldBeRefusedStopsNothing(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("half")
		err := w.engine.Exclusive(t.Context(), c, func(tx turn.Tx, fence int64) error {
			conv, err := tx.Conversation(t.Context(), c)
			if err != nil {
				return err
			}
			_, err = tx.Append(t.Context(), c, fence, nil, weir.Record{
				ID: weir.NewMessageID(time.Now()), Time: time.Now(), Generation: conv.Generation, Body: &weir.Notice{Text: "no"},
			})
			return errors.Join(err, errTest)
		})
		if !errors.Is(err, errTest) {
			t.Fatalf("got %v", err)
		}
		a.say(" an answer").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: half an answer", "end done")
		w.clean()
	})
}

func TestAnInterruptTakesARetryBack(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		for range 3 {
			if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.interrupt(c)
		<-a.over
		w.rests(c)
		if n := len(w.pending(c)); n != 0 {
			t.Errorf("%d inputs are pending, want none", n)
		}
		w.clean()
	})
}

func TestAnErrorInExclusiveUndoesEverything(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		err := w.engine.Exclusive(t.Context(), c, func(tx turn.Tx, fence int64) error {
			title := "no"
			if err := tx.ChangeConversation(t.Context(), c, weir.ConversationChange{Title: &title}); err != nil {
				return err
			}
			return errTest
		})
		if !errors.Is(err, errTest) || w.get(c).Title != "" {
			t.Errorf("%v, and the title is %q", err, w.get(c).Title)
		}
		w.asks(c, "one").say("1").end() // the lease is free
		w.rests(c)
	})
}

func TestAMessageReplacesAnEarlierOne(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.asks(c, "one").say("1").end()
		w.rests(c)
		a := w.asks(c, "two")
		a.say("half")
		var two weir.Record
		for _, r := range w.records(c) {
			if m, ok := r.Body.(*weir.UserMessage); ok && m.Text == "two" {
				two = r
			}
		}
		head := w.get(c).HeadSeq
		old := head - 1
		replace := turn.Admission{Conversation: c, ID: "mine", Text: "two, better", Replaces: two.ID, IfSeq: &old}
		_, err := w.engine.Admit(t.Context(), actor(), replace)
		codeIs(t, err, weir.CodeMoved)
		_, err = w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", Replaces: "nothing"})
		codeIs(t, err, weir.CodeMessageNotFound)
		replace.IfSeq = &head // the running step's settlement moves the head, and that is all right
		in, err := w.engine.Admit(t.Context(), actor(), replace)
		if err != nil {
			t.Fatal(err)
		}
		b := w.next()
		b.has(t, `"one"`, `"1"`, `two, better`)
		b.lacks(t, "half", `"two"`)
		b.say("2").end()
		w.rests(c)
		again, err := w.engine.Admit(t.Context(), actor(), replace)
		if err != nil || again.Position != in.Position {
			t.Errorf("the repetition is answered %+v (%v)", again, err)
		}
		_, err = w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", Replaces: two.ID})
		codeIs(t, err, "cut_invalid") // hidden already
		var answer weir.MessageID
		for _, r := range w.records(c) {
			if r.Kind() == weir.KindAssistant {
				answer = r.ID
			}
		}
		_, err = w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", Replaces: answer})
		codeIs(t, err, "cut_invalid")
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: 1", "end done",
			"user: two", "step", "assistant, cut off: half", "end interrupted interrupted",
			"rewind", "user: two, better", "step", "assistant: 2", "end done")
		w.clean()
	})
}

func TestAFirstMessageCanBeReplaced(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	in := w.send(c, "one")
	w.next().fail(model.FailAuth, "sorry")
	w.rests(c)
	var first weir.MessageID
	for _, r := range w.records(c) {
		if m, ok := r.Body.(*weir.UserMessage); ok && m.Input == in.ID {
			first = r.ID
		}
	}
	if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "uno", Replaces: first}); err != nil {
		t.Fatal(err)
	}
	a := w.next()
	a.has(t, "uno")
	a.lacks(t, `"one"`)
	a.say("1").end()
	w.rests(c)
	for _, r := range w.records(c) {
		if rw, ok := r.Body.(*weir.Rewind); ok && (rw.To != "" || rw.Upto != r.Seq-1) {
			t.Errorf("the rewind is %+v at %d", rw, r.Seq)
		}
	}
	w.clean()
}

func TestARefusedReplacementLeavesTheSurface(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	w.asks(c, "one").say("1").end()
	w.rests(c)
	var first weir.MessageID
	for _, r := range w.records(c) {
		if r.Kind() == weir.KindUser {
			first = r.ID
		}
	}
	head := w.get(c).HeadSeq
	_, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "x", Replaces: first,
		References: []weir.Reference{{Type: weir.Pointer, Conversation: "nowhere"}}})
	codeIs(t, err, "reference_not_found")
	if got := w.get(c).HeadSeq; got != head {
		t.Errorf("the head moved from %d to %d", head, got)
	}
}

func (w *world) interruptForSteers(c weir.ConversationID) {
	w.t.Helper()
	if err := w.engine.Interrupt(w.t.Context(), actor(), c, weir.Steer); err != nil {
		w.t.Fatal(err)
	}
}

func TestAnInterruptForTheSteersLeavesTheQueueWaiting(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		quick := fakeTool{name: "quick", run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "done"}, nil }}
		w := newWorld(t, s, withTools(quick)).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("half")
		w.queue(c, "later")
		w.send(c, "no, this")
		w.interruptForSteers(c)
		w.interruptForSteers(c)
		<-a.over
		b := w.next()
		b.has(t, "one", "half", "no, this")
		b.lacks(t, "later")
		b.call("1", "quick", "{}").end()
		d := w.next() // over a boundary too
		d.lacks(t, "later")
		d.say("this").end()
		w.waits(c)
		if n := len(w.pending(c)); n != 1 {
			t.Errorf("%d inputs are pending", n)
		}
		if conv := w.get(c); conv.WaitingFor != "resume" {
			t.Errorf("it waits for %q", conv.WaitingFor)
		}
		w.notDue(c)
		w.asks(c, "go on").say("ok").end()
		w.next().say("2").end()
		w.rests(c)
		w.clean()
	})
}

func TestAnInterruptForSteersThatAreNotThereIsAnInterrupt(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.interruptForSteers(c) // idle: nothing
		if conv := w.get(c); conv.WaitingFor != "" {
			t.Errorf("it waits for %q", conv.WaitingFor)
		}
		a := w.asks(c, "one")
		w.interruptForSteers(c)
		<-a.over
		w.rests(c)
		if conv := w.get(c); conv.WaitingFor != "" {
			t.Errorf("it waits for %q", conv.WaitingFor)
		}
		b := w.asks(c, "two")
		w.queue(c, "later")
		w.interruptForSteers(c)
		<-b.over
		w.waits(c)
		if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "three"}); err != nil {
			t.Fatal(err)
		}
		w.next().say("3").end()
		w.next().say("later").end()
		w.rests(c)
		w.clean()
		codeIs(t, w.engine.Interrupt(t.Context(), actor(), c, weir.Queue), "then_invalid")
	})
}

func TestAnInterruptForTheSteersWorksWhileACallWaitsForConsent(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w, _ := approvals(t, s, new(atomic.Int32))
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "ask", "{}").end()
		w.asksPerson(c)
		w.send(c, "no, this")
		w.queue(c, "later")
		w.interruptForSteers(c)
		a := w.next()
		a.has(t, "declined", "no, this")
		a.lacks(t, "later")
		a.say("ok").end()
		w.waits(c)
		w.clean()
	})
}
