package fact_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/fact"
)

// vector is one line of reconcile.jsonl: times are plain numbers.
type vector struct {
	Name  string
	Facts []struct {
		Key                 string
		Observed            json.RawMessage
		Absent, Unavailable bool
	}
	BoundaryAt  int64 `json:"boundary_at"`
	Snapshot    fact.Snapshot
	Undecodable []string
	Journal     []struct {
		Key     string
		Value   json.RawMessage
		Removed bool
		At      int64
	}
	Tools  [][2]int64
	Expect struct {
		Outcome string
		Updates []vectorUpdate
		// Decoded values, so that the order of members does not matter.
		Snapshot map[string]any
	}
}

type vectorUpdate struct {
	At   int64
	Key  string
	Text string
}

func at(n int64) time.Time { return time.Unix(n, 0).UTC() }

func TestReconcileFollowsTheVectors(t *testing.T) {
	f, err := os.Open("testdata/reconcile.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.Name, v.run)
	}
	if n < 31 {
		t.Errorf("only %d vectors", n)
	}
}

func (v *vector) run(t *testing.T) {
	set, sit := v.situation(t)
	told, next, faults := set.Reconcile(sit)
	for _, f := range faults {
		t.Error(f)
	}
	outcome := "unchanged"
	got := []vectorUpdate{}
	for _, u := range told {
		outcome = "updates"
		got = append(got, vectorUpdate{u.At.Unix(), u.Key, u.Text})
	}
	if outcome != v.Expect.Outcome {
		t.Errorf("the outcome is %s, want %s", outcome, v.Expect.Outcome)
	}
	if diff := cmp.Diff(v.Expect.Updates, got); diff != "" {
		t.Error(diff)
	}
	raw, err := json.Marshal(next)
	if err != nil {
		t.Fatal(err)
	}
	var snap map[string]any
	if err := json.Unmarshal(raw, &snap); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v.Expect.Snapshot, snap); diff != "" {
		t.Error(diff)
	}
}

func (v *vector) situation(t *testing.T) (*fact.Set, fact.Situation) {
	sit := fact.Situation{Now: at(v.BoundaryAt), Snapshot: v.Snapshot}
	var facts []fact.Fact
	for _, f := range v.Facts {
		o := fact.Observation{Key: f.Key, State: fact.Present, Value: f.Observed}
		switch {
		case f.Absent:
			o.State = fact.Absent
		case f.Unavailable:
			o.State = fact.Unavailable
		}
		sit.Observed = append(sit.Observed, o)
		c := constant(f.Key, o)
		for _, u := range v.Undecodable {
			if u == f.Key {
				c = refusing(c, v.Snapshot[f.Key].Value)
			}
		}
		facts = append(facts, c)
	}
	for _, j := range v.Journal {
		c := fact.Change{Key: j.Key, Value: j.Value, At: at(j.At)}
		if j.Removed {
			c.Value = nil
		}
		sit.Journal = append(sit.Journal, c)
	}
	for _, r := range v.Tools {
		sit.Tools = append(sit.Tools, fact.Run{From: at(r[0]), Upto: at(r[1])})
	}
	return compose(t, facts...), sit
}

// refusing makes a fact whose renderers do not know one value.
func refusing(f fact.Fact, bad json.RawMessage) fact.Fact {
	canonical, err := fact.Canonical(bad)
	if err != nil {
		canonical = bad
	}
	baseline := f.Baseline
	f.Baseline = func(v json.RawMessage) (string, error) {
		if bytes.Equal(v, canonical) {
			return "", errors.New("undecodable")
		}
		return baseline(v)
	}
	return f
}
