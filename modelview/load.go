package modelview

import (
	"cmp"
	"context"
	"slices"

	"weir"
	"weir/transcript"
)

// How much is read at a time, so that a cold window of a long conversation
// holds its bytes and one page, not its records.
const (
	pageRecords = 256
	pageSeqs    = 2048
	// stepsBack is how many requests are looked through for the newest one of
	// a lowering; beyond that every record is read.
	stepsBack = 200
	// How much room a new state has beyond what was sent last.
	spare   = 16 << 10
	maxHint = 64 << 20
)

// messageKinds are the kinds that a request is made of, takenKinds those that
// a window reads as they come.
func messageKinds() []weir.RecordKind {
	return []weir.RecordKind{weir.KindUser, weir.KindAssistant, weir.KindToolResult, weir.KindRecall,
		weir.KindSystem, weir.KindCheckpoint, weir.KindNotice}
}

func takenKinds() []weir.RecordKind {
	return append(messageKinds(), weir.KindRewind, weir.KindUndo, weir.KindEpoch, weir.KindStep)
}

// load builds a state from the store. choose gives the lowering when it is
// told that of the newest request ("" for none); when it gives none, or
// one that cannot make the head, load returns nil. old, if any, is what is known of the same conversation.
func (l *Lowerer) load(ctx context.Context, src Source, c *weir.Conversation, choose func(last string) (lowering, bool, error), old *state) (*state, error) {
	newest, err := src.Records(ctx, c, weir.RecordQuery{Newest: true, Limit: 1})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	head := newest[0].Seq
	last, err := steps(ctx, src, c, head+1, 1)
	if err != nil {
		return nil, err
	}
	key := ""
	if len(last) > 0 {
		key = last[0].Body.(*weir.StepStart).Lowering
	}
	low, ok, err := choose(key)
	if err != nil || !ok {
		return nil, err
	}
	structure, err := structureUpto(ctx, src, c, head)
	if err != nil {
		return nil, err
	}
	b := &builder{state: newState(low, c), src: src, structure: structure}
	if err := b.build(ctx, head, last); err != nil {
		return nil, err
	}
	if b.epoch != 0 && b.top == nil {
		return nil, nil // whether reasoning stands depends on the head
	}
	if old != nil {
		old.handOver(b.state)
	}
	return b.state, nil
}

// builder builds a state from nothing.
type builder struct {
	*state
	src       Source
	structure []weir.Record
	distrust  bool // read records even where views should do
}

func (b *builder) build(ctx context.Context, head weir.Seq, last []weir.Record) error {
	s := b.state
	shape := transcript.Fold(b.structure)
	s.head, s.checkpoint = head, checkpointOf(shape, b.structure)
	s.setEpoch(recordAt(b.structure, shape.Epoch()))
	if err := s.loadTop(ctx, b.src); err != nil || s.epoch != 0 && s.top == nil {
		return err
	}
	if len(last) == 0 {
		return b.readAll(ctx, split(shape.Surface(head), nil))
	}
	s.setPrevious(&last[0], b.structure)
	s.closed = make([]byte, 0, min(s.previous.step.Ledger.PrefixBytes, maxHint)+spare)
	covered, err := b.covered(ctx, &last[0])
	if err != nil {
		return err
	}
	if !s.settled(b.structure) {
		return b.readAll(ctx, split(shape.Surface(head), covered))
	}
	// What the newest request was made of comes first and is measured.
	if err := b.readAll(ctx, split(shape.Surface(last[0].Seq), covered)); err != nil {
		return err
	}
	if err := s.measure(&last[0]); err != nil {
		return err
	}
	if !s.previous.known && !b.distrust {
		// The views alone do not make it: some are gone. Read the records.
		*s = *newState(s.lowering, s.conversation)
		b.distrust = true
		return b.build(ctx, head, last)
	}
	return b.read(ctx, piece{Span: transcript.Span{From: last[0].Seq + 1, Upto: head}})
}

// settled reports whether the newest request was made of what is now the
// beginning of the surface, in this lowering.
func (s *state) settled(structure []weir.Record) bool {
	n := len(structure)
	return s.previous.step.Lowering == s.key && (n == 0 || structure[n-1].Seq < s.previous.seq)
}

// covered are the spans in which every message has a view of this lowering.
func (b *builder) covered(ctx context.Context, last *weir.Record) ([]transcript.Span, error) {
	if b.distrust {
		return nil, nil
	}
	covering, err := b.coveringStep(ctx, last)
	if err != nil || covering == nil {
		return nil, err
	}
	b.covering = covering.Body.(*weir.StepStart)
	then := transcript.Fold(upto(b.structure, covering.Seq))
	if then.Epoch() != b.epoch {
		return nil, nil
	}
	return then.Surface(covering.Seq), nil
}

// setPrevious takes the newest request before what it was made of is known.
func (s *state) setPrevious(r *weir.Record, structure []weir.Record) {
	then := upto(structure, r.Seq)
	shape := transcript.Fold(then)
	p := &previous{seq: r.Seq, step: r.Body.(*weir.StepStart), epoch: shape.Epoch(), checkpoint: checkpointOf(shape, then)}
	for i := len(then); i < len(structure); i++ {
		switch structure[i].Kind() {
		case weir.KindRewind, weir.KindUndo:
			p.rewound = true
		}
	}
	s.previous = p
}

