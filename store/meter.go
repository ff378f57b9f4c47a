package store

import (
	"sync/atomic"

	"modernc.org/sqlite"
)

// Meter adds up what an SQLite database reads and writes, for measuring. The
// zero value is ready. What happens outside of views and Updates, such as
// carrying the journal over into the file, is not in it.
type Meter struct {
	Rows    atomic.Int64 // that queries gave
	Pages   atomic.Int64 // looked at, nearly all of them in memory
	Written atomic.Int64 // pages written to the journal, of [PageBytes]
}

// PageBytes is the size of a page of an SQLite database.
const PageBytes = 4096

// row counts one that a query gave. There is often no meter.
func (m *Meter) row() {
	if m != nil {
		m.Rows.Add(1)
	}
}

// read adds what a connection has done since it was last read.
func (m *Meter) read(c *sqliteConn) {
	if m == nil {
		return
	}
	// What cannot be read is missing from a measurement and nothing else.
	_ = c.conn.Raw(func(dc any) error {
		s, ok := dc.(sqlite.DBStatus)
		if !ok {
			return nil
		}
		for op, sum := range map[sqlite.DBStatusOp]*atomic.Int64{
			sqlite.DBStatusCacheHit: &m.Pages, sqlite.DBStatusCacheMiss: &m.Pages, sqlite.DBStatusCacheWrite: &m.Written,
		} {
			if n, _, err := s.Status(op, true); err == nil {
				sum.Add(int64(n))
			}
		}
		return nil
	})
}
