package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads lines of any length up to a limit.
type lines struct {
	r      *bufio.Reader
	limit  int
	number int
	buf    []byte
}

// line is one line without its end. The bytes are good until the next is read.
type line struct {
	number int
	bytes  []byte
	long   bool // over the limit; bytes is empty
	torn   bool // the last one, without an end
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line, or io.EOF after the last.
func (l *lines) next() (line, error) {
	l.buf = l.buf[:0]
	l.number++
	read := false
	for {
		piece, err := l.r.ReadSlice('\n')
		read = read || len(piece) > 0
		if len(l.buf) <= l.limit {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case err == nil:
			return l.trim(false), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && read:
			return l.trim(true), nil
		default:
			return line{}, err
		}
	}
}

func (l *lines) trim(torn bool) line {
	n := line{number: l.number, torn: torn}
	b := bytes.TrimRight(l.buf, "\r\n")
	if l.number == 1 {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	if n.long = len(b) > l.limit; !n.long {
		n.bytes = b
	}
	if cap(l.buf) > 1<<20 && len(l.buf) < 1<<16 {
		l.buf = nil // one long line need not be kept for all that follow
	}
	return n
}
