package lifecycle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"weir"
	"weir/gate"
)

// Limits of what is set on a conversation, in characters.
const (
	MaxTitle     = 500
	MaxCategory  = 120
	MaxWorkspace = 4096
	MaxAgent     = 120
)

func checkTitle(s string) error {
	if strings.TrimSpace(s) == "" || !text(s, MaxTitle) {
		return weir.Fault(weir.Invalid, "title_invalid",
			"A title is text of 1 to %d characters without NUL.", MaxTitle)
	}
	return nil
}

// CheckVisibility says what a conversation may not be set to.
func CheckVisibility(v weir.Visibility) error {
	if v.Level != weir.Open && v.Level != weir.Isolated {
		return weir.Fault(weir.Invalid, "visibility_invalid", "The level of a conversation is open or isolated.")
	}
	if v.Category == "" {
		return nil
	}
	if !line(v.Category, MaxCategory) || strings.TrimSpace(v.Category) != v.Category || !tellable(v.Category) {
		return weir.Fault(weir.Invalid, "visibility_invalid",
			"A category is one line of 1 to %d visible characters, composed (Unicode NFC), without spaces around it.", MaxCategory)
	}
	return nil
}

func checkWorkspace(s string) error {
	if !text(s, MaxWorkspace) {
		return weir.Fault(weir.Invalid, "workspace_invalid",
			"A workspace is text of at most %d characters without NUL.", MaxWorkspace)
	}
	return nil
}

func checkAgent(s string) error {
	if !line(s, MaxAgent) {
		return weir.Fault(weir.Invalid, "agent_invalid", "An agent's name is one line of at most %d characters.", MaxAgent)
	}
	return nil
}

func (s *Service) checkModel(id string) error {
	if id == "" || s.cfg.KnowsModel == nil && line(id, weir.MaxIDBytes) || s.cfg.KnowsModel != nil && s.cfg.KnowsModel(id) {
		return nil
	}
	return weir.Fault(weir.Unprocessable, "model_unknown",
		"No such model is configured. A model is PROVIDER/NAME, with a provider of weir.toml; the list of models says which there are.")
}

// tellable reports whether a person can tell s from every other label that
// looks the same: nothing in it is invisible, and it is spelt in one way only.
func tellable(s string) bool {
	return norm.NFC.IsNormalString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
	})
}

// text reports whether s may be stored: valid, bounded, without NUL, which
// PostgreSQL cannot hold.
func text(s string, limit int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit && !strings.ContainsRune(s, 0)
}

// line reports whether s is also a single line without control characters.
func line(s string, limit int) bool {
	return text(s, limit) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
}

// name is what a conversation is called in a sentence that a person reads.
func name(c *weir.Conversation) string {
	if strings.TrimSpace(c.Title) == "" {
		return "the untitled conversation " + gate.Named(string(c.ID))
	}
	return gate.Named(c.Title)
}
