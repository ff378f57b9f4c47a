//go:build unix

package store_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weir"
	"weir/store"
	"weir/test/stores"
)

// filled makes a database with one conversation in a directory that was there
// before and that others may enter.
func filled(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	update(t, s, func(tx store.Tx) error {
		return tx.InsertConversation(t.Context(), &weir.Conversation{ID: "a", Owner: "o", Kind: weir.Chat, Generation: "g"})
	})
	return s
}

var files = []string{"weir.db", "weir.db-wal", "weir.db-shm", "weir.lock"}

func TestOthersCannotReadTheFilesOfADirectoryTheyMayEnter(t *testing.T) {
	private := func(when, dir string) {
		for _, name := range files {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s is %v, %v", when, name, info, err)
			}
		}
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	filled(t, dir)
	private("new", dir)

	// What an earlier version left, killed and open to all, is closed to them.
	old := t.TempDir()
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if err := os.Chmod(filepath.Join(old, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := stores.Open(t, old)
	if _, err := s.Conversation(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	private("old", old)
}

const (
	strangerEnv = "WEIR_STORE_TEST_STRANGER"
	strangerDir = "WEIR_STORE_TEST_STRANGER_DIR"
)

// TestStranger is what a process without root's powers does in the tests below.
func TestStranger(t *testing.T) {
	what, dir := os.Getenv(strangerEnv), os.Getenv(strangerDir)
	if what == "" {
		t.Skip("run by others")
	}
	if what != "fill" && os.Getuid() == 0 { // root may write everywhere
		if err := syscall.Setuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	if what == "look" {
		r, err := store.OpenReadOnly(t.Context(), dir)
		if err == nil {
			defer r.Close()
			_, err = r.Conversation(t.Context(), "a")
		}
		fmt.Println("looked:", toldPerson(err))
		return
	}
	s, err := store.Open(t.Context(), dir)
	if err == nil {
		s.Close()
	}
	fmt.Println("opened:", toldPerson(err))
}

// toldPerson is what a person gets to read.
func toldPerson(err error) string {
	var e *weir.Error
	if errors.As(err, &e) {
		return e.Code + " " + e.Public
	}
	return fmt.Sprint(err)
}

func stranger(t *testing.T, what, dir string, around ...string) string {
	t.Helper()
	args := append(around, os.Args[0], "-test.run=^TestStranger$")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), strangerEnv+"="+what, strangerDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// readOnly copies a directory to one that nobody but root may write, with the
// files that are named.
func readOnly(t *testing.T, from string, names ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir-store-") // t.TempDir is closed to strangers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Chmod(dir, 0o755)
		os.RemoveAll(dir)
	})
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestABackupThatMayNotBeWrittenCanBeLookedAt(t *testing.T) {
	dir := t.TempDir()
	s := filled(t, dir)
	killed := readOnly(t, dir, files...)
	torn := readOnly(t, dir, "weir.db", "weir.db-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := readOnly(t, dir, "weir.db", "weir.lock")
	for name, where := range map[string]string{"with its lock": closed, "the database alone": readOnly(t, dir, "weir.db"), "of a killed server": killed} {
		if said := stranger(t, "look", where); !strings.Contains(said, "looked: <nil>") {
			t.Errorf("%s: %s", name, said)
		}
	}
	// What is in the journal only must not go missing without a word.
	if said := stranger(t, "look", torn); !strings.Contains(said, "looked: data_dir_unusable") || !strings.Contains(said, "was not closed by its server") {
		t.Error(said)
	}
	// A server cannot work there, and says so.
	if said := stranger(t, "open", closed); !strings.Contains(said, "opened: data_dir_unusable") || !strings.Contains(said, closed) {
		t.Error(said)
	}
}

func TestBesideARunningServerNothingIsTakenToStandStill(t *testing.T) {
	dir := readOnly(t, t.TempDir())
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	filled(t, dir) // all of it in the journal
	for _, name := range files {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if said := stranger(t, "look", dir); !strings.Contains(said, "looked: <nil>") {
		t.Error(said)
	}
}

func TestADatabaseThatMayNotBeReadOrWrittenIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := filled(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	where := readOnly(t, dir, "weir.db")
	for _, c := range []struct {
		database, folder os.FileMode
		what, want       string
	}{
		{0o000, 0o555, "look", "looked: data_dir_unusable"},
		{0o000, 0o777, "open", "opened: data_dir_unusable"},
		{0o444, 0o777, "open", "opened: data_dir_unusable"},
	} {
		for name, mode := range map[string]os.FileMode{filepath.Join(where, "weir.db"): c.database, where: c.folder} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		said := stranger(t, c.what, where)
		if !strings.Contains(said, c.want) || !strings.Contains(said, where) || strings.Contains(said, "try again") {
			t.Errorf("%v in %v: %s", c.database, c.folder, said)
		}
		os.Remove(filepath.Join(where, "weir.lock")) // a stranger's
	}
}

func TestAFullDiskIsSaidWhenTheStoreOpens(t *testing.T) {
	script := `mount -t tmpfs -o size="$0" none "$` + strangerDir + `" && exec "$@"`
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no file system of one's own: %v %s", err, out)
	}
	for _, size := range []string{"4k", "8k", "12k", "16k", "24k", "40k", "100k", "200k"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			said := stranger(t, "fill", t.TempDir(), "unshare", "-m", "sh", "-c", script, size)
			if !strings.Contains(said, "opened: disk_full") || !strings.Contains(said, "make room") {
				t.Error(said)
			}
		})
	}
}
