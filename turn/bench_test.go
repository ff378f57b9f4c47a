package turn_test

import (
	"fmt"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/turn"
)

// BenchmarkTurn is a whole turn, warm, on SQLite: admission to idle, with a
// model that answers at once. Its cost must not grow with the history.
func BenchmarkTurn(b *testing.B) {
	for _, messages := range []int{100, 10_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			s, err := store.Open(b.Context(), "sqlite:"+b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			w := newWorld(b, s)
			w.model.auto = func([]byte) string { return "ok" }
			w.start()
			defer w.engine.Stop()
			c := history(b, w, messages)
			signals, done := w.hub.Subscribe(c, 1<<16)
			defer done()
			one := func(i int) {
				if _, err := w.engine.Admit(b.Context(), actor(), turn.Admission{Conversation: c, Text: fmt.Sprint("message ", i)}); err != nil {
					b.Fatal(err)
				}
				for range signals {
					conv, err := s.Conversation(b.Context(), c)
					if err != nil {
						b.Fatal(err)
					}
					p, err := s.PendingInputs(b.Context(), c)
					if err != nil {
						b.Fatal(err)
					}
					if conv.State == weir.Idle && len(p) == 0 {
						return
					}
				}
			}
			one(0)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				one(i)
			}
		})
	}
}

func history(b *testing.B, w *world, n int) weir.ConversationID {
	b.Helper()
	now := time.Now()
	c := weir.ConversationID("c")
	if err := w.s.Update(b.Context(), func(tx store.Tx) error {
		return tx.InsertConversation(b.Context(), &weir.Conversation{
			ID: c, Owner: owner, Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open}, Title: "t", TitleSet: true,
			Generation: "g", State: weir.Idle, CreatedAt: now,
		})
	}); err != nil {
		b.Fatal(err)
	}
	err := w.engine.Exclusive(b.Context(), c, func(tx turn.Tx, fence int64) error {
		for range n / 2 {
			if _, err := tx.Append(b.Context(), c, fence, nil,
				weir.Record{ID: weir.NewMessageID(now), Time: now, Generation: "g", Body: &weir.UserMessage{Text: "How is it going with the port?"}},
				weir.Record{ID: weir.NewMessageID(now), Time: now, Generation: "g", Body: &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartText, Text: "It goes well, thank you; it is still 8080."}}}},
			); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
