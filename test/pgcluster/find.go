package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programs finds the directory with initdb and postgres, installing them where
// that is possible and not forbidden.
func programs(ctx context.Context) (string, error) {
	if dir := find(); dir != "" {
		return dir, nil
	}
	if err := install(ctx); err != nil {
		return "", fmt.Errorf("PostgreSQL's programs (initdb, postgres) were not found on PATH or in /usr/lib/postgresql/*/bin, and %w", err)
	}
	if dir := find(); dir != "" {
		return dir, nil
	}
	return "", errors.New("PostgreSQL was installed, but initdb is still not found")
}

func find() string {
	var dirs []string
	if p, err := exec.LookPath("initdb"); err == nil {
		// A link on PATH may stand alone; the other programs are at its end.
		if real, err := filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
		dirs = append(dirs, filepath.Dir(p))
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(installed, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range append(dirs, installed...) {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	return ""
}

// version reads the major version from /usr/lib/postgresql/15/bin.
func version(dir string) int {
	n, _ := strconv.Atoi(strings.SplitN(filepath.Base(filepath.Dir(dir)), ".", 2)[0])
	return n
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// install puts Debian's package in place, without the cluster and the service
// that come with it.
func install(ctx context.Context) error {
	switch {
	case os.Getenv("WEIR_TEST_INSTALL") == "no":
		return errors.New("WEIR_TEST_INSTALL=no forbids to install them")
	case os.Geteuid() != 0:
		return errors.New("only root can install them (apt-get install postgresql)")
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return errors.New("there is no apt-get to install them with")
	}
	const noCluster = "/etc/postgresql-common/createcluster.conf"
	if _, err := os.Stat(noCluster); errors.Is(err, os.ErrNotExist) {
		if os.MkdirAll(filepath.Dir(noCluster), 0o755) == nil {
			os.WriteFile(noCluster, []byte("create_main_cluster = false\n"), 0o644)
		}
	}
	for _, args := range [][]string{
		{"update", "-q"},
		{"install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Options::=--force-confold", "postgresql"},
	} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s failed: %w: %s", args[0], err, tail(string(out)))
		}
	}
	return nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-2000):]
}
