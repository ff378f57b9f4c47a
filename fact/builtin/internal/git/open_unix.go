//go:build unix

package git

import (
	"errors"
	"syscall"
)

// nonBlocking makes opening a pipe return instead of waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
