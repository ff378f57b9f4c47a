// Package transcript makes sense of a conversation's log: which records are
// current (the surface), what a person sees of each (the timeline), what of
// them may be quoted, and where the log may be cut.
//
// The log only grows. Rewinds, undos, checkpoints and epochs are records in it
// and shape what came before them; folding them gives the same answer whether
// all at once or one by one as they are appended. A branch's log is its
// ancestors' up to the cut and then its own, in one numbering, so it folds like
// any other.
//
// What a person sees is copied member by member from what may be shown, so
// nothing that a record holds or will hold leaks by itself.
//
// All of it is pure. A [Shape] may be read by many goroutines as long as none
// applies records to it.
package transcript

import (
	"slices"
	"sort"

	"weir"
)

// Span is a range of seqs, both ends included.
type Span struct{ From, Upto weir.Seq }

// Shape is what the structural records of a log amount to: rewind, undo,
// checkpoint and epoch. A structural record that a rewind hides does not
// count, until that rewind is undone. The zero Shape, and a nil one, is that
// of a log without any.
type Shape struct {
	marks  []mark // in order of seq
	hidden []Span // by rewinds that count; ascending, apart from each other

	checkpoint *mark // that counts, newest
	epoch      weir.Seq
	rewind     *mark // that counts, newest
}

// mark is what matters of a structural record.
type mark struct {
	seq        weir.Seq
	kind       weir.RecordKind
	span       Span // a rewind: hidden; a checkpoint: kept, {0,0} for nothing
	rewind     weir.Rewind
	undoes     weir.Seq // an undo: the rewind
	generation weir.GenerationID
}

// Fold makes the shape of a log from its records in order; those that are not
// structural may be among them or left out.
func Fold(records []weir.Record) *Shape {
	s := new(Shape)
	for i := range records {
		if m, ok := markOf(&records[i]); ok {
			s.marks = append(s.marks, m)
		}
	}
	s.weigh()
	return s
}

// Apply goes on with the next record of the log. Its cost does not depend on
// the length of the log, except for rewinds and undos, where it grows with the
// number of structural records.
func (s *Shape) Apply(r *weir.Record) {
	m, ok := markOf(r)
	if !ok {
		return
	}
	s.marks = append(s.marks, m)
	switch m.kind {
	case weir.KindCheckpoint:
		s.checkpoint = &m
	case weir.KindEpoch:
		s.epoch = m.seq
	default:
		s.weigh()
	}
}

func markOf(r *weir.Record) (mark, bool) {
	m := mark{seq: r.Seq, kind: r.Kind()}
	switch b := r.Body.(type) {
	case *weir.Rewind:
		m.rewind = *b
		m.span = Span{b.From, min(b.Upto, r.Seq-1)} // only what came before
	case *weir.Undo:
		m.undoes = b.Rewind
	case *weir.Checkpoint:
		m.span = Span{b.Keep[0], min(b.Keep[1], r.Seq-1)}
		m.generation = b.Generation
	case *weir.Epoch:
	default:
		return m, false
	}
	return m, true
}

// weigh decides which marks count. A mark can only be hidden by a later one,
// so going back from the newest each is decided once.
func (s *Shape) weigh() {
	s.hidden, s.checkpoint, s.epoch, s.rewind = nil, nil, 0, nil
	undone := map[weir.Seq]bool{}
	for i := len(s.marks) - 1; i >= 0; i-- {
		m := &s.marks[i]
		if s.Hidden(m.seq) {
			continue
		}
		switch m.kind {
		case weir.KindUndo:
			undone[m.undoes] = true
		case weir.KindRewind:
			if undone[m.seq] {
				continue
			}
			s.hide(m.span)
			if s.rewind == nil {
				s.rewind = m
			}
		case weir.KindCheckpoint:
			if s.checkpoint == nil {
				s.checkpoint = m
			}
		case weir.KindEpoch:
			if s.epoch == 0 {
				s.epoch = m.seq
			}
		}
	}
}

