package turn

import (
	"context"
	"slices"

	"weir"
	"weir/transcript"
)

// lastMessage returns the last message of c's surface. Updates are passed
// over: they answer nothing and nothing answers them alone.
func lastMessage(ctx context.Context, r Reader, c *weir.Conversation, shape *transcript.Shape) (weir.Record, bool, error) {
	for _, span := range slices.Backward(shape.Surface(c.HeadSeq)) {
		found, err := r.Records(ctx, c, weir.RecordQuery{
			After: span.From - 1, Before: span.Upto + 1, Newest: true, Limit: 1,
			Kinds: []weir.RecordKind{
				weir.KindUser, weir.KindAssistant, weir.KindToolResult, weir.KindRecall, weir.KindCheckpoint, weir.KindNotice,
			},
		})
		if err != nil {
			return weir.Record{}, false, err
		}
		if len(found) > 0 {
			return found[0], true, nil
		}
	}
	return weir.Record{}, false, nil
}
