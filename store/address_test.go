package store_test

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir"
	"weir/store"
	"weir/test/pgcluster"
	"weir/test/stores"
)

// told opens a store, both ways, and returns the one sentence that a person is
// told when neither works.
func told(t *testing.T, code, where string) string {
	t.Helper()
	s, err := store.Open(t.Context(), where)
	if err == nil {
		s.Close()
	}
	_, look := store.OpenReadOnly(t.Context(), where)
	var f, g *weir.Error
	if !errors.As(err, &f) || !errors.As(look, &g) || f.Code != code || g.Code != code || f.Public != g.Public {
		t.Errorf("%q: opened with %v, looked at with %v, want %s", where, err, look, code)
		return ""
	}
	if strings.Contains(f.Public, code) || f.Err != nil && strings.Contains(f.Public, f.Err.Error()) || !strings.HasSuffix(f.Public, ".") {
		t.Errorf("%q: not a sentence for a person: %s", where, f.Public)
	}
	return f.Public
}

func TestAMistypedAddressOpensNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, where := range []string{
		"", "sqlite:", "sqlite://tmp/x", "postgre://a", "mysql://max:hunter2@h/x", "postgres:max:hunter2@h/x", "Postgresql:/a/hunter2",
		"file:/tmp/x", "SQLITE3:x", "max:hunter2@h", "x" + strings.Repeat("y", 1000) + ":z",
	} {
		said := told(t, "store_url_invalid", where)
		for _, form := range []string{"postgres://", "sqlite:DIR", "path"} {
			if !strings.Contains(said, form) {
				t.Errorf("%q: %q does not name %s", where, said, form)
			}
		}
		if strings.Contains(said, "hunter2") || len(said) > 400 {
			t.Errorf("%q: %s", where, said)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("it made %v, %v", made, err)
	}
}

func TestTheFormsOfAnAddress(t *testing.T) {
	t.Chdir(t.TempDir())
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for where, dir := range map[string]string{
		"one": "one", "./a:b": "a:b", "sqlite:two": "two", "SQLite:./three": "three", at + "/four:4": "four:4",
		"sqlite:" + at + "/five": "five", "sqlite://" + at + "/six": "six", "9:x": "9:x", "a b:c": "a b:c",
	} {
		stores.Open(t, where)
		if _, err := os.Stat(filepath.Join(dir, "weir.db")); err != nil {
			t.Errorf("%q: %v", where, err)
		}
	}
}

func TestTheSchemeOfPostgreSQLMayBeInAnyCase(t *testing.T) {
	_, rest, _ := strings.Cut(pgcluster.Database(t), ":")
	for _, scheme := range []string{"Postgres:", "POSTGRESQL:"} {
		stores.Open(t, scheme+rest)
	}
}

func TestAFileIsNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foo.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{file, "sqlite:" + file} {
		if said := told(t, "data_dir_unusable", where); !strings.Contains(said, file+" is a file") || !strings.Contains(said, "directory") {
			t.Errorf("%q", said)
		}
	}
}

func TestAServerThatDoesNotLetUsInIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	if said := told(t, "store_unavailable", "postgres://max:hunter2@"+closed+"/x"); !strings.Contains(said, closed) || strings.Contains(said, "hunter2") {
		t.Errorf("nobody there: %q", said)
	}
	u, err := url.Parse(pgcluster.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/no such one"
	if said := told(t, "store_refused", u.String()); !strings.Contains(said, "no such one") {
		t.Errorf("no database: %q", said)
	}
	u.User = url.UserPassword("nobody", "hunter2")
	if said := told(t, "store_refused", u.String()); !strings.Contains(said, "nobody") || strings.Contains(said, "hunter2") {
		t.Errorf("no user: %q", said)
	}
}
