package cli

import (
	"testing"

	"weir"
	"weir/client"
)

func TestAStepIsToldInWords(t *testing.T) {
	ledger := func(shared, prefix int64, why weir.BreakReason) *weir.Ledger {
		return &weir.Ledger{SHA256: "d", Shared: shared, PrefixBytes: prefix, Reason: why}
	}
	for want, got := range map[string]string{
		"not sent":               prefixInWords(&weir.Ledger{}),
		"1,234 bytes: the first": prefixInWords(ledger(0, 1234, weir.BreakFirst)),
		"1,000 of 4,000 bytes (25 %) as before: extends it": prefixInWords(ledger(1000, 4000, "")),
		"0 of 10 bytes (0 %) as before: a new epoch":        prefixInWords(ledger(0, 10, weir.BreakTools)),
		"failed: provider_refused_request":                  outcomeInWords(&client.Step{State: weir.StepFailed, Code: "provider_refused_request"}),
		"done":                                              outcomeInWords(&client.Step{State: weir.StepDone}),
		"":                                                  tokensInWords(nil),
		"7 tokens out":                                      tokensInWords(&weir.Usage{Output: 7}),
		"1,000,000 tokens in (75 % from the cache, 50,000 written to it), 12 out": tokensInWords(&weir.Usage{Fresh: 200_000, Read: 750_000, Write: 50_000, Output: 12}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	said := map[string]bool{}
	for _, r := range weir.BreakReasons() {
		words := prefixInWords(ledger(1, 2, r))
		if said[words] || words == string(r) {
			t.Errorf("%s is told as %q", r, words)
		}
		said[words] = true
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
