package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/stores"
)

// insert stands for an admission: it locks, counts and stores one input.
func insert(ctx context.Context, s store.Store, c weir.ConversationID, n int64) error {
	return s.Update(ctx, func(tx store.Tx) error {
		if err := tx.LockShared(ctx, c); err != nil {
			return err
		}
		return tx.InsertInput(ctx, &weir.Input{
			Conversation: c, ID: weir.InputID(fmt.Sprintf("inp_%032d", n)), Owner: "own_1", Kind: weir.InputUser,
			Delivery: weir.Steer, State: weir.Pending, Revision: 1, Text: text150, Digest: "x", AdmittedAt: time.Unix(1, 0),
		})
	})
}

const text150 = "A message of one hundred and fifty bytes, which is about what people write to a model when they want to know something about a thing that they do not know."

func chats(b *testing.B, s store.Store, n int) []weir.ConversationID {
	b.Helper()
	var all []weir.ConversationID
	err := s.Update(b.Context(), func(tx store.Tx) error {
		for i := range n {
			c := weir.Conversation{ID: weir.ConversationID(fmt.Sprint("cnv_", i)), Owner: "own_1", Kind: weir.Chat, Generation: "g", CreatedAt: time.Unix(int64(i), 0)}
			if err := tx.InsertConversation(b.Context(), &c); err != nil {
				return err
			}
			all = append(all, c.ID)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func BenchmarkAdmission(b *testing.B) {
	b.Run("bare insert", func(b *testing.B) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(`CREATE TABLE t (id TEXT PRIMARY KEY, text TEXT)`); err != nil {
			b.Fatal(err)
		}
		stmt, err := db.Prepare(`INSERT INTO t VALUES (?, ?)`)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			tx, err := db.Begin()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tx.Stmt(stmt).Exec(fmt.Sprintf("inp_%032d", i), text150); err != nil {
				b.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, open := range map[string]func(testing.TB) store.Store{"sqlite": stores.SQLite, "postgres": stores.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			c := chats(b, s, 1)[0]
			for i := int64(0); b.Loop(); i++ {
				if err := insert(b.Context(), s, c, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkThirtyTwoWriters(b *testing.B) {
	for name, o := range map[string]store.Options{"grouped": {}, "alone": {Alone: true}} {
		b.Run(name, func(b *testing.B) {
			s, err := store.OpenWith(b.Context(), b.TempDir(), o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			all := chats(b, s, 32)
			var next atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, c := range all {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := insert(b.Context(), s, c, n); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkCandidates asks for a word that 20 conversations hold, and for one
// that all hold.
func BenchmarkCandidates(b *testing.B) {
	for name, open := range map[string]func(testing.TB) store.Store{"sqlite": stores.SQLite, "postgres": stores.Postgres} {
		for _, n := range []int{1_000, 100_000} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				s := open(b)
				fill(b, s, n)
				for word, want := range map[string]int{"zeppelin": 20, "planning": 20, "会议": 20} {
					b.Run(word, func(b *testing.B) {
						for b.Loop() {
							got, err := s.Candidates(b.Context(), weir.CandidateQuery{Owner: "own_1", Target: "cnv_0", Words: word, Limit: 20})
							if err != nil || len(got) != want {
								b.Fatal(len(got), err)
							}
						}
					})
				}
			})
		}
	}
}

// fill makes n conversations with titles as people have them.
func fill(b *testing.B, s store.Store, n int) {
	b.Helper()
	nouns := []string{"database", "garden", "release", "invoice", "network", "compiler", "holiday", "kitchen", "index", "backup"}
	begun := time.Now()
	for from := 0; from < n; from += 1000 {
		err := s.Update(b.Context(), func(tx store.Tx) error {
			for i := from; i < from+1000; i++ {
				title := fmt.Sprintf("Planning the %s and the %s, part %d", nouns[i%10], nouns[i/10%10], i)
				switch i % (n / 20) {
				case 5:
					title += " with a Zeppelin"
				case 7:
					title += " 会议"
				}
				id := weir.NewConversationID(time.Unix(int64(i), 0))
				if i == 0 {
					id = "cnv_0"
				}
				c := weir.Conversation{
					ID: id, Owner: "own_1", Kind: weir.Chat, Generation: "g", CreatedAt: time.Unix(int64(i), 0),
					Title: title, Workspace: fmt.Sprintf("/home/me/project-%d", i%50),
				}
				if err := tx.InsertConversation(b.Context(), &c); err != nil {
					return err
				}
				l, _, err := tx.AcquireLease(b.Context(), id, "n", time.Hour)
				if err != nil {
					return err
				}
				if _, err := tx.Append(b.Context(), id, l.Fence, nil, weir.Record{ID: "m", Time: c.CreatedAt, Body: &weir.UserMessage{Text: title}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d conversations made in %v", n, time.Since(begun).Round(time.Millisecond))
}
