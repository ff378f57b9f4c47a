// Command pgcluster starts one private PostgreSQL server, runs a command with
// WEIR_TEST_POSTGRES set to its address, and stops it:
//
//	go run ./test/pgcluster/cmd/pgcluster -- go test ./...
//
// When that variable is set already, the command just runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"weir/test/pgcluster"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: pgcluster -- command [argument…]")
		os.Exit(2)
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgcluster:", err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if os.Getenv(pgcluster.Env) == "" && !pgcluster.Skipped() {
		c, err := pgcluster.Start(ctx)
		if err != nil {
			return 0, fmt.Errorf("no PostgreSQL to test with (WEIR_TEST_SKIP=postgres goes without): %w", err)
		}
		defer c.Stop()
		cmd.Env = append(os.Environ(), pgcluster.Env+"="+c.URL, pgcluster.DisposableEnv+"=yes")
	}
	err := cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return max(failed.ExitCode(), 1), nil
	}
	return 0, err
}
