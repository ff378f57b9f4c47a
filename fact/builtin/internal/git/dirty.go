package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // what git names objects by
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/fact/builtin/internal/files"
)

const (
	maxTrees  = 4096     // of a commit, to be compared with the index
	maxHashed = 32 << 20 // bytes of files whose times tell nothing
)

const (
	modeTree   = 0o40000
	modeLink   = 0o120000
	modeModule = 0o160000
)

// Dirty reports whether anything tracked differs from what is checked out, in
// the index or in the working tree, as git status --untracked-files=no does.
// Submodules are not looked into. A file whose content is filtered on checkout
// (line ends, LFS) and that was touched without being changed counts as
// different until git has refreshed its index. An error says that it cannot be
// told within the bounds.
func (r *Repo) Dirty(ctx context.Context) (bool, error) {
	config, err := read(filepath.Join(r.Common, "config"), 1<<20)
	if err != nil && !files.Missing(err) {
		return false, err
	}
	settings := strings.Join(strings.Fields(strings.ToLower(string(config))), "")
	if strings.Contains(settings, "objectformat=sha256") || strings.Contains(settings, "refstorage=reftable") {
		return false, errors.New("git: a repository in a format not known here")
	}
	file := filepath.Join(r.Dir, "index")
	ix := &index{}
	info, err := os.Stat(file)
	if err == nil {
		var raw []byte
		if raw, err = read(file, maxIndex); err == nil {
			ix, err = parseIndex(raw)
		}
	}
	if err != nil && !files.Missing(err) {
		return false, err
	}
	for _, e := range ix.entries {
		if e.stage != 0 || e.planned {
			return true, nil
		}
	}
	if staged, err := r.staged(ctx, ix); staged || err != nil {
		return staged, err
	}
	if info == nil {
		return false, nil
	}
	t := &tree{root: r.Root, written: info, modes: !strings.Contains(settings, "filemode=false")}
	return t.differs(ctx, ix)
}

// staged reports whether the index differs from the commit checked out.
func (r *Repo) staged(ctx context.Context, ix *index) (bool, error) {
	h, err := r.Head()
	if err != nil {
		return false, err
	}
	commit := h.Commit
	if commit == "" {
		if commit, err = r.commit(h.Branch); err != nil {
			return false, err
		}
	}
	if commit == "" { // no commit yet
		return len(ix.entries) > 0, nil
	}
	o := &objects{dir: filepath.Join(r.Common, "objects")}
	defer o.close()
	raw, err := o.get(commit, "commit")
	if err != nil {
		return false, err
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	root, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !isHash(root) {
		return false, errObject
	}
	if ix.tree != "" {
		return ix.tree != root, nil
	}
	c := &comparison{ctx: ctx, objects: o, rest: ix.entries}
	same, err := c.tree("", root)
	return !same || len(c.rest) > 0, err
}

// comparison walks a commit's files beside the index's; both are in the same order.
type comparison struct {
	ctx     context.Context
	objects *objects
	rest    []entry
	trees   int
}

func (c *comparison) tree(prefix, hash string) (same bool, err error) {
	if c.trees++; c.trees > maxTrees {
		return false, errors.New("git: too many folders to look at")
	}
	if err := ended(c.ctx); err != nil {
		return false, err
	}
	raw, err := c.objects.get(hash, "tree")
	if err != nil {
		return false, err
	}
	for len(raw) > 0 {
		head, rest, ok := bytes.Cut(raw, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return false, errObject
		}
		var m uint32
		if _, err := fmt.Sscanf(mode, "%o", &m); err != nil {
			return false, errObject
		}
		hash := hex.EncodeToString(rest[:20])
		raw = rest[20:]
		if m == modeTree {
			if same, err := c.tree(prefix+name+"/", hash); !same || err != nil {
				return same, err
			}
			continue
		}
		if len(c.rest) == 0 || c.rest[0].name != prefix+name || c.rest[0].hash != hash || c.rest[0].mode != m {
			return false, nil
		}
		c.rest = c.rest[1:]
	}
	return true, nil
}

// tree is a working tree beside its index.
type tree struct {
	root    string
	written fs.FileInfo // the index file
	modes   bool        // whether the executable bit counts
	hashed  int64
}

func (t *tree) differs(ctx context.Context, ix *index) (bool, error) {
	for i := range ix.entries {
		if i%64 == 0 {
			if err := ended(ctx); err != nil {
				return false, err
			}
		}
		e := &ix.entries[i]
		if e.unseen || e.mode == modeModule {
			continue
		}
		if d, err := t.file(e); d || err != nil {
			return d, err
		}
	}
	return false, nil
}

// file reports whether a tracked file differs. Its size and time tell, unless
// it was written at the same moment as the index or later.
func (t *tree) file(e *entry) (bool, error) {
	if !filepath.IsLocal(e.name) {
		return false, errIndex
	}
	path := filepath.Join(t.root, filepath.FromSlash(e.name))
	info, err := os.Lstat(path)
	if files.Missing(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link != (e.mode == modeLink) || !link && !info.Mode().IsRegular() {
		return true, nil
	}
	if t.modes && !link && info.Mode()&0o100 != 0 != (e.mode&0o100 != 0) {
		return true, nil
	}
	sized := uint32(info.Size()) == e.size
	if !sized && e.size != 0 { // git writes 0 where it wants the content compared
		return true, nil
	}
	if sized && info.ModTime().Equal(e.mtime) && e.mtime.Before(t.written.ModTime()) {
		return false, nil
	}
	return t.content(path, e, info, link)
}

func (t *tree) content(path string, e *entry, info fs.FileInfo, link bool) (bool, error) {
	if t.hashed += info.Size(); t.hashed > maxHashed {
		return false, errors.New("git: too many bytes to compare")
	}
	var raw []byte
	var err error
	if link {
		var to string
		to, err = os.Readlink(path)
		raw = []byte(to)
	} else {
		raw, err = read(path, maxHashed)
	}
	if files.Missing(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "blob %d\x00", len(raw))
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)) != e.hash, nil
}
