package importer

import (
	"cmp"
	"slices"
	"time"

	"weir"
)

// journal is the log of one conversation: what is there, and what is to be
// appended. It knows the seqs that new records will have, because they are
// appended only if nobody else appended meanwhile.
type journal struct {
	there   map[string]place // records by id
	head    weir.Seq         // newest seq, with what is pending
	pending []weir.Record
	size    int // of what is pending, about

	covered []span            // hidden by rewind records; ascending, apart
	between map[weir.Seq]bool // seqs of rewinds and settings: a range to hide goes on behind them
	dead    span              // abandoned records, one after the other, to be hidden; zero for none
	last    weir.MessageID    // newest message that is not abandoned

	told  settings // what the log says of them
	marks int      // records appended that are no messages

	generation  weir.GenerationID // current one
	generations []opened          // by seq; the first was opened by nothing
}

// place is where a record is, and of an answer how many parts it has.
type place struct {
	seq   weir.Seq
	parts int
}

// opened is a generation and the seq of its checkpoint. The segment, where it
// is known, says whether it was abandoned.
type opened struct {
	seq     weir.Seq
	id      weir.GenerationID
	segment *segment
}

func newJournal(first weir.GenerationID) journal {
	return journal{
		there: map[string]place{}, between: map[weir.Seq]bool{},
		told:       settings{visibility: weir.Visibility{Level: weir.Open}},
		generation: first, generations: []opened{{id: first}},
	}
}

// load takes in a record that is there.
func (j *journal) load(r *weir.Record) {
	p := place{seq: r.Seq}
	if r.Seq == 1 {
		j.generations[0].id = r.Generation
	}
	switch b := r.Body.(type) {
	case *weir.AssistantMessage:
		p.parts = len(b.Parts)
	case *weir.Checkpoint:
		j.generations = append(j.generations, opened{seq: r.Seq, id: b.Generation})
	case *weir.Rewind:
		j.cover(span{b.From, b.Upto}, r.Seq)
	default:
		if j.told.read(b) {
			j.between[r.Seq] = true
		}
	}
	j.there[string(r.ID)] = p
	j.head = r.Seq
}

func (j *journal) has(id string) bool { _, ok := j.there[id]; return ok }

// add appends a record of a segment, unless it is there, and reports whether
// it did.
func (j *journal) add(seg *segment, id string, at time.Time, body weir.Body, now func() time.Time) bool {
	p, there := j.there[id]
	if !there {
		if !seg.dead {
			j.bury(at)
		}
		p.seq = j.head + 1
		generation := j.generation
		if c, ok := body.(*weir.Checkpoint); ok {
			c.Generation = weir.NewGenerationID(now())
			generation = c.Generation
			j.generations = append(j.generations, opened{seq: p.seq, id: c.Generation})
		}
		j.append(id, at, generation, body)
		j.there[id] = p
	}
	seg.wrote(p.seq, j.last)
	if _, ok := body.(*weir.Checkpoint); ok {
		j.openedBy(p.seq, seg)
	}
	if !seg.dead {
		j.last = weir.MessageID(id)
	} else if !j.isCovered(span{p.seq, p.seq}) {
		if j.dead.upto+1 != p.seq {
			j.bury(at)
			j.dead.from = p.seq
		}
		j.dead.upto = p.seq
	}
	return !there
}

func (j *journal) append(id string, at time.Time, g weir.GenerationID, body weir.Body) {
	j.head++
	j.pending = append(j.pending, weir.Record{ID: weir.MessageID(id), Time: at, Generation: g, Body: body})
	j.size += sizeOf(body)
}

// bury hides the abandoned records that were appended last.
func (j *journal) bury(at time.Time) {
	if d := j.dead; d.from > 0 {
		j.dead = span{}
		j.rewind(d, j.last, at)
	}
}

