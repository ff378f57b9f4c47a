package fact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"weir"
)

// Observe reads all facts at once, each once, and returns one observation
// each, in order. A fact that does not answer within its deadline is
// unavailable; its reading goes on in the background until it notices that its
// context has ended. Until then no other reading of that fact begins for that
// conversation: it is unavailable at once. So what hangs for ever costs one
// deadline and one goroutine for each reading that was under way when it began
// to hang, however many boundaries come.
func (s *Set) Observe(ctx context.Context, about Subject) []Observation {
	readings := make([]*reading, len(s.facts))
	for i, f := range s.facts {
		readings[i] = s.begin(ctx, f, about)
	}
	out := make([]Observation, len(s.facts))
	for i, r := range readings {
		out[i] = s.await(r)
	}
	return out
}

// reading is one call of a fact's Observe.
type reading struct {
	fact   Fact
	slot   slot
	ctx    context.Context
	cancel context.CancelFunc
	answer chan Observation // holds one

	// Guarded by late.mu.
	late, back bool
}

func (s *Set) begin(ctx context.Context, f Fact, about Subject) *reading {
	r := &reading{fact: f, slot: slot{f.Key, about.Conversation.ID}, answer: make(chan Observation, 1)}
	if s.late.still(r.slot) {
		r.ctx, r.cancel = ctx, func() {}
		r.answer <- Observation{Key: f.Key, State: Unavailable, Err: errStillReading}
		return r
	}
	r.ctx, r.cancel = context.WithTimeout(ctx, f.deadline())
	go func() {
		defer s.late.back(r)
		r.answer <- read(r.ctx, f, about)
	}()
	return r
}

var errStillReading = weir.Fault(weir.Unavailable, "fact_late", "An earlier reading has not come back yet.")

// Reason says in words fit to show why a fact is unavailable.
func Reason(err error) string {
	var known *weir.Error
	switch {
	case errors.As(err, &known) && known.Public != "":
		return known.Public
	case errors.Is(err, context.DeadlineExceeded):
		return "It did not answer in time."
	}
	return "It could not be read; the server's log says why."
}

// missed is the observation of a fact whose context has ended.
func missed(f Fact, err error) Observation {
	if errors.Is(err, context.DeadlineExceeded) {
		e := weir.Fault(weir.Unavailable, "fact_late", "It did not answer within %s.", f.deadline())
		e.Err = err
		return Observation{Key: f.Key, State: Unavailable, Err: e}
	}
	return Observation{Key: f.Key, State: Unavailable, Err: err}
}

func (f Fact) deadline() time.Duration {
	if f.Deadline <= 0 {
		return DefaultDeadline
	}
	return f.Deadline
}

func (s *Set) await(r *reading) Observation {
	defer r.cancel()
	select {
	case o := <-r.answer:
		return o
	case <-r.ctx.Done():
	}
	s.late.missed(r)
	select { // an answer that came at the same moment counts
	case o := <-r.answer:
		return o
	default:
		return missed(r.fact, r.ctx.Err())
	}
}

func read(ctx context.Context, f Fact, about Subject) (o Observation) {
	defer func() {
		if p := recover(); p != nil {
			o = Failed(fmt.Errorf("fact: %s panicked: %v", f.Key, p))
		}
		o.Key = f.Key
	}()
	o = f.Observe(ctx, about)
	switch {
	case o.State == Unavailable && errors.Is(o.Err, context.DeadlineExceeded) && ctx.Err() != nil:
		return missed(f, o.Err)
	case o.State == Present:
		v, err := bounded(o.Value)
		if err != nil {
			return Failed(fmt.Errorf("fact: %s: %w", f.Key, err))
		}
		o.Value = v
	}
	return o
}

// slot is what at most one late reading is about.
type slot struct {
	key          string
	conversation weir.ConversationID
}

// late counts the readings that missed their deadline and have not come back.
// Sets that were made of one another share it.
type late struct {
	mu    sync.Mutex
	count map[slot]int
}

func (l *late) still(s slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[s] > 0
}

// missed says that nobody waits for r any longer.
func (l *late) missed(r *reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.back {
		return
	}
	r.late = true
	if l.count == nil {
		l.count = map[slot]int{}
	}
	l.count[r.slot]++
}

// back says that r has come back.
func (l *late) back(r *reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.back = true
	if !r.late {
		return
	}
	if l.count[r.slot]--; l.count[r.slot] == 0 {
		delete(l.count, r.slot)
	}
}
