package modelview_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"weir/store"
	"weir/test/race"
	"weir/test/stores"
)

func TestTheSameHoldsOnTheRealStores(t *testing.T) {
	worlds := 8 // the rules are tested on memory; here it is what a store gives back
	if race.Enabled {
		worlds = 3
	}
	stores.Each(t, func(t *testing.T, s store.Store) {
		n, failed := 0, false
		rapid.Check(t, func(t *rapid.T) {
			if n++; n > worlds && !failed {
				return
			}
			done := false
			defer func() { failed = failed || !done }()
			ps := newPeers()
			live(t, newStoreBackend(s), strconv.Itoa(n), ps.ask, ps.models)
			done = true
		})
	})
}
