package store

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"weir"
)

// postgres is a database server that any number of nodes share. Updates run at
// READ COMMITTED: what must not change is locked, in the order of locks.go.
type postgres struct {
	reading
	db *sql.DB
	d  *dialect
}

const (
	maxConnections = 16
	connectTimeout = 10 * time.Second
	// journalLock is the advisory lock of those who append to the journal: any
	// number that nobody else takes in Weir's database.
	journalLock = 0x77656972_6a6f75
)

func openPostgres(ctx context.Context, url string) (_ *postgres, err error) {
	p, err := connectPostgres(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	// Nodes that start together take turns; the others find nothing to do.
	turns, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, fault(err)
	}
	return p, migrate(ctx, p.db, goose.DialectPostgres, "postgres", goose.WithSessionLocker(turns))
}

func lookPostgres(ctx context.Context, url string) (_ *postgres, err error) {
	p, err := connectPostgres(ctx, url, map[string]string{"default_transaction_read_only": "on"})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	return p, checkSchema(ctx, p.db, goose.DialectPostgres, "postgres")
}

func connectPostgres(ctx context.Context, url string, settings map[string]string) (*postgres, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		f := weir.Fault(weir.Invalid, "database_url_invalid", "The PostgreSQL address is not valid; it looks like postgres://user:password@host:5432/database.")
		f.Err = err
		return nil, f
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	set := func(name, value string) {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = value
		}
	}
	set("application_name", "weir")
	set("synchronous_commit", "on") // an answered Update is durable
	for name, value := range settings {
		set(name, value)
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	var encoding string
	if err := db.QueryRowContext(ctx, `SHOW server_encoding`).Scan(&encoding); err != nil {
		db.Close()
		return nil, noConnection(ctx, config, err)
	}
	if encoding != "UTF8" {
		db.Close()
		return nil, weir.Fault(weir.Unavailable, "database_encoding", "The database's encoding is %s; make one with encoding UTF8.", encoding)
	}
	p := &postgres{db: db, d: postgresDialect()}
	p.reading = reading{p.ask}
	return p, nil
}

// noConnection says why there is none, in words for whoever wrote the address.
// That holds a password and is not repeated.
func noConnection(ctx context.Context, config *pgx.ConnConfig, err error) error {
	var pg *pgconn.PgError
	var unconnected *pgconn.ConnectError
	if ctx.Err() != nil || !errors.As(err, &unconnected) {
		return fault(err)
	}
	at := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	var f *weir.Error
	switch errors.As(err, &pg); {
	case pg != nil && strings.HasPrefix(pg.Code, "28"):
		f = weir.Fault(weir.Unavailable, "store_refused",
			"The PostgreSQL server at %s does not let “%s” in; check the user and the password in the address.", at, config.User)
	case pg != nil && pg.Code == "3D000":
		f = weir.Fault(weir.Unavailable, "store_refused",
			"The PostgreSQL server at %s has no database “%s”; make it, or correct the address.", at, config.Database)
	case pg != nil:
		return fault(err)
	default:
		f = weir.Fault(weir.Unavailable, "store_unavailable",
			"The PostgreSQL server at %s cannot be reached; check the address, and that the server is running.", at)
	}
	f.Err = err
	return f
}

// ask answers one question without a transaction around it.
func (p *postgres) ask(ctx context.Context, fn func(Reader) error) error {
	return fn(&reader{q: pgQuerier{p.db, p.d}, d: p.d})
}

func (p *postgres) View(ctx context.Context, fn func(Reader) error) error {
	t, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fault(err)
	}
	defer t.Rollback()
	return fn(&reader{q: pgQuerier{t, p.d}, d: p.d})
}

// maxTries bounds how often an Update is run that meets others head on.
const maxTries = 10

