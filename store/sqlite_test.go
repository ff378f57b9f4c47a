package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir"
	"weir/store"
	"weir/test/stores"
)

func TestADataDirectoryHasOneProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "if missing")
	s, err := store.Open(t.Context(), "sqlite:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(t.Context(), dir)
	if weir.CodeOf(err) != "data_dir_in_use" || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second opening: %v", err)
	}
	// Another process is told the same, and which one it is.
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"=open", childURL+"="+dir)
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "data_dir_in_use") || !strings.Contains(string(out), "another running Weir (process ") {
		t.Errorf("another process: %s", out)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stores.Open(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
}

func TestADirectoryThatCannotBeUsedIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), file)
	if weir.CodeOf(err) != "data_dir_unusable" || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

func TestReopeningFreesAllLeasesAndFencesGoOnGrowing(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := store.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	var old weir.Lease
	update(t, s, func(tx store.Tx) error {
		c := weir.Conversation{ID: "a", Owner: "o", Kind: weir.Chat, Generation: "g"}
		if err := tx.InsertConversation(ctx, &c); err != nil {
			return err
		}
		if err := tx.InsertInput(ctx, &weir.Input{Conversation: "a", ID: "i", State: weir.Pending}); err != nil {
			return err
		}
		old, _, err = tx.AcquireLease(ctx, "a", "node", time.Hour)
		return err
	})
	if due, err := s.Due(ctx, 9); err != nil || len(due) != 0 {
		t.Errorf("due while held: %v, %v", due, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = stores.Open(t, dir)
	if due, err := s.Due(ctx, 9); err != nil || len(due) != 1 {
		t.Errorf("due after reopening: %v, %v", due, err)
	}
	update(t, s, func(tx store.Tx) error {
		if _, err := tx.RenewLease(ctx, old, time.Hour); weir.CodeOf(err) != weir.CodeFenced {
			t.Errorf("renewing a lease of the time before: %v", err)
		}
		l, ok, err := tx.AcquireLease(ctx, "a", "node", time.Hour)
		if !ok || l.Fence <= old.Fence {
			t.Errorf("got %+v, %v after %+v", l, ok, old)
		}
		if _, err := tx.Append(ctx, "a", old.Fence, nil); weir.CodeOf(err) != weir.CodeFenced {
			t.Errorf("the old fence: %v", err)
		}
		return err
	})
}

func TestLeasesAndAnswersFollowTheGivenClock(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s, err := store.OpenWith(ctx, t.TempDir(), store.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	acquire := func(holder string) (l weir.Lease, ok bool) {
		update(t, s, func(tx store.Tx) (err error) {
			l, ok, err = tx.AcquireLease(ctx, "a", holder, 15*time.Second)
			return err
		})
		return l, ok
	}
	update(t, s, func(tx store.Tx) error {
		if err := tx.InsertConversation(ctx, &weir.Conversation{ID: "a", Owner: "o", Kind: weir.Chat, Generation: "g"}); err != nil {
			return err
		}
		return tx.RememberAnswer(ctx, "o", "r", "k", weir.IdempotentAnswer{Digest: "d"})
	})
	if l, ok := acquire("n1"); !ok || !l.Expires.Equal(now.Add(15*time.Second)) {
		t.Errorf("%+v, %v", l, ok)
	}
	now = now.Add(15*time.Second - time.Microsecond)
	if _, ok := acquire("n2"); ok {
		t.Error("taken before it ran out")
	}
	now = now.Add(time.Microsecond)
	if _, ok := acquire("n2"); !ok {
		t.Error("not taken when it had run out")
	}
	now = now.Add(24*time.Hour - 16*time.Second)
	if _, err := s.Answer(ctx, "o", "r", "k"); err != nil {
		t.Error("forgotten too early:", err)
	}
	now = now.Add(time.Second)
	if _, err := s.Answer(ctx, "o", "r", "k"); weir.CodeOf(err) != "answer_not_found" {
		t.Error("after a day:", err)
	}
	update(t, s, func(tx store.Tx) error {
		return tx.RememberAnswer(ctx, "o", "r", "k", weir.IdempotentAnswer{Digest: "new"})
	})
	if a, err := s.Answer(ctx, "o", "r", "k"); err != nil || a.Digest != "new" {
		t.Error(a, err)
	}
}

func TestLookingBesideARunningServer(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	if _, err := store.OpenReadOnly(ctx, dir); weir.CodeOf(err) != "data_dir_empty" {
		t.Errorf("an empty directory: %v", err)
	}
	s, err := store.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	beside := look(t, dir)
	seen := func(r store.Reader) int {
		page, err := r.Conversations(ctx, weir.ConversationQuery{Owner: "o"})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	for i, id := range []weir.ConversationID{"a", "b"} {
		update(t, s, func(tx store.Tx) error {
			return tx.InsertConversation(ctx, &weir.Conversation{ID: id, Owner: "o", Kind: weir.Chat, Generation: "g"})
		})
		if n := seen(beside); n != i+1 {
			t.Errorf("%d conversations of %d are seen", n, i+1)
		}
	}
	// What a power cut would leave is complete, and can be looked at too.
	crashed := t.TempDir()
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(crashed, "weir.db-shm"))
	if n := seen(look(t, crashed)); n != 2 {
		t.Errorf("%d conversations are seen after a crash", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := seen(look(t, dir)); n != 2 {
		t.Errorf("%d conversations are seen after the server ended", n)
	}
}

func look(t *testing.T, url string) store.ReadOnly {
	t.Helper()
	r, err := store.OpenReadOnly(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestLookingWritesNothing(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "weir.db"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Due(t.Context(), 5); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "weir.db"))
	if err != nil || string(before) != string(after) {
		t.Error("the file changed", err)
	}
}

func TestADatabaseOfAnotherVersionIsRefusedClearly(t *testing.T) {
	for _, c := range []struct{ change, openCode, lookCode string }{
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`, "database_newer", "database_newer"},
		{`DELETE FROM goose_db_version WHERE version_id > 0`, "", "database_older"},
	} {
		dir := t.TempDir()
		s, err := store.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		db, err := sql.Open("sqlite", filepath.Join(dir, "weir.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(c.change); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if _, err := store.OpenReadOnly(t.Context(), dir); weir.CodeOf(err) != c.lookCode {
			t.Errorf("looking: %v", err)
		}
		if c.openCode != "" {
			if _, err := store.Open(t.Context(), dir); weir.CodeOf(err) != c.openCode {
				t.Errorf("opening: %v", err)
			}
		}
	}
}

func TestSomethingElseThanADatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "weir.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), dir)
	if weir.CodeOf(err) != "data_damaged" {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "weir.db-wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it left files", err)
	}
}

func TestAfterCloseEverythingIsUnavailableAndNothingRuns(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx := context.Background()
	s, err := store.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Conversation(ctx, "a")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	_, err = s.Conversation(ctx, "a")
	for what, err := range map[string]error{
		"a question": err,
		"a view":     s.View(ctx, func(store.Reader) error { return nil }),
		"an update":  s.Update(ctx, func(store.Tx) error { return nil }),
	} {
		if weir.KindOf(err) != weir.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// update runs an Update that has to succeed.
func update(t testing.TB, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}
