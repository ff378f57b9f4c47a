package modelview

import (
	"context"

	"weir"
	"weir/transcript"
)

// steps returns the newest n records before a seq that say what was sent.
func steps(ctx context.Context, src Source, c *weir.Conversation, before weir.Seq, n int) ([]weir.Record, error) {
	return src.Records(ctx, c, weir.RecordQuery{Before: before, Kinds: []weir.RecordKind{weir.KindStep}, Newest: true, Limit: n})
}

// structureUpto returns the records up to head that shape the surface.
func structureUpto(ctx context.Context, src Source, c *weir.Conversation, head weir.Seq) ([]weir.Record, error) {
	all, err := src.Structure(ctx, c)
	return upto(all, head+1), err
}

// upto returns those of the records that come before a seq.
func upto(records []weir.Record, before weir.Seq) []weir.Record {
	n := len(records)
	for n > 0 && records[n-1].Seq >= before {
		n--
	}
	return records[:n]
}

// checkpointOf returns the seq of the checkpoint in force, 0 for none.
func checkpointOf(shape *transcript.Shape, structure []weir.Record) weir.Seq {
	generation := shape.Generation()
	if generation == "" {
		return 0
	}
	for i := len(structure) - 1; i >= 0; i-- {
		if c, ok := structure[i].Body.(*weir.Checkpoint); ok && c.Generation == generation {
			return structure[i].Seq
		}
	}
	return 0
}

// recordAt returns the record at a seq, nil for none.
func recordAt(records []weir.Record, seq weir.Seq) *weir.Record {
	for i := range records {
		if records[i].Seq == seq {
			return &records[i]
		}
	}
	return nil
}
