//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed or the process ends, however it ends.
// A shared lock only keeps out those that are not shared.
func tryLock(f *os.File, shared bool) (ok bool, err error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// writable reports whether a file, or files in a directory, can be written.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
