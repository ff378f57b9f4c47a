package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weir"
)

// The files of a data directory.
const (
	databaseFile = "weir.db"
	lockFile     = "weir.lock"
)

// lockDir makes the directory if need be and locks it against other processes
// until the file is closed.
func lockDir(dir string) (*os.File, error) {
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
	ok, err := tryLock(f)
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

func readOwner(f *os.File) string {
	raw, err := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(raw)); err == nil && pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}

func unusable(dir string, err error) error {
	f := weir.Fault(weir.Unavailable, "data_dir_unusable", "The data directory %s cannot be used; check that it exists and may be written.", dir)
	f.Err = err
	return f
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
