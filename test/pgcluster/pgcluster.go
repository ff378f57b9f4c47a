// Package pgcluster gives tests a real PostgreSQL server: the one that
// WEIR_TEST_POSTGRES names, else a private cluster, one for the test process,
// started when the first test asks and ended with the process, even when that
// is killed. Each test gets a database of its own.
//
// Where there is no server to be had, tests fail with the reason, unless
// WEIR_TEST_SKIP names "postgres".
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

// Env names the server to use instead of a private one.
const Env = "WEIR_TEST_POSTGRES"

// server returns the URL of this process's server. It is the one piece of
// state that a test process shares: starting a server for each test would
// take seconds each time.
var server = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(Env); given != "" {
		return given, nil
	}
	c, err := Start(context.Background())
	if err != nil {
		return "", err
	}
	return c.URL, nil
})

// Database makes an empty database for the time of a test and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("WEIR_TEST_SKIP"), ","), "postgres") {
		t.Skip("WEIR_TEST_SKIP names postgres")
	}
	admin, err := server()
	if err != nil {
		t.Fatalf("no PostgreSQL to test with (WEIR_TEST_SKIP=postgres goes without): %v", err)
	}
	name := "weir_test_" + strings.ToLower(rand.Text())
	if err := run(admin, "CREATE DATABASE "+name+" ENCODING 'UTF8' TEMPLATE template0"); err != nil {
		t.Fatalf("make a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := run(admin, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop a test database: %v", err)
		}
	})
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func run(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
