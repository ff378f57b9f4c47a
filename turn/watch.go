package turn

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"weir"
	"weir/model"
)

// watch is what others may see of a running step: its text so far. It is
// written by the stream and read by the checkpoints and by watchers.
type watch struct {
	step  weir.StepID
	poked chan struct{}

	mu        sync.Mutex
	out       strings.Builder
	reasoning int // bytes so far
	calls     int
	saved     int // bytes of out that are in the store
}

func newWatch(step weir.StepID) *watch {
	return &watch{step: step, poked: make(chan struct{}, 1)}
}

// poke asks for a look at the step's row. It never blocks.
func (w *watch) poke() {
	select {
	case w.poked <- struct{}{}:
	default: // one look is asked for already
	}
}

func (w *watch) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// begun reports whether any of the answer has come.
func (w *watch) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Len()+w.reasoning+w.calls > 0
}

var errAnswerTooLong = weir.Fault(weir.Upstream, "provider_answer_too_long",
	"The model's answer went on past 16 MiB and was cut off there.")

// add takes a piece of the answer and returns what watchers are told of it.
func (w *watch) add(ev model.Event) (*weir.Delta, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out.Len()+len(ev.Text)+w.reasoning+len(ev.Reasoning) > maxAnswer {
		return nil, errAnswerTooLong
	}
	switch {
	case ev.Text != "":
		d := &weir.Delta{Step: w.step, Offset: w.out.Len(), Text: ev.Text}
		w.out.WriteString(ev.Text)
		return d, nil
	case ev.Reasoning != "":
		d := &weir.Delta{Step: w.step, Offset: w.reasoning, Reasoning: ev.Reasoning}
		w.reasoning += len(ev.Reasoning)
		return d, nil
	case ev.Call != nil:
		w.calls++
		return &weir.Delta{Step: w.step, Offset: w.out.Len(), Tool: ev.Call.Name}, nil
	}
	return nil, nil
}

// unsaved returns the text when there is more of it than in the store.
func (w *watch) unsaved() (text string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String(), w.out.Len() > w.saved
}

func (w *watch) save(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saved = n
}

// errInterrupted ends a step that a person, or somebody who wants the
// conversation to himself, asked to stop.
var errInterrupted = errors.New("turn: interrupted")

// watchStep looks after a running step until stop is called, which waits: once
// a second it stores what was streamed, and it looks at the step's row for an
// interrupt then and whenever it is poked. It never holds up the stream.
func (d *drain) watchStep(ctx context.Context, w *watch, interrupt context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	d.e.watching(d.id, w)
	go func() {
		defer close(done)
		tick := time.NewTicker(checkpointEach)
		defer tick.Stop()
		for {
			due := false
			select {
			case <-tick.C:
				due = true
			case <-w.poked:
			case <-ctx.Done():
				return
			}
			if asked, err := d.lookAfter(ctx, w, due); asked {
				interrupt(errInterrupted)
			} else if err != nil && ctx.Err() == nil {
				d.e.cfg.Log.Warn("look after a step", "conversation", d.id, "step", w.step, "err", err)
			}
		}
	}()
	return func() {
		d.e.watching(d.id, nil)
		cancel()
		<-done
	}
}

// lookAfter stores new text when a checkpoint is due, and reports whether the
// step was asked to stop.
func (d *drain) lookAfter(ctx context.Context, w *watch, due bool) (asked bool, err error) {
	text, more := w.unsaved()
	if !due || !more {
		s, err := d.e.cfg.Store.Step(ctx, d.id, w.step)
		return s.Interrupt, err
	}
	asked, err = d.checkpoint(ctx, w.step, text)
	switch {
	case err == nil:
		w.save(len(text))
	case weir.CodeOf(err) == weir.CodeFenced:
		d.cancel(errLostLease)
	}
	return asked, err
}

// checkpoint stores a running step's text so far.
func (d *drain) checkpoint(ctx context.Context, id weir.StepID, text string) (asked bool, err error) {
	err = d.e.cfg.Store.Update(ctx, func(tx Tx) error {
		s, err := tx.Step(ctx, d.id, id)
		if err != nil || s.State != weir.StepRunning {
			return err
		}
		asked = s.Interrupt
		s.Partial = storable(text)
		return tx.UpdateStep(ctx, d.lease.Fence, &s)
	})
	return asked, err
}
