package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"weir"
)

func lookSQLite(ctx context.Context, dir string) (_ *sqliteStore, err error) {
	if err := notAFile(dir); err != nil {
		return nil, err
	}
	file, err := filepath.Abs(filepath.Join(dir, databaseFile))
	if err == nil {
		_, err = os.Stat(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f := weir.Fault(weir.NotFound, "data_dir_empty", "There is no Weir database in %s; check the directory's name.", dir)
		f.Err = err
		return nil, f
	case err != nil:
		return nil, unreadable(dir, err)
	}
	s := &sqliteStore{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	how := beside
	if !writable(dir) {
		if lock, free := lockToLook(dir); free {
			s.lock, how = lock, frozen
		}
	}
	left := unfinished(file)
	if how == frozen && left {
		how = beside // a frozen database is read without its journal
	}
	if err := s.openReaders(file, sqliteDialect(nil), how); err != nil {
		return nil, err
	}
	err = checkSchema(ctx, s.readers.db, goose.DialectSQLite3, "sqlite")
	var lite *sqlite.Error
	switch {
	case !errors.As(err, &lite) || !barred(lite):
		return s, err
	case left && !writable(dir):
		return nil, unfinishedHere(dir, err)
	}
	return nil, unreadable(dir, err)
}

// lockToLook keeps servers away from a directory that is read as if nothing in
// it ever changed, and reports whether there is none now. No lock file, as in
// a backup, is no server.
func lockToLook(dir string) (lock *os.File, free bool) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	if ok, err := tryLock(f, true); err != nil || !ok {
		f.Close()
		return nil, false
	}
	return f, true
}

// unfinished reports whether a part of the data is still in a journal: the
// server was killed, or runs.
func unfinished(file string) bool {
	for _, journal := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(file + journal); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func unreadable(dir string, err error) error {
	f := weir.Fault(weir.Unavailable, "data_dir_unusable",
		"The database in %s cannot be opened for reading; check that you may read its files, or look at a copy of them in a directory that you may write.", dir)
	f.Err = err
	return f
}

func unfinishedHere(dir string, err error) error {
	f := weir.Fault(weir.Unavailable, "data_dir_unusable",
		"The database in %s was not closed by its server, and its newest changes can only be read where files may be written; copy all of its files to such a directory and look there.", dir)
	f.Err = err
	return f
}
