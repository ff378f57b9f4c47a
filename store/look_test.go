package store

import (
	"testing"
	"time"

	"weir"
)

func TestWhatIsTakenToStandStillIsKeptFromServers(t *testing.T) {
	dir := t.TempDir()
	s, err := openSQLite(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, free := lockToLook(dir); free {
		t.Error("free while a server runs")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	first, free := lockToLook(dir)
	second, too := lockToLook(dir)
	if !free || !too {
		t.Fatal("two cannot look at once")
	}
	defer second.Close()
	first.Close()
	if _, err := openSQLite(t.Context(), dir, Options{}); weir.CodeOf(err) != "data_dir_in_use" {
		t.Errorf("a server starts: %v", err)
	}
}

func TestADataDirectoryIsWaitedForWhileItIsBeingLetGo(t *testing.T) {
	dir := t.TempDir()
	held, err := lockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*lockPause, func() { held.Close() })
	s, err := openSQLite(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("of a process that goes away just now: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
