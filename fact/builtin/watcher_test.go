package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
)

// seen is a watcher of real files, the journal it writes, and what it observes.
type seen struct {
	*testing.T
	*builtin.Watcher
	changes chan weir.Change
	reads   chan string // a fact that has been observed, and where
	fail    func() error
}

// watch starts a watcher that is stopped, with all its goroutines, at the end.
func watch(t *testing.T, global string, more ...func(*builtin.WatcherConfig)) *seen {
	t.Helper()
	s := &seen{T: t, changes: make(chan weir.Change, 1000), reads: make(chan string, 10_000)}
	cfg := builtin.WatcherConfig{Journal: s, Global: global, Facts: []fact.Fact{
		s.noting(builtin.Workspace()), s.noting(builtin.Instructions(global)),
	}}
	for _, f := range more {
		f(&cfg)
	}
	ignore := goleak.IgnoreCurrent()
	s.Watcher = builtin.NewWatcher(cfg)
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		goleak.VerifyNone(t, ignore)
	})
	return s
}

func (s *seen) noting(f fact.Fact) fact.Fact {
	observe := f.Observe
	f.Observe = func(ctx context.Context, about fact.Subject) fact.Observation {
		o := observe(ctx, about)
		s.reads <- f.Key + " " + about.Conversation.Workspace
		return o
	}
	return f
}

func (s *seen) Notice(_ context.Context, changes ...weir.Change) error {
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	for _, c := range changes {
		s.changes <- c
	}
	return nil
}

// follows follows a workspace and returns when it is watched and has been seen.
func (s *seen) follows(workspace string) {
	s.Helper()
	s.Follow(weir.Conversation{ID: weir.ConversationID("of " + workspace), Owner: "max", Workspace: workspace})
	s.read(workspace, "core/workspace", "core/instructions")
}

func (s *seen) read(workspace string, keys ...string) {
	s.Helper()
	want := map[string]bool{}
	for _, k := range keys {
		want[k+" "+workspace] = true
	}
	for len(want) > 0 {
		select {
		case k := <-s.reads:
			delete(want, k)
		case <-time.After(10 * time.Second):
			s.Fatalf("nobody read %v", want)
		}
	}
}

// next is the next entry of the journal.
func (s *seen) next() weir.Change {
	s.Helper()
	select {
	case c := <-s.changes:
		return c
	case <-time.After(10 * time.Second):
		s.Fatal("nothing was noticed")
		panic("unreachable")
	}
}

// branch is the branch of the next entry that tells of another one.
func (s *seen) branch(not string) (string, weir.Change) {
	s.Helper()
	for {
		c := s.next()
		var w struct{ Branch string }
		if c.Fact == "core/workspace" && json.Unmarshal(c.Value, &w) == nil && w.Branch != not {
			return w.Branch, c
		}
	}
}

// text is the text of the next entry about instructions; "" for a removal.
func (s *seen) text() (string, weir.Change) {
	s.Helper()
	for {
		c := s.next()
		if c.Fact != "core/instructions" {
			continue
		}
		var i struct{ Files []struct{ Text string } }
		if c.Value != nil {
			if err := json.Unmarshal(c.Value, &i); err != nil {
				s.Fatal(err)
			}
		}
		var all []string
		for _, f := range i.Files {
			all = append(all, f.Text)
		}
		return strings.Join(all, "|"), c
	}
}

func (s *seen) says(want string) {
	s.Helper()
	if got, _ := s.text(); got != want {
		s.Errorf("the journal says %q, want %q", got, want)
	}
}

