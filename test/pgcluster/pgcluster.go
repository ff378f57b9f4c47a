// Package pgcluster gives tests a real PostgreSQL server: the one that
// WEIR_TEST_POSTGRES names, else a private cluster, one for the test process,
// started when the first test asks and ended with the process, even when that
// is killed. Each test gets an empty database of its own.
//
// Where there is no server to be had, tests fail with the reason, unless
// WEIR_TEST_SKIP names "postgres". WEIR_TEST_INSTALL=no forbids to install
// PostgreSQL where it is missing.
package pgcluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The environment of tests.
const (
	// Env names the server to use instead of a private one.
	Env = "WEIR_TEST_POSTGRES"
	// DisposableEnv says, when not empty, that the server goes away after the
	// tests, so that nothing on it needs to be tidied up.
	DisposableEnv = "WEIR_TEST_POSTGRES_DISPOSABLE"
)

// shared is this process's server. It is the one piece of state that the tests
// of a process share: a server for each test would take seconds each time.
var shared = sync.OnceValues(func() (*server, error) {
	if given := os.Getenv(Env); given != "" {
		return &server{admin: given, disposable: os.Getenv(DisposableEnv) != ""}, nil
	}
	c, err := Start(context.Background())
	if err != nil {
		return nil, err
	}
	return &server{admin: c.URL, disposable: true}, nil
})

// server hands out databases. On a disposable one they are emptied and used
// again, which is several times as fast as making new ones.
type server struct {
	admin      string
	disposable bool

	mu   sync.Mutex
	free []string
}

// Database makes an empty database for the time of a test and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	if Skipped() {
		t.Skip("WEIR_TEST_SKIP names postgres")
	}
	s, err := shared()
	if err != nil {
		t.Fatalf("no PostgreSQL to test with (WEIR_TEST_SKIP=postgres goes without): %v", err)
	}
	name, err := s.take()
	if err != nil {
		t.Fatalf("make a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.giveBack(name); err != nil {
			t.Errorf("tidy up a test database: %v", err)
		}
	})
	return s.url(name)
}

// Skipped reports whether tests are to do without PostgreSQL.
func Skipped() bool {
	return slices.Contains(strings.Split(os.Getenv("WEIR_TEST_SKIP"), ","), "postgres")
}

func (s *server) take() (string, error) {
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		name := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return name, nil
	}
	s.mu.Unlock()
	name := "weir_test_" + strings.ToLower(rand.Text())
	return name, run(s.admin, "CREATE DATABASE "+name+" ENCODING 'UTF8' TEMPLATE template0")
}

func (s *server) giveBack(name string) error {
	if !s.disposable {
		return run(s.admin, "DROP DATABASE "+name+" WITH (FORCE)")
	}
	err := run(s.url(name), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`,
		`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, name)
	}
	return err
}

func (s *server) url(name string) string {
	u, err := url.Parse(s.admin)
	if err != nil {
		return s.admin // and connecting says what is wrong with it
	}
	u.Path = "/" + name
	return u.String()
}

func run(url string, statements ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
