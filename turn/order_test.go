package turn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

func TestASteerThatComesWhileTheLastAnswerStreamsGetsAStepOfItsOwn(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		a.say("1")
		w.send(c, "wait")
		w.send(c, "and another thing")
		a.end()
		b := w.next()
		b.has(t, "one", `"1"`, "wait", "and another thing")
		b.say("2").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: 1", "end done",
			"user: wait", "user: and another thing", "step", "assistant: 2", "end done")
		w.clean()
	})
}

func TestQueuedMessagesAreAnsweredOneByOne(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		a := w.asks(c, "one")
		w.queue(c, "later one")
		w.queue(c, "later two")
		w.send(c, "steer")
		a.say("1").end()
		w.next().say("2").end()
		w.next().say("3").end()
		w.next().say("4").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: 1", "end done",
			"user: steer", "step", "assistant: 2", "end done",
			"user: later one", "step", "assistant: 3", "end done",
			"user: later two", "step", "assistant: 4", "end done")
		w.clean()
	})
}

func TestWhatWasAdmittedBeforeTheEndIsDueWithoutARing(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		never := func(c *turn.Config) { c.Sweep = time.Hour }
		w := newWorld(t, s)
		w.engine = w.another(never)
		w.start()
		elsewhere := w.another() // not started: it rings nobody here
		c := w.conversation("c")
		a := w.asks(c, "one")
		for _, text := range []string{"two", "three"} {
			if _, err := elsewhere.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: text, Delivery: weir.Queue}); err != nil {
				t.Fatal(err)
			}
		}
		a.say("1").end()
		w.next().say("2").end()
		w.next().fail(model.FailAuth, "sorry")
		w.rests(c)
		w.clean()
	})
}

func TestARetryRunsAStepFromTheSurfacesEnd(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.asks(c, "one").fail(model.FailQuota, "no credit")
		w.rests(c)
		if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
			t.Fatal(err)
		}
		a := w.next()
		a.has(t, "one")
		a.say("half").fail(model.FailRefused, "no")
		w.rests(c)
		if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
			t.Fatal(err)
		}
		b := w.next()
		b.has(t, "half", "cut off; continue")
		b.say("rest").end()
		w.rests(c)
		codeIs(t, w.engine.Retry(t.Context(), actor(), c, nil), "nothing_to_retry")
		d := w.asks(c, "two")
		if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil { // who knows how it ends
			t.Fatal(err)
		}
		d.say("2").end()
		w.rests(c)
		w.notAsked()
		w.clean()
		inputs, err := s.Inputs(t.Context(), c, 100)
		if err != nil || len(inputs) != 1 || inputs[0].Code != "nothing_to_retry" {
			t.Errorf("the retry of an answer is kept as %+v (%v)", inputs, err)
		}
	})
}

func TestAskingForARetryWhileOneWaitsIsAskingOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s) // not started
		c := w.conversation("c")
		codeIs(t, w.engine.Retry(t.Context(), actor(), c, nil), "nothing_to_retry")
		w.send(c, "one")
		for range 3 {
			if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
				t.Fatal(err)
			}
		}
		if p := w.pending(c); len(p) != 2 || p[1].Kind != weir.InputRetry {
			t.Errorf("pending: %+v", p)
		}
	})
}

func TestAnInputWithoutAModelIsPromotedAndItsStepFails(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.model.without(weir.Fault(weir.Unprocessable, "provider_not_configured", "No key for it; set one."))
		w.send(c, "one")
		w.queue(c, "two")
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "end failed provider_not_configured", "user: two", "end failed provider_not_configured")
		steps, err := s.Steps(t.Context(), c, 0, 10)
		if err != nil || len(steps) != 2 || steps[0].Reason != "No key for it; set one." || steps[0].State != weir.StepFailed {
			t.Errorf("the steps are %+v (%v)", steps, err)
		}
		w.model.without(nil)
		if err := w.engine.Retry(t.Context(), actor(), c, nil); err != nil {
			t.Fatal(err)
		}
		a := w.next()
		a.has(t, "one", "two")
		a.say("both").end()
		w.rests(c)
		w.clean()
	})
}

