package model_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
)

func TestTheCostOfAStepIsExact(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		id   string
		u    weir.Usage
		want string
	}{
		{"anthropic/claude-opus-5-5", weir.Usage{Fresh: 2000, Read: 140_000, Write: 8000, Output: 1500}, "0.106"},
		{"anthropic/claude-fable-5-1", weir.Usage{Fresh: 1, Read: 1, Write: 1, Output: 1}, "0.00007275"},
		{"openai/gpt-6-luna", weir.Usage{Fresh: 1_000_000 / 4, Output: 10}, "0.025005"},
		// At the limit a request is not long; over it all of it is.
		{"openai/gpt-6.2-sol", weir.Usage{Fresh: 72_000, Read: 150_000, Write: 50_000, Output: 1}, "0.28401"},
		{"openai/gpt-6.2-sol", weir.Usage{Fresh: 72_001, Read: 150_000, Write: 50_000, Output: 1}, "0.568019"},
		{"google/gemini-4-neon", weir.Usage{Output: 1_000_000}, "15"},
		// A count whose price is not known makes the cost unknown, not smaller.
		{"mistral/mistral-medium-3.5", weir.Usage{Fresh: 10, Output: 10}, "0.00009"},
		{"mistral/mistral-medium-3.5", weir.Usage{Fresh: 10, Read: 1, Output: 10}, ""},
		{"deepseek/deepseek-flash", weir.Usage{Fresh: 10, Output: 10}, ""},
		{"anthropic/claude-opus-5-5", weir.Usage{}, ""},
	} {
		p, err := c.Profile(x.id)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Prices.Cost(x.u); got != x.want {
			t.Errorf("%s %+v: %q, want %q", x.id, x.u, got, x.want)
		}
	}
}

// Against fractions, with counts that no sum of them fits.
func TestNoCostIsRoundedOrOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Int64Range(1, 1_000_000_000_000)
		count := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, math.MaxInt64))
		p := model.Prices{Rates: model.Rates{
			Input: model.Price(price.Draw(t, "input")), Output: model.Price(price.Draw(t, "output")),
			CacheRead: model.Price(price.Draw(t, "read")), CacheWrite: model.Price(price.Draw(t, "write")),
		}}
		u := weir.Usage{Fresh: count.Draw(t, "fresh"), Read: count.Draw(t, "cached"), Write: count.Draw(t, "written"), Output: count.Draw(t, "out")}
		want := new(big.Rat)
		for count, price := range map[*int64]model.Price{&u.Fresh: p.Input, &u.Output: p.Output, &u.Read: p.CacheRead, &u.Write: p.CacheWrite} {
			want.Add(want, new(big.Rat).Mul(big.NewRat(*count, 1), big.NewRat(int64(price), 1_000_000_000_000)))
		}
		got, ok := new(big.Rat).SetString(p.Cost(u))
		if want.Sign() == 0 {
			return
		}
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%q, want %s", p.Cost(u), want.FloatString(20))
		}
	})
}

func TestAPriceIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := model.Price(rapid.Int64Range(0, 1_000_000_000_000).Draw(t, "price"))
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var number float64 // as TOML and any JSON reader in between have it
		if err := json.Unmarshal(raw, &number); err != nil {
			t.Fatal(err)
		}
		if raw, err = json.Marshal(number); err != nil {
			t.Fatal(err)
		}
		var back model.Price
		if err := json.Unmarshal(raw, &back); err != nil || back != p {
			t.Fatalf("%s became %s (%v)", p, back, err)
		}
	})
}

func TestWhatIsNoPriceIsRefused(t *testing.T) {
	for _, raw := range []string{"-1", "1e3", "1e999999999", `"3"`, "0.0000001", "1000001", "true", "[]"} {
		var p model.Price
		if err := json.Unmarshal([]byte(raw), &p); err == nil {
			t.Errorf("%s became %s", raw, p)
		}
	}
}
