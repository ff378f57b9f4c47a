package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repo is a real repository, driven by the real program.
type repo struct {
	*testing.T
	dir string
}

func newRepo(t *testing.T, args ...string) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the files it writes cannot be compared")
	}
	r := repo{t, t.TempDir()}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

func (r repo) git(args ...string) string {
	r.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimRight(out, "\n")
}

func (r repo) try(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r repo) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r repo) find() *Repo {
	r.Helper()
	found, err := Find(r.dir)
	if err != nil || found == nil {
		r.Fatal(found, err)
	}
	return found
}

// agrees compares with what git says.
func (r repo) agrees(after string) {
	r.Helper()
	got, err := r.find().Dirty(r.Context())
	// Asked after us: git refreshes the times in its index.
	want := r.git("--no-optional-locks", "status", "--porcelain", "-uno") != ""
	if err != nil || got != want {
		r.Fatalf("%s: dirty is %v, %v; git says %v", after, got, err, want)
	}
}

func TestTheBranchIsReadFromTheFiles(t *testing.T) {
	r := newRepo(t)
	if h, err := r.find().Head(); err != nil || h.Branch != "main" {
		t.Errorf("before the first commit: %+v, %v", h, err)
	}
	r.write("a", "1")
	r.git("add", "a")
	r.git("commit", "-qm", "one")
	r.git("checkout", "-qb", "feature/ü")
	h, err := r.find().Head()
	if err != nil || h.Branch != "feature/ü" || time.Since(h.At) > time.Minute {
		t.Errorf("on a branch: %+v, %v", h, err)
	}
	r.git("checkout", "-q", "--detach")
	if h, err := r.find().Head(); err != nil || h.Branch != "" || h.Commit != r.git("rev-parse", "HEAD") {
		t.Errorf("detached: %+v, %v", h, err)
	}
	below := repo{t, filepath.Join(r.dir, "x", "y")}
	below.write("z", "")
	if f := below.find(); f.Root != r.dir {
		t.Errorf("from below it is %s", f.Root)
	}
}

func TestALinkedWorkingTreeHasAHeadOfItsOwn(t *testing.T) {
	r := newRepo(t)
	r.write("a", "1")
	r.git("add", "a")
	r.git("commit", "-qm", "one")
	other := repo{t, filepath.Join(t.TempDir(), "wt")}
	r.git("worktree", "add", "-q", "-b", "other", other.dir)
	f := other.find()
	if h, err := f.Head(); err != nil || h.Branch != "other" || f.Common != filepath.Join(r.dir, ".git") || f.Root != other.dir {
		t.Errorf("%+v: %+v, %v", f, h, err)
	}
	other.agrees("a new working tree")
	other.write("a", "changed")
	other.agrees("a change there")
	r.agrees("no change here")
}

func TestDirtyIsWhatGitSays(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run("index version "+version, func(t *testing.T) {
			r := newRepo(t)
			r.git("config", "index.version", version)
			r.agrees("an empty repository")
			r.write("a/b/c", "1")
			r.write("a.txt", "2")
			r.write("run", "3")
			r.agrees("untracked files only")
			r.git("add", ".")
			r.agrees("before the first commit")
			r.git("commit", "-qm", "one")
			r.agrees("after it")
			if err := os.Chtimes(filepath.Join(r.dir, "run"), time.Now(), time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
			r.agrees("a file that was only touched")
			for _, step := range []struct {
				name string
				do   func()
			}{
				{"the same length", func() { r.write("run", "4") }},
				{"back", func() { r.write("run", "3") }},
				{"staged", func() { r.write("run", "5"); r.git("add", "run") }},
				{"staged, then back in the tree", func() { r.write("run", "3") }},
				{"unstaged", func() { r.git("reset", "-q", "run") }},
				{"removed", func() { _ = os.Remove(filepath.Join(r.dir, "a.txt")) }},
				{"hard reset", func() { r.git("reset", "-q", "--hard") }},
				{"soft reset", func() {
					r.write("new", "1")
					r.git("add", ".")
					r.git("commit", "-qm", "x")
					r.git("reset", "-q", "--soft", "HEAD~1")
				}},
				{"committed", func() { r.git("commit", "-qm", "two") }},
				{"packed", func() { r.git("gc", "-q"); r.git("pack-refs", "--all") }},
				{"packed, index without a tree", func() { r.write("n", "1"); r.git("add", "n"); r.git("rm", "-q", "--cached", "n") }},
				{"executable", func() { _ = os.Chmod(filepath.Join(r.dir, "run"), 0o700) }},
				{"not executable", func() { _ = os.Chmod(filepath.Join(r.dir, "run"), 0o600) }},
				{"a link instead", func() {
					_ = os.Remove(filepath.Join(r.dir, "run"))
					_ = os.Symlink("a.txt", filepath.Join(r.dir, "run"))
				}},
				{"the link committed", func() { r.git("commit", "-qam", "three") }},
				{"a file instead of a folder", func() { _ = os.RemoveAll(filepath.Join(r.dir, "a")); r.write("a", "x") }},
				{"stashed", func() { _ = os.Remove(filepath.Join(r.dir, "a")); r.git("stash", "-q") }},
				{"intent to add", func() { r.write("later", ""); r.git("add", "-N", "later") }},
				{"a merge in conflict", func() {
					r.git("reset", "-q", "--hard")
					r.git("checkout", "-qb", "x")
					r.write("a.txt", "x")
					r.git("commit", "-qam", "x")
					r.git("checkout", "-q", "main")
					r.write("a.txt", "y")
					r.git("commit", "-qam", "y")
					_, _ = r.try("merge", "x")
				}},
				{"merge aborted", func() { r.git("merge", "--abort") }},
			} {
				step.do()
				r.agrees(step.name)
			}
		})
	}
}

