package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// entry is a tracked file as the index has it.
type entry struct {
	name    string
	mtime   time.Time
	size    uint32
	mode    uint32
	hash    string // in hex
	stage   int    // not 0: in conflict
	unseen  bool   // not to be looked at in the working tree
	planned bool   // to be added, without content yet
}

// index is the part of an index file that tells whether something differs.
type index struct {
	entries []entry
	tree    string // of all of it, when the index knows; in hex
}

const (
	maxIndex   = 16 << 20
	maxEntries = 20_000
)

var errIndex = errors.New("git: a malformed index")

// parseIndex reads an index file of version 2, 3 or 4, without its checksum:
// git replaces it as a whole.
func parseIndex(raw []byte) (*index, error) {
	if len(raw) < 12+20 || string(raw[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("git: an index of version %d", version)
	}
	if count > maxEntries {
		return nil, fmt.Errorf("git: %d tracked files are too many to look at", count)
	}
	p := &parser{raw: raw[:len(raw)-20], at: 12, version: version}
	ix := &index{entries: make([]entry, 0, count)}
	for range count {
		e, err := p.entry()
		if err != nil {
			return nil, err
		}
		ix.entries = append(ix.entries, e)
	}
	return ix, p.extensions(ix)
}

type parser struct {
	raw     []byte
	at      int
	version uint32
	name    []byte // of the entry before
}

const (
	fixedEntry = 62 // bytes before a name
	flagSmall  = 0x0fff
	flagMore   = 0x4000
	flagValid  = 0x8000
	moreSkip   = 0x4000
	morePlan   = 0x2000
)

func (p *parser) entry() (entry, error) {
	begin := p.at
	if p.at+fixedEntry > len(p.raw) {
		return entry{}, errIndex
	}
	b := p.raw[p.at:]
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	flags := binary.BigEndian.Uint16(b[60:])
	e := entry{
		mtime: time.Unix(int64(word(8)), int64(word(12))), mode: word(24), size: word(36),
		hash: hex.EncodeToString(b[40:60]), stage: int(flags >> 12 & 3), unseen: flags&flagValid != 0,
	}
	p.at += fixedEntry
	if flags&flagMore != 0 && p.version >= 3 {
		if p.at+2 > len(p.raw) {
			return entry{}, errIndex
		}
		more := binary.BigEndian.Uint16(p.raw[p.at:])
		e.unseen = e.unseen || more&moreSkip != 0
		e.planned = more&morePlan != 0
		p.at += 2
	}
	err := p.readName(begin)
	e.name = string(p.name)
	return e, err
}

// readName reads a name up to its NUL. In version 4 it is spelled as what
// differs from the one before, in the others padded to eight bytes.
func (p *parser) readName(begin int) error {
	keep := 0
	if p.version == 4 {
		drop, n := offset(p.raw[p.at:])
		if n == 0 || drop > len(p.name) {
			return errIndex
		}
		p.at += n
		keep = len(p.name) - drop
	}
	n := bytes.IndexByte(p.raw[p.at:], 0)
	if n < 0 || keep+n == 0 {
		return errIndex
	}
	p.name = append(p.name[:keep], p.raw[p.at:p.at+n]...)
	p.at += n + 1
	if p.version < 4 {
		p.at = begin + (p.at-1-begin+8)/8*8
	}
	return nil
}

// offset reads the variable-length integer that packs and indexes use for
// distances; n is 0 when it is cut off.
func offset(b []byte) (value, n int) {
	for n < len(b) && n < 8 {
		c := b[n]
		n++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// extensions looks for the tree of the whole index. An extension in lower case
// changes what the index means; those are not known here.
func (p *parser) extensions(ix *index) error {
	for p.at+8 <= len(p.raw) {
		name, size := p.raw[p.at:p.at+4], int64(binary.BigEndian.Uint32(p.raw[p.at+4:]))
		p.at += 8
		if size > int64(len(p.raw)-p.at) {
			return errIndex
		}
		if name[0] < 'A' || name[0] > 'Z' {
			return fmt.Errorf("git: an index with the extension %q", name)
		}
		if string(name) == "TREE" {
			ix.tree = rootTree(p.raw[p.at : p.at+int(size)])
		}
		p.at += int(size)
	}
	return nil
}

// rootTree reads the first entry of a cached tree: "\x00<entries> <subtrees>\n<hash>".
func rootTree(b []byte) string {
	if len(b) == 0 || b[0] != 0 {
		return ""
	}
	head, rest, ok := bytes.Cut(b[1:], []byte("\n"))
	count, _, _ := bytes.Cut(head, []byte(" "))
	if n, err := strconv.Atoi(string(count)); !ok || err != nil || n < 0 || len(rest) < 20 {
		return "" // out of date
	}
	return hex.EncodeToString(rest[:20])
}