func TestARealCheckoutIsNoticedWithTheTimeItHappened(t *testing.T) {
	p := newRepository(t)
	p.git("branch", "dev")
	s := watch(t, "")
	s.follows(p.dir)
	p.git("checkout", "-q", "dev")
	branch, c := s.branch("main")
	info, err := os.Stat(p.path(".git/HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	if branch != "dev" || !c.At.Equal(info.ModTime()) || c.Scope != weir.OfWorkspace(p.dir) || c.Noticed.Before(c.At) {
		t.Errorf("noticed %s: %+v; HEAD is of %s", branch, c, info.ModTime())
	}
	p.git("checkout", "-q", "main")
	if branch, back := s.branch("dev"); branch != "main" || !back.At.After(c.At) {
		t.Errorf("and back: %s at %s, after %s", branch, back.At, c.At)
	}
}

func TestALinkedWorkingTreeIsWatchedWhereItsHeadIs(t *testing.T) {
	p, other := newRepository(t), newPlace(t)
	p.git("worktree", "add", "-q", "-b", "one", other.path("tree"))
	s := watch(t, "")
	s.follows(other.path("tree"))
	place{t, other.path("tree")}.git("checkout", "-qb", "two")
	if branch, _ := s.branch("one"); branch != "two" {
		t.Errorf("noticed %s", branch)
	}
}

func TestInstructionsAreNoticedWhereThereWereNone(t *testing.T) {
	p, home := newRepository(t), newPlace(t)
	p.write("a/b/x", "")
	s := watch(t, home.path("not/yet/AGENTS.md"))
	s.follows(p.path("a/b"))
	p.write("a/b/AGENTS.md", "b")
	s.says("b")
	p.write("AGENTS.md", "root")
	s.says("b|root")
	p.write("AGENTS.md.new", "root anew")
	if err := os.Rename(p.path("AGENTS.md.new"), p.path("AGENTS.md")); err != nil { // as editors save
		t.Fatal(err)
	}
	s.says("b|root anew")
	home.write("not/yet/AGENTS.md", "global")
	s.says("global|b|root anew")
	_ = os.Remove(p.path("a/b/AGENTS.md"))
	s.says("global|root anew")
	_ = os.RemoveAll(home.path("not"))
	s.says("root anew")
	home.write("not/yet/AGENTS.md", "again")
	s.says("again|root anew")
	info, err := os.Stat(home.path("not/yet/AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	home.write("not/yet/AGENTS.md", "and again")
	text, c := s.text()
	if text != "and again|root anew" || c.At.Before(info.ModTime()) || c.At.After(c.Noticed) {
		t.Errorf("%q at %s, noticed at %s", text, c.At, c.Noticed)
	}
}

func TestAWorkspaceThatComesLaterIsFound(t *testing.T) {
	p := newPlace(t)
	s := watch(t, "")
	s.follows(p.path("later/here"))
	p.write("later/here/AGENTS.md", "there")
	s.says("there")
	here := place{t, p.path("later/here")}
	here.git("init", "-q", "-b", "main")
	if branch, _ := s.branch(""); branch != "main" {
		t.Errorf("noticed %s", branch)
	}
	here.git("checkout", "-qb", "dev")
	if branch, _ := s.branch("main"); branch != "dev" {
		t.Errorf("noticed %s", branch)
	}
}

func TestWhatIsNoOtherValueIsNotNoticed(t *testing.T) {
	p := newRepository(t)
	p.write("AGENTS.md", "rules")
	s := watch(t, "")
	s.follows(p.dir)
	p.write("AGENTS.md", "rules\n") // the same text
	s.read(p.dir, "core/instructions")
	p.write("file", "edited")    // nobody looks
	p.write("sub/AGENTS.md", "") // above the workspace alone they count
	p.write("AGENTS.md", "other rules")
	if text, _ := s.text(); text != "other rules" {
		t.Errorf("noticed %q", text)
	}
	if n := len(s.changes); n != 0 {
		t.Errorf("%d more entries: %+v", n, <-s.changes)
	}
}

func TestAFileThatIsHalfWrittenIsNotTold(t *testing.T) {
	p := newPlace(t)
	p.write("AGENTS.md", "before")
	s := watch(t, "")
	s.follows(p.dir)
	for i := range 20 {
		f, err := os.Create(p.path("AGENTS.md")) // empty for now
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"one ", "two ", fmt.Sprint(i)} {
			if _, err := f.WriteString(part); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		s.says(fmt.Sprint("one two ", i))
	}
}

func TestFollowingIsBoundedAndNeverBlocks(t *testing.T) {
	root := newPlace(t)
	hold := make(chan struct{})
	s := watch(t, "", func(c *builtin.WatcherConfig) {
		for i, f := range c.Facts {
			observe := f.Observe
			c.Facts[i].Observe = func(ctx context.Context, about fact.Subject) fact.Observation {
				if strings.HasSuffix(about.Conversation.Workspace, "hangs") {
					<-hold
				}
				return observe(ctx, about)
			}
		}
	})
	defer close(hold)
	s.Follow(weir.Conversation{ID: "h", Workspace: root.path("hangs")})
	for i := range 70 {
		dir := fmt.Sprintf("w%d", i)
		root.write(dir+"/x", "")
		s.follows(root.path(dir)) // though another hangs
	}
	for range 1000 {
		s.Follow(weir.Conversation{ID: "c", Workspace: root.path("w69")})
	}
	root.write("w0/AGENTS.md", "given up")
	root.write("w69/AGENTS.md", "followed")
	s.says("followed")
	s.follows(root.path("w0")) // and taken up again
	root.write("w0/AGENTS.md", "again")
	s.says("again")
}

func TestAJournalThatFailsStopsNothing(t *testing.T) {
	p := newPlace(t)
	var log bytes.Buffer
	var once sync.Once
	s := watch(t, "", func(c *builtin.WatcherConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s.fail = func() (err error) {
		once.Do(func() { err = errors.New("the disk is full") })
		return err
	}
	s.follows(p.dir)
	p.write("AGENTS.md", "lost")
	s.read(p.dir, "core/instructions")
	p.write("AGENTS.md", "kept")
	for text := ""; text != "kept"; { // what was lost may be read once more
		text, _ = s.text()
	}
	s.Stop()
	if !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestAWatcherThatIsNotRunningFollowsNobody(t *testing.T) {
	s := watch(t, "")
	if err := s.Start(t.Context()); err == nil {
		t.Error("it was started twice")
	}
	s.Stop()
	s.Stop()
	s.Follow(weir.Conversation{Workspace: t.TempDir()})
	idle := builtin.NewWatcher(builtin.WatcherConfig{Journal: s})
	idle.Follow(weir.Conversation{Workspace: t.TempDir()})
	idle.Stop()
	if len(s.reads) != 0 {
		t.Error("something was read")
	}
}
