package oracles

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/model"
)

// golden are the requests in modelview's golden files, which hold every shape
// that can be rendered.
func golden(t *testing.T) map[string]body {
	t.Helper()
	const dir = "../../modelview/testdata"
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.golden"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d golden files in %s (%v)", len(files), dir, err)
	}
	all := map[string]body{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		name, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = body{profileOf(t, data), lines[len(lines)-1]}
	}
	return all
}

// profileOf reads the key of a golden file's segments, which looks like
// "anthropic/1+native@a/claude".
func profileOf(t *testing.T, file []byte) model.Profile {
	t.Helper()
	_, key, _ := strings.Cut(string(file), " of ")
	dialect, _, ok := strings.Cut(key, "/")
	mode, _, _ := strings.Cut(key, "@")
	if !ok {
		t.Fatalf("no lowering in %.80q", file)
	}
	p := model.Profile{Dialect: model.Dialect(dialect)}
	if strings.Contains(mode, "reasoning-"+string(model.ReasoningContent)) {
		p.ReasoningRequired = model.ReasoningContent
	}
	return p
}

// judged runs judge on the whole corpus: golden files and random histories.
func judged(t *testing.T, judge func(b body) error) {
	t.Helper()
	t.Run("golden", func(t *testing.T) {
		for name, b := range golden(t) {
			if err := judge(b); err != nil {
				t.Errorf("%s: %v\n%s", name, err, b.bytes)
			}
		}
	})
	t.Run("random", func(t *testing.T) {
		choices, seen := profiles(t), map[model.Dialect]int{}
		rapid.Check(t, func(r *rapid.T) {
			for _, b := range randomBodies(t, r, choices) {
				seen[b.profile.Dialect]++
				if err := judge(b); err != nil {
					r.Fatalf("%s: %v\n%s", b.profile.ID, err, b.bytes)
				}
			}
		})
		t.Logf("bodies: %v", seen)
	})
}