// TestDirtyIsWhatGitSaysWhateverIsDone walks at random.
func TestDirtyIsWhatGitSaysWhateverIsDone(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	r := newRepo(t)
	names := []string{"a", "b.txt", "d/a", "d/e/f", "d.x", "z"}
	name := func() string { return names[rnd.IntN(len(names))] }
	content := func() string { return strings.Repeat(fmt.Sprint(rnd.IntN(3), "\n"), 1+rnd.IntN(60)) }
	var trail []string
	for range 150 {
		n, what := name(), rnd.IntN(12)
		trail = append(trail, fmt.Sprint(what, n))
		switch what {
		case 0, 1, 2:
			r.write(n, content())
		case 3, 4:
			_, _ = r.try("add", "-A", n)
		case 5:
			_, _ = r.try("commit", "-qam", "x")
		case 6:
			_, _ = r.try("checkout", "-q", "--", ".")
		case 7:
			_, _ = r.try("reset", "-q", []string{"--hard", "--mixed", "--soft"}[rnd.IntN(3)], "HEAD~1")
		case 8:
			_, _ = r.try("rm", "-q", "--cached", n)
		case 9:
			_ = os.Remove(filepath.Join(r.dir, n))
		case 10:
			_, _ = r.try("repack", "-adfq", "--depth=20", "--window=20")
		case 11:
			_, _ = r.try("reset", "-q", "--hard")
		}
		r.agrees(strings.Join(trail, " "))
	}
}

func TestWhatIsNotKnownIsAnErrorAndNotAGuess(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		spoil  func(r repo)
	}{
		"SHA-256":           {"--object-format=sha256", func(repo) {}},
		"a split index":     {"-q", func(r repo) { r.git("update-index", "--split-index") }},
		"a broken index":    {"-q", func(r repo) { r.write(".git/index", "DIRC and then nothing of use to anybody here") }},
		"a huge index":      {"-q", func(r repo) { _ = os.Truncate(filepath.Join(r.dir, ".git/index"), maxIndex+1) }},
		"a missing commit":  {"-q", func(r repo) { _ = os.RemoveAll(filepath.Join(r.dir, ".git/objects")) }},
		"a branch astray":   {"-q", func(r repo) { r.write(".git/refs/heads/main", "nonsense") }},
		"an odd repository": {"-q", func(r repo) { r.git("config", "extensions.refStorage", "reftable") }},
	} {
		r := newRepo(t, c.format)
		r.write("a", "1")
		r.git("add", "a")
		r.git("commit", "-qm", "one")
		c.spoil(r)
		if dirty, err := r.find().Dirty(t.Context()); err == nil {
			t.Errorf("%s: dirty is %v", name, dirty)
		}
	}
	r := newRepo(t)
	r.write("a", "1")
	r.git("add", "a")
	r.git("commit", "-qm", "one")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if dirty, err := r.find().Dirty(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after its time: %v, %v", dirty, err)
	}
	for _, head := range []string{"", "ref: \n", "zzz", "ref: refs/heads/.invalid", strings.Repeat("a", maxSmall+1)} {
		r.write(".git/HEAD", head)
		if h, err := r.find().Head(); err == nil {
			t.Errorf("a HEAD of %.20q gives %+v", head, h)
		}
	}
	r.write(".git/HEAD", "ref: refs/heads/../../x")
	if _, err := r.find().Dirty(t.Context()); err == nil {
		t.Error("a branch outside the repository was looked for")
	}
	plain := repo{t, t.TempDir()}
	plain.write(".git/x", "")
	if found, err := Find(plain.dir); err != nil || found != nil && strings.HasPrefix(found.Root, plain.dir) {
		t.Errorf("a folder that is only called .git: %+v, %v", found, err)
	}
	for _, text := range []string{"gitdir: ", "nothing", "gitdir: a\nb"} {
		odd := repo{t, t.TempDir()}
		odd.write(".git", text)
		if found, err := Find(odd.dir); err == nil {
			t.Errorf("a .git file that says %q gives %+v", text, found)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00TREE\x00\x00\x00\x1a\x000 0\naaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbb"))
	f.Add(append([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"), make([]byte, 100)...))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = parseIndex(raw) // does not panic, and ends
	})
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("hello"), []byte{5, 7, 0x90, 5, 2, 'a', 'b'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := apply(base, delta); err == nil && len(out) > maxObject {
			t.Error("it grew beyond its limit")
		}
	})
}
