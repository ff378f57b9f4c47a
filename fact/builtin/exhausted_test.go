//go:build unix

package builtin

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"

	"weir"
)

func TestWithoutWatchesItIsSaidOnceAndNothingElseHappens(t *testing.T) {
	var log bytes.Buffer
	w := NewWatcher(WatcherConfig{Log: slog.New(slog.NewTextHandler(&log, nil))})
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip(err)
	}
	err := w.Start(context.Background())
	if err2 := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err2 != nil {
		t.Fatal(err2)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(weir.Conversation{Workspace: t.TempDir()})
	w.Stop()
	if n := strings.Count(log.String(), "not all files can be watched"); n != 1 {
		t.Errorf("it was said %d times: %s", n, &log)
	}
}

func TestAFolderThatCannotBeWatchedLeavesTheOthers(t *testing.T) {
	var log bytes.Buffer
	events, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skip(err)
	}
	defer events.Close()
	s := &watches{log: slog.New(slog.NewTextHandler(&log, nil)), fs: events, by: map[string]map[*follower]bool{}}
	f, dir := &follower{}, t.TempDir()
	for range 3 {
		s.set(f, map[string]bool{"/" + strings.Repeat("x", 5000): true, dir: true, dir + "/gone": true})
	}
	if n := strings.Count(log.String(), "not all files can be watched"); n != 1 {
		t.Errorf("it was said %d times: %s", n, &log)
	}
	if len(s.of(dir+"/AGENTS.md")) != 1 || len(s.of(dir)) != 1 {
		t.Error("the folder that can be watched is not")
	}
	s.set(f, nil)
	if len(s.by) != 0 || len(events.WatchList()) != 0 {
		t.Errorf("still watched: %v", events.WatchList())
	}
}
