package fact_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/fact"
)

func subject(c weir.ConversationID) fact.Subject {
	return fact.Subject{Conversation: weir.Conversation{ID: c}}
}

func TestEachFactHasADeadlineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(key string, takes, deadline time.Duration) fact.Fact {
			f := constant(key, fact.Observed(1))
			f.Deadline = deadline
			f.Observe = func(ctx context.Context, _ fact.Subject) fact.Observation {
				select {
				case <-time.After(takes):
					return fact.Observed(1)
				case <-ctx.Done():
					return fact.Failed(ctx.Err())
				}
			}
			return f
		}
		s := compose(t, slow("a/quick", time.Second, 0), slow("a/slow", time.Minute, 5*time.Second), slow("a/patient", 6*time.Second, 10*time.Second), slow("a/hasty", time.Second, time.Millisecond))
		begun := time.Now()
		got := s.Observe(t.Context(), subject("c"))
		if d := time.Since(begun); d != 6*time.Second {
			t.Errorf("it took %s", d)
		}
		for i, want := range []fact.Availability{fact.Present, fact.Unavailable, fact.Present, fact.Unavailable} {
			if got[i].State != want {
				t.Errorf("%s is %s, want %s", got[i].Key, got[i].State, want)
			}
		}
	})
}

func TestAFactThatHangsDelaysOneBoundaryAndPilesUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		hold := make(chan struct{})
		deaf := constant("a/deaf", fact.Observed(1))
		deaf.Observe = func(context.Context, fact.Subject) fact.Observation {
			calls.Add(1)
			<-hold
			return fact.Observed(1)
		}
		s := compose(t, deaf, constant("a/fine", fact.Observed(1)))
		s.Observe(t.Context(), subject("c"))
		for range 100 {
			begun := time.Now()
			more, err := s.With(constant("b/more", fact.Observed(1))) // a set made of it knows as well
			if err != nil {
				t.Fatal(err)
			}
			got := more.Observe(t.Context(), subject("c"))
			if d := time.Since(begun); d != 0 {
				t.Fatalf("a later boundary was delayed by %s", d)
			}
			if got[0].State != fact.Unavailable || got[0].Err == nil || got[1].State != fact.Present || got[2].State != fact.Present {
				t.Fatalf("observed %v", got)
			}
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%d readings hang", n)
		}
		s.Only("a/deaf").Observe(t.Context(), subject("another")) // is read for itself
		if calls.Load() != 2 {
			t.Errorf("%d readings", calls.Load())
		}
		close(hold)
		synctest.Wait()
		if got := s.Observe(t.Context(), subject("c")); got[0].State != fact.Present {
			t.Errorf("it came back and is still %s: %v", got[0].State, got[0].Err)
		}
	})
}

func TestAReadingUnderWayHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := constant("a/slow", fact.Observed(1))
		f.Observe = func(context.Context, fact.Subject) fact.Observation { time.Sleep(time.Second); return fact.Observed(1) }
		s := compose(t, f)
		other := make(chan []fact.Observation)
		go func() { other <- s.Observe(t.Context(), subject("c")) }()
		mine := s.Observe(t.Context(), subject("c"))
		if theirs := <-other; mine[0].State != fact.Present || theirs[0].State != fact.Present {
			t.Errorf("observed %v and %v", mine, theirs)
		}
	})
}

func TestAnObservationEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		deaf := constant("a/deaf", fact.Observed(1))
		deaf.Observe = func(context.Context, fact.Subject) fact.Observation { <-hold; return fact.Observed(1) }
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		got := compose(t, deaf).Observe(ctx, subject("c"))
		if time.Since(begun) != time.Second || !errors.Is(got[0].Err, context.Canceled) {
			t.Errorf("after %s: %v", time.Since(begun), got)
		}
		close(hold)
	})
}

func TestAValueIsObservedInItsOneForm(t *testing.T) {
	s := compose(t, constant("a/x", fact.Observation{State: fact.Present, Value: json.RawMessage(` {"b":1.0, "a":[ ]}`)}),
		constant("a/twice", fact.Observation{State: fact.Present, Value: json.RawMessage(`{"a":1,"a":2}`)}),
		constant("a/none", fact.Observation{State: fact.Present}))
	got := s.Observe(t.Context(), subject("c"))
	if string(got[0].Value) != `{"a":[],"b":1}` || got[1].State != fact.Unavailable || got[2].State != fact.Unavailable {
		t.Errorf("observed %v", got)
	}
}
