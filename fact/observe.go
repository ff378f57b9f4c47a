package fact

import (
	"context"
	"errors"
	"fmt"
)

// Observe reads all facts at once and returns one observation each, in order.
// A fact that does not answer within its deadline is unavailable; its reading
// goes on in the background until it notices that its context has ended.
func (s *Set) Observe(ctx context.Context, about Subject) []Observation {
	answers := make([]chan Observation, len(s.facts))
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	for i, f := range s.facts {
		answers[i] = make(chan Observation, 1)
		go func() { answers[i] <- read(ctx, f, about) }()
	}
	out := make([]Observation, len(s.facts))
	for i, f := range s.facts {
		select {
		case out[i] = <-answers[i]:
		case <-ctx.Done():
			select { // an answer that came at the same moment counts
			case out[i] = <-answers[i]:
			default:
				out[i] = Observation{Key: f.Key, State: Unavailable, Err: ctx.Err()}
			}
		}
	}
	return out
}

func read(ctx context.Context, f Fact, about Subject) (o Observation) {
	defer func() {
		if p := recover(); p != nil {
			o = Observation{State: Unavailable, Err: fmt.Errorf("fact: %s panicked: %v", f.Key, p)}
		}
		o.Key = f.Key
		if o.State == Present && len(o.Value) > MaxFact {
			o = Observation{Key: f.Key, State: Unavailable, Err: errors.New("fact: value over 64 KiB")}
		}
	}()
	return f.Observe(ctx, about)
}
