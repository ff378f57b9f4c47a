package store_test

import (
	"context"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
)

func TestSmoke(t *testing.T) { stores.Each(t, smoke) }

func smoke(t *testing.T, s store.Store) {
	ctx := context.Background()
	now := time.Now()
	c := weir.Conversation{ID: "a", Owner: "me", Title: "Hello 世界", Kind: weir.Chat, Generation: "g1", CreatedAt: now}
	err := s.Update(ctx, func(tx store.Tx) error {
		if err := tx.InsertConversation(ctx, &c); err != nil {
			return err
		}
		l, ok, err := tx.AcquireLease(ctx, "a", "h", time.Second)
		if err != nil || !ok {
			t.Error(ok, err)
		}
		recs, err := tx.Append(ctx, "a", l.Fence, nil, weir.Record{ID: "m1", Time: now, Generation: "g1", Body: &weir.UserMessage{Text: "hi"}})
		t.Log(recs, err)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Conversation(ctx, "a")
	t.Logf("%+v %v", got, err)
	for _, w := range []string{"hel", "界", "世界", "HELLO 世", "nope", ""} {
		p, err := s.Conversations(ctx, weir.ConversationQuery{Owner: "me", Words: w})
		t.Log(w, len(p.Items), err)
		cs, err := s.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a", Words: w})
		t.Log(w, len(cs), err)
	}
	r, err := s.Records(ctx, &got, weir.RecordQuery{})
	t.Logf("%+v %v", r, err)
	due, err := s.Due(ctx, 10)
	t.Log(due, err)
}
