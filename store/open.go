package store

import (
	"context"
	"time"

	"weir"
)

// Options are for tests and unusual homes; the zero value is right elsewhere.
type Options struct {
	// Now gives SQLite's time of leases and remembered answers; [time.Now]
	// when nil. PostgreSQL always uses its own clock.
	Now func() time.Time
	// Alone makes SQLite commit each Update by itself, to measure what
	// committing many at once gains.
	Alone bool
	// Meter, when there is one, adds up what SQLite reads and writes.
	Meter *Meter
}

// ReadOnly is a database that is looked at beside a running server.
type ReadOnly interface {
	Reader
	// View runs fn in one transaction that sees one state of the database.
	View(ctx context.Context, fn func(Reader) error) error
	Close() error
}

// Open opens the database at a URL, makes it if it is not there, and brings
// its tables up to date. "postgres://…" is a PostgreSQL server; "sqlite:DIR"
// or a plain path is a directory with an SQLite database, which is locked
// against other processes until Close (code "data_dir_in_use"). Any other URL
// is refused (code "store_url_invalid").
func Open(ctx context.Context, url string) (Store, error) {
	return OpenWith(ctx, url, Options{})
}

// OpenWith is [Open] with options.
func OpenWith(ctx context.Context, url string, o Options) (Store, error) {
	at, err := parseAddress(url)
	switch {
	case err != nil:
		return nil, err
	case at.postgres != "":
		return either[Store](openPostgres(ctx, at.postgres))
	}
	return either[Store](openSQLite(ctx, at.dir, o))
}

// OpenReadOnly opens an existing database for looking only: it migrates
// nothing and writes nothing, and works beside a running server.
//
// SQLite in a directory that may not be written, such as a backup, is read as
// immutable if no server holds the directory's lock. That lock is then shared
// until Close, so that no server begins to change what is taken to stand
// still; otherwise looking takes no lock. A journal that a killed server left
// cannot be ignored: where SQLite cannot read it without writing, the database
// is refused (code "data_dir_unusable").
func OpenReadOnly(ctx context.Context, url string) (ReadOnly, error) {
	at, err := parseAddress(url)
	switch {
	case err != nil:
		return nil, err
	case at.postgres != "":
		return either[ReadOnly](lookPostgres(ctx, at.postgres))
	}
	return either[ReadOnly](lookSQLite(ctx, at.dir))
}

// either gives a database or an error, never both.
func either[I any, S any](s S, err error) (I, error) {
	var none I
	if err != nil {
		return none, err
	}
	return any(s).(I), nil
}

func badSchema(have, want int64) error {
	if have > want {
		return weir.Fault(weir.Unavailable, "database_newer", "The database was made by a newer Weir (its tables are version %d, this program knows %d); run that version.", have, want)
	}
	return weir.Fault(weir.Unavailable, "database_older", "The database was made by an older Weir (its tables are version %d, this program wants %d); start the server once to bring it up to date.", have, want)
}