func TestAHistoryThatCannotBeSentFailsTheStep(t *testing.T) {
	w := newWorld(t, stores.SQLite(t)).start()
	c := w.conversation("c")
	if err := w.engine.Exclusive(t.Context(), c, func(tx turn.Tx, fence int64) error {
		conv, err := tx.Conversation(t.Context(), c)
		if err != nil {
			return err
		}
		_, err = tx.Append(t.Context(), c, fence, nil,
			weir.Record{ID: "m1", Generation: conv.Generation, Time: conv.CreatedAt, Body: &weir.UserMessage{Text: "hi"}},
			weir.Record{ID: "m2", Generation: conv.Generation, Time: conv.CreatedAt, Body: &weir.AssistantMessage{
				Parts: []weir.Part{{Type: weir.PartToolCall, Call: "x", Name: "y", Input: []byte(`{}`)}},
			}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.send(c, "go on")
	w.rests(c)
	w.notAsked()
	lines := w.transcript(c)
	if got := lines[len(lines)-1]; got != "end failed history_broken" {
		t.Errorf("the step ended as %q", got)
	}
}

func TestEveryMessageOfManySendersIsPromotedOnceInOrder(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		w.model.auto = func([]byte) string { return "ok" }
		w.start()
		const senders, each = 8, 12
		var convs []weir.ConversationID
		for i := range 3 {
			convs = append(convs, w.conversation(weir.ConversationID(fmt.Sprint("c", i))))
		}
		var mu sync.Mutex
		sent := map[weir.InputID]weir.Input{}
		var all sync.WaitGroup
		for n := range senders {
			all.Go(func() {
				for i := range each {
					c := convs[rand.N(len(convs))]
					delivery := weir.Steer
					if rand.N(4) == 0 {
						delivery = weir.Queue
					}
					in, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: fmt.Sprintf("message %d of %d", i, n), Delivery: delivery})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					sent[in.ID] = in
					mu.Unlock()
				}
			})
		}
		all.Wait()
		seen := 0
		for _, c := range convs {
			w.rests(c)
			var lastSteer, lastQueued int64
			for _, r := range w.records(c) {
				m, ok := r.Body.(*weir.UserMessage)
				if !ok {
					continue
				}
				in, known := sent[m.Input]
				if !known || in.Text != m.Text {
					t.Errorf("%s was promoted twice, or never sent", m.Input)
				}
				delete(sent, m.Input)
				seen++
				last := &lastSteer
				if in.Delivery == weir.Queue {
					last = &lastQueued
				}
				if in.Position <= *last {
					t.Errorf("in %s position %d came after %d", c, in.Position, *last)
				}
				*last = in.Position
			}
		}
		if seen != senders*each || len(sent) != 0 {
			t.Errorf("%d messages were promoted and %d not, of %d", seen, len(sent), senders*each)
		}
		w.engine.Stop()
		w.clean()
		if n := w.engine.Slots(); n != 0 {
			t.Errorf("%d slots are left", n)
		}
	})
}

func TestAnEditThatRacesWithPromotionIsEitherSeenOrRefused(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		w.model.auto = func([]byte) string { return "ok" }
		w.start()
		c := w.conversation("c")
		for i := range 20 {
			in := w.send(c, fmt.Sprint("draft ", i))
			_, err := w.engine.Edit(t.Context(), actor(), turn.Admission{Conversation: c, ID: in.ID, Text: fmt.Sprint("final ", i)}, 1)
			w.rests(c)
			stored, ierr := s.Input(t.Context(), c, in.ID)
			if ierr != nil {
				t.Fatal(ierr)
			}
			conv := w.get(c)
			found, ierr := s.Records(t.Context(), &conv, weir.RecordQuery{After: stored.PromotedSeq - 1, Limit: 1})
			if ierr != nil {
				t.Fatal(ierr)
			}
			said := found[0].Body.(*weir.UserMessage).Text
			switch {
			case err == nil && said != fmt.Sprint("final ", i):
				t.Errorf("the edit of %d was acknowledged, and %q was said", i, said)
			case err != nil && (weir.CodeOf(err) != weir.CodeInputPromoted || said != fmt.Sprint("draft ", i)):
				t.Errorf("the edit of %d was refused with %v, and %q was said", i, err, said)
			}
		}
		w.clean()
	})
}

var errTest = errors.New("a test's own")
