package transcript

import "weir"

// CutAfter returns the seq after which a log may be cut so that at is its last
// message: at itself and everything that belongs to it. To a user message
// belong its recall and the updates directly after it, to an assistant message
// its tool results and the end of its step. So no cut leaves a call without
// its result.
//
// Following holds the records after at in order, at least up to the next user
// or assistant message; hidden kinds may be left out. Whether at is visible is
// the caller's to ask. The error has code cut_invalid.
func CutAfter(at *weir.Record, following []weir.Record) (weir.Seq, error) {
	switch b := at.Body.(type) {
	case *weir.UserMessage:
		return cutAfterUser(at.Seq, following), nil
	case *weir.AssistantMessage:
		return cutAfterAssistant(at.Seq, b, following)
	}
	return 0, weir.Fault(weir.Unprocessable, "cut_invalid",
		"Only a message of yours or of the assistant can be the last one; choose one of those.")
}

func cutAfterUser(cut weir.Seq, following []weir.Record) weir.Seq {
	for i := range following {
		r := &following[i]
		switch k := r.Kind(); {
		case k == weir.KindRecall || k == weir.KindSystem:
			cut = r.Seq
		case k == weir.KindStep || k.IsMessage():
			return cut // the answer begins
		}
	}
	return cut
}

func cutAfterAssistant(cut weir.Seq, m *weir.AssistantMessage, following []weir.Record) (weir.Seq, error) {
	open := map[string]bool{}
	for _, c := range m.Calls() {
		open[c.Call] = true
	}
scan:
	for i := range following {
		switch b := following[i].Body.(type) {
		case *weir.ToolResult:
			delete(open, b.Call)
			cut = following[i].Seq
		case *weir.StepEnd:
			if b.Step == m.Step && m.Step != "" {
				cut = following[i].Seq
			}
		default:
			if k := b.Kind(); k == weir.KindStep || k.IsMessage() {
				break scan
			}
		}
	}
	if len(open) > 0 {
		return 0, weir.Fault(weir.Unprocessable, "cut_invalid",
			"A tool that this message called has no result yet; wait for it or interrupt it first.")
	}
	return cut, nil
}
