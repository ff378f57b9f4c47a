package transcript_test

import (
	"testing"

	"weir"
	"weir/transcript"
)

func TestWhatBelongsToAMessageStaysWithIt(t *testing.T) {
	calls := func(ids ...string) *weir.AssistantMessage {
		m := &weir.AssistantMessage{Step: "s1"}
		for _, id := range ids {
			m.Parts = append(m.Parts, weir.Part{Type: weir.PartToolCall, Call: id})
		}
		return m
	}
	user, step, end := &weir.UserMessage{}, &weir.StepStart{Step: "s1"}, &weir.StepEnd{Step: "s1"}
	result := func(id string) *weir.ToolResult { return &weir.ToolResult{Call: id} }
	for _, c := range []struct {
		name string
		log  []weir.Body // the cut is after the first
		cut  weir.Seq    // 0: refused
	}{
		{"a user message", []weir.Body{user, step, calls()}, 1},
		{"a user message and its recall", []weir.Body{user, &weir.RecallSnapshot{}, step}, 2},
		{"a user message and its updates", []weir.Body{user, &weir.Update{}, &weir.Update{}, step, &weir.Update{}}, 3},
		{"an update after a title", []weir.Body{user, &weir.Retitled{}, &weir.Update{}, step}, 3},
		{"a title alone", []weir.Body{user, &weir.Retitled{}, user, &weir.Update{}}, 1},
		{"a user message at the end", []weir.Body{user}, 1},
		{"an answer", []weir.Body{calls(), user}, 1},
		{"an answer and its step's end", []weir.Body{calls(), end, user}, 2},
		{"an answer, not another step's end", []weir.Body{calls(), &weir.StepEnd{Step: "s2"}, user}, 1},
		{"calls and results in any order", []weir.Body{calls("a", "b"), result("b"), &weir.Approval{}, result("a"), end, user}, 5},
		{"a call without its result", []weir.Body{calls("a", "b"), result("b"), end, user, result("a")}, 0},
		{"a call at the end of the log", []weir.Body{calls("a")}, 0},
		{"a result", []weir.Body{result("a")}, 0},
		{"a notice", []weir.Body{&weir.Notice{}}, 0},
		{"a checkpoint", []weir.Body{&weir.Checkpoint{}}, 0},
		{"a title", []weir.Body{&weir.Retitled{}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l log
			for _, b := range c.log {
				l.add(b)
			}
			cut, err := transcript.CutAfter(&l[0], l[1:])
			if cut != c.cut || (c.cut == 0) != (weir.CodeOf(err) == "cut_invalid") {
				t.Errorf("cut after %d, %v; want %d", cut, err, c.cut)
			}
		})
	}
}

func TestWhatMayBeQuoted(t *testing.T) {
	person := &weir.UserMessage{Text: "@[x](weir:ImEi)", Shown: "@x", References: []weir.Frozen{{Text: "not mine"}}}
	answer := &weir.AssistantMessage{Interrupted: true, Parts: []weir.Part{
		{Type: weir.PartReasoning, Text: "hm"}, {Type: weir.PartText, Text: "yes"},
		{Type: weir.PartToolCall, Call: "c", Name: "ls"}, {Type: weir.PartText, Text: "no"}}}
	silent := &weir.AssistantMessage{Parts: answer.Parts[2:3]}
	for _, c := range []struct {
		name string
		body weir.Body
		in   weir.Kind
		role string // "": not quotable
		text string
	}{
		{"a person's own text", person, weir.Chat, "user", "@x"},
		{"in a branch", person, weir.Branch, "user", "@x"},
		{"visible text", answer, weir.Chat, "assistant", "yes\n\nno"},
		{"in main", person, weir.Main, "", ""},
		{"in a task", answer, weir.Task, "", ""},
		{"in an unknown kind", answer, "", "", ""},
		{"only calls", silent, weir.Chat, "", ""},
		{"an empty text", &weir.UserMessage{}, weir.Chat, "", ""},
		{"typed by nobody", &weir.UserMessage{Text: "<command-name>", Synthetic: true}, weir.Chat, "", ""},
		{"a notice", &weir.Notice{Text: "x"}, weir.Chat, "", ""},
		{"a result", &weir.ToolResult{Text: "x"}, weir.Chat, "", ""},
		{"an update", &weir.Update{Text: "x"}, weir.Chat, "", ""},
		{"a recall", &weir.RecallSnapshot{Text: "x"}, weir.Chat, "", ""},
		{"a checkpoint", &weir.Checkpoint{Text: "x"}, weir.Chat, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := weir.Record{Seq: 1, Body: c.body}
			role, text, ok := transcript.Quotable(&r, c.in, nil)
			if role != c.role || text != c.text || ok != (c.role != "") {
				t.Errorf("%q %q %v", role, text, ok)
			}
			if c.role == "" {
				return
			}
			var l log
			l.add(c.body)
			rewind := l.rewind(1)
			if _, _, ok := transcript.Quotable(&r, c.in, transcript.Fold(l)); ok {
				t.Error("quotable although rewound")
			}
			l.undo(rewind)
			l.checkpoint("g", 0, 0)
			if _, _, ok := transcript.Quotable(&r, c.in, transcript.Fold(l)); !ok {
				t.Error("not quotable in an older generation")
			}
		})
	}
}
