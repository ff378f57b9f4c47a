package strict

import "fmt"

// The rules of a Responses history. The vendor pairs calls and outputs wherever
// they stand; others that speak this API want them next to each other, and so
// does this.

// pairing is what is known on the way through the items.
type pairing struct {
	calls    map[string]bool // every call so far: answered
	open     []string        // those not answered yet, in order
	outputs  bool            // the first of them has been answered
	thought  *Item           // the newest reasoning of this answer
	thinking bool            // it was the item before
	ids      map[string]bool
}

func (c *responsesChecker) history(q *Responses, _ *Value) *Refusal {
	s := &pairing{calls: map[string]bool{}, ids: map[string]bool{}}
	for i := range q.Items {
		m := &q.Items[i]
		if r := s.unique(m); r != nil {
			return r
		}
		if r := s.follow(m, c.needs); r != nil {
			return r
		}
		if r := s.pair(m, i); r != nil {
			return r
		}
	}
	switch {
	case s.thinking:
		return s.alone()
	case len(s.open) > 0:
		return noOutput(s.open[0])
	case q.Items[len(q.Items)-1].Answers():
		return fault("", "input", "Assistant response prefill is not supported. The conversation must end with a user message.")
	}
	return nil
}

func (s *pairing) unique(m *Item) *Refusal {
	if m.ID == "" {
		return nil
	}
	if s.ids[m.ID] {
		return fault("", "input", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", m.ID)
	}
	s.ids[m.ID] = true
	return nil
}

// follow checks that reasoning and what was made after it are together.
func (s *pairing) follow(m *Item, needs func(string) string) *Refusal {
	if s.thinking && (!m.Answers() || m.ID == "") {
		return s.alone()
	}
	s.thinking = false
	switch {
	case !m.Answers():
		s.thought = nil
	case m.Type == "reasoning":
		s.thought, s.thinking = m, true
	case m.ID != "":
		if rs := needs(m.ID); rs != "" && (s.thought == nil || s.thought.ID != rs) {
			return fault("", "input", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", m.ID, m.Type, rs)
		}
	}
	return nil
}

func (s *pairing) alone() *Refusal {
	return fault("", "input", "Item '%s' of type 'reasoning' was provided without its required following item.", s.thought.ID)
}

func noOutput(call string) *Refusal {
	return fault("", "input", "No tool output found for function call %s.", call)
}

func (s *pairing) pair(m *Item, i int) *Refusal {
	if m.Type == "function_call_output" {
		answered, known := s.calls[m.Call]
		if !known || answered {
			return fault("", "input", "No tool call found for function call output with call_id %s.", m.Call)
		}
		s.calls[m.Call], s.outputs = true, true
		for len(s.open) > 0 && s.calls[s.open[0]] {
			s.open = s.open[1:]
		}
		return nil
	}
	if len(s.open) > 0 && (s.outputs || !m.Answers()) {
		return noOutput(s.open[0])
	}
	s.outputs = false
	if m.Type != "function_call" {
		return nil
	}
	if _, known := s.calls[m.Call]; known {
		return fault("", fmt.Sprintf("input[%d].call_id", i), "Duplicate value for 'call_id' of '%s'", m.Call)
	}
	s.calls[m.Call] = false
	s.open = append(s.open, m.Call)
	return nil
}
