package pgcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// childEnv makes the test binary start a cluster, print its address and wait.
const childEnv = "WEIR_PGCLUSTER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	c, err := Start(context.Background())
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	fmt.Println(c.URL)
	select {}
}

func TestEachTestHasAnEmptyDatabaseOfItsOwn(t *testing.T) {
	if one, other := Database(t), Database(t); one == other {
		t.Error("two at once have the same")
	}
	for range 3 {
		t.Run("one", func(t *testing.T) {
			url := Database(t)
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `CREATE TABLE t (x TEXT)`); err != nil {
				t.Error(err)
			}
			if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE t`); err != nil {
				t.Error(err)
			}
			// Left open: tidying up does not wait for it.
		})
	}
}

func TestTheServerDoesNotRunAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("nor do we")
	}
	as, err := unprivileged()
	if err != nil || as.Uid == 0 || as.Gid == 0 {
		t.Errorf("%+v, %v", as, err)
	}
}

// TestAKilledProcessLeavesNoServer kills a process with a cluster in the
// hardest way and waits until server and files are gone.
func TestAKilledProcessLeavesNoServer(t *testing.T) {
	if testing.Short() || Skipped() {
		t.Skip("starts a server of its own")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "postgres://") {
		cmd.Process.Kill()
		t.Fatalf("the child says %q", lines.Text())
	}
	url := lines.Text()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var dir string
	if err := conn.QueryRow(t.Context(), `SHOW data_directory`).Scan(&dir); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	conn.Exec(t.Context(), `SELECT pg_sleep(3600)`) // ends with the server
	if t.Context().Err() != nil {
		t.Fatal("the server lives on")
	}
	for { // its files go right after it
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(dir, "is still there")
		}
	}
	if _, err := pgx.Connect(t.Context(), url); err == nil {
		t.Error("it can still be connected to")
	}
}

func TestStoppingTwiceIsHarmless(t *testing.T) {
	if testing.Short() || Skipped() {
		t.Skip("starts a server of its own")
	}
	c, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Stop()
	c.Stop()
	if _, err := pgx.Connect(t.Context(), c.URL); err == nil {
		t.Error("it can still be connected to")
	}
}

func TestProgramsAreFoundBehindALinkOnPath(t *testing.T) {
	bin, path := t.TempDir(), t.TempDir()
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(bin, "initdb"), filepath.Join(path, "initdb")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	want, err := filepath.EvalSymlinks(bin)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestNewerVersionsComeFirst(t *testing.T) {
	if version("/usr/lib/postgresql/9.6/bin") != 9 || version("/usr/lib/postgresql/17/bin") != 17 {
		t.Error("versions are misread")
	}
}
