package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"weir"
)

// sqliteStore is one database file with one writer and a pool of readers.
type sqliteStore struct {
	reading
	lock    *os.File // may be nil when only looking
	writing *sql.DB
	group   *group
	readers *readers
	once    sync.Once
	closed  error
}

func openSQLite(ctx context.Context, dir string, o Options) (_ *sqliteStore, err error) {
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(filepath.Join(dir, databaseFile))
	if err != nil {
		lock.Close()
		return nil, unusable(dir, err)
	}
	s := &sqliteStore{lock: lock}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := ownFiles(dir); err != nil {
		return nil, err
	}
	if s.writing, err = connect(file, writing); err != nil {
		return nil, err
	}
	s.writing.SetMaxOpenConns(1)
	if err := migrate(ctx, s.writing, goose.DialectSQLite3, "sqlite"); err != nil {
		return nil, opening(dir, err)
	}
	syncDir(dir)
	d := sqliteDialect(o.Now)
	d.meter = o.Meter
	conn, err := openConn(ctx, s.writing, d)
	if err != nil {
		return nil, opening(dir, err)
	}
	s.group = startGroup(conn, o.Alone)
	return s, s.openReaders(file, d, beside)
}

func (s *sqliteStore) openReaders(file string, d *dialect, how access) error {
	db, err := connect(file, how)
	if err != nil {
		return err
	}
	s.readers = newReaders(db, d)
	s.reading = reading{s.readers.view}
	return nil
}

// access is what a connection may do with the database.
type access int

const (
	writing access = iota
	beside         // read, while others may write
	frozen         // read what nobody changes, in a directory that may not be written
)

func connect(file string, how access) (*sql.DB, error) {
	q := url.Values{}
	for _, pragma := range []string{
		"busy_timeout(10000)", "foreign_keys(1)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)",
		"temp_store(MEMORY)",
	} {
		q.Add("_pragma", pragma)
	}
	switch how {
	case beside:
		q.Set("mode", "rw") // it must be there; reading a WAL needs its shared memory written
		q.Set("_query_only", "1")
		q.Add("_pragma", "cache_size(-2000)")
	case frozen:
		q.Set("mode", "ro")
		q.Set("immutable", "1") // no shared memory, no locks, no journal
		q.Add("_pragma", "cache_size(-2000)")
	case writing:
		q.Add("_pragma", "cache_size(-8000)")
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "journal_size_limit(67108864)")
		q.Add("_pragma", "secure_delete(1)") // what is deleted is overwritten
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, fault(err)
	}
	return sql.OpenDB(c), nil
}

func (s *sqliteStore) View(ctx context.Context, fn func(Reader) error) error {
	return s.readers.view(ctx, fn)
}

func (s *sqliteStore) Update(ctx context.Context, fn func(Tx) error) error {
	return s.group.update(ctx, fn)
}

// Answer also forgets what it finds to be too old to give.
func (s *sqliteStore) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	a, err := s.reading.Answer(ctx, owner, route, key)
	if s.group != nil {
		forgetStale(ctx, err, s.Update)
	}
	return a, err
}

// Close waits for the commit that is under way and for readers.
func (s *sqliteStore) Close() error {
	s.once.Do(func() {
		if s.readers != nil {
			s.closed = s.readers.close()
		}
		if s.group != nil {
			s.group.close()
			s.group.conn.close()
		}
		if s.writing != nil {
			if err := s.writing.Close(); err != nil {
				s.closed = err
			}
		}
		if s.lock != nil {
			s.lock.Close()
		}
	})
	return fault(s.closed)
}

func sqliteDialect(now func() time.Time) *dialect {
	if now == nil {
		now = time.Now
	}
	return &dialect{
		words: strings.NewReplacer(
			"{list}", `json_each(?) j`,
			"{ids}", `(SELECT j.value FROM json_each(?) j)`,
			// Without statistics, which are never gathered, the planner takes
			// partial indexes for no better than the primary key.
			"{marks}", `INDEXED BY records_marks`,
			"{pending}", `INDEXED BY inputs_pending`,
			"{waiting}", `INDEXED BY calls_waiting`,
			"{refused}", `INDEXED BY steps_refused`,
			"{walls}", `CASE WHEN c.lineage = '' THEN '' ELSE (
				SELECT json_group_array(a.ancestor) FROM ancestry a JOIN conversations p ON p.id = a.ancestor
				WHERE a.descendant = c.id AND p.level = 'isolated') END`,
			"{named}", `instr(body, CAST(? AS BLOB)) > 0`,
			"{has}", `instr`,
			"{now}", `CAST(? AS INTEGER)`,
			"{shared}", ``,
			"{change}", ``,
		),
		oneWriter: true,
		now:       func() any { return micros(now()) },
		run:       rand.Text(),
		turn:      func(context.Context, querier) error { return nil },
		index:     sqliteIndex,
		holding: func(owner string, pieces []string, limit int) (string, []any) {
			return `SELECT c.id FROM grams CROSS JOIN conversations c
				WHERE grams MATCH ? AND c.num = grams.rowid AND c.owner = ? LIMIT ?`, []any{phrase(pieces, `"`), owner, limit}
		},
	}
}

// phrase spells pieces as tokens that the index takes for what they are.
func phrase(pieces []string, quote string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(quote)
		for i := range len(p) {
			const digits = "0123456789abcdef"
			b.WriteByte(digits[p[i]>>4])
			b.WriteByte(digits[p[i]&15])
		}
		b.WriteString(quote)
		b.WriteByte(' ')
	}
	return b.String()
}

func sqliteIndex(ctx context.Context, q querier, e entry, fresh bool) error {
	if !fresh {
		if _, err := q.exec(ctx, `DELETE FROM grams WHERE rowid = (SELECT num FROM conversations WHERE id = ?)`, e.id); err != nil {
			return err
		}
	}
	_, err := q.exec(ctx, `INSERT INTO grams (rowid, pieces) SELECT num, ? FROM conversations WHERE id = ?`, phrase(e.pieces, ""), e.id)
	return err
}
