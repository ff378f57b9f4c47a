package turn

import (
	"time"

	"weir"
)

// Shorten makes leases and sweeps quick, for tests that have to wait for a
// real database's clock.
func (e *Engine) Shorten(lease time.Duration) {
	e.times = times{lease: lease, renew: lease / 3, sweep: lease / 6}
}

// Slots returns how many conversations the engine keeps something of.
func (e *Engine) Slots() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.slots)
}

// TitleOf is titleOf, for tests.
func TitleOf(text string) string { return titleOf(text) }

// Choose is choose, for tests.
func Choose(pending []weir.Input, mustGoOn bool) (messages []weir.Input, control *weir.Input) {
	ch := choose(pending, mustGoOn)
	return ch.messages, ch.control
}
