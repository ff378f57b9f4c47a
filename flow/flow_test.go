package flow_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"weir"
	"weir/flow"
)

func TestTheSharedVectorsHold(t *testing.T) {
	f, err := os.Open("testdata/canflow.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); lines++ {
		var v struct {
			From, To weir.Scope
			Flow     bool
			Reasons  []weir.Reason
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if got := flow.CanFlow(v.From, v.To); got != v.Flow {
			t.Errorf("CanFlow of %s = %v", sc.Text(), got)
		}
		if diff := cmp.Diff(v.Reasons, flow.Explain(v.From, v.To), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Explain of %s: (-want +got)\n%s", sc.Text(), diff)
		}
	}
	if lines < 200 {
		t.Fatalf("only %d vectors", lines)
	}
}

func TestTheTableOfTheGateHolds(t *testing.T) {
	path := func(ids ...weir.ConversationID) weir.Scope { return weir.Scope{Path: ids} }
	category := func(c string) weir.Scope { return weir.Scope{Category: c} }
	for _, row := range []struct {
		name     string
		from, to weir.Scope
		ask      []weir.Reason
	}{
		{"open to open", path(), path(), nil},
		{"open to isolated", path(), path("I"), nil},
		{"isolated to open", path("I"), path(), []weir.Reason{weir.ReasonIsolation}},
		{"isolated to another island", path("I"), path("J"), []weir.Reason{weir.ReasonIsolation}},
		{"isolated to its own branch or task", path("I"), path("I"), nil},
		{"nested island to the one around it", path("I", "K"), path("I"), []weir.Reason{weir.ReasonIsolation}},
		{"island to a nested one in it", path("I"), path("I", "K"), nil},
		{"the inner wall alone is not the island", path("I", "K"), path("K"), []weir.Reason{weir.ReasonIsolation}},
		{"A to A", category("A"), category("A"), nil},
		{"A to B", category("A"), category("B"), []weir.Reason{weir.ReasonCategory}},
		{"A to none", category("A"), category(""), []weir.Reason{weir.ReasonCategory}},
		{"none to A", category(""), category("A"), nil},
		{"both walls", weir.Scope{Path: []weir.ConversationID{"I"}, Category: "A"}, category("B"),
			[]weir.Reason{weir.ReasonIsolation, weir.ReasonCategory}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := flow.Explain(row.from, row.to); !slices.Equal(got, row.ask) {
				t.Errorf("Explain = %v, want %v", got, row.ask)
			}
		})
	}
}

// scopes draws from so few names that equal and nested scopes are common.
var scopes = rapid.Custom(func(t *rapid.T) weir.Scope {
	return weir.Scope{
		Path:     rapid.SliceOfN(rapid.SampledFrom([]weir.ConversationID{"I", "J"}), 0, 3).Draw(t, "path"),
		Category: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "category"),
	}
})

func TestCanFlowIsAPreorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := scopes.Draw(t, "a"), scopes.Draw(t, "b"), scopes.Draw(t, "c")
		if !flow.CanFlow(a, a) {
			t.Errorf("%v may not reach itself", a)
		}
		if flow.CanFlow(a, b) && flow.CanFlow(b, c) && !flow.CanFlow(a, c) {
			t.Errorf("%v reaches %v and that %v, but not at once", a, b, c)
		}
	})
}

func TestReasonsAreGivenExactlyWhenContentMayNotFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := scopes.Draw(t, "a"), scopes.Draw(t, "b")
		reasons := flow.Explain(a, b)
		if (reasons == nil) != flow.CanFlow(a, b) {
			t.Errorf("%v to %v: reasons %v, CanFlow %v", a, b, reasons, flow.CanFlow(a, b))
		}
	})
}

func TestStricterTargetsStayReachable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := scopes.Draw(t, "a"), scopes.Draw(t, "b")
		stricter := b
		stricter.Path = append(slices.Clone(b.Path), "N")
		if flow.CanFlow(a, b) && !flow.CanFlow(a, stricter) {
			t.Errorf("%v reaches %v but not %v", a, b, stricter)
		}
	})
}
