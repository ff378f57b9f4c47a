package modelview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// sums are two resumable digests over top + closed: of the plain bytes, and of
// the bytes as they go over the wire, with the head's cache mark. The second
// stops before the newest section's mark, because that one moves.
type sums struct {
	plain, wire     hash.Hash
	plainAt, wireAt int // how much of closed is in
}

func (u *sums) clone() (sums, error) {
	c := *u
	if u.plain == nil {
		return c, nil
	}
	var err error
	if c.plain, err = cloneHash(u.plain); err != nil {
		return c, err
	}
	c.wire, err = cloneHash(u.wire)
	return c, err
}

func cloneHash(h hash.Hash) (hash.Hash, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, fmt.Errorf("modelview: %T cannot be cloned", h)
	}
	return c.Clone()
}

// sum takes in what has been closed since.
func (s *state) sum() {
	if s.top == nil {
		return
	}
	u, mark := &s.sums, s.dialect.Mark()
	if u.plain == nil {
		u.plain, u.wire = sha256.New(), sha256.New()
		u.plain.Write(s.top)
		if s.topMark >= 0 {
			u.wire.Write(s.top[:s.topMark])
			u.wire.Write([]byte(mark))
			u.wire.Write(s.top[s.topMark:])
		} else {
			u.wire.Write(s.top)
		}
	}
	u.plain.Write(s.closed[u.plainAt:])
	u.plainAt = len(s.closed)
	stable := len(s.closed)
	if mark != "" {
		stable = max(s.lastMark, 0)
	}
	u.wire.Write(s.closed[u.wireAt:stable])
	u.wireAt = stable
}

// digestWith is the digest of a resumable hash with more bytes behind it.
func digestWith(h hash.Hash, more []byte) (string, error) {
	c, err := cloneHash(h)
	if err != nil {
		return "", err
	}
	c.Write(more)
	return hex.EncodeToString(c.Sum(nil)), nil
}
