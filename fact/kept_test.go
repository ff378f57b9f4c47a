package fact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/fact"
)

func TestWhatIsToldOfAKeptFactIsNoLongerThanItsSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune{'a', 'ä', '"', '\n', 0x85, 0x2028, 0x2029, '😀'}))
		raw, _ := json.Marshal(text.Draw(t, "value"))
		value, err := fact.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		k := weir.ClientFact{Scope: "owner:max", Key: "a/b", Value: value, Text: text.Draw(t, "text")}
		f := fact.Kept(k)
		for _, v := range []json.RawMessage{value, json.RawMessage(`0`)} {
			baseline, _ := f.Baseline(v)
			update, _ := f.Update(nil, v)
			if words := len(" is now "); len(baseline) > k.Size()+words || len(update) > k.Size()+words {
				t.Fatalf("of size %d are told %q and %q", k.Size(), baseline, update)
			}
		}
	})
}

func TestAllThatClientsKeepFitsIntoABaselineBesideTheServersOwn(t *testing.T) {
	var kept []weir.ClientFact
	for _, scope := range []weir.ChangeScope{weir.OfOwner("max"), weir.OfConversation("c")} {
		left := weir.MaxClientFactsBytes
		for i := range weir.MaxClientFacts {
			k := weir.ClientFact{Scope: scope, Key: fmt.Sprintf("%.1s/%03d", scope, i), Value: json.RawMessage(`1`)}
			if i == weir.MaxClientFacts-1 {
				k.Text = strings.Repeat("x", left-k.Size())
			}
			left -= k.Size()
			kept = append(kept, k)
		}
		if left != 0 {
			t.Fatalf("%d bytes are left", left)
		}
	}
	own := func(key string, n int) fact.Fact {
		return constant(key, fact.Observed(strings.Repeat("x", n-len(`""`))))
	}
	s, err := compose(t, own("core/instructions", 48<<10), own("core/tools", fact.MaxFact), own("core/others", 8<<10)).With(fact.KeptOnes(kept)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Initialize(s.Observe(t.Context(), fact.Subject{})); err != nil {
		t.Error(err)
	}
}
