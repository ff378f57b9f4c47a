package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browserContext runs the one Chromium of these tests; each test has a profile
// of its own in it.
var browserContext context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if slices.Contains(strings.FieldsFunc(os.Getenv("WEIR_TEST_SKIP"), func(r rune) bool { return r == ',' || r == ' ' }), "chromium") {
		fmt.Println("left out: everything in a browser, because WEIR_TEST_SKIP names chromium")
		return 0
	}
	path, err := chromium()
	if err != nil {
		fmt.Fprintf(os.Stderr, "no browser to test with: %v.\nInstall Chromium, or leave these tests out with WEIR_TEST_SKIP=chromium.\n", err)
		return 1
	}
	profile, err := os.MkdirTemp("", "weir-chromium-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer removeAll(profile)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.WindowSize(1280, 800))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, stop := chromedp.NewContext(allocator)
	defer stop()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s does not start: %v\n", path, err)
		return 1
	}
	browserContext = ctx
	return m.Run()
}

// chromium finds the browser, or installs Debian's where that is possible.
func chromium() (string, error) {
	if path := os.Getenv("WEIR_TEST_CHROMIUM"); path != "" {
		return exec.LookPath(path)
	}
	if path := find(); path != "" {
		return path, nil
	}
	if err := install(); err != nil {
		return "", fmt.Errorf("chromium is not on PATH, and %w", err)
	}
	if path := find(); path != "" {
		return path, nil
	}
	return "", errors.New("chromium was installed, but is still not found")
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func install() error {
	switch {
	case os.Getenv("WEIR_TEST_INSTALL") == "no":
		return errors.New("WEIR_TEST_INSTALL=no forbids to install it")
	case os.Geteuid() != 0:
		return errors.New("only root can install it (apt-get install chromium)")
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return errors.New("there is no apt-get to install it with")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"update", "-q"},
		{"install", "-q", "-y", "--no-install-recommends", "chromium", "fonts-noto-cjk"},
	} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s fails: %w: %s", args[0], err, tail(string(out)))
		}
	}
	return nil
}

func tail(s string) string {
	if len(s) > 600 {
		s = s[len(s)-600:]
	}
	return strings.TrimSpace(s)
}

// removeAll removes a profile, in which processes of the browser may still
// write for a moment after it has ended.
func removeAll(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
