//go:build !unix

package files

import (
	"errors"
	"io/fs"
)

const nonBlocking = 0

// Missing reports whether err says that there is nothing at a path.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
