package modelview

import (
	"strconv"
	"strings"

	"weir"
	"weir/model"
)

// Mode is what of a model's profile decides how records are rendered and
// sections are arranged. It is part of every lowering's key, so that bytes of
// one mode never stand in a request of another.
type Mode struct {
	Mid         model.MidSystem
	Alternate   bool            // user and assistant messages alternate strictly
	Parts       bool            // a user message's content is a list of parts
	Breakpoints bool            // sections carry cache breakpoints, for good
	Reasoning   model.Reasoning // what stands in for reasoning that is left out
	// Unsigned is up to where signed reasoning goes no more, because the model
	// has refused it; 0 for none. It only tells the key: signed reasoning stands
	// in the lowering that it was answered in, and in no other.
	Unsigned weir.Seq
}

func modeOf(p model.Profile) Mode {
	m := Mode{
		Mid: p.MidSystem, Alternate: p.RolesAlternate, Parts: p.ContentParts,
		Breakpoints: p.CacheStyle == model.CacheBreakpoints, Reasoning: p.ReasoningRequired,
	}
	if m.Mid == "" {
		m.Mid = model.MidNone
	}
	return m
}

// The words of a mode's spelling, in the order in which they are written.
const (
	wordAlternate   = "alternate"
	wordParts       = "parts"
	wordBreakpoints = "breakpoints"
	wordReasoning   = "reasoning-"
	wordUnsigned    = "unsigned-"
)

// String spells a mode as keys do: mid_system, then a word for each trait.
func (m Mode) String() string {
	words := []string{string(m.Mid)}
	if m.Alternate {
		words = append(words, wordAlternate)
	}
	if m.Parts {
		words = append(words, wordParts)
	}
	if m.Breakpoints {
		words = append(words, wordBreakpoints)
	}
	if m.Reasoning != model.ReasoningFree {
		words = append(words, wordReasoning+string(m.Reasoning))
	}
	if m.Unsigned > 0 {
		words = append(words, wordUnsigned+strconv.FormatInt(int64(m.Unsigned), 10))
	}
	return strings.Join(words, ".")
}

// parseMode reads what String wrote. A word that is not known, of a newer
// version, makes the mode unknown.
func parseMode(s string) (Mode, bool) {
	words := strings.Split(s, ".")
	m := Mode{Mid: model.MidSystem(words[0])}
	for _, w := range words[1:] {
		reasoning, found := strings.CutPrefix(w, wordReasoning)
		upto, unsigned := strings.CutPrefix(w, wordUnsigned)
		switch {
		case w == wordAlternate:
			m.Alternate = true
		case w == wordParts:
			m.Parts = true
		case w == wordBreakpoints:
			m.Breakpoints = true
		case found:
			m.Reasoning = model.Reasoning(reasoning)
		case unsigned:
			n, err := strconv.ParseInt(upto, 10, 64)
			if err != nil || n <= 0 {
				return Mode{}, false
			}
			m.Unsigned = weir.Seq(n)
		default:
			return Mode{}, false
		}
	}
	return m, true
}