// hide hides records that were abandoned just now; before is the last message
// that stays.
func (j *journal) hide(runs []span, before weir.MessageID, at time.Time) {
	j.bury(at)
	slices.SortFunc(runs, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var ranges []span
	for _, r := range runs {
		if n := len(ranges); n > 0 && j.joins(ranges[n-1].upto, r.from) {
			ranges[n-1].upto = max(ranges[n-1].upto, r.upto)
			continue
		}
		ranges = append(ranges, r)
	}
	j.last = before
	for _, r := range ranges {
		if !j.isCovered(r) { // it is when this was done by an earlier import
			j.rewind(r, before, at)
		}
	}
	j.settleGeneration()
}

// joins reports whether all that stands between two seqs is hidden already, or
// nothing that anybody said.
func (j *journal) joins(upto, from weir.Seq) bool {
	for upto++; upto < from; upto++ {
		if hidden, ok := j.covering(upto); ok {
			upto = hidden.upto
		} else if !j.between[upto] {
			return false
		}
	}
	return true
}

func (j *journal) rewind(r span, to weir.MessageID, at time.Time) {
	body := &weir.Rewind{To: to, From: r.from, Upto: r.upto}
	j.append(string(weir.NewMessageID(at)), at, j.generation, body)
	j.marks++
	j.cover(r, j.head)
}

// cover notes that the rewind record at seq hides a range.
func (j *journal) cover(r span, seq weir.Seq) {
	j.between[seq] = true
	if r.from > r.upto {
		return
	}
	from, _ := slices.BinarySearchFunc(j.covered, r.from-1, func(s span, q weir.Seq) int { return cmp.Compare(s.upto, q) })
	upto := from
	for ; upto < len(j.covered) && j.covered[upto].from <= r.upto+1; upto++ {
		r.from = min(r.from, j.covered[upto].from)
		r.upto = max(r.upto, j.covered[upto].upto)
	}
	j.covered = slices.Replace(j.covered, from, upto, r)
}

// isCovered reports whether rewind records hide all of a range.
func (j *journal) isCovered(r span) bool {
	c, ok := j.covering(r.from)
	return ok && r.upto <= c.upto
}

// covering returns the range around seq that rewind records hide.
func (j *journal) covering(seq weir.Seq) (span, bool) {
	i, _ := slices.BinarySearchFunc(j.covered, seq, func(s span, q weir.Seq) int { return cmp.Compare(s.upto, q) })
	if i == len(j.covered) || j.covered[i].from > seq {
		return span{}, false
	}
	return j.covered[i], true
}

// openedBy notes the segment of the checkpoint at seq.
func (j *journal) openedBy(seq weir.Seq, seg *segment) {
	for i := range j.generations {
		if j.generations[i].seq == seq {
			j.generations[i].segment = seg
		}
	}
	j.settleGeneration()
}

// settleGeneration makes the newest generation that was not abandoned the
// current one.
func (j *journal) settleGeneration() {
	for _, g := range slices.Backward(j.generations) {
		if g.seq == 0 || !j.isCovered(span{g.seq, g.seq}) && (g.segment == nil || !g.segment.dead) {
			j.generation = g.id
			return
		}
	}
}

// split cuts the pieces of an answer into those that are one record: as they
// are in the log already, then what is new.
func (j *journal) split(pieces []piece) [][]piece {
	var groups [][]piece
	for len(pieces) > 0 {
		n, limit := 1, -1
		if at, ok := j.there[pieces[0].uuid]; ok {
			limit = at.parts
		}
		for parts := len(pieces[0].parts); n < len(pieces) && !j.has(pieces[n].uuid) && (limit < 0 || parts < limit); n++ {
			parts += len(pieces[n].parts)
		}
		groups = append(groups, pieces[:n])
		pieces = pieces[n:]
	}
	return groups
}

// sizeOf estimates the bytes of a record.
func sizeOf(body weir.Body) int {
	n := 200
	switch b := body.(type) {
	case *weir.UserMessage:
		n += len(b.Text)
	case *weir.AssistantMessage:
		for _, p := range b.Parts {
			n += len(p.Text) + len(p.Input) + 100
		}
	case *weir.ToolResult:
		n += len(b.Text)
	case *weir.Notice:
		n += len(b.Text)
	case *weir.Checkpoint:
		n += len(b.Text)
	}
	return n
}
