package modelview

import (
	"crypto/sha256"
	"encoding/hex"
)

// marks are the places for cache marks in the unmarked bytes: the end of the
// head, of the section before, of the newest section, and one to spare. Each
// but the last is where a request before this one was marked, so that all of
// that one is read from the cache, however many blocks have come since.
func (s *state) marks(open int, back int64) []int64 {
	if s.dialect.Mark() == "" {
		return nil
	}
	marks := make([]int64, 0, 4)
	if s.topMark >= 0 {
		marks = append(marks, int64(s.topMark))
	}
	if back >= 0 {
		marks = append(marks, back)
	}
	if s.lastMark >= 0 {
		marks = append(marks, int64(len(s.top)+s.lastMark))
	}
	end := len(s.top) + len(s.closed)
	if d, ok := s.dialect.(sparing); ok && back < 0 {
		if at := d.Spare(s.open.results, s.open.said, s.open.told); at >= 0 {
			marks = append(marks, int64(end+len(s.comma())+at))
		}
	}
	return append(marks, int64(end+open))
}

// back is where the newest request of this lowering had its last mark, when
// the conversation comes back from another model and nothing before that place
// has moved; -1 otherwise.
func (s *state) back() int64 {
	c := s.covering
	if c == nil || s.previous == nil || s.previous.step.Lowering == s.key || len(c.Marks) == 0 {
		return -1
	}
	n, at := int(c.Ledger.PrefixBytes)-len(s.top), c.Marks[len(c.Marks)-1]
	if n < 0 || n > len(s.closed) || at <= int64(s.topMark) || at >= int64(len(s.top)+s.lastMark) {
		return -1
	}
	h := sha256.New()
	h.Write(s.top)
	h.Write(s.closed[:n])
	if hex.EncodeToString(h.Sum(nil)) != c.Ledger.PrefixSHA256 {
		return -1
	}
	return at
}
