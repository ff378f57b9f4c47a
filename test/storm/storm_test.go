package storm

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"weir/test/pgcluster"
	"weir/test/strictpeer/strictpeer"
)

const (
	conversations = 20
	senders       = 16
)

func TestMain(m *testing.M) {
	if os.Getenv("WEIR_STORM_STORE") != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, "storm child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kills says how often the child is killed.
func kills(t *testing.T) int {
	switch v := os.Getenv("WEIR_STORM"); v {
	case "":
		return 25
	case "full":
		return 500
	default:
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("WEIR_STORM is %q: neither “full” nor a number", v)
		}
		return n
	}
}

func TestNothingIsLostOrDoubledWhenTheServerIsKilled(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("WEIR_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("WEIR_SEED=%d", seed)
	for _, on := range []struct {
		name string
		calm time.Duration
		url  func(t *testing.T) string
	}{
		{"sqlite", 80 * time.Millisecond, func(t *testing.T) string { return "sqlite:" + t.TempDir() }},
		// Dead holders' leases have to run out here, or nothing would be
		// running that could be killed.
		{"postgres", 500 * time.Millisecond, func(t *testing.T) string { return pgcluster.Database(t) }},
	} {
		t.Run(on.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			peer := strictpeer.New(strictpeer.Anthropic)
			peer.Otherwise(answers(rand.New(rand.NewPCG(seed, 1))))
			provider := httptest.NewServer(peer)
			defer provider.Close()
			n := kills(t)
			s := &storm{t: t, name: on.name, url: on.url(t), provider: provider.URL, r: r, calm: on.calm, begun: time.Now(),
				runs: filepath.Join(t.TempDir(), "runs"), inputs: max(500, 2*n)}
			s.prepare()
			s.run(n)
			s.check(peer)
		})
	}
}
