package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"weir"
)

// The files of a data directory.
const (
	databaseFile = "weir.db"
	lockFile     = "weir.lock"
)

// A process that was just killed holds its lock until the system has cleared it
// away, which takes a moment; only whoever holds it for longer is running.
const (
	lockPatience = time.Second
	lockPause    = 20 * time.Millisecond
)

// lockDir makes the directory if need be and locks it against other processes
// until the file is closed.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	if err := notAFile(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unusable(dir, err)
	}
	ok, err := patientLock(ctx, f)
	if err != nil {
		f.Close()
		return nil, unusable(dir, err)
	}
	if !ok {
		owner := readOwner(f)
		f.Close()
		return nil, weir.Fault(weir.Unavailable, "data_dir_in_use",
			"The data directory %s is in use by another running Weir%s; stop it, or give this one a directory of its own.", dir, owner)
	}
	// Only for the words above; the lock is what counts.
	if f.Truncate(0) == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return f, nil
}

// patientLock locks f, if need be after a moment.
func patientLock(ctx context.Context, f *os.File) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	again := time.NewTicker(lockPause)
	defer again.Stop()
	for {
		ok, err := tryLock(f, false)
		if ok || err != nil {
			return ok, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false, nil
		}
	}
}

func readOwner(f *os.File) string {
	raw, err := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(raw)); err == nil && pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}

// ownFiles makes the database's file, so that SQLite does not make it for all
// to read, and takes from existing files what others may do with them: in them
// is what people wrote, and the gate's key. The journals get the permissions
// of the database. Where permissions cannot be changed (a file system without
// them, files of another user) they stay as whoever set that up wanted them.
func ownFiles(dir string) error {
	file := filepath.Join(dir, databaseFile)
	// Never one that is there: closing it would drop SQLite's locks on it.
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		f.Close()
	case !errors.Is(err, fs.ErrExist):
		return unusable(dir, err)
	}
	for _, name := range []string{file, file + "-wal", file + "-shm", filepath.Join(dir, lockFile)} {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(name, info.Mode().Perm()&0o700)
		}
		if !writable(name) { // SQLite would open it, and fail at the first write
			return unusable(dir, &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission})
		}
	}
	return nil
}

func unusable(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return full(dir, err)
	}
	f := weir.Fault(weir.Unavailable, "data_dir_unusable", "The data directory %s cannot be used; check that it exists, and that it and its files may be written.", dir)
	f.Err = err
	return f
}

func full(dir string, err error) error {
	f := weir.Fault(weir.Unavailable, "disk_full", "The disk that holds the data directory %s is full; make room and start again.", dir)
	f.Err = err
	return f
}

// opening says what an error of SQLite means while the database is opened.
func opening(dir string, err error) error {
	var lite *sqlite.Error
	switch {
	case weir.CodeOf(err) == "disk_full":
		return full(dir, err)
	case errors.As(err, &lite) && barred(lite):
		return unusable(dir, err)
	}
	return err
}

// barred reports whether SQLite was not let at a file.
func barred(err *sqlite.Error) bool {
	switch err.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

// syncDir makes the names of new files durable.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	d.Sync() // some file systems cannot, and need not
}
