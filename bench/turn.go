package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/gate"
	"weir/live"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

const shortHistory = 100 // messages

var turnCPU = row{
	name: "CPU of a turn at 10,000 messages, warm, sending aside", reference: "the same at 100 messages; of both, copying the request's bytes once counts as sending", bound: "1.5×",
	run: func(ctx context.Context, dir string) (result, error) {
		long, short, err := turns(ctx, dir)
		if err != nil {
			return result{}, err
		}
		return times(long.cpu-long.copying, short.cpu-short.copying, fmt.Sprintf("with it %d µs and %d µs: %.2f×; requests of %d and %d bytes",
			long.cpu.Microseconds(), short.cpu.Microseconds(), float64(long.cpu)/float64(short.cpu), long.request, short.request)), nil
	},
}

var turnRows = row{
	name: "rows read by the store for a turn at 10,000 messages, warm", reference: "the same at 100 messages", bound: "1.0×",
	run: func(ctx context.Context, dir string) (result, error) {
		long, short, err := turns(ctx, dir)
		if err != nil {
			return result{}, err
		}
		return result{
			ours: float64(long.rows), reference: float64(short.rows), unit: "rows", ratio: float64(long.rows) / float64(short.rows),
			note: fmt.Sprintf("pages looked at: %d and %d; written: %d KiB and %d KiB", long.pages, short.pages, long.written>>10, short.written>>10),
		}, nil
	},
}

// cost is what a turn takes, from its admission until the conversation is idle
// again.
type cost struct {
	cpu, copying         time.Duration
	rows, pages, written int64
	request              int // bytes
}

// turns measures turns of a long and of a short conversation of one server,
// some of the one and some of the other, against a model that answers at once.
// Some at a time, so that each bears the collecting of its own garbage.
func turns(ctx context.Context, dir string) (long, short cost, err error) {
	w, err := newTurnWorld(ctx, filepath.Join(dir, "weir"))
	if err != nil {
		return cost{}, cost{}, err
	}
	defer w.close()
	const rounds = 11
	var all [2][]cost
	for i := range 1 + rounds {
		for j, h := range w.pasts {
			c, err := w.some(ctx, h.c.ID)
			if err != nil {
				return cost{}, cost{}, err
			}
			if i > 0 { // warm
				all[j] = append(all[j], c)
			}
		}
	}
	return middle(all[0]), middle(all[1]), nil
}

// some is the average of a few dozen turns.
func (w *turnWorld) some(ctx context.Context, c weir.ConversationID) (cost, error) {
	const n = 30
	cpu := processorTime()
	rows, pages, written := w.meter.Rows.Load(), w.meter.Pages.Load(), w.meter.Written.Load()
	for range n {
		if err := w.turn(ctx, c); err != nil {
			return cost{}, err
		}
	}
	sum := cost{
		cpu: (processorTime() - cpu) / n, rows: (w.meter.Rows.Load() - rows) / n, pages: (w.meter.Pages.Load() - pages) / n,
		written: (w.meter.Written.Load() - written) * store.PageBytes / n, request: len(w.model.body),
	}
	cpu = processorTime()
	for range n {
		out := make([]byte, 0, len(w.model.body))
		out = append(out, w.model.body...)
		runtime.KeepAlive(out)
	}
	sum.copying = (processorTime() - cpu) / n
	return sum, nil
}

// middle is the middle of many, each value by itself.

func middle(all []cost) cost {
	return cost{
		cpu: middleOf(all, func(c cost) time.Duration { return c.cpu }), copying: middleOf(all, func(c cost) time.Duration { return c.copying }),
		rows: middleOf(all, func(c cost) int64 { return c.rows }), pages: middleOf(all, func(c cost) int64 { return c.pages }),
		written: middleOf(all, func(c cost) int64 { return c.written }), request: middleOf(all, func(c cost) int { return c.request }),
	}
}

func middleOf[T int | int64 | time.Duration](all []cost, value func(cost) T) T {
	var values []T
	for _, c := range all {
		values = append(values, value(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// turnWorld is a server's engine with a long and a short conversation. aside
// reads the same database without being measured.
type turnWorld struct {
	engine *turn.Engine
	s      store.Store
	aside  store.ReadOnly
	hub    *live.Hub
	meter  *store.Meter
	model  *instant
	pasts  [2]*past
}

func newTurnWorld(ctx context.Context, dir string) (_ *turnWorld, err error) {
	w := &turnWorld{hub: live.NewHub(), meter: new(store.Meter), model: new(instant)}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.s, err = store.OpenWith(ctx, dir, store.Options{Meter: w.meter}); err != nil {
		return nil, err
	}
	if w.aside, err = store.OpenReadOnly(ctx, dir); err != nil {
		return nil, err
	}
	for i, n := range []int{longHistory, shortHistory} {
		w.pasts[i] = &past{s: w.s, profile: profile, id: weir.ConversationID(fmt.Sprintf("cnv_%d", n))}
		if err := w.pasts[i].fill(ctx, n); err != nil {
			return nil, err
		}
		if err := w.pasts[i].release(ctx); err != nil {
			return nil, err
		}
	}
	tools, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		return nil, err
	}
	facts, err := fact.Compose(builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return "Max", nil }))
	if err != nil {
		return nil, err
	}
	w.engine = turn.New(turn.Config{
		Store: turn.Over[store.Tx](w.s), Gate: gate.New(gate.Config{Key: []byte("bench"), Now: time.Now, Rand: rand.Reader}),
		Lowerer: modelview.New(), Models: w.model, Tools: tools, Facts: facts, Live: w.hub,
		Sweep: time.Hour, // sweeps are no part of a turn
	})
	return w, w.engine.Start(ctx)
}

func (w *turnWorld) close() {
	if w.engine != nil {
		w.engine.Stop()
	}
	if w.aside != nil {
		w.aside.Close()
	}
	if w.s != nil {
		w.s.Close()
	}
}

// turn admits a message and waits until the conversation is idle again.
func (w *turnWorld) turn(ctx context.Context, c weir.ConversationID) error {
	signals, done := w.hub.Subscribe(c, 4096)
	defer done()
	if err := admit(ctx, w.engine, c); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case sig, more := <-signals:
			if !more {
				return fmt.Errorf("a turn's signals were too many")
			}
			if !sig.State {
				continue
			}
		}
		if idle, err := w.idle(ctx, c); err != nil || idle {
			return err
		}
	}
}

func (w *turnWorld) idle(ctx context.Context, c weir.ConversationID) (bool, error) {
	conv, err := w.aside.Conversation(ctx, c)
	if err != nil || conv.State != weir.Idle {
		return false, err
	}
	pending, err := w.aside.PendingInputs(ctx, c)
	return len(pending) == 0, err
}

// instant is a model that answers at once, whatever it is sent.
type instant struct{ body []byte }

func (m *instant) Model(string) (model.Profile, model.Client, error) { return profile, m, nil }

func (m *instant) Stream(_ context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	m.body = body
	const text = "Port 7447, because 8080 is taken by the metrics agent and 443 stays with the proxy."
	answer := model.Answer{Parts: []weir.Part{{Type: weir.PartText, Text: text}}, Finish: model.FinishEnd}
	return answer, emit(model.Event{Text: text})
}
