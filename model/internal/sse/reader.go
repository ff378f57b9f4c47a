// Package sse reads event streams as WHATWG HTML §9.2 defines them.
//
// Events come out in the order of the stream and each exactly once, however
// the bytes were cut on their way: an event is returned as soon as the line
// end that completes it has been read, also when that is a CR whose LF is
// still on its way. An event at the very end may lack its blank line, but not
// the end of its last line. Nothing is skipped: a line, an event or a stream over its
// limit ends the reading with an error. A Reader belongs to one goroutine.
package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// ErrTooLong is returned when a limit is passed.
var ErrTooLong = errors.New("sse: the stream is over its size limit")

// mark is a byte order mark, which may stand before everything.
const mark = "\xef\xbb\xbf"

// Limits are in bytes; a zero means the default.
type Limits struct {
	Line   int   // one line; 4 MiB
	Event  int   // the data of one event; 8 MiB
	Stream int64 // everything; 64 MiB
}

// Event is one event that carries data.
type Event struct {
	Name string // of the "event" field; empty when there was none
	Data []byte // lines joined by LF; valid until the next call of Next
}

// Reader reads events.
type Reader struct {
	src    io.Reader
	limits Limits

	buf        []byte // read and not yet taken: buf[start:end]
	start, end int
	scanned    int // how much of buf[start:end] is known to hold no line end
	total      int64
	afterCR    bool // the next byte, if LF, belongs to the line end before it
	begun      bool // past the place of a byte order mark
	err        error

	name    string
	data    []byte
	hasData bool
	done    bool
}

// NewReader returns a reader of the events in src.
func NewReader(src io.Reader, limits Limits) *Reader {
	if limits.Line == 0 {
		limits.Line = 4 << 20
	}
	if limits.Event == 0 {
		limits.Event = 8 << 20
	}
	if limits.Stream == 0 {
		limits.Stream = 64 << 20
	}
	return &Reader{src: src, limits: limits, buf: make([]byte, 16<<10)}
}

// Next returns the next event that has data, or [io.EOF] at the end of the
// stream, [ErrTooLong], or the error of the source.
func (r *Reader) Next() (Event, error) {
	r.name, r.data, r.hasData = "", r.data[:0], false
	for !r.done {
		line, err := r.line()
		switch {
		case err == nil && len(line) == 0:
			if r.hasData {
				return Event{Name: r.name, Data: r.data}, nil
			}
			r.name = ""
		case err == nil:
			if err := r.field(line); err != nil {
				return Event{}, r.fail(err)
			}
		case err == io.EOF && r.hasData:
			// The standard drops an event without its blank line. Some
			// servers end like this and mean it.
			r.done, r.err = true, io.EOF
			return Event{Name: r.name, Data: r.data}, nil
		default:
			return Event{}, r.fail(err)
		}
	}
	return Event{}, r.err
}

func (r *Reader) fail(err error) error {
	r.done, r.err = true, err
	return err
}

// field takes one line that is not blank into the event being read.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if len(r.data)+1+len(value) > r.limits.Event {
			return ErrTooLong
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data, r.hasData = append(r.data, value...), true
	case "event":
		r.name = string(value)
	}
	return nil // a comment (empty name), id, retry, or a field nobody defined
}

// line returns the next line without its end. At the end of the source an
// unfinished line is dropped: it is not known to be whole.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.afterCR && r.start < r.end {
			if r.buf[r.start] == '\n' {
				r.start++
			}
			r.afterCR = false
		}
		line, ok := r.take()
		if len(line) > r.limits.Line {
			return nil, ErrTooLong
		}
		if ok {
			return line, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// take cuts a line from the buffer if a whole one is there; else it returns
// what there is of one.
func (r *Reader) take() ([]byte, bool) {
	waiting := r.buf[r.start:r.end]
	if !r.begun {
		if len(waiting) < len(mark) && strings.HasPrefix(mark, string(waiting)) {
			return nil, false // perhaps a mark, perhaps not
		}
		r.begun = true
		waiting = bytes.TrimPrefix(waiting, []byte(mark))
		r.start = r.end - len(waiting)
	}
	i := bytes.IndexAny(waiting[r.scanned:], "\r\n")
	if i < 0 {
		r.scanned = len(waiting)
		return waiting, false
	}
	i += r.scanned
	r.afterCR = waiting[i] == '\r'
	r.start += i + 1
	r.scanned = 0
	return waiting[:i], true
}

// fill reads once more from the source.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	// One byte more than is allowed may be read, so that what is returned
	// before the limit does not depend on how the bytes were cut.
	room := min(int64(len(r.buf)-r.end), max(r.limits.Stream-r.total, 1))
	for range 100 {
		n, err := r.src.Read(r.buf[r.end : r.end+int(room)])
		r.end += n
		r.total += int64(n)
		r.err = err
		switch {
		case r.total > r.limits.Stream:
			return ErrTooLong
		case n > 0:
			return nil // the error, if any, comes when these bytes are used up
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}
