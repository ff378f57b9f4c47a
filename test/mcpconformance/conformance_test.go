package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needNode is the first version of Node.js that the suite runs on.
const needNode = 22

func TestTheOfficialSuitesClientScenariosPass(t *testing.T) {
	node, suite := install(t)
	client := filepath.Join(t.TempDir(), "client")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", client, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, node, suite, "client", "--command", client, "--scenario", scenario, "--output-dir", t.TempDir())
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "OVERALL: PASSED") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// install gets the suite, in the version that package-lock.json pins, and
// returns a Node.js that can run it, and its program.
func install(t *testing.T) (node, suite string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("WEIR_TEST_SKIP"), ","), "npm") {
		t.Skip("WEIR_TEST_SKIP names npm")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("npm is missing, which brings the conformance suite: install Node.js, or set WEIR_TEST_SKIP=npm (%v)", err)
	}
	args := []string{"ci", "--silent", "--no-audit", "--no-fund"}
	node, own := ownNode(t.Context())
	if own {
		args = append(args, "--omit=optional")
	}
	// The lock says what has to be there; a run that finds it there needs no network.
	stamp := filepath.Join("node_modules", ".weir-lock")
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%v\n%s", own, lock)
	if got, err := os.ReadFile(stamp); err != nil || string(got) != want {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, npm, args...).CombinedOutput(); err != nil {
			t.Fatalf("npm ci in test/mcpconformance: %v\n%s\nSet WEIR_TEST_SKIP=npm to go without.", err, out)
		}
		if err := os.WriteFile(stamp, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !own {
		cpu := map[string]string{"amd64": "x64"}[runtime.GOARCH]
		if cpu == "" {
			cpu = runtime.GOARCH
		}
		node = filepath.Join("node_modules", "node-"+runtime.GOOS+"-"+cpu, "bin", "node")
		if _, err := os.Stat(node); err != nil {
			t.Fatalf("the conformance suite needs Node.js %d or newer: install it, or set WEIR_TEST_SKIP=npm", needNode)
		}
	}
	return node, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
}

// ownNode finds the machine's Node.js, if it is new enough.
func ownNode(ctx context.Context) (string, bool) {
	node, err := exec.LookPath("node")
	if err != nil {
		return "", false
	}
	out, err := exec.CommandContext(ctx, node, "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	n, bad := strconv.Atoi(major)
	return node, err == nil && bad == nil && n >= needNode
}
