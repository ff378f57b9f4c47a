// Package files reads files that somebody else writes.
//
// Promises. Loss: a file is read whole or not at all. Every read is bounded in
// bytes, and never waits for what is no regular file. Nothing here keeps state.
package files

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Read reads a regular file of at most so many bytes, and when it was last
// written. Symbolic links are followed.
func Read(file string, most int64) ([]byte, time.Time, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0) // a pipe would wait for a writer
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, time.Time{}, fmt.Errorf("%s is not a regular file", file)
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is over %d bytes", file, most)
	}
	return raw, info.ModTime(), err
}
