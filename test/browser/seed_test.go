package browser

import (
	"context"
	"fmt"
	"time"

	"weir"
	"weir/store"
)

// seedTime is when seeded conversations happened; their records are a minute apart.
var seedTime = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

// holding makes a conversation that holds these records, m1, m2 and so on, and
// lets more be done in the same transaction.
func holding(id weir.ConversationID, title string, bodies []weir.Body, more ...func(context.Context, store.Tx, weir.Lease) error) func(context.Context, store.Store, weir.OwnerID) error {
	return func(ctx context.Context, s store.Store, owner weir.OwnerID) error {
		c := weir.Conversation{ID: id, Owner: owner, Title: title, TitleSet: true, Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
			Generation: weir.NewGenerationID(seedTime), State: weir.Idle, CreatedAt: seedTime, LastActive: seedTime}
		return s.Update(ctx, func(tx store.Tx) error {
			if err := tx.InsertConversation(ctx, &c); err != nil {
				return err
			}
			lease, ok, err := tx.AcquireLease(ctx, id, "seed", time.Minute)
			if err != nil || !ok {
				return fmt.Errorf("no lease: %w", err)
			}
			records := make([]weir.Record, len(bodies))
			for i, body := range bodies {
				records[i] = weir.Record{ID: weir.MessageID(fmt.Sprintf("m%d", i+1)), Time: seedTime.Add(time.Duration(i) * time.Minute), Generation: c.Generation, Body: body}
			}
			if _, err := tx.Append(ctx, id, lease.Fence, nil, records...); err != nil {
				return err
			}
			for _, fn := range more {
				if err := fn(ctx, tx, lease); err != nil {
					return err
				}
			}
			return tx.ReleaseLease(ctx, lease)
		})
	}
}

func said(text string) weir.Body { return &weir.UserMessage{Text: text} }

func answered(step weir.StepID, text string, calls ...weir.Part) weir.Body {
	parts := append([]weir.Part{{Type: weir.PartText, Text: text}}, calls...)
	return &weir.AssistantMessage{Step: step, Model: "peer/claude", Parts: parts}
}

func calling(id, name, arguments string) weir.Part {
	return weir.Part{Type: weir.PartToolCall, Call: id, Name: name, Input: []byte(arguments)}
}
