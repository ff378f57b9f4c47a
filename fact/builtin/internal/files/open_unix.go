//go:build unix

package files

import (
	"errors"
	"io/fs"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// Missing reports whether err says that there is nothing at a path.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
