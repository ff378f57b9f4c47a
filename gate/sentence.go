package gate

import (
	"strings"

	"weir"
)

// sentence composes the one sentence that a person is asked about a crossing.
// Everything in it is theirs: the titles and categories of their own
// conversations.
func sentence(p *passage, to *weir.Conversation) string {
	what := "this message"
	if p.Type == weir.Pointer {
		what = "the title and address of this conversation"
	}
	var because []string
	for _, r := range p.reasons {
		switch r {
		case weir.ReasonIsolation:
			because = append(because, isolationWords(p))
		case weir.ReasonCategory:
			because = append(because, categoryWords(p.from, p.to))
		}
	}
	return "Let " + what + " go to " + targetWords(to) + ", although " + strings.Join(because, ", and ") + "?"
}

func targetWords(to *weir.Conversation) string {
	if strings.TrimSpace(to.Title) == "" {
		return "the untitled conversation " + Named(string(to.ID))
	}
	return Named(to.Title)
}

func isolationWords(p *passage) string {
	if p.source.Visibility.Level == weir.Isolated {
		return "its source is isolated and the target is outside that wall"
	}
	return "its source is part of an isolated conversation and the target is outside that wall"
}

func categoryWords(from, to weir.Scope) string {
	if to.Category == "" {
		return "its source is kept to the category " + Named(from.Category) + " and the target has none"
	}
	return "its source is kept to the category " + Named(from.Category) + " and the target is in " + Named(to.Category)
}
