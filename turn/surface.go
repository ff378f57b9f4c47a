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
	return newestOf(ctx, r, c, shape,
		weir.KindUser, weir.KindAssistant, weir.KindToolResult, weir.KindRecall, weir.KindCheckpoint, weir.KindNotice)
}

// newestOf returns the last record of these kinds on c's surface.
func newestOf(ctx context.Context, r Reader, c *weir.Conversation, shape *transcript.Shape, kinds ...weir.RecordKind) (weir.Record, bool, error) {
	for _, span := range slices.Backward(shape.Surface(c.HeadSeq)) {
		found, err := r.Records(ctx, c, weir.RecordQuery{
			After: span.From - 1, Before: span.Upto + 1, Newest: true, Limit: 1, Kinds: kinds,
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

// surfaceEnd looks at the last message of the surface: whether a step can
// answer it, and whether it is an answer that was cut off.
func surfaceEnd(ctx context.Context, r Reader, c *weir.Conversation, shape *transcript.Shape) (ready, cutOff bool, err error) {
	last, ok, err := lastMessage(ctx, r, c, shape)
	if err != nil || !ok {
		return false, false, err
	}
	answer, isAnswer := last.Body.(*weir.AssistantMessage)
	if !isAnswer {
		return true, false, nil
	}
	return answer.Interrupted, answer.Interrupted, nil
}
