package transcript_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"weir"
	"weir/transcript"
)

// log builds records of a log by hand.
type log []weir.Record

func (l *log) add(body weir.Body) weir.Seq {
	seq := weir.Seq(len(*l) + 1)
	*l = append(*l, weir.Record{Seq: seq, ID: weir.MessageID(fmt.Sprintf("m%d", seq)), Body: body})
	return seq
}

func (l *log) user() weir.Seq      { return l.add(&weir.UserMessage{Text: "u"}) }
func (l *log) assistant() weir.Seq { return l.add(&weir.AssistantMessage{}) }
func (l *log) rewind(from weir.Seq) weir.Seq {
	return l.add(&weir.Rewind{From: from, Upto: weir.Seq(len(*l))})
}
func (l *log) undo(rewind weir.Seq) weir.Seq { return l.add(&weir.Undo{Rewind: rewind}) }
func (l *log) checkpoint(id string, from, upto weir.Seq) weir.Seq {
	return l.add(&weir.Checkpoint{Generation: weir.GenerationID(id), Keep: [2]weir.Seq{from, upto}})
}

func surface(t *testing.T, s *transcript.Shape, head weir.Seq, want ...transcript.Span) {
	t.Helper()
	if diff := cmp.Diff(want, s.Surface(head), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("surface (-want +got)\n%s", diff)
	}
}

func TestWithoutStructureEverythingIsCurrent(t *testing.T) {
	for _, s := range []*transcript.Shape{nil, new(transcript.Shape), transcript.Fold(nil)} {
		surface(t, s, 3, transcript.Span{From: 1, Upto: 3})
		surface(t, s, 0)
		if s.Hidden(1) || !s.Current(2, 3) || s.Current(4, 3) || s.Generation() != "" || s.Epoch() != 0 {
			t.Errorf("%+v is not the shape of a plain log", s)
		}
		if _, _, ok := s.LastRewind(); ok {
			t.Error("there is a rewind")
		}
	}
}

func TestARewindHidesAndItsUndoGivesBack(t *testing.T) {
	var l log
	l.user()
	l.assistant()
	l.user()
	l.assistant()
	first := l.rewind(3)
	s := transcript.Fold(l)
	surface(t, s, 5, transcript.Span{From: 1, Upto: 2}, transcript.Span{From: 5, Upto: 5})
	if !s.Hidden(3) || !s.Hidden(4) || s.Hidden(2) || s.Hidden(5) {
		t.Error("the rewind does not hide 3 and 4 alone")
	}
	l.user()
	second := l.rewind(1)
	if seq, r, ok := transcript.Fold(l).LastRewind(); !ok || seq != second || r.From != 1 {
		t.Errorf("the last rewind is %d %+v", seq, r)
	}
	l.undo(second)
	s = transcript.Fold(l)
	if seq, _, _ := s.LastRewind(); seq != first {
		t.Errorf("after the undo the last rewind is %d, want %d", seq, first)
	}
	surface(t, s, 8, transcript.Span{From: 1, Upto: 2}, transcript.Span{From: 5, Upto: 8})
	l.undo(first)
	surface(t, transcript.Fold(l), 9, transcript.Span{From: 1, Upto: 9})
}

func TestACheckpointOpensAGenerationAndARewindLeavesItAgain(t *testing.T) {
	var l log
	l.add(&weir.Epoch{}) // 1
	for range 4 {
		l.user() // 2…5
	}
	l.checkpoint("gen_2", 4, 5) // 6
	l.add(&weir.Epoch{})        // 7
	l.user()                    // 8
	s := transcript.Fold(l)
	surface(t, s, 8, transcript.Span{From: 6, Upto: 6}, transcript.Span{From: 4, Upto: 5}, transcript.Span{From: 7, Upto: 8})
	if s.Generation() != "gen_2" || s.Epoch() != 7 || s.Current(3, 8) || !s.Current(4, 8) || !s.Current(6, 8) {
		t.Errorf("generation %q, epoch %d", s.Generation(), s.Epoch())
	}
	r := l.rewind(4)
	s = transcript.Fold(l)
	surface(t, s, 9, transcript.Span{From: 1, Upto: 3}, transcript.Span{From: 9, Upto: 9})
	if s.Generation() != "" || s.Epoch() != 1 {
		t.Errorf("rewound: generation %q, epoch %d", s.Generation(), s.Epoch())
	}
	l.undo(r)
	if s = transcript.Fold(l); s.Generation() != "gen_2" || s.Epoch() != 7 {
		t.Errorf("undone: generation %q, epoch %d", s.Generation(), s.Epoch())
	}
}

func TestKeptRecordsThatWereRewoundStayHidden(t *testing.T) {
	var l log
	for range 6 {
		l.user()
	}
	l.rewind(4)             // 7 hides 4…6
	l.user()                // 8
	l.checkpoint("g", 3, 8) // 9
	l.user()                // 10
	l.user()                // 11
	l.rewind(11)            // 12 hides 11
	s := transcript.Fold(l)
	surface(t, s, 12,
		transcript.Span{From: 9, Upto: 9}, transcript.Span{From: 3, Upto: 3}, transcript.Span{From: 7, Upto: 8},
		transcript.Span{From: 10, Upto: 10}, transcript.Span{From: 12, Upto: 12})
}

