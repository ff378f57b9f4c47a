package store

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"modernc.org/sqlite"

	"weir"
)

// inBubble runs a test of the writer with an open database in which one
// conversation has a lease. synctest tells when all Updates wait.
func inBubble(t *testing.T, fn func(t *testing.T, b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := openSQLite(t.Context(), t.TempDir(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := &bubble{s: s}
		defer s.Close()
		err = s.Update(t.Context(), func(tx Tx) error {
			c := weir.Conversation{ID: "a", Owner: "o", Kind: weir.Chat, Generation: "g"}
			if err := tx.InsertConversation(t.Context(), &c); err != nil {
				return err
			}
			l, _, err := tx.AcquireLease(t.Context(), "a", "n", time.Hour)
			b.fence = l.Fence
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.group.conn.conn.Raw(func(c any) error {
			c.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
				b.commits.Add(1)
				return b.refuse.Load()
			})
			return nil
		})
		fn(t, b)
	})
}

type bubble struct {
	s       *sqliteStore
	fence   int64
	commits atomic.Int32
	refuse  atomic.Int32 // not 0: commits fail
}

// append starts an Update that appends one record, and after that does more.
func (b *bubble) append(ctx context.Context, id string, more func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- b.s.Update(ctx, func(tx Tx) error {
			_, err := tx.Append(ctx, "a", b.fence, nil, weir.Record{ID: weir.MessageID(id), Time: time.Now(), Body: &weir.Notice{}})
			if err == nil && more != nil {
				err = more()
			}
			return err
		})
	}()
	synctest.Wait()
	return done
}

func (b *bubble) stored(t *testing.T) (ids string) {
	t.Helper()
	c, err := b.s.Conversation(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	records, err := b.s.Records(t.Context(), &c, weir.RecordQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		ids += string(r.ID)
		if r.Seq != weir.Seq(i+1) {
			t.Errorf("record %d has seq %d", i, r.Seq)
		}
	}
	return ids
}

// held makes an Update wait inside until release is closed.
func held() (hold func() error, release chan struct{}) {
	release = make(chan struct{})
	return func() error { <-release; return nil }, release
}

func TestUpdatesThatWaitTogetherShareOneCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		all := []<-chan error{b.append(t.Context(), "0", hold)}
		for i := 1; i < 8; i++ {
			all = append(all, b.append(t.Context(), fmt.Sprint(i), nil))
		}
		close(release)
		for _, done := range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := b.commits.Load(); n != 1 {
			t.Errorf("%d commits", n)
		}
		if got := b.stored(t); got != "01234567" {
			t.Errorf("stored %s", got)
		}
	})
}

func TestNobodyIsAnsweredBeforeTheCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		hold2, release2 := held()
		first := b.append(t.Context(), "a", hold)
		second := b.append(t.Context(), "b", hold2)
		close(release)
		synctest.Wait()
		select {
		case err := <-first:
			t.Errorf("answered %v while the transaction was open", err)
		default:
		}
		if got := b.stored(t); got != "" {
			t.Errorf("%s can be read already", got)
		}
		close(release2)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
	})
}

