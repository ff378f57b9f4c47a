package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
)

const longHistory = 10_000 // messages

var profile = model.Profile{
	ID: "bench/bench", Provider: "bench", Name: "bench", Dialect: model.Anthropic, MidSystem: model.MidNative, MaxOutput: 4096,
}

// requests are the rows about the next request, two for each profile that the
// strict peer plays: each dialect, and each way of arranging it.
func requests() []row {
	var all []row
	for _, name := range strictpeer.Profiles() {
		p := strictpeer.Model(name, "bench/bench", "bench")
		all = append(all, requestWarm(name, p), requestCold(name, p))
	}
	return all
}

func requestWarm(name string, p model.Profile) row {
	return row{
		name: "next request at 10,000 messages, warm: " + name, reference: "hashing and writing what is new, copying the bytes once", bound: "3×",
		run: func(ctx context.Context, dir string) (result, error) {
			few, err := warm(ctx, filepath.Join(dir, "few"), p, longHistory/10)
			if err != nil {
				return result{}, err
			}
			many, err := warm(ctx, filepath.Join(dir, "many"), p, longHistory)
			if err != nil {
				return result{}, err
			}
			return times(many.ours, many.reference, fmt.Sprintf("%d bytes, %d allocations; %d at 1,000 messages", many.size, many.objects, few.objects)), nil
		},
	}
}

const warmTurns = 51

// next is what the next request takes, in the middle of the turns.
type next struct {
	ours, reference time.Duration
	size            int    // of the last body
	objects         uint64 // that are allocated
}

// warm takes turns in a conversation of n messages.
func warm(ctx context.Context, dir string, p model.Profile, n int) (next, error) {
	h, err := history(ctx, dir, p, n)
	if err != nil {
		return next{}, err
	}
	defer h.s.Close()
	w := h.lowerer.Window(h.c)
	w.Expect(p)
	if err := h.prepare(ctx, w); err != nil {
		return next{}, err
	}
	var ours, reference []time.Duration
	var objects []uint64
	size := 0
	for i := range warmTurns {
		if err := h.turn(ctx, w, i); err != nil {
			return next{}, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		req, err := w.Next(ctx, h.s, p, modelview.Options{MaxTokens: 4096})
		ours = append(ours, time.Since(begin))
		runtime.ReadMemStats(&after)
		if err != nil {
			return next{}, err
		}
		objects = append(objects, after.Mallocs-before.Mallocs)
		size = len(req.Body)
		reference = append(reference, copyOnce(req.Body))
		if err := h.start(ctx, req); err != nil {
			return next{}, err
		}
	}
	slices.Sort(ours)
	slices.Sort(reference)
	slices.Sort(objects)
	return next{ours[warmTurns/2], reference[warmTurns/2], size, objects[warmTurns/2]}, nil
}

// copyOnce hashes and writes what is new in a turn, one message of the person
// and one of the model, and copies the rest.
func copyOnce(body []byte) time.Duration {
	fresh := make([]byte, 600)
	begin := time.Now()
	sum := sha256.New()
	for range 2 {
		sum.Write(fresh)
		sum.Sum(nil)
	}
	out := make([]byte, 0, len(body))
	out = append(out, body[:len(body)-len(fresh)]...)
	out = append(out, fresh...)
	runtime.KeepAlive(out)
	return time.Since(begin)
}

func requestCold(name string, p model.Profile) row {
	return row{
		name: "next request at 10,000 messages, cold: " + name, reference: "reading the rows and one SHA-256", bound: "2×",
		run: func(ctx context.Context, dir string) (result, error) {
			h, err := history(ctx, dir, p, longHistory)
			if err != nil {
				return result{}, err
			}
			defer h.s.Close()
			warm := h.lowerer.Window(h.c)
			warm.Expect(p)
			if err := h.prepare(ctx, warm); err != nil {
				return result{}, err
			}
			size := 0
			build := func(int) error {
				w := h.lowerer.Window(h.c)
				w.Expect(p)
				if err := w.CatchUp(ctx, h.s); err != nil {
					return err
				}
				req, err := w.Next(ctx, h.s, p, modelview.Options{MaxTokens: 4096})
				if err == nil {
					size = len(req.Body)
				}
				return err
			}
			ours, reference, err := medians(21, build, func(int) error { return h.readAndHash(ctx) })
			return times(ours, reference, fmt.Sprintf("%d bytes", size)), err
		},
	}
}

// past is a long conversation in a real store.
type past struct {
	s        store.Store
	id       weir.ConversationID
	c        *weir.Conversation
	lease    weir.Lease
	lowerer  *modelview.Lowerer
	profile  model.Profile
	lowering string
}

func history(ctx context.Context, dir string, p model.Profile, n int) (*past, error) {
	s, err := store.Open(ctx, filepath.Join(dir, "weir"))
	if err != nil {
		return nil, err
	}
	h := &past{s: s, id: "cnv_long", lowerer: modelview.New(), profile: p}
	return h, h.fill(ctx, n)
}

// fill makes the conversation with n messages and one more of the person.
func (h *past) fill(ctx context.Context, n int) error {
	gen := weir.NewGenerationID(time.Now())
	record := func(i int, b weir.Body) weir.Record {
		now := time.Now().UTC().Truncate(time.Millisecond)
		return weir.Record{ID: weir.MessageID(fmt.Sprintf("msg_%d", i)), Time: now, Generation: gen, Body: b}
	}
	baseline := "You are a bench."
	records := []weir.Record{record(0, &weir.Epoch{Baseline: baseline, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(baseline)))})}
	for i := 1; i < n; i += 2 {
		records = append(records,
			record(i, &weir.UserMessage{Text: fmt.Sprintf("Question %d: %s", i, admissionText)}),
			record(i+1, &weir.AssistantMessage{Model: h.profile.ID, Parts: []weir.Part{{Type: weir.PartText,
				Text: fmt.Sprintf("Answer %d: port 7447, because 8080 is taken by the metrics agent and 443 stays with the proxy.", i)}}}),
		)
	}
	records = append(records, record(n+1, &weir.UserMessage{Text: "And now?"}))
	err := h.s.Update(ctx, func(tx store.Tx) error {
		if err := tx.InsertConversation(ctx, conversation(h.id, "Long", 0)); err != nil {
			return err
		}
		l, _, err := tx.AcquireLease(ctx, h.id, "bench", time.Hour)
		if err != nil {
			return err
		}
		h.lease = l
		_, err = tx.Append(ctx, h.id, l.Fence, nil, records...)
		return err
	})
	if err != nil {
		return err
	}
	c, err := h.s.Conversation(ctx, h.id)
	h.c = &c
	return err
}

