package turn

import (
	"context"
	"time"

	"weir"
)

// appendTo adds records of the current generation at the end of c's log.
func appendTo(ctx context.Context, tx Tx, c *weir.Conversation, fence int64, now time.Time, bodies ...weir.Body) ([]weir.Record, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	records := make([]weir.Record, len(bodies))
	for i, b := range bodies {
		records[i] = weir.Record{ID: weir.NewMessageID(now), Time: now, Generation: c.Generation, Body: b}
	}
	return tx.Append(ctx, c.ID, fence, nil, records...)
}

// bodies collects what is appended together.
type bodies []weir.Body

func (b *bodies) add(body ...weir.Body) { *b = append(*b, body...) }
