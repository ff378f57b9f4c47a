package main

import (
	"testing"
)

func TestTheCommandGetsTheServerAndItsExitCodeComesBack(t *testing.T) {
	t.Setenv("WEIR_TEST_POSTGRES", "postgres://given")
	for _, c := range []struct {
		script string
		want   int
	}{
		{`test "$WEIR_TEST_POSTGRES" = postgres://given`, 0},
		{`exit 3`, 3},
		{`kill -9 $$`, 1},
	} {
		if code, err := run([]string{"sh", "-c", c.script}); err != nil || code != c.want {
			t.Errorf("%s: %d, %v", c.script, code, err)
		}
	}
	if _, err := run([]string{"/no/such/program"}); err == nil {
		t.Error("a command that is not there ran")
	}
}
