package strict

// history checks what may follow what.
func (c *geminiChecker) history(q *GeminiRequest) *Refusal {
	for i := range q.Contents {
		g := &q.Contents[i]
		if i > 0 && g.Role == q.Contents[i-1].Role {
			if g.Role == "model" && len(g.calls("functionCall")) > 0 {
				return argument("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
			}
			return argument("Please ensure that multiturn requests alternate between user and model.")
		}
		if g.Role == "model" {
			if r := c.answer(q, i); r != nil {
				return r
			}
			continue
		}
		var before *GeminiContent
		if i > 0 {
			before = &q.Contents[i-1]
		}
		if r := c.responses(g, before, root("contents").at(i)); r != nil {
			return r
		}
	}
	if q.Contents[len(q.Contents)-1].Role != "user" {
		return argument("Please ensure that multiturn requests end with a user role or a function response.")
	}
	return nil
}

// answer checks a content of the model's.
func (c *geminiChecker) answer(q *GeminiRequest, i int) *Refusal {
	g := &q.Contents[i]
	switch {
	case len(g.calls("functionResponse")) > 0:
		return argument("Please ensure that function response turn comes immediately after a function call turn.")
	case i == 0 && len(g.calls("functionCall")) > 0:
		return argument("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	case i == 0:
		return argument("Please ensure that multiturn requests begin with a user role.")
	}
	return nil
}

// responses checks that a user's content answers the calls of the content
// before: as many, at its beginning, of the same names and, where they have
// them, ids.
func (c *geminiChecker) responses(g, before *GeminiContent, p *place) *Refusal {
	var calls []int
	if before != nil {
		calls = before.calls("functionCall")
	}
	answers := g.calls("functionResponse")
	switch {
	case len(g.calls("functionCall")) > 0:
		return argument("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	case len(answers) > 0 && len(calls) == 0:
		return argument("Please ensure that function response turn comes immediately after a function call turn.")
	case len(answers) != len(calls):
		return argument("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	for i, j := range answers {
		if i != j {
			return field(p.in("parts").at(i), "function response parts must come before other parts of a function response turn.")
		}
		call, answer := before.Parts[calls[i]].Call(), g.Parts[j].Call()
		for _, member := range []string{"name", "id"} {
			if answer.Get(member).Text(c.body) != call.Get(member).Text(c.body) {
				return field(p.in("parts").at(j).in("functionResponse").in(member), "the function response does not match its function call, %q.", call.Get(member).Text(c.body))
			}
		}
	}
	return nil
}

// calls returns the places of the parts that hold a kind of data.
func (g *GeminiContent) calls(data string) []int {
	var at []int
	for i := range g.Parts {
		if g.Parts[i].Data == data {
			at = append(at, i)
		}
	}
	return at
}

// Turn returns the index of the content with which the current turn begins:
// the last of the user's that answers no call.
func (q *GeminiRequest) Turn() int {
	for i := len(q.Contents) - 1; i > 0; i-- {
		g := &q.Contents[i]
		if g.Role == "user" && len(g.calls("functionResponse")) == 0 {
			return i
		}
	}
	return 0
}

// signatures checks that in the current turn the first call of every answer
// has one.
func (c *geminiChecker) signatures(q *GeminiRequest) *Refusal {
	if c.rules.Old {
		return nil
	}
	for i := q.Turn(); i < len(q.Contents); i++ {
		calls := q.Contents[i].calls("functionCall")
		if len(calls) == 0 {
			continue
		}
		if first := &q.Contents[i].Parts[calls[0]]; first.Signature == "" {
			return argument("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "+
				"and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. "+
				"Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", first.Call().Get("name").Text(c.body), i+1)
		}
	}
	return nil
}