func TestOnlyTheFailingOfAGroupIsUndone(t *testing.T) {
	mine := errors.New("mine")
	fail := func() error { return mine }
	for name, c := range map[string]struct {
		which []bool
		want  string
	}{
		"the first":  {[]bool{true, false, false, false}, "bcd"},
		"the second": {[]bool{false, true, false, false}, "acd"},
		"the last":   {[]bool{false, false, false, true}, "abc"},
		"some":       {[]bool{true, true, false, true}, "c"},
		"all":        {[]bool{true, true, true, true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				hold, release := held()
				blocked := make(chan error, 1)
				go func() { blocked <- b.s.Update(t.Context(), func(Tx) error { return hold() }) }()
				synctest.Wait()
				var all []<-chan error
				for i, fails := range c.which {
					more := fail
					if !fails {
						more = nil
					}
					all = append(all, b.append(t.Context(), string(rune('a'+i)), more))
				}
				close(release)
				if err := <-blocked; err != nil {
					t.Error(err)
				}
				for i, done := range all {
					if err := <-done; errors.Is(err, mine) != c.which[i] || (err == nil) == c.which[i] {
						t.Errorf("update %d: %v", i, err)
					}
				}
				if got := b.stored(t); got != c.want {
					t.Errorf("stored %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAFailedCommitFailsAllOfItsGroup(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		first, second := b.append(t.Context(), "a", hold), b.append(t.Context(), "b", nil)
		b.refuse.Store(1)
		close(release)
		for _, done := range []<-chan error{first, second} {
			if err := <-done; err == nil {
				t.Error("acknowledged without a commit")
			}
		}
		if got := b.stored(t); got != "" {
			t.Errorf("stored %q", got)
		}
		b.refuse.Store(0)
		if err := <-b.append(t.Context(), "c", nil); err != nil {
			t.Error(err)
		}
		if got := b.stored(t); got != "c" {
			t.Errorf("stored %q", got)
		}
	})
}

func TestAFullDiskIsSaidAndNothingIsHalfStored(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		limit := func(pages int) {
			if _, err := b.s.group.conn.conn.ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
				t.Fatal(err)
			}
		}
		hold, release := held()
		large := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() {
				done <- b.s.Update(ctx, func(tx Tx) error {
					body := &weir.Notice{Text: strings.Repeat("x", 1<<20)}
					tx.Append(ctx, "a", b.fence, nil, weir.Record{ID: "large", Body: body}) // the error goes unnoticed
					_, err := tx.Append(ctx, "a", b.fence, nil, weir.Record{ID: "after", Body: &weir.Notice{}})
					if err == nil {
						t.Error("it wrote on after the transaction was lost")
					}
					return nil
				})
			}()
			synctest.Wait()
			return done
		}
		limit(1) // no less than there are
		before, full, after := b.append(t.Context(), "b", hold), large(t.Context()), b.append(t.Context(), "c", nil)
		close(release)
		for name, done := range map[string]<-chan error{"the one before": before, "the large one": full} {
			if err := <-done; weir.CodeOf(err) != "disk_full" || weir.KindOf(err) != weir.Unavailable {
				t.Errorf("%s: %v", name, err)
			}
		}
		<-after
		limit(1 << 20)
		if err := <-b.append(t.Context(), "d", nil); err != nil {
			t.Error(err)
		}
		if got := b.stored(t); got != "cd" && got != "d" { // the small one may still have fitted
			t.Errorf("stored %q", got)
		}
	})
}

func TestAnUpdateWhoseCallerGivesUpWaitingDoesNotRun(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		first := b.append(t.Context(), "a", hold)
		ctx, cancel := context.WithCancel(t.Context())
		second := b.append(ctx, "b", nil)
		third := b.append(t.Context(), "c", nil)
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("answered %v", err)
		}
		close(release)
		if err := errors.Join(<-first, <-third); err != nil {
			t.Error(err)
		}
		if got := b.stored(t); got != "ac" {
			t.Errorf("stored %q", got)
		}
	})
}

func TestCancellingOneInTheMiddleDoesNotHarmTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		ctx, cancel := context.WithCancel(t.Context())
		first := b.append(t.Context(), "a", hold)
		second := b.append(ctx, "b", func() error { cancel(); return ctx.Err() })
		third := b.append(t.Context(), "c", nil)
		close(release)
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled one: %v", err)
		}
		if err := errors.Join(<-first, <-third); err != nil {
			t.Error(err)
		}
		if got := b.stored(t); got != "ac" {
			t.Errorf("stored %q", got)
		}
	})
}

func TestClosingRefusesWhatWaitsAndKeepsWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		hold, release := held()
		first := b.append(t.Context(), "a", hold)
		closed := make(chan error, 1)
		go func() { closed <- b.s.Close() }()
		synctest.Wait()
		if err := <-b.append(t.Context(), "b", nil); weir.KindOf(err) != weir.Unavailable {
			t.Errorf("while closing: %v", err)
		}
		close(release)
		if err := errors.Join(<-first, <-closed); err != nil {
			t.Error(err)
		}
	})
}

// TestAStatementIsNotCancelledHalfway: SQLite would undo the whole transaction,
// neighbours included.
func TestAStatementIsNotCancelledHalfway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// A function of SQL that cancels the context of the statement it is in, and
	// gives the one who watches that context the time to act on it.
	name := "cancel_" + rand.Text() // functions stay for good
	err := sqlite.RegisterScalarFunction(name, 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		cancel()
		for range 1000 {
			runtime.Gosched()
		}
		return int64(0), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSQLite(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	insert := func(ctx context.Context, name string) func(Tx) error {
		return func(tx Tx) error { _, err := tx.InitSetting(ctx, name, nil); return err }
	}
	inside, release := make(chan struct{}), make(chan struct{})
	first, third := make(chan error, 1), make(chan error, 1)
	go func() {
		first <- s.Update(t.Context(), func(tx Tx) error {
			close(inside)
			<-release
			return insert(t.Context(), "first")(tx)
		})
	}()
	<-inside
	go func() {
		third <- s.Update(t.Context(), func(x Tx) error {
			_, err := x.(*tx).q.exec(ctx, `INSERT INTO settings (name, value) SELECT 'n', x'00' WHERE `+name+`() + (
				WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 200000) SELECT COUNT(*) FROM n) > 0`)
			return err
		})
	}()
	close(release)
	if err := errors.Join(<-first, <-third); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"first", "n"} {
		if _, err := s.Setting(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
