// Package git reads what a boundary has to know of a git repository straight
// from its files: the branch or commit that is checked out, and whether
// anything tracked differs from it. It runs no program and writes nothing.
//
// Promises. Every read is bounded in bytes and ends with its context; what is
// over a bound, or of a format not known here (SHA-256 objects, split and
// sparse indexes, reftables), is an error, never a guess. Files that git
// replaces by rename are read whole, so each answer was true at some moment;
// two answers may be of two moments. Concurrency: a Repo does not change once
// found.
package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"weir/fact/builtin/internal/files"
)

// Repo is a repository with a working tree.
type Repo struct {
	Root   string // of the working tree
	Dir    string // where its HEAD and index are
	Common string // where refs and objects are; of a linked working tree not Dir
}

// Head is what is checked out.
type Head struct {
	Branch string    // "" when detached
	Commit string    // in hex, when detached
	Rebase string    // the branch that is being rebased, which detaches HEAD meanwhile
	At     time.Time // when it was last set
}

const (
	maxSmall = 64 << 10 // of HEAD, refs, .git files
	maxUp    = 128      // folders between a workspace and its repository
)

// Find finds the repository that a folder lies in; nil when it lies in none.
// The folder is taken as it is, without symbolic links resolved.
func Find(folder string) (*Repo, error) {
	for range maxUp {
		r, err := at(folder)
		if r != nil || err != nil {
			return r, err
		}
		up := filepath.Dir(folder)
		if up == folder {
			break
		}
		folder = up
	}
	return nil, nil
}

// at looks for a repository whose working tree begins at root.
func at(root string) (*Repo, error) {
	dot := filepath.Join(root, ".git")
	info, err := os.Stat(dot)
	if files.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir := dot
	if !info.IsDir() {
		if dir, err = linked(dot, "gitdir: "); err != nil {
			return nil, err
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); files.Missing(err) {
		return nil, nil // a folder that is only called .git
	}
	common, err := linked(filepath.Join(dir, "commondir"), "")
	if files.Missing(err) {
		common, err = dir, nil
	}
	return &Repo{Root: root, Dir: dir, Common: common}, err
}

// linked reads a file that names a folder, relative to where the file is.
func linked(file, prefix string) (string, error) {
	raw, _, err := small(file)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimRight(raw, "\r\n"), prefix)
	if !ok || to == "" || strings.ContainsAny(to, "\n\x00") {
		return "", fmt.Errorf("git: %s names no folder", file)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return filepath.Clean(to), nil
}

// Head reads what is checked out.
func (r *Repo) Head() (Head, error) {
	file := filepath.Join(r.Dir, "HEAD")
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 { // as git once wrote it
		to, err := os.Readlink(file)
		return Head{Branch: branch(to), At: info.ModTime()}, err
	}
	raw, when, err := small(file)
	if err != nil {
		return Head{}, err
	}
	raw = strings.TrimRight(raw, "\r\n ")
	if to, ok := strings.CutPrefix(raw, "ref:"); ok {
		b := branch(strings.TrimSpace(to))
		if b == "" || b == ".invalid" || strings.ContainsAny(b, "\n\x00") {
			return Head{}, fmt.Errorf("git: %s names no branch", file)
		}
		return Head{Branch: b, At: when}, nil
	}
	if !isHash(raw) {
		return Head{}, fmt.Errorf("git: %s names nothing", file)
	}
	return Head{Commit: raw, Rebase: r.rebase(), At: when}, nil
}

func (r *Repo) rebase() string {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		if name, _, err := small(filepath.Join(r.Dir, dir, "head-name")); err == nil {
			if name = strings.TrimSpace(name); strings.HasPrefix(name, "refs/heads/") {
				return branch(name)
			}
		}
	}
	return ""
}

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// isHash reports whether s is the name of an object in hex, SHA-1 or SHA-256.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// commit finds the object a branch points to; "" when it has none yet.
func (r *Repo) commit(branch string) (string, error) {
	ref := "refs/heads/" + branch
	if strings.HasPrefix(branch, "refs/") {
		ref = branch
	}
	if path.Clean(ref) != ref || !filepath.IsLocal(ref) {
		return "", fmt.Errorf("git: %q is no reference", ref)
	}
	for _, dir := range []string{r.Dir, r.Common} {
		raw, _, err := small(filepath.Join(dir, filepath.FromSlash(ref)))
		if files.Missing(err) {
			continue
		}
		raw = strings.TrimSpace(raw)
		if err == nil && !isHash(raw) {
			err = fmt.Errorf("git: %s points to no object", ref)
		}
		return raw, err
	}
	packed, err := read(filepath.Join(r.Common, "packed-refs"), 16<<20)
	if files.Missing(err) {
		return "", nil
	}
	for line := range bytes.Lines(packed) {
		hash, name, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if ok && name == ref && isHash(hash) {
			return hash, nil
		}
	}
	return "", err
}

// small reads a short file and when it was last written.
func small(file string) (string, time.Time, error) {
	raw, when, err := files.Read(file, maxSmall)
	return string(raw), when, err
}

func read(file string, most int64) ([]byte, error) {
	raw, _, err := files.Read(file, most)
	return raw, err
}

// ended is the context's error, for loops.
func ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
		return nil
	}
}
