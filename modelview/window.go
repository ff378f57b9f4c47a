package modelview

import (
	"bytes"
	"context"

	"weir"
	"weir/model"
)

// Window is what one holder of a conversation keeps between steps, so that the
// next request costs what is new and one copy of the rest. It is a cache: it
// can be dropped at any time, and a cold one makes the same bytes. It is not
// for concurrent use.
type Window struct {
	lowerer      *Lowerer
	conversation *weir.Conversation
	expected     *model.Profile
	unsigned     weir.Seq
	state        *state // nil while cold
}

// Expect names the model that the next request will be for, so that CatchUp
// can render for it outside the transaction. Without it CatchUp goes by the
// newest request in the log, and does nothing where there is none.
func (w *Window) Expect(p model.Profile) { w.expected = &p }

// Unsigned says up to where requests go without signed reasoning, because the
// model has refused it: everything is lowered afresh and once, and what is
// answered from then on is signed again. 0 is nowhere.
func (w *Window) Unsigned(upto weir.Seq) { w.unsigned = upto }

// lowering says what CatchUp renders for, given the newest request's lowering.
func (w *Window) lowering(last string) (lowering, bool, error) {
	if w.expected != nil {
		low, err := w.lowerer.choose(*w.expected, w.unsigned, last)
		return low, true, err
	}
	low, ok := w.lowerer.parse(last)
	return low, ok, nil
}

// CatchUp reads what the window does not know yet: everything when it is cold,
// else the records that are new. It is for outside the write transaction. After
// an error the window is cold.
func (w *Window) CatchUp(ctx context.Context, src Source) error {
	s, err := w.caughtUp(ctx, src)
	w.state = s
	if err != nil {
		w.state = nil
		return err
	}
	if s != nil {
		s.sum()
	}
	return nil
}

func (w *Window) caughtUp(ctx context.Context, src Source) (*state, error) {
	s := w.state
	if s == nil {
		return w.lowerer.load(ctx, src, w.conversation, w.lowering, nil)
	}
	reload, err := s.advance(ctx, src)
	if err != nil {
		return nil, err
	}
	low, ok, err := w.lowering(s.lastLowering())
	if err != nil {
		return nil, err
	}
	if reload || ok && low.key != s.key {
		return w.lowerer.load(ctx, src, w.conversation, w.lowering, s)
	}
	return s, nil
}

// Next makes the next request. It is for inside the transaction that appended
// the promoted records, and it changes nothing of the window: when the
// transaction is run again or undone, Next may be called again, and once it is
// committed the next CatchUp reads what it wrote.
func (w *Window) Next(ctx context.Context, src Source, p model.Profile, o Options) (*Request, error) {
	s, err := w.forNext(ctx, src, p)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = newState(lowering{}, w.conversation) // an empty log
	}
	s.profile = p
	return s.request(ctx, src, w.lowerer, o)
}

func (w *Window) forNext(ctx context.Context, src Source, p model.Profile) (*state, error) {
	choose := func(last string) (lowering, bool, error) {
		low, err := w.lowerer.choose(p, w.unsigned, last)
		return low, true, err
	}
	if w.state == nil {
		return w.lowerer.load(ctx, src, w.conversation, choose, nil)
	}
	s, err := w.state.fork()
	if err != nil {
		return nil, err
	}
	reload, err := s.advance(ctx, src)
	if err != nil {
		return nil, err
	}
	if !reload {
		low, _, err := choose(s.lastLowering())
		if err != nil {
			return nil, err
		}
		reload = low.key != s.key
	}
	if !reload {
		reload, err = s.overtaken(ctx, src, len(w.state.pending))
		if err != nil {
			return nil, err
		}
	}
	if reload {
		return w.lowerer.load(ctx, src, w.conversation, choose, w.state)
	}
	return s, nil
}

// lastLowering is the lowering of the newest request.
func (s *state) lastLowering() string {
	if s.previous == nil {
		return ""
	}
	return s.previous.step.Lowering
}

// advance takes in the records that are new. It reports true when they change
// what was there before, so that the state must be built anew.
func (s *state) advance(ctx context.Context, src Source) (reload bool, err error) {
	for {
		page, err := src.Records(ctx, s.conversation, weir.RecordQuery{After: s.head, Kinds: takenKinds(), Limit: pageRecords})
		if err != nil || len(page) == 0 {
			return false, err
		}
		for i := range page {
			switch page[i].Kind() {
			case weir.KindRewind, weir.KindUndo, weir.KindCheckpoint:
				return true, nil
			case weir.KindEpoch:
				if s.epoch != 0 {
					return true, nil
				}
				s.setEpoch(&page[i])
				if err := s.loadTop(ctx, src); err != nil || s.top == nil {
					return true, err
				}
			}
		}
		if err := s.takeAll(ctx, src, page, s.measure); err != nil {
			return false, err
		}
		s.head = page[len(page)-1].Seq
		if len(page) < pageRecords {
			return false, nil
		}
	}
}

// overtaken reports whether one of the first n pending views has been stored
// with other bytes meanwhile: a branch and its parent may freeze the same
// record, and the first write wins.
func (s *state) overtaken(ctx context.Context, src Source, n int) (bool, error) {
	if n == 0 || len(s.pending) < n {
		return false, nil
	}
	ours := make(map[weir.Seq][]byte, n)
	from, to := s.pending[0].Seq, s.pending[0].Seq
	for _, v := range s.pending[:n] {
		ours[v.Seq] = v.Bytes
		from, to = min(from, v.Seq), max(to, v.Seq)
	}
	differs := false
	err := s.readViews(ctx, src, from, to, func(v *weir.View) error {
		if b, ok := ours[v.Seq]; ok && !bytes.Equal(b, v.Bytes) {
			differs = true
		}
		return nil
	})
	return differs, err
}
