package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"weir/test/pgcluster"
)

// endless is a query that only cancelling ends.
const endless = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT (x + 1) % 100 FROM n) SELECT COUNT(*) FROM n`

func TestCancellingARequestCancelsItsQuery(t *testing.T) {
	lite, err := openSQLite(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	pg, err := openPostgres(t.Context(), pgcluster.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close()
	for name, s := range map[string]Store{"sqlite": lite, "postgres": pg} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := s.View(ctx, func(r Reader) error {
				var n int64
				_, err := first(ctx, r.(*reader), []any{&n}, endless)
				return err
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
			// The connection, or another one, serves the next.
			for range maxReaders + 1 {
				if _, err := s.Due(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
