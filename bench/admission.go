package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite"

	"weir"
	"weir/fact"
	"weir/gate"
	"weir/live"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

const admissionText = "What did we decide about the port of the gateway, and who is going to change the configuration of the proxy?"

var admission = row{
	name: "admission, one client", reference: "one bare SQLite insert in a transaction, same settings", bound: "2.0×",
	run: func(ctx context.Context, dir string) (result, error) {
		const n = 400
		e, s, conv, err := quietEngine(ctx, filepath.Join(dir, "weir"))
		if err != nil {
			return result{}, err
		}
		defer s.Close()
		bare, err := bareInserts(ctx, dir, 1)
		if err != nil {
			return result{}, err
		}
		defer bare.close()
		ours, reference, err := medians(n,
			func(int) error { return admit(ctx, e, conv) },
			func(int) error { return bare.insert(ctx) })
		if err != nil {
			return result{}, err
		}
		note := ""
		if reference < 300*time.Microsecond {
			note = "a synced insert costs less than 0.3 ms here: the bound does not apply"
		}
		return times(ours, reference, note), nil
	},
}

var groupCommit = row{
	name: "admission, 32 clients, per second", reference: "32 writers, each insert a transaction of its own", bound: "at least 3×",
	run: func(ctx context.Context, dir string) (result, error) {
		e, s, conv, err := quietEngine(ctx, filepath.Join(dir, "weir"))
		if err != nil {
			return result{}, err
		}
		defer s.Close()
		bare, err := bareInserts(ctx, dir, 32)
		if err != nil {
			return result{}, err
		}
		defer bare.close()
		ours, err := perSecond(32, 3*time.Second, func() error { return admit(ctx, e, conv) })
		if err != nil {
			return result{}, err
		}
		reference, err := perSecond(32, 3*time.Second, func() error { return bare.insert(ctx) })
		return result{ours: ours, reference: reference, unit: "/s", ratio: ours / reference}, err
	},
}

func admit(ctx context.Context, e *turn.Engine, c weir.ConversationID) error {
	_, err := e.Admit(ctx, weir.Actor{Owner: "own_bench", Name: "Max", Door: "bench"}, turn.Admission{Conversation: c, Text: admissionText})
	return err
}

// quietEngine admits and drains nothing: it is never started.
func quietEngine(ctx context.Context, dir string) (*turn.Engine, store.Store, weir.ConversationID, error) {
	s, err := store.Open(ctx, dir)
	if err != nil {
		return nil, nil, "", err
	}
	id := weir.ConversationID("cnv_bench")
	err = s.Update(ctx, func(tx store.Tx) error { return tx.InsertConversation(ctx, conversation(id, "Bench", 0)) })
	if err != nil {
		return nil, nil, "", err
	}
	tools, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		return nil, nil, "", err
	}
	facts, err := fact.Compose()
	if err != nil {
		return nil, nil, "", err
	}
	e := turn.New(turn.Config{
		Store: turn.Over[store.Tx](s), Gate: gate.New(gate.Config{Key: []byte("bench"), Now: time.Now, Rand: rand.Reader}),
		Lowerer: modelview.New(), Models: noModels{}, Tools: tools, Facts: facts, Live: live.NewHub(), Now: time.Now, Holder: "bench",
	})
	return e, s, id, nil
}

type noModels struct{}

func (noModels) Model(string) (model.Profile, model.Client, error) {
	return model.Profile{}, nil, weir.Fault(weir.Unprocessable, "model_unknown", "no model in a bench")
}

func conversation(id weir.ConversationID, title string, age time.Duration) *weir.Conversation {
	at := time.Now().Add(-age).UTC().Truncate(time.Millisecond)
	return &weir.Conversation{
		ID: id, Owner: "own_bench", Title: title, Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
		Generation: weir.NewGenerationID(at), State: weir.Idle, CreatedAt: at, LastActive: at,
	}
}

// bare is a plain table with the store's settings and writers without group commit.
type bare struct {
	db *sql.DB
	n  atomic.Int64
}

func bareInserts(ctx context.Context, dir string, writers int) (*bare, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dsn := "file:" + filepath.Join(dir, "bare.db") + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(60000)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(writers)
	db.SetMaxIdleConns(writers)
	_, err = db.ExecContext(ctx, "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, body TEXT)")
	return &bare{db: db}, err
}

func (b *bare) close() { b.db.Close() }

func (b *bare) insert(ctx context.Context) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO t (id, at, body) VALUES (?, ?, ?)", b.n.Add(1), time.Now().UnixMilli(), admissionText); err != nil {
		return err
	}
	return tx.Commit()
}

// perSecond lets n clients call fn for a while and returns calls a second.
func perSecond(n int, d time.Duration, fn func() error) (float64, error) {
	var calls atomic.Int64
	errs := make(chan error, n)
	var wg sync.WaitGroup
	begin := time.Now()
	for range n {
		wg.Go(func() {
			for time.Since(begin) < d {
				if err := fn(); err != nil {
					errs <- err
					return
				}
				calls.Add(1)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return 0, fmt.Errorf("after %d calls: %w", calls.Load(), err)
	default:
		return float64(calls.Load()) / time.Since(begin).Seconds(), nil
	}
}
