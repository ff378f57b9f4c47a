package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"weir"
)

// sessionID returns the session that an entry belongs to: its own, else that
// of the line before, else what stands in for one; "" for none.
func (r *run) sessionID(e *entry) string {
	id := string(e.Session)
	if id == "" {
		id = r.current
	}
	if id == "" {
		id = r.standIn(e)
	}
	switch {
	case id == "":
		r.unplaced = true
	case !validID(id):
		r.bad = true
		return ""
	}
	return id
}

// standIn names the session of a transcript that does not: as its file, if
// that is called after a session, else by the first entry that has an id. Both
// stay when the file grows, and no two transcripts share them. Other names of
// files are shared, so they would make one conversation of several.
func (r *run) standIn(e *entry) string {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(r.source.Name)), ".jsonl")
	uuid := string(e.UUID)
	switch {
	case isUUID(name):
		return name
	case uuid == "":
		return ""
	case isUUID(uuid):
		return "from-" + uuid
	}
	// An id such as "1" is only this transcript's own: what was said makes it unique.
	sum := sha256.Sum256([]byte(uuid + "\n" + string(e.Time) + "\n" + string(e.Message)))
	return "from-" + hex.EncodeToString(sum[:16])
}

// isUUID reports whether s is a UUID as it is written in most places (RFC 9562).
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c, dash := s[i], i == 8 || i == 13 || i == 18 || i == 23
		hexadecimal := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if dash != (c == '-') || !dash && !hexadecimal {
			return false
		}
	}
	return true
}

// validID reports whether an id from a transcript may be one of ours.
func validID(id string) bool {
	if len(id) > 128 || !weir.AddressableID(id) {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
