package modelview_test

import (
	"weir"
	"weir/modelview"
)

// noDefect fails when a request does not extend the one before it for no
// reason that is allowed.
func noDefect(t interface{ Errorf(string, ...any) }, r *modelview.Request) {
	if r.Ledger.Reason == weir.BreakDefect {
		t.Errorf("a request shares %d of %d bytes with the one before, and nothing says why", r.Ledger.Shared, r.Ledger.PrefixBytes)
	}
}
