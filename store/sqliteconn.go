package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"weir"
)

// sqliteConn is one connection with its prepared statements. There are as
// many as there are statements in this package, so they are all kept. It is
// used by one goroutine at a time.
type sqliteConn struct {
	conn  *sql.Conn
	d     *dialect
	stmts map[string]*sql.Stmt
}

func openConn(ctx context.Context, db *sql.DB, d *dialect) (*sqliteConn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fault(err)
	}
	return &sqliteConn{conn: conn, d: d, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *sqliteConn) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := c.stmts[text]; s != nil {
		return s, nil
	}
	s, err := c.conn.PrepareContext(ctx, c.d.spell(text))
	if err == nil {
		c.stmts[text] = s
	}
	return s, err
}

func (c *sqliteConn) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s, err := c.prepare(ctx, text)
	if err != nil {
		return nil, fault(err)
	}
	rows, err := s.QueryContext(ctx, args...)
	return rows, fault(err)
}

func (c *sqliteConn) exec(ctx context.Context, text string, args ...any) (int64, error) {
	s, err := c.prepare(ctx, text)
	if err != nil {
		return 0, fault(err)
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, fault(err)
	}
	return res.RowsAffected()
}

// close gives up the connection itself, not only its place in the pool.
func (c *sqliteConn) close() {
	for _, s := range c.stmts {
		s.Close()
	}
	c.conn.Close()
}

// readers is a pool of connections that can only read.
type readers struct {
	db    *sql.DB
	d     *dialect
	slots chan struct{}
	stop  chan struct{}

	mu   sync.Mutex
	idle []*sqliteConn
}

// maxReaders bounds the connections, each with a page cache of its own.
const maxReaders = 8

func newReaders(db *sql.DB, d *dialect) *readers {
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	return &readers{db: db, d: d, slots: make(chan struct{}, maxReaders), stop: make(chan struct{})}
}

// view runs fn in one read transaction.
func (p *readers) view(ctx context.Context, fn func(Reader) error) error {
	select {
	case p.slots <- struct{}{}:
	case <-p.stop:
		return errClosed()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		// Reads leave nothing to keep; a connection that cannot even end its
		// transaction is not used again.
		_, err := c.exec(context.WithoutCancel(ctx), `ROLLBACK`)
		p.d.meter.read(c)
		p.giveBack(c, sound && err == nil)
	}()
	if _, err := c.exec(context.WithoutCancel(ctx), `BEGIN`); err != nil {
		return err
	}
	sound = true
	return fn(&reader{q: c, d: p.d})
}

func (p *readers) take(ctx context.Context) (*sqliteConn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return openConn(ctx, p.db, p.d)
}

func (p *readers) giveBack(c *sqliteConn, sound bool) {
	if !sound {
		c.conn.Raw(func(any) error { return driver.ErrBadConn }) // so that the pool drops it
		c.close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// close waits until nobody reads any more.
func (p *readers) close() error {
	close(p.stop)
	for range maxReaders {
		p.slots <- struct{}{}
	}
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
	return p.db.Close()
}

// breaksTransaction reports errors after which SQLite may have undone the
// whole transaction by itself.
func breaksTransaction(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	switch lite.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}

func errOver() error {
	return weir.Fault(weir.Internal, "internal", "A transaction was used after its end.")
}