// release leaves the conversation to an engine.
func (h *past) release(ctx context.Context) error {
	return h.s.Update(ctx, func(tx store.Tx) error { return tx.ReleaseLease(ctx, h.lease) })
}

// prepare makes one request, so that all views are stored, and catches up.
func (h *past) prepare(ctx context.Context, w *modelview.Window) error {
	if err := w.CatchUp(ctx, h.s); err != nil {
		return err
	}
	req, err := w.Next(ctx, h.s, h.profile, modelview.Options{MaxTokens: 4096})
	if err != nil {
		return err
	}
	h.lowering = req.Lowering
	if err := h.start(ctx, req); err != nil {
		return err
	}
	return w.CatchUp(ctx, h.s)
}

// start stores what a step stores before its request is sent.
func (h *past) start(ctx context.Context, req *modelview.Request) error {
	return h.s.Update(ctx, func(tx store.Tx) error {
		if err := tx.PutViews(ctx, h.lease.Fence, h.c.ID, req.Views...); err != nil {
			return err
		}
		return h.append(ctx, tx, &weir.StepStart{Step: weir.NewStepID(time.Now()), Model: h.profile.ID, Lowering: req.Lowering, Tail: req.Tail, Marks: req.Marks, Ledger: req.Ledger})
	})
}

// turn appends an answer and the next question, and lets the window see them.
func (h *past) turn(ctx context.Context, w *modelview.Window, i int) error {
	err := h.s.Update(ctx, func(tx store.Tx) error {
		return h.append(ctx, tx,
			&weir.AssistantMessage{Model: h.profile.ID, Parts: []weir.Part{{Type: weir.PartText, Text: fmt.Sprintf("Answer %d.", i)}}},
			&weir.UserMessage{Text: fmt.Sprintf("And then, for the %d. time?", i)})
	})
	if err != nil {
		return err
	}
	return w.CatchUp(ctx, h.s)
}

func (h *past) append(ctx context.Context, tx store.Tx, bodies ...weir.Body) error {
	for _, b := range bodies {
		now := time.Now().UTC().Truncate(time.Millisecond)
		r := weir.Record{ID: weir.NewMessageID(now), Time: now, Generation: h.c.Generation, Body: b}
		if _, err := tx.Append(ctx, h.c.ID, h.lease.Fence, nil, r); err != nil {
			return err
		}
	}
	return nil
}

func (h *past) readAndHash(ctx context.Context) error {
	views, err := h.s.Views(ctx, h.c, h.lowering, 1, h.c.HeadSeq)
	if err != nil {
		return err
	}
	sum := sha256.New()
	for i := range views {
		sum.Write(views[i].Bytes)
	}
	sum.Sum(nil)
	if len(views) < longHistory {
		return fmt.Errorf("only %d views", len(views))
	}
	return nil
}
