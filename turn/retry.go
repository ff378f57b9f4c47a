package turn

import (
	"context"
	"errors"
	"time"

	"weir"
	"weir/model"
)

// How often a request is sent before its step fails, and how long is waited in
// between: twice as long each time, unless the provider says how long.
const (
	maxAttempts  = 5
	firstPause   = 2 * time.Second
	longestPause = 15 * time.Minute
)

// chain is what a step continues: the failed attempts before it, and when the
// next one may begin.
type chain struct {
	attempts int
	at       time.Time // zero: at once
	code     string    // why the last one failed
	reason   string
}

// attempts sends the request until something comes of it, something fails that
// would fail again, or the attempts are used up. It waits in between, visibly
// and as long as nobody asks to stop. What failed is the last attempt; err is
// that something could not be stored.
func (d *drain) attempts(ctx context.Context, st *begun, w *watch) (answer model.Answer, failed, err error) {
	for {
		if !st.step.NextTry.IsZero() {
			// Whatever the clock was when the row was written, or is now.
			pause := min(st.step.NextTry.Sub(d.e.cfg.Now()), longestPause)
			if failed := d.e.cfg.Sleep(ctx, pause); failed != nil {
				return model.Answer{}, failed, nil
			}
			if err := d.note(st, func(s *weir.Step) { s.Attempts, s.NextTry = s.Attempts+1, time.Time{} }); err != nil {
				return model.Answer{}, nil, err
			}
		}
		answer, failed := d.attempt(ctx, st, w)
		next := d.continued(st, failed)
		if next == nil || w.begun() || ctx.Err() != nil {
			return answer, failed, nil
		}
		d.e.cfg.Log.Warn("an attempt failed", "conversation", d.id, "step", st.step.ID, "code", next.code, "err", cause(failed))
		if err := d.note(st, next.wait); err != nil {
			return model.Answer{}, nil, err
		}
	}
}

// continued returns how to go on after an attempt failed, nil for not at all.
func (d *drain) continued(st *begun, failed error) *chain {
	var failure *model.Error
	n := st.step.Chained + st.step.Attempts
	if !errors.As(failed, &failure) || !failure.Failure.Retryable() || n >= maxAttempts {
		return nil
	}
	return &chain{
		attempts: n, at: d.e.cfg.Now().Add(d.e.pause(n, failure.RetryAfter)),
		code: failure.Code(), reason: storable(failure.Public),
	}
}

// pause is how long to wait after the nth attempt failed.
func (e *Engine) pause(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longestPause)
	}
	return time.Duration(float64(firstPause<<(n-1)) * (0.8 + 0.4*e.cfg.Rand()))
}

// wait says in a step's row what it waits for.
func (c *chain) wait(s *weir.Step) { s.NextTry, s.Code, s.Reason = c.at, c.code, c.reason }

// begin says the same in the row of a new step.
func (c *chain) begin(s *weir.Step) {
	s.Chained = c.attempts
	if !c.at.IsZero() {
		s.Attempts = 0
		c.wait(s)
	}
}

// note changes the row of a running step.
func (d *drain) note(st *begun, change func(*weir.Step)) error {
	err := d.persist(func(ctx context.Context, tx Tx) error {
		s, err := tx.Step(ctx, d.id, st.step.ID)
		if err != nil {
			return err
		}
		change(&s)
		st.step = s
		return tx.UpdateStep(ctx, d.lease.Fence, &s)
	})
	if err != nil {
		d.forget()
		return err
	}
	d.e.publish(weir.Signal{Conversation: d.id, State: true})
	return nil
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
