// Package stores gives tests the databases that the product runs on, each
// fresh, so that what is tested on one is tested on all.
package stores

import (
	"testing"

	"weir/store"
	"weir/test/pgcluster"
)

// Each runs fn as a subtest on each kind of database.
func Each(t *testing.T, fn func(t *testing.T, s store.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, Postgres(t)) })
}

// Postgres opens a database of its own on PostgreSQL for the time of a test.
func Postgres(t testing.TB) store.Store {
	t.Helper()
	return Open(t, pgcluster.Database(t))
}

// SQLite opens a database in a temporary directory for the time of a test.
func SQLite(t testing.TB) store.Store {
	t.Helper()
	return Open(t, "sqlite:"+t.TempDir())
}

// Open opens the database at a URL for the time of a test.
func Open(t testing.TB, url string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
