package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"weir"
	"weir/store"
	"weir/test/pgcluster"
	"weir/test/stores"
)

func TestAnAnswerThatIsFoundTooOldIsForgotten(t *testing.T) {
	dir := t.TempDir()
	t.Run("sqlite", func(t *testing.T) { foundTooOld(t, dir, "sqlite", filepath.Join(dir, "weir.db")) })
	t.Run("postgres", func(t *testing.T) {
		url := pgcluster.Database(t)
		foundTooOld(t, url, "pgx", url)
	})
}

func foundTooOld(t *testing.T, url, driver, raw string) {
	ctx := t.Context()
	s := stores.Open(t, url)
	for _, key := range []string{"old", "older", "new"} {
		update(t, s, func(tx store.Tx) error {
			return tx.RememberAnswer(ctx, "o", "r", key, weir.IdempotentAnswer{Digest: "d", Body: []byte("zebra")})
		})
	}
	db, err := sql.Open(driver, raw)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE answers SET created_at = 0 WHERE key <> 'new'`); err != nil {
		t.Fatal(err)
	}
	stored := func() (n int) {
		if err := db.QueryRow(`SELECT COUNT(*) FROM answers`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := s.Answer(ctx, "o", "r", "none"); weir.CodeOf(err) != "answer_not_found" || stored() != 3 {
		t.Errorf("one that never was: %v, %d are stored", err, stored())
	}
	if a, err := s.Answer(ctx, "o", "r", "old"); weir.CodeOf(err) != "answer_not_found" || len(a.Body) != 0 {
		t.Errorf("an old one: %q, %v", a.Body, err)
	}
	if n := stored(); n != 1 {
		t.Errorf("%d are stored", n)
	}
}
