package turn

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"weir"
	"weir/fact"
)

// slot is what the engine knows of one conversation in this process: whether
// it drains, and who wants something of the drain. Slots are guarded by the
// engine's lock and go away when nothing is left in them.
type slot struct {
	rung       bool // look again when the drain ends
	queued     bool
	draining   bool
	exclusives int           // callers that want the lease; no drain starts while there are any
	ended      chan struct{} // closed at the end of a drain, for exclusives
	watch      *watch        // of the running step
	poked      bool          // poked before there was a step to watch
	failures   int           // drains in a row that ended in an error
	notBefore  time.Time     // sweeps leave it alone until then
}

func (s *slot) empty() bool {
	return !s.rung && !s.queued && !s.draining && s.exclusives == 0 && s.failures == 0
}

// slot returns c's slot, made when there is none. The lock is held.
func (e *Engine) slot(c weir.ConversationID) *slot {
	s := e.slots[c]
	if s == nil {
		s = &slot{ended: make(chan struct{})}
		e.slots[c] = s
	}
	return s
}

// tidy forgets an empty slot. The lock is held.
func (e *Engine) tidy(c weir.ConversationID, s *slot) {
	if s.empty() {
		delete(e.slots, c)
	}
}

// ring makes sure that a drain looks at c after this moment.
func (e *Engine) ring(c weir.ConversationID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ringLocked(c)
}

// ringDue is ring for sweeps, which leave a conversation alone for a while
// after its drain has failed.
func (e *Engine) ringDue(c weir.ConversationID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.slots[c]; s != nil && time.Now().Before(s.notBefore) {
		return
	}
	e.ringLocked(c)
}

func (e *Engine) ringLocked(c weir.ConversationID) {
	if e.state != started || e.ctx.Err() != nil {
		return
	}
	s := e.slot(c)
	switch {
	case s.draining || s.exclusives > 0:
		s.rung = true
	case !s.queued:
		s.queued = true
		e.ready = append(e.ready, c)
		e.dispatch()
	}
}

// dispatch starts drains while there are places. The lock is held.
func (e *Engine) dispatch() {
	for e.active < e.cfg.Drains && len(e.ready) > 0 && e.state == started {
		c := e.ready[0]
		e.ready = e.ready[1:]
		s := e.slot(c)
		s.queued = false
		if s.exclusives > 0 {
			s.rung = true
			continue
		}
		s.draining, s.rung, s.poked = true, false, false
		e.active++
		e.running.Add(1)
		go func() {
			defer e.running.Done()
			err := e.drain(e.ctx, c)
			e.drained(c, err)
		}()
	}
}

// drained is the end of a drain.
func (e *Engine) drained(c weir.ConversationID, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.slots[c]
	s.draining, s.watch = false, nil
	close(s.ended)
	s.ended = make(chan struct{})
	e.active--
	if err != nil {
		s.failures++
		pause, level := time.Second<<min(s.failures-1, 6), slog.LevelError
		if blocked := (*fact.Blocked)(nil); errors.As(err, &blocked) {
			pause, level = min(pause, blockedPause), slog.LevelWarn // a person waits for it
		}
		s.notBefore, s.rung = time.Now().Add(pause), false // the sweep will come back
		e.cfg.Log.Log(context.Background(), level, "a drain ended", "conversation", c, "in_a_row", s.failures, "err", err)
	} else {
		s.failures, s.notBefore = 0, time.Time{}
	}
	if s.rung && s.exclusives == 0 {
		s.rung = false
		e.ringLocked(c)
	}
	e.dispatch()
	e.tidy(c, s)
}

// failures returns how many drains of c in a row ended in an error.
func (e *Engine) failures(c weir.ConversationID) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.slot(c).failures
}

// reserve keeps drains of c in this process from starting, and makes a running
// one give way at its next boundary, until release is called.
func (e *Engine) reserve(c weir.ConversationID) (release func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slot(c).exclusives++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		s := e.slots[c]
		s.exclusives--
		s.rung = false
		e.ringLocked(c)
		e.tidy(c, s)
	}
}

// wanted reports whether somebody waits for the drain of c to give way.
func (e *Engine) wanted(c weir.ConversationID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.slots[c]
	return s != nil && s.exclusives > 0
}

// ending returns a channel that is closed when the present drain of c ends.
func (e *Engine) ending(c weir.ConversationID) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.slot(c).ended
}

// poke makes the watcher of c's running step look at the step's row now. A
// step that is just beginning is poked when it does.
func (e *Engine) poke(c weir.ConversationID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.slots[c]
	switch {
	case s == nil || !s.draining:
	case s.watch == nil:
		s.poked = true
	default:
		s.watch.poke()
	}
}

// watching puts w in c's slot, or takes the present one out when w is nil.
func (e *Engine) watching(c weir.ConversationID, w *watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.slots[c]
	s.watch = w
	if w != nil && s.poked {
		s.poked = false
		w.poke()
	}
}

// Partial returns the step of c that runs in this process and its text so far.
func (e *Engine) Partial(c weir.ConversationID) (weir.StepID, string) {
	e.mu.Lock()
	s := e.slots[c]
	var w *watch
	if s != nil {
		w = s.watch
	}
	e.mu.Unlock()
	if w == nil {
		return "", ""
	}
	return w.step, w.text()
}

// stopping reports whether ctx ended because the engine stops.
func stopping(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != errLostLease
}
