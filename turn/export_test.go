package turn

import "weir"

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

// Reordered is reordered, for tests.
func Reordered(pending []weir.Input, id, before weir.InputID) ([]weir.InputID, error) {
	return reordered(pending, id, before)
}
