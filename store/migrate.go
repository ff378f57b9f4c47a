package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the tables up to date, and refuses a database that a newer
// program made.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string, more ...goose.ProviderOption) error {
	p, err := provider(db, dialect, folder, more...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		err = partial.Err
	}
	if err != nil {
		return fault(err)
	}
	have, err := p.GetDBVersion(ctx)
	if want := newest(p); err == nil && have > want {
		err = badSchema(have, want)
	}
	return fault(err)
}

// checkSchema refuses a database whose tables are not those of this program.
// It only reads.
func checkSchema(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string) error {
	p, err := provider(db, dialect, folder)
	if err != nil {
		return err
	}
	var have int64
	err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`).Scan(&have)
	if err != nil && !missing(err) {
		return fault(err)
	}
	if want := newest(p); have != want {
		return badSchema(have, want)
	}
	return nil
}

func provider(db *sql.DB, dialect goose.Dialect, folder string, more ...goose.ProviderOption) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return nil, fault(err)
	}
	p, err := goose.NewProvider(dialect, db, files, append(more,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))...)
	return p, fault(err)
}

func newest(p *goose.Provider) (version int64) {
	for _, s := range p.ListSources() {
		version = max(version, s.Version)
	}
	return version
}

// missing reports whether an error says that there are no tables at all.
func missing(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "42P01"
	}
	return err != nil && strings.Contains(err.Error(), "no such table")
}
