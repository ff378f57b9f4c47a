package modelview_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"weir"
	"weir/modelview"
	"weir/transcript"
)

// What people do to conversations in a random world, beside talking.

// log returns x's whole log, its shape and the places where it may be cut.
func (w *world) log(x *life) (*transcript.Shape, []weir.Seq) {
	records, err := w.b.Records(ctx, x.c, weir.RecordQuery{})
	w.must(err)
	shape := transcript.Fold(records)
	var cuts []weir.Seq
	for i := range records {
		if !shape.Current(records[i].Seq, x.head) {
			continue
		}
		if cut, err := transcript.CutAfter(&records[i], records[i+1:]); err == nil {
			cuts = append(cuts, cut)
		}
	}
	return shape, cuts
}

func (w *world) rewind(x *life) {
	_, cuts := w.log(x)
	if len(cuts) == 0 {
		return
	}
	cut := rapid.SampledFrom(cuts).Draw(w.t, "cut")
	shape, _ := w.log(x)
	if cut >= x.head || shape.Epoch() > cut {
		return // to before the epoch: the engine begins a new one
	}
	w.append(x, &weir.Rewind{From: cut + 1, Upto: x.head})
	x.events[weir.BreakRewind] = true
}

// undo takes back the newest rewind where nothing was said since, though a
// step may have failed.
func (w *world) undo(x *life) {
	shape, _ := w.log(x)
	seq, _, ok := shape.LastRewind()
	if !ok {
		return
	}
	since, err := w.b.Records(ctx, x.c, weir.RecordQuery{After: seq})
	w.must(err)
	if slices.ContainsFunc(since, func(r weir.Record) bool { return r.Kind().IsMessage() }) {
		return
	}
	w.append(x, &weir.Undo{Rewind: seq})
	x.events[weir.BreakRewind] = true
}

func (w *world) branch(x *life) {
	_, cuts := w.log(x)
	if len(cuts) == 0 || len(w.lives) > 3 {
		return
	}
	cut := rapid.SampledFrom(cuts).Draw(w.t, "cut")
	lineage := slices.Clone(x.c.Lineage)
	for len(lineage) > 0 && lineage[len(lineage)-1].Upto >= cut {
		lineage = lineage[:len(lineage)-1]
	}
	where, err := w.b.Records(ctx, x.c, weir.RecordQuery{After: cut - 1, Before: cut + 1})
	w.must(err)
	w.n++
	c := newConversation(weir.ConversationID(fmt.Sprintf("cnv_%s_%d", w.name, w.n)),
		append(lineage, weir.Inherited{Conversation: where[0].Conversation, Upto: cut}))
	w.must(w.b.create(c))
	y := &life{c: c, window: w.l.Window(c), profile: x.profile, steps: map[weir.Seq]*modelview.Request{}, head: cut,
		events: map[weir.BreakReason]bool{weir.BreakRewind: true, weir.BreakModel: true, weir.BreakOpenSection: true, weir.BreakTools: true, weir.BreakCompaction: true}}
	shape, _ := w.log(y)
	var newest weir.Seq
	for _, z := range w.lives {
		for seq, r := range z.steps {
			if seq <= cut && seq > newest && w.wroteIt(y, z, seq) {
				newest, y.last = seq, r
			}
		}
	}
	w.lives = append(w.lives, y)
	if shape.Epoch() == 0 {
		w.append(y, w.epoch())
	}
}

// wroteIt reports whether the record at seq of y's log is z's.
func (w *world) wroteIt(y, z *life, seq weir.Seq) bool {
	found, err := w.b.Records(ctx, y.c, weir.RecordQuery{After: seq - 1, Before: seq + 1})
	w.must(err)
	return len(found) == 1 && found[0].Conversation == z.c.ID
}

func (w *world) compact(x *life) {
	shape, cuts := w.log(x)
	if len(cuts) < 2 {
		return
	}
	// Keep from a user message or an answer on, to the end; or nothing.
	var keep [2]weir.Seq
	records, err := w.b.Records(ctx, x.c, weir.RecordQuery{})
	w.must(err)
	var starts []weir.Seq
	for i := range records {
		if k := records[i].Kind(); (k == weir.KindUser || k == weir.KindAssistant) && shape.Current(records[i].Seq, x.head) {
			starts = append(starts, records[i].Seq)
		}
	}
	if rapid.Bool().Draw(w.t, "keeps") {
		keep = [2]weir.Seq{rapid.SampledFrom(starts).Draw(w.t, "from"), x.head}
		if keep[0] < shape.Epoch() || w.behindCheckpoint(records, keep[0]) {
			keep = [2]weir.Seq{}
		}
	}
	w.n++
	w.append(x, w.epoch(), &weir.Checkpoint{Generation: weir.GenerationID(fmt.Sprintf("gen_%d", w.n)), Text: "summary", Keep: keep})
	x.events[weir.BreakCompaction] = true
}

// behindCheckpoint: a suffix of the surface is a range of seqs only after the
// newest checkpoint.
func (w *world) behindCheckpoint(records []weir.Record, seq weir.Seq) bool {
	return slices.ContainsFunc(records, func(r weir.Record) bool { return r.Kind() == weir.KindCheckpoint && r.Seq > seq })
}
