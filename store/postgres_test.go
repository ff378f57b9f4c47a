package store_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"weir"
	"weir/store"
	"weir/test/pgcluster"
	"weir/test/stores"
)

// pg is a fresh database with one conversation or more, and a connection that
// looks at the server from outside.
type pg struct {
	*testing.T
	store.Store
	url   string
	aside *pgx.Conn
}

func newPG(t *testing.T, conversations ...weir.ConversationID) *pg {
	t.Helper()
	p := &pg{T: t, url: pgcluster.Database(t)}
	p.Store = stores.Open(t, p.url)
	aside, err := pgx.Connect(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { aside.Close(context.Background()) })
	p.aside = aside
	update(t, p, func(tx store.Tx) error {
		for _, id := range conversations {
			if err := tx.InsertConversation(t.Context(), &weir.Conversation{ID: id, Owner: "o", Kind: weir.Chat, Generation: "g"}); err != nil {
				return err
			}
		}
		return nil
	})
	return p
}

// start runs an Update beside the test.
func (p *pg) start(fn func(tx store.Tx) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.Update(p.Context(), fn) }()
	return done
}

// waiting blocks until n transactions wait for a lock, as the server sees it.
func (p *pg) waiting(n int) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	defer cancel()
	for {
		var got int
		err := p.aside.QueryRow(ctx, `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&got)
		if err != nil {
			p.Fatalf("%d transactions wait, not %d: %v", got, n, err)
		}
		if got == n {
			return
		}
	}
}

func TestAChangeWaitsForThoseWhoReadUnderALock(t *testing.T) {
	p, ctx := newPG(t, "a"), t.Context()
	update(t, p, func(tx store.Tx) error {
		return tx.InsertConversation(ctx, &weir.Conversation{
			ID: "b", Owner: "o", Kind: weir.Branch, Generation: "g", Lineage: []weir.Inherited{{Conversation: "a"}}})
	})
	locked, release := make(chan struct{}), make(chan struct{})
	admission := p.start(func(tx store.Tx) error {
		if err := tx.LockShared(ctx, "b"); err != nil { // its ancestor a with it
			return err
		}
		close(locked)
		<-release
		return nil
	})
	<-locked
	// Another admission, and an append, do not wait.
	update(t, p, func(tx store.Tx) error { return tx.LockShared(ctx, "a", "b") })
	update(t, p, func(tx store.Tx) error {
		l, _, err := tx.AcquireLease(ctx, "b", "n", time.Hour)
		if err == nil {
			_, err = tx.Append(ctx, "b", l.Fence, nil, weir.Record{ID: "m", Body: &weir.Notice{}})
		}
		return err
	})
	change := p.start(func(tx store.Tx) error { return tx.LockForChange(ctx, "a") })
	p.waiting(1)
	select {
	case err := <-change:
		t.Errorf("the change did not wait: %v", err)
	default:
	}
	close(release)
	for _, done := range []<-chan error{admission, change} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestReadersUnderALockWaitForAChange(t *testing.T) {
	p, ctx := newPG(t, "a"), t.Context()
	update(t, p, func(tx store.Tx) error {
		return tx.InsertConversation(ctx, &weir.Conversation{
			ID: "b", Owner: "o", Kind: weir.Branch, Generation: "g", Lineage: []weir.Inherited{{Conversation: "a"}}})
	})
	locked, release := make(chan struct{}), make(chan struct{})
	change := p.start(func(tx store.Tx) error {
		if err := tx.LockForChange(ctx, "a"); err != nil { // its descendant b with it
			return err
		}
		close(locked)
		<-release
		wall := weir.Visibility{Level: weir.Isolated}
		return tx.ChangeConversation(ctx, "a", weir.ConversationChange{Visibility: &wall})
	})
	<-locked
	var seen weir.Conversation
	admission := p.start(func(tx store.Tx) (err error) {
		if err := tx.LockShared(ctx, "b"); err != nil {
			return err
		}
		seen, err = tx.Conversation(ctx, "b")
		return err
	})
	branch := p.start(func(tx store.Tx) error {
		c := weir.Conversation{ID: "c", Owner: "o", Kind: weir.Branch, Generation: "g", Lineage: []weir.Inherited{{Conversation: "a"}}}
		err := tx.InsertConversation(ctx, &c)
		if len(c.Island) != 1 {
			t.Errorf("a branch made meanwhile has the island %v", c.Island)
		}
		return err
	})
	p.waiting(2)
	// What is said in them does not wait.
	update(t, p, func(tx store.Tx) error {
		l, _, err := tx.AcquireLease(ctx, "b", "n", time.Hour)
		if err == nil {
			_, err = tx.Append(ctx, "b", l.Fence, nil, weir.Record{ID: "m", Body: &weir.Notice{}})
		}
		if err == nil {
			err = tx.InsertInput(ctx, &weir.Input{Conversation: "b", ID: "i"})
		}
		return err
	})
	close(release)
	for _, done := range []<-chan error{change, admission, branch} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(seen.Island) != 1 {
		t.Errorf("the admission saw the island %v from before the change", seen.Island)
	}
}

func TestADeadlockIsRunAgain(t *testing.T) {
	p, ctx := newPG(t, "a", "b"), t.Context()
	fences := map[weir.ConversationID]int64{}
	update(t, p, func(tx store.Tx) error {
		for _, id := range []weir.ConversationID{"a", "b"} {
			l, _, err := tx.AcquireLease(ctx, id, "n", time.Hour)
			if err != nil {
				return err
			}
			fences[id] = l.Fence
		}
		return nil
	})
	var both sync.WaitGroup // both have their first lock
	both.Add(2)
	tries := map[weir.ConversationID]int{}
	cross := func(first, second weir.ConversationID) <-chan error {
		var once sync.Once
		return p.start(func(tx store.Tx) error {
			tries[first]++
			for _, id := range []weir.ConversationID{first, second} {
				if _, err := tx.Append(ctx, id, fences[id], nil, weir.Record{ID: weir.MessageID("from-" + first), Body: &weir.Notice{}}); err != nil {
					return err
				}
				once.Do(func() { both.Done(); both.Wait() })
			}
			return nil
		})
	}
	one, two := cross("a", "b"), cross("b", "a")
	if err := <-one; err != nil {
		t.Error(err)
	}
	if err := <-two; err != nil {
		t.Error(err)
	}
	if tries["a"]+tries["b"] < 3 {
		t.Errorf("there was no deadlock: %v", tries)
	}
	for _, id := range []weir.ConversationID{"a", "b"} {
		if c, err := p.Conversation(ctx, id); err != nil || c.HeadSeq != 2 {
			t.Errorf("%s has %d records, %v", id, c.HeadSeq, err)
		}
	}
}

func TestNodesThatStartTogetherShareOneDatabase(t *testing.T) {
	url := pgcluster.Database(t)
	nodes := make([]store.Store, 4)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			s, err := store.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			nodes[i] = s
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for i, s := range nodes {
		defer s.Close()
		id := weir.ConversationID(fmt.Sprint(i))
		update(t, s, func(tx store.Tx) error {
			return tx.InsertConversation(t.Context(), &weir.Conversation{ID: id, Owner: "o", Kind: weir.Chat, Generation: "g"})
		})
		if _, err := nodes[0].Conversation(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

func TestANodeThatWasTakenOverWritesNoMore(t *testing.T) {
	p, ctx := newPG(t, "a"), t.Context()
	other := stores.Open(t, p.url)
	var old, now weir.Lease
	update(t, p, func(tx store.Tx) (err error) {
		old, _, err = tx.AcquireLease(ctx, "a", "n1", time.Millisecond)
		return err
	})
	for now.Fence == 0 {
		update(t, other, func(tx store.Tx) error {
			l, ok, err := tx.AcquireLease(ctx, "a", "n2", time.Hour)
			if ok {
				now = l
			}
			return err
		})
	}
	appending := func(l weir.Lease, id weir.MessageID) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			_, err := tx.Append(ctx, "a", l.Fence, nil, weir.Record{ID: id, Body: &weir.Notice{}})
			return err
		}
	}
	if err := p.Update(ctx, appending(old, "late")); weir.CodeOf(err) != weir.CodeFenced {
		t.Errorf("the old node: %v", err)
	}
	update(t, other, appending(now, "mine"))
}

// TestATakeoverWaitsForAWriteUnderWay: a write whose fence was checked is
// finished before the next holder can read, never after.
func TestATakeoverWaitsForAWriteUnderWay(t *testing.T) {
	p, ctx := newPG(t, "a"), t.Context()
	var old weir.Lease
	update(t, p, func(tx store.Tx) (err error) {
		old, _, err = tx.AcquireLease(ctx, "a", "n1", time.Microsecond)
		return err
	})
	checked, release := make(chan struct{}), make(chan struct{})
	write := p.start(func(tx store.Tx) error {
		if err := tx.PutViews(ctx, old.Fence, "a"); err != nil { // only checks the fence
			return err
		}
		close(checked)
		<-release
		_, err := tx.Append(ctx, "a", old.Fence, nil, weir.Record{ID: "m", Body: &weir.Notice{}})
		return err
	})
	<-checked
	var seen weir.Conversation
	takeover := p.start(func(tx store.Tx) error {
		_, ok, err := tx.AcquireLease(ctx, "a", "n2", time.Hour)
		if err == nil && !ok {
			t.Error("the lease had not run out")
		}
		if err == nil {
			seen, err = tx.Conversation(ctx, "a")
		}
		return err
	})
	p.waiting(1)
	close(release)
	for _, done := range []<-chan error{write, takeover} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if seen.HeadSeq != 1 {
		t.Errorf("the next holder saw head %d", seen.HeadSeq)
	}
}

func TestALostConnectionIsUnavailableAndTheNextTryServed(t *testing.T) {
	p, ctx := newPG(t, "a"), t.Context()
	err := p.Update(ctx, func(tx store.Tx) error {
		if err := tx.LockShared(ctx, "a"); err != nil {
			return err
		}
		if _, err := p.aside.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
			t.Fatal(err)
		}
		return tx.InsertInput(ctx, &weir.Input{Conversation: "a", ID: "i"})
	})
	if weir.KindOf(err) != weir.Unavailable || weir.CodeOf(err) != "store_unavailable" {
		t.Errorf("error is %v", err)
	}
	if _, err := p.Conversation(ctx, "a"); err != nil {
		t.Errorf("the next question: %v", err)
	}
	if _, err := p.Input(ctx, "a", "i"); weir.CodeOf(err) != weir.CodeInputNotFound {
		t.Errorf("the input: %v", err)
	}
}

func TestAServerThatIsGoneIsUnavailable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	pgcluster.Database(t) // skips where PostgreSQL is skipped
	c, err := pgcluster.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	s, err := store.Open(t.Context(), c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Stop()
	_, asked := s.Conversation(t.Context(), "a")
	_, opened := store.Open(t.Context(), c.URL)
	for what, err := range map[string]error{
		"a question": asked,
		"an update":  s.Update(t.Context(), func(tx store.Tx) error { return nil }),
		"a view":     s.View(t.Context(), func(r store.Reader) error { _, err := r.Due(t.Context(), 1); return err }),
		"opening":    opened,
	} {
		if weir.KindOf(err) != weir.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnswersAreForgottenAfterADay(t *testing.T) {
	p, ctx := newPG(t), t.Context()
	update(t, p, func(tx store.Tx) error {
		return tx.RememberAnswer(ctx, "o", "r", "k", weir.IdempotentAnswer{Digest: "d"})
	})
	older := func(by string) {
		if _, err := p.aside.Exec(ctx, `UPDATE answers SET created_at = created_at - CAST(EXTRACT(EPOCH FROM CAST('`+by+`' AS INTERVAL)) * 1000000 AS BIGINT)`); err != nil {
			t.Fatal(err)
		}
	}
	older("23 hours 50 minutes")
	if _, err := p.Answer(ctx, "o", "r", "k"); err != nil {
		t.Error("forgotten too early:", err)
	}
	older("10 minutes")
	if _, err := p.Answer(ctx, "o", "r", "k"); weir.CodeOf(err) != "answer_not_found" {
		t.Error("after a day:", err)
	}
	update(t, p, func(tx store.Tx) error {
		return tx.RememberAnswer(ctx, "o", "r", "other", weir.IdempotentAnswer{Digest: "d"})
	})
	var n int
	if err := p.aside.QueryRow(ctx, `SELECT COUNT(*) FROM answers`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d answers are kept, %v", n, err)
	}
}

func TestLookingAtAPostgreSQLDatabase(t *testing.T) {
	fresh := pgcluster.Database(t)
	if _, err := store.OpenReadOnly(t.Context(), fresh); weir.CodeOf(err) != "database_older" {
		t.Errorf("an empty database: %v", err)
	}
	p := newPG(t, "a")
	r := look(t, p.url)
	if _, err := r.Conversation(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if err := r.View(t.Context(), func(r store.Reader) error { _, err := r.Due(t.Context(), 1); return err }); err != nil {
		t.Error(err)
	}
	if _, err := p.aside.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenReadOnly(t.Context(), p.url); weir.CodeOf(err) != "database_newer" {
		t.Error(err)
	}
	if _, err := store.Open(t.Context(), p.url); weir.CodeOf(err) != "database_newer" {
		t.Error(err)
	}
}

func TestAnUnsuitableAddressOrDatabaseIsRefusedClearly(t *testing.T) {
	if _, err := store.Open(t.Context(), "postgres://h:port/x"); weir.CodeOf(err) != "database_url_invalid" {
		t.Error(err)
	}
	p := newPG(t)
	const name = "weir_test_latin"
	for _, sql := range []string{`DROP DATABASE IF EXISTS ` + name, `CREATE DATABASE ` + name + ` ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`} {
		if _, err := p.aside.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	defer p.aside.Exec(context.WithoutCancel(t.Context()), `DROP DATABASE `+name+` WITH (FORCE)`)
	u, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	if _, err := store.Open(t.Context(), u.String()); weir.CodeOf(err) != "database_encoding" {
		t.Error(err)
	}
}
