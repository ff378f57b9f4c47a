package turn_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/turn"
)

// racing is a model that tells when its answer is about to be settled.
type racing struct {
	mu      sync.Mutex
	settles map[string]chan struct{} // by model, one a conversation
}

// Model implements [turn.Models].
func (r *racing) Model(id string) (model.Profile, model.Client, error) {
	return model.Profile{
		ID: id, Provider: "racing", Name: "racing", Dialect: model.Anthropic,
		MidSystem: model.MidNative, ContextWindow: 200_000, MaxOutput: 8000,
	}, racer{r.of(id)}, nil
}

func (r *racing) of(id string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.settles[id] == nil {
		r.settles[id] = make(chan struct{}, 1)
	}
	return r.settles[id]
}

type racer struct{ settles chan struct{} }

func (r racer) Stream(_ context.Context, _ []byte, emit func(model.Event) error) (model.Answer, error) {
	err := emit(model.Event{Text: "ok"})
	select {
	case r.settles <- struct{}{}:
	default: // whoever waits is told already
	}
	return model.Answer{Parts: []weir.Part{{Type: weir.PartText, Text: "ok"}}, Finish: model.FinishEnd}, err
}

// TestASteerInTheLastMillisecondIsPromotedOnceAndInOrder lets the admission of
// a steer race against the settlement of the step before it: 100 times, and
// 10,000 times where WEIR_STORM is set.
func TestASteerInTheLastMillisecondIsPromotedOnceAndInOrder(t *testing.T) {
	races := 100
	if os.Getenv("WEIR_STORM") != "" {
		races = 10_000
	}
	const each, beside = 50, 4
	stores.Each(t, func(t *testing.T, s store.Store) {
		models := &racing{settles: map[string]chan struct{}{}}
		w := newWorld(t, s)
		w.engine = w.another(withModels(models))
		w.start()
		turns := make(chan weir.ConversationID)
		var all sync.WaitGroup
		var mu sync.Mutex
		merged := 0
		for range beside {
			all.Go(func() {
				for c := range turns {
					n := w.race(models.of("racing/"+string(c)), c, each)
					mu.Lock()
					merged += n
					mu.Unlock()
				}
			})
		}
		for i := range races / each {
			c := w.conversation(weir.ConversationID(fmt.Sprintf("c%03d", i)))
			id := "racing/" + string(c)
			err := s.Update(t.Context(), func(tx store.Tx) error {
				return tx.ChangeConversation(t.Context(), c, weir.ConversationChange{Model: &id})
			})
			if err != nil {
				t.Fatal(err)
			}
			turns <- c
		}
		close(turns)
		all.Wait()
		t.Logf("%d of %d steers came before the settlement they raced against", merged, races)
		w.clean()
	})
}

// race sends steers, each when the step before it is about to settle, and
// returns how many came before that. They must be in the log in the order in
// which they were admitted, each once.
func (w *world) race(settles <-chan struct{}, c weir.ConversationID, n int) (before int) {
	var sent []weir.Input
	for i := range n {
		in, err := w.engine.Admit(w.t.Context(), actor(), turn.Admission{Conversation: c, Text: fmt.Sprint("message ", i)})
		if err != nil {
			w.t.Error(err)
			return 0
		}
		sent = append(sent, in)
		<-settles
	}
	w.rests(c)
	at, settled := 0, time.Time{}
	for _, r := range w.records(c) {
		switch m := r.Body.(type) {
		case *weir.StepEnd:
			settled = r.Time
		case *weir.UserMessage:
			if at == len(sent) || m.Input != sent[at].ID {
				w.t.Errorf("%s: message %d in the log is %q", c, at, m.Text)
				return 0
			}
			if sent[at].AdmittedAt.Before(settled) {
				before++
			}
			at++
		}
	}
	if at != len(sent) {
		w.t.Errorf("%s: %d of %d messages are in the log", c, at, len(sent))
	}
	return before
}
