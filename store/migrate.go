package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"

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
	have, want, err := versions(ctx, p)
	if err == nil && have > want {
		err = badSchema(have, want)
	}
	return fault(err)
}

// checkSchema refuses a database whose tables are not those of this program.
func checkSchema(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string) error {
	p, err := provider(db, dialect, folder)
	if err != nil {
		return err
	}
	have, want, err := versions(ctx, p)
	if err == nil && have != want {
		err = badSchema(have, want)
	}
	return fault(err)
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

func versions(ctx context.Context, p *goose.Provider) (have, want int64, err error) {
	for _, s := range p.ListSources() {
		want = max(want, s.Version)
	}
	have, err = p.GetDBVersion(ctx)
	return have, want, err
}
