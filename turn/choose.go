package turn

import "weir"

// choice is what a boundary promotes: messages, or one control, or nothing.
type choice struct {
	messages []weir.Input
	control  *weir.Input
}

func (c choice) empty() bool { return len(c.messages) == 0 && c.control == nil }

// isControl reports whether inputs of a kind are barriers among the others.
func isControl(k weir.InputKind) bool { return k == weir.InputRetry || k == weir.InputEpoch }

// choose says what is due of the pending inputs, which come in their order.
//
//   - A conversation that must go on because tools were called takes all
//     steers; queued inputs and controls wait.
//   - One that would go idle, or is idle, takes all steers; with none, exactly
//     one queued input; with none, the control that is next.
//   - Nothing passes a control that came before it.
//
// Notices are promoted like steers.
func choose(pending []weir.Input, mustGoOn bool) choice {
	before := pending
	var control *weir.Input
	for i := range pending {
		if isControl(pending[i].Kind) {
			before, control = pending[:i], &pending[i]
			break
		}
	}
	var ch choice
	for _, in := range before {
		if in.Delivery != weir.Queue || in.Kind == weir.InputNotice {
			ch.messages = append(ch.messages, in)
		}
	}
	switch {
	case len(ch.messages) > 0 || mustGoOn:
	case len(before) > 0:
		ch.messages = before[:1]
	default:
		ch.control = control
	}
	return ch
}
