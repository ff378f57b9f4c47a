// Package files reads files that somebody else writes.
//
// Promises. Loss: a file is read whole or not at all. Every read is bounded in
// bytes, and never waits for what is no regular file. Nothing here keeps state.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// ErrTooLong says that a file has more bytes than it may.
var ErrTooLong = errors.New("files: too long")

// Read reads a regular file of at most so many bytes, and when it was last
// written. Symbolic links are followed.
func Read(file string, most int64) ([]byte, time.Time, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0) // a pipe would wait for a writer
	if err != nil {
		return nil, time.Time{}, err
	}
	return whole(f, most)
}

// ReadIn is Read for a file in a folder that a stranger may have filled:
// symbolic links that lead out of it are refused.
func ReadIn(folder, name string, most int64) ([]byte, time.Time, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	return whole(f, most)
}

func whole(f *os.File, most int64) ([]byte, time.Time, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, time.Time{}, fmt.Errorf("files: %s is not a regular file", f.Name())
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%w: %s", ErrTooLong, f.Name())
	}
	return raw, info.ModTime(), err
}
