package mcp

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// What a server may send: one message, and messages over time. An answer as
// long as we keep may come at once; what comes after is held to a pace, so
// that a server that floods is cut off before memory runs out.
const (
	maxMessageBytes = 16 << 20
	burstBytes      = 2 * maxMessageBytes
	bytesPerSecond  = 4 << 20
	burstLines      = 5_000
	linesPerSecond  = 500
)

var (
	errFlood   = errors.New("mcp: the server sends faster than it may")
	errTooLong = errors.New("mcp: a message is too long")
)

// meter counts what one connection receives, over all its streams.
type meter struct {
	exceeded     func() // called when it is used up
	mu           sync.Mutex
	at           time.Time
	bytes, lines float64 // that may still come
	over         bool
}

func newMeter(exceeded func()) *meter {
	return &meter{exceeded: exceeded, at: time.Now(), bytes: burstBytes, lines: burstLines}
}

// take reports whether so much may come now. Once it may not, nothing may.
func (m *meter) take(n, lines int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	passed := now.Sub(m.at).Seconds()
	m.at = now
	m.bytes = min(m.bytes+passed*bytesPerSecond, burstBytes) - float64(n)
	m.lines = min(m.lines+passed*linesPerSecond, burstLines) - float64(lines)
	m.over = m.over || m.bytes < 0 || m.lines < 0
	return !m.over
}

func (m *meter) flooded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// metered is a stream that ends with an error when its meter is used up, or
// when it is longer than limit (0: any length).
type metered struct {
	io.ReadCloser
	meter   *meter
	byLines bool // each line is a message, or part of one
	limit   int
	read    int
}

func (r *metered) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.read += n
	lines := 0
	if r.byLines {
		lines = bytes.Count(p[:n], []byte{'\n'})
	}
	switch {
	case !r.meter.take(n, lines):
		r.meter.exceeded()
		return 0, errFlood
	case r.limit > 0 && r.read > r.limit:
		return 0, errTooLong
	}
	return n, err
}
