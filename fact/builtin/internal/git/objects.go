package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"weir/fact/builtin/internal/files"
)

const (
	maxObject = 8 << 20
	maxChain  = 64 // of deltas
	maxPacks  = 256
)

var errObject = errors.New("git: a malformed object")

// objects reads commits and trees. A pack's index is searched in place, never
// loaded: it may be larger than all else.
type objects struct {
	dir   string
	packs []*pack // opened when first needed
	open  bool
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.idx.Close()
		p.data.Close()
	}
}

// get returns an object's content; hash is in hex.
func (o *objects) get(hash, kind string) ([]byte, error) {
	raw, err := o.loose(hash, kind)
	if !files.Missing(err) {
		return raw, err
	}
	name, err := hex.DecodeString(hash)
	if err != nil || len(name) != 20 {
		return nil, errObject
	}
	if err := o.openPacks(); err != nil {
		return nil, err
	}
	for _, p := range o.packs {
		at, err := p.find(name)
		if err != nil {
			return nil, err
		}
		if at > 0 {
			return p.object(o, at, kind, 0)
		}
	}
	return nil, fmt.Errorf("git: object %s is not here", hash)
}

func (o *objects) loose(hash, kind string) ([]byte, error) {
	if !isHash(hash) {
		return nil, errObject
	}
	packed, err := read(filepath.Join(o.dir, hash[:2], hash[2:]), maxObject)
	if err != nil {
		return nil, err
	}
	raw, err := inflate(bytes.NewReader(packed), maxObject)
	if err != nil {
		return nil, err
	}
	head, body, ok := bytes.Cut(raw, []byte{0})
	if is, _, _ := strings.Cut(string(head), " "); !ok || is != kind {
		return nil, errObject
	}
	return body, nil
}

func inflate(r io.Reader, most int64) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(raw)) > most {
		err = errors.New("git: an object over 8 MiB")
	}
	return raw, err
}

func (o *objects) openPacks() error {
	if o.open {
		return nil
	}
	o.open = true
	names, err := filepath.Glob(filepath.Join(escape(o.dir), "pack", "pack-*.idx"))
	if err != nil {
		return err
	}
	if len(names) > maxPacks {
		return fmt.Errorf("git: %d packs are too many to look at", len(names))
	}
	for _, name := range names {
		p, err := openPack(strings.TrimSuffix(name, ".idx"))
		if files.Missing(err) {
			continue // being replaced
		}
		if err != nil {
			return err
		}
		o.packs = append(o.packs, p)
	}
	return nil
}

// escape makes a path match nothing but itself as a pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

type pack struct {
	idx, data *os.File
	fan       [256]uint32
}

func openPack(base string) (p *pack, err error) {
	p = &pack{}
	if p.idx, err = os.Open(base + ".idx"); err != nil {
		return nil, err
	}
	if p.data, err = os.Open(base + ".pack"); err != nil {
		p.idx.Close()
		return nil, err
	}
	head := make([]byte, 8+256*4)
	if _, err = p.idx.ReadAt(head, 0); err == nil && string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		err = errors.New("git: a pack index of an unknown version")
	}
	if err != nil {
		p.idx.Close()
		p.data.Close()
		return nil, err
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
	}
	return p, nil
}

// find returns where an object begins in the pack, 0 when it is not in it.
func (p *pack) find(name []byte) (int64, error) {
	low := uint32(0)
	if name[0] > 0 {
		low = p.fan[name[0]-1]
	}
	high, total := p.fan[name[0]], int64(p.fan[255])
	if high < low || int64(high) > total {
		return 0, errObject
	}
	const names = 8 + 256*4
	var failed error
	buf := make([]byte, 20)
	n := sort.Search(int(high-low), func(i int) bool {
		if _, err := p.idx.ReadAt(buf, names+20*(int64(low)+int64(i))); err != nil {
			failed = err
			return true
		}
		return bytes.Compare(buf, name) >= 0
	})
	if failed != nil || n == int(high-low) {
		return 0, failed
	}
	row := int64(low) + int64(n)
	if _, err := p.idx.ReadAt(buf, names+20*row); err != nil || !bytes.Equal(buf, name) {
		return 0, err
	}
	offsets := names + total*24
	if _, err := p.idx.ReadAt(buf[:4], offsets+4*row); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(buf)
	if at>>31 == 0 {
		return int64(at), nil
	}
	if _, err := p.idx.ReadAt(buf[:8], offsets+4*total+8*int64(at&^(1<<31))); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(buf) &^ (1 << 63)), nil
}

// object reads the object that begins at an offset.
func (p *pack) object(o *objects, at int64, kind string, depth int) ([]byte, error) {
	if depth > maxChain {
		return nil, errObject
	}
	head := make([]byte, 64)
	n, err := p.data.ReadAt(head, at)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	i := 0
	for i < len(head) && head[i]&0x80 != 0 {
		i++
	}
	if i++; i >= len(head) {
		return nil, errObject
	}
	var base []byte
	switch head[0] >> 4 & 7 {
	case 1, 2, 3, 4:
		if kind != [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}[head[0]>>4&7] {
			return nil, errObject
		}
		return p.inflate(at + int64(i))
	case 6:
		back, n := offset(head[i:])
		if n == 0 || int64(back) >= at || back <= 0 {
			return nil, errObject
		}
		i += n
		base, err = p.object(o, at-int64(back), kind, depth+1)
	case 7:
		if i+20 > len(head) {
			return nil, errObject
		}
		var from int64
		if from, err = p.find(head[i : i+20]); err == nil && from == 0 {
			err = errObject
		}
		i += 20
		if err == nil {
			base, err = p.object(o, from, kind, depth+1)
		}
	default:
		err = errObject
	}
	if err != nil {
		return nil, err
	}
	delta, err := p.inflate(at + int64(i))
	if err != nil {
		return nil, err
	}
	return apply(base, delta)
}

func (p *pack) inflate(at int64) ([]byte, error) {
	return inflate(io.NewSectionReader(p.data, at, 1<<62-at), maxObject)
}

// apply makes an object of another and a delta.
func apply(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errObject
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, errObject
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errObject
			}
			out = append(out, delta[:op]...)
			delta = delta[op:]
			continue
		}
		var at, length uint32
		for bit := range 7 {
			if op>>bit&1 == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errObject
			}
			if bit < 4 {
				at |= uint32(delta[0]) << (8 * bit)
			} else {
				length |= uint32(delta[0]) << (8 * (bit - 4))
			}
			delta = delta[1:]
		}
		if length == 0 {
			length = 0x10000
		}
		if uint64(at)+uint64(length) > uint64(len(base)) || uint64(len(out))+uint64(length) > size {
			return nil, errObject
		}
		out = append(out, base[at:at+length]...)
	}
	if uint64(len(out)) != size {
		return nil, errObject
	}
	return out, nil
}