// coveringStep returns the newest step of this lowering: what was on the
// surface when its request was made has a view.
func (b *builder) coveringStep(ctx context.Context, last *weir.Record) (*weir.Record, error) {
	if last.Body.(*weir.StepStart).Lowering == b.key {
		return last, nil
	}
	more, err := steps(ctx, b.src, b.conversation, last.Seq, stepsBack)
	if err != nil {
		return nil, err
	}
	for i := len(more) - 1; i >= 0; i-- {
		if more[i].Body.(*weir.StepStart).Lowering == b.key {
			return &more[i], nil
		}
	}
	return nil, nil
}

// piece is a part of the surface; frozen says that every message in it has a view.
type piece struct {
	transcript.Span
	frozen bool
}

// split cuts spans where the covered ones begin and end.
func split(spans, covered []transcript.Span) []piece {
	covered = slices.Clone(covered)
	slices.SortFunc(covered, func(a, b transcript.Span) int { return cmp.Compare(a.From, b.From) })
	var pieces []piece
	for _, s := range spans {
		for _, c := range covered {
			if c.Upto < s.From || c.From > s.Upto {
				continue
			}
			if c.From > s.From {
				pieces = append(pieces, piece{Span: transcript.Span{From: s.From, Upto: c.From - 1}})
				s.From = c.From
			}
			end := min(c.Upto, s.Upto)
			pieces = append(pieces, piece{Span: transcript.Span{From: s.From, Upto: end}, frozen: true})
			s.From = end + 1
		}
		if s.From <= s.Upto {
			pieces = append(pieces, piece{Span: s})
		}
	}
	return pieces
}

func (b *builder) readAll(ctx context.Context, pieces []piece) error {
	for _, p := range pieces {
		if err := b.read(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// read takes in a piece of the surface.
func (b *builder) read(ctx context.Context, p piece) error {
	if p.frozen {
		return b.readFrozen(ctx, p.Span)
	}
	for after := p.From - 1; after < p.Upto; {
		page, err := b.src.Records(ctx, b.conversation, weir.RecordQuery{
			After: after, Before: p.Upto + 1, Kinds: append(messageKinds(), weir.KindStep), Limit: pageRecords})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Seq
		if err := b.takeAll(ctx, b.src, page, b.note); err != nil {
			return err
		}
		if len(page) < pageRecords {
			return nil
		}
	}
	return nil
}

// note keeps what was asked, for the answer that may come next.
func (s *state) note(r *weir.Record) error {
	s.asking, _ = r.Body.(*weir.StepStart)
	return nil
}

// readViews calls each for the views of a range of seqs.
func (s *state) readViews(ctx context.Context, src Source, from, upto weir.Seq, each func(*weir.View) error) error {
	for from <= upto && s.epoch != 0 {
		end := min(upto, from+pageSeqs-1)
		if from < s.epoch && end >= s.epoch {
			end = s.epoch - 1 // the key changes there
		}
		views, err := src.Views(ctx, s.conversation, s.keyOf(from), from, end)
		if err != nil {
			return err
		}
		for i := range views {
			if err := each(&views[i]); err != nil {
				return err
			}
		}
		from = end + 1
	}
	return nil
}

// readFrozen takes in views alone.
func (b *builder) readFrozen(ctx context.Context, p transcript.Span) error {
	return b.readViews(ctx, b.src, p.From, p.Upto, func(v *weir.View) error {
		if v.Seq == b.epoch {
			return nil // the head
		}
		return b.add(v.Seq, v.Bytes, nil)
	})
}

// takeAll takes in records of the surface, in order, each as it was frozen if
// it was, and gives the starts of steps to step.
func (s *state) takeAll(ctx context.Context, src Source, page []weir.Record, step func(*weir.Record) error) error {
	if len(page) == 0 {
		return nil
	}
	frozen := map[weir.Seq][]byte{}
	err := s.readViews(ctx, src, page[0].Seq, page[len(page)-1].Seq, func(v *weir.View) error {
		frozen[v.Seq] = v.Bytes
		return nil
	})
	if err != nil {
		return err
	}
	for i := range page {
		r := &page[i]
		switch {
		case r.Kind() == weir.KindStep:
			err = step(r)
		case r.Kind().IsMessage():
			err = s.take(ctx, src, r, frozen[r.Seq])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadTop takes the frozen head of the epoch in force, or renders it.
func (s *state) loadTop(ctx context.Context, src Source) error {
	if s.epoch == 0 {
		return nil
	}
	views, err := src.Views(ctx, s.conversation, s.key, s.epoch, s.epoch)
	if err != nil {
		return err
	}
	if len(views) > 0 {
		s.setTop(views[0].Bytes, views[0].Mark)
		return nil
	}
	if s.profile.ID == "" {
		return nil // nothing can be rendered; Next will
	}
	found, err := src.Records(ctx, s.conversation, weir.RecordQuery{After: s.epoch - 1, Before: s.epoch + 1})
	if err != nil {
		return err
	}
	for i := range found {
		if e, ok := found[i].Body.(*weir.Epoch); ok {
			head, mark, err := s.dialect.Head(s.profile, s.mode, e)
			if err != nil {
				return err
			}
			s.pending = append(s.pending, weir.View{Conversation: found[i].Conversation, Seq: s.epoch, Lowering: s.key, Bytes: head, Mark: mark})
			s.setTop(head, mark)
		}
	}
	return nil
}