// hide adds a span to the hidden ones and joins what touches.
func (s *Shape) hide(h Span) {
	if h.From > h.Upto {
		return
	}
	from := sort.Search(len(s.hidden), func(i int) bool { return s.hidden[i].Upto >= h.From-1 })
	upto := from
	for ; upto < len(s.hidden) && s.hidden[upto].From <= h.Upto+1; upto++ {
		h.From = min(h.From, s.hidden[upto].From)
		h.Upto = max(h.Upto, s.hidden[upto].Upto)
	}
	s.hidden = slices.Replace(s.hidden, from, upto, h)
}

// Hidden reports whether the record at seq is rewound away.
func (s *Shape) Hidden(seq weir.Seq) bool {
	if s == nil {
		return false
	}
	i := s.firstHidden(seq)
	return i < len(s.hidden) && s.hidden[i].From <= seq
}

// firstHidden returns the index of the first hidden span that ends at seq or later.
func (s *Shape) firstHidden(seq weir.Seq) int {
	return sort.Search(len(s.hidden), func(i int) bool { return s.hidden[i].Upto >= seq })
}

// Surface returns the seqs of the current records up to head in reading order:
// the checkpoint in force, the records it keeps, what came after it; without
// one everything. Records of all kinds are in the spans, except that an older
// checkpoint among the kept records is left out: its summary was replaced.
func (s *Shape) Surface(head weir.Seq) []Span {
	if s == nil {
		s = new(Shape)
	}
	c := s.checkpoint
	if c == nil || c.seq > head {
		return s.visible(nil, Span{1, head})
	}
	spans := []Span{{c.seq, c.seq}}
	from := c.span.From
	for _, m := range s.marks {
		if m.kind == weir.KindCheckpoint && from <= m.seq && m.seq <= c.span.Upto {
			spans = s.visible(spans, Span{from, m.seq - 1})
			from = m.seq + 1
		}
	}
	if from > 0 {
		spans = s.visible(spans, Span{from, c.span.Upto})
	}
	return s.visible(spans, Span{c.seq + 1, head})
}

// visible appends the parts of a span that are not hidden.
func (s *Shape) visible(spans []Span, all Span) []Span {
	for _, h := range s.hidden[s.firstHidden(all.From):] {
		if h.From > all.Upto {
			break
		}
		if all.From < h.From {
			spans = append(spans, Span{all.From, h.From - 1})
		}
		all.From = h.Upto + 1
	}
	if all.From <= all.Upto {
		spans = append(spans, all)
	}
	return spans
}

// Current reports whether the record at seq is on the surface of a log that
// reaches up to head.
func (s *Shape) Current(seq, head weir.Seq) bool {
	for _, p := range s.Surface(head) {
		if p.From <= seq && seq <= p.Upto {
			return true
		}
	}
	return false
}

// Generation returns the id of the generation that the checkpoint in force
// opened, "" in a log's first generation.
func (s *Shape) Generation() weir.GenerationID {
	if s == nil || s.checkpoint == nil {
		return ""
	}
	return s.checkpoint.generation
}

// Epoch returns the seq of the epoch record in force, 0 for none.
func (s *Shape) Epoch() weir.Seq {
	if s == nil {
		return 0
	}
	return s.epoch
}

// epochBefore reports whether an epoch began before seq, hidden or not.
func (s *Shape) epochBefore(seq weir.Seq) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.marks, func(m mark) bool { return m.kind == weir.KindEpoch && m.seq < seq })
}

// LastRewind returns the newest rewind that is not undone, and the seq of its
// record: the one that an undo would take back.
func (s *Shape) LastRewind() (weir.Seq, weir.Rewind, bool) {
	if s == nil || s.rewind == nil {
		return 0, weir.Rewind{}, false
	}
	return s.rewind.seq, s.rewind.rewind, true
}

// rewound returns the range that the rewind at seq hides.
func (s *Shape) rewound(seq weir.Seq) (Span, bool) {
	if s == nil {
		return Span{}, false
	}
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].seq >= seq })
	if i == len(s.marks) || s.marks[i].seq != seq || s.marks[i].kind != weir.KindRewind {
		return Span{}, false
	}
	return s.marks[i].span, true
}