func (p *postgres) Update(ctx context.Context, fn func(Tx) error) error {
	for try := 1; ; try++ {
		err := p.once(ctx, fn)
		if err == nil || !retryable(err) || try == maxTries {
			return err
		}
		pause := time.NewTimer(rand.N(time.Duration(try) * 10 * time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

func (p *postgres) once(ctx context.Context, fn func(Tx) error) error {
	t, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fault(err)
	}
	defer t.Rollback()
	if err := fn(newTx(pgQuerier{t, p.d}, p.d)); err != nil {
		return err
	}
	err = t.Commit()
	if errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, sql.ErrTxDone) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// fn went on after an error of the database.
		return &weir.Error{Kind: weir.Internal, Code: "internal", Op: "store", Err: err}
	}
	return fault(err)
}

// Answer also forgets what it finds to be too old to give.
func (p *postgres) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	a, err := p.reading.Answer(ctx, owner, route, key)
	forgetStale(ctx, err, p.Update)
	return a, err
}

func (p *postgres) Close() error { return fault(p.db.Close()) }

// pgQuerier runs statements in a transaction or on the pool; pgx keeps them
// prepared by connection.
type pgQuerier struct {
	x interface {
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	}
	d *dialect
}

func (q pgQuerier) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := q.x.QueryContext(ctx, q.d.spell(text), args...)
	return rows, fault(err)
}

func (q pgQuerier) exec(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := q.x.ExecContext(ctx, q.d.spell(text), args...)
	if err != nil {
		return 0, fault(err)
	}
	return res.RowsAffected()
}

func postgresDialect() *dialect {
	return &dialect{
		numbered: true,
		words: strings.NewReplacer(
			"{list}", `jsonb_array_elements_text(CAST(? AS JSONB)) AS j (value)`,
			"{ids}", `(SELECT j.value FROM jsonb_array_elements_text(CAST(? AS JSONB)) AS j (value))`,
			"{marks}", ``,
			"{pending}", ``,
			"{waiting}", ``,
			"{refused}", ``,
			"{walls}", `CASE WHEN c.lineage = '' THEN '' ELSE COALESCE((
				SELECT CAST(json_agg(a.ancestor) AS TEXT) FROM ancestry a JOIN conversations p ON p.id = a.ancestor
				WHERE a.descendant = c.id AND p.level = 'isolated'), '') END`,
			"{named}", `position(convert_to(CAST(? AS TEXT), 'UTF8') IN body) > 0`,
			"{has}", `strpos`,
			"{now}", `COALESCE(CAST(? AS BIGINT), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT))`,
			"{shared}", `FOR SHARE`,
			// Stops FOR SHARE as FOR UPDATE would, but not the foreign keys of
			// rows that are being added.
			"{change}", `FOR NO KEY UPDATE`,
		),
		now: func() any { return nil },
		turn: func(ctx context.Context, q querier) error {
			_, err := q.exec(ctx, `SELECT pg_advisory_xact_lock(?)`, journalLock)
			return err
		},
		holding: func(owner string, pieces []string, limit int) (string, []any) {
			return `SELECT conversation FROM grams WHERE grams @> CAST(? AS INTEGER[]) LIMIT ?`, []any{digests(owner, pieces), limit}
		},
		index: func(ctx context.Context, q querier, e entry, fresh bool) error {
			_, err := q.exec(ctx, `INSERT INTO grams (conversation, grams) VALUES (?, ?)
				ON CONFLICT (conversation) DO UPDATE SET grams = EXCLUDED.grams`, e.id, digests(e.owner, e.pieces))
			return err
		},
	}
}

// digests shortens pieces, and the owner, who is one more of them; two that
// share a digest only cost a look.
func digests(owner string, pieces []string) []int32 {
	all := make([]int32, 0, len(pieces)+1)
	for _, p := range append([]string{"owner " + owner}, pieces...) {
		h := fnv.New32a()
		h.Write([]byte(p))
		all = append(all, int32(h.Sum32()))
	}
	return all
}