func TestAnOlderCheckpointIsNotKept(t *testing.T) {
	var l log
	for range 3 {
		l.user()
	}
	l.checkpoint("g2", 2, 3) // 4
	l.user()                 // 5
	l.checkpoint("g3", 3, 5) // 6
	surface(t, transcript.Fold(l), 6, transcript.Span{From: 6, Upto: 6}, transcript.Span{From: 3, Upto: 3}, transcript.Span{From: 5, Upto: 5})
}

func TestABranchFoldsItsParentsLogAsIfItEndedAtTheCut(t *testing.T) {
	var l log
	l.user()
	l.user()
	l.rewind(2)
	l.user()
	cut := append(log(nil), l[:2]...) // cut before the rewind
	cut.user()
	surface(t, transcript.Fold(cut), 3, transcript.Span{From: 1, Upto: 3})
}

// naive follows the words of the spec, one seq at a time.
type naive struct {
	surface    []weir.Seq
	hidden     map[weir.Seq]bool
	generation weir.GenerationID
	epoch      weir.Seq
	rewind     weir.Seq
}

func fold(l log) naive {
	n := naive{hidden: map[weir.Seq]bool{}}
	undone := map[weir.Seq]bool{}
	var checkpoint *weir.Checkpoint
	var opened weir.Seq
	older := map[weir.Seq]bool{}
	for i := len(l) - 1; i >= 0; i-- {
		r := &l[i]
		if _, ok := r.Body.(*weir.Checkpoint); ok {
			older[r.Seq] = true
		}
		if n.hidden[r.Seq] {
			continue
		}
		switch b := r.Body.(type) {
		case *weir.Undo:
			undone[b.Rewind] = true
		case *weir.Rewind:
			if !undone[r.Seq] {
				for seq := b.From; seq <= b.Upto && seq < r.Seq; seq++ {
					n.hidden[seq] = true
				}
				n.rewind = max(n.rewind, r.Seq)
			}
		case *weir.Checkpoint:
			if checkpoint == nil {
				checkpoint, opened, n.generation = b, r.Seq, b.Generation
			}
		case *weir.Epoch:
			n.epoch = max(n.epoch, r.Seq)
		}
	}
	take := func(from, upto weir.Seq, keep bool) {
		for seq := max(from, 1); seq <= upto; seq++ {
			if !n.hidden[seq] && !(keep && older[seq]) {
				n.surface = append(n.surface, seq)
			}
		}
	}
	if checkpoint != nil {
		n.surface = append(n.surface, opened)
		take(checkpoint.Keep[0], min(checkpoint.Keep[1], opened-1), true)
	}
	take(opened+1, weir.Seq(len(l)), false)
	return n
}

func check(t *rapid.T, s *transcript.Shape, l log) {
	t.Helper()
	want := fold(l)
	head := weir.Seq(len(l))
	var got []weir.Seq
	for i, p := range s.Surface(head) {
		if p.From > p.Upto {
			t.Errorf("span %d is empty: %v", i, p)
		}
		for seq := p.From; seq <= p.Upto; seq++ {
			got = append(got, seq)
		}
	}
	if diff := cmp.Diff(want.surface, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("surface (-want +got)\n%s", diff)
	}
	current := map[weir.Seq]bool{}
	for _, seq := range want.surface {
		current[seq] = true
	}
	for seq := range head + 2 {
		if s.Hidden(seq) != want.hidden[seq] || s.Current(seq, head) != current[seq] {
			t.Errorf("seq %d: hidden %v, current %v", seq, s.Hidden(seq), s.Current(seq, head))
		}
	}
	rewind, _, _ := s.LastRewind()
	if s.Generation() != want.generation || s.Epoch() != want.epoch || rewind != want.rewind {
		t.Errorf("generation %q, epoch %d, rewind %d; want %+v", s.Generation(), s.Epoch(), rewind, want)
	}
}

// grow appends a random record. Most are such as the product writes; some, as
// a broken import might, name what is not there.
func grow(t *rapid.T, l *log, s *transcript.Shape) {
	head := weir.Seq(len(*l))
	any := func(name string) weir.Seq { return weir.Seq(rapid.IntRange(1, int(head)+1).Draw(t, name)) }
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	default:
		l.user()
	case 0, 1:
		l.rewind(any("from"))
	case 2:
		if seq, _, ok := s.LastRewind(); ok {
			l.undo(seq)
		}
	case 3:
		from := any("keep from")
		l.checkpoint(fmt.Sprint("g", head), from, any("keep upto"))
	case 4:
		l.checkpoint(fmt.Sprint("g", head), 0, 0)
	case 5:
		l.add(&weir.Epoch{})
	case 6:
		l.add(&weir.Rewind{From: any("from"), Upto: any("upto") + 1})
	case 7:
		l.undo(any("rewind"))
	}
}

func TestFoldingAgreesWithTheWordsOfTheSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l log
		s := new(transcript.Shape)
		for range rapid.IntRange(0, 40).Draw(t, "length") {
			before := len(l)
			grow(t, &l, s)
			for i := before; i < len(l); i++ {
				s.Apply(&l[i])
			}
		}
		check(t, s, l)
		check(t, transcript.Fold(l), l)
	})
}
