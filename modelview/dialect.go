package modelview

import (
	"strings"

	"weir"
	"weir/model"
)

// Texts that stand where a provider takes no emptiness. Part of every tag.
const (
	noAnswer     = "(no answer)"
	noOutput     = "(no output)"
	noText       = "(blank message)"
	continued    = "(continued)"
	interrupted  = "(interrupted)"
	errorOutput  = "(error) "
	unknownPart  = "(content of a kind that cannot be shown here)"
	fallbackTool = "tool"
	fallbackCall = "call"
)

// Class is what a fragment is within its section.
type Class uint8

// The classes. A checkpoint, a recall and a notice are Said: they stand on the
// user's side in transcript order.
const (
	Said   Class = iota
	Result       // of a tool call
	Told         // an update
	Answer       // an assistant message
)

// Form is how a record is to be rendered.
type Form struct {
	Mode   Mode
	Signed bool     // signed reasoning still stands behind the bytes it was signed for
	Calls  []string // the wire's ids: of an answer's calls in order, or of the one call of a result
	Name   string   // of the tool that the call of a result asked for
}

// Dialect renders records for one wire protocol. Its tag names the protocol
// and the version of what must never change while a conversation uses it: the
// shapes by which Class and Calls know fragments, how Section arranges and
// joins them, and the Mark. What Fragment, Head and Tail write may change under
// a tag, because what they wrote is stored.
type Dialect interface {
	// Tag is "<dialect>/<version>".
	Tag() string
	// Head renders everything before the messages, and the offset at which a
	// cache mark may be spliced in, -1 for none. It ends with "[" or, where a
	// message is part of it, with "}".
	Head(p model.Profile, mode Mode, e *weir.Epoch) ([]byte, int, error)
	// Tail renders everything after the last message.
	Tail(p model.Profile, o Options, head []byte, cacheKey string) string
	// Fragment renders what one record contributes, nil for nothing.
	Fragment(f Form, b weir.Body) []byte
	// Class tells what a fragment of a mode is.
	Class(mode Mode, fragment []byte) Class
	// Calls returns the ids of an Answer's calls in order, or of a Result's call.
	Calls(fragment []byte) []string
	// CallLimit is the longest id of a call in bytes.
	CallLimit() int
	// Section appends the wire messages of a section, results (in call order)
	// before what was said, and returns where in dst a cache mark may be
	// spliced in. Results and said together may be empty.
	Section(dst []byte, mode Mode, results, said, told [][]byte) ([]byte, int)
	// Mark is the text of a cache mark, "" where there are none.
	Mark() string
}

// sparing is a dialect that takes one cache mark more than the three ends that
// are always marked.
type sparing interface {
	// Spare returns where in a section it may be spliced in, -1 for nowhere.
	Spare(results, said, told [][]byte) int
}

// scrub reduces an id or a name to what every wire takes.
func scrub(s string, limit int, fallback string) string {
	clean := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	ok := len(s) > 0 && len(s) <= limit
	for i := 0; ok && i < len(s); i++ {
		ok = clean(s[i])
	}
	if ok {
		return s
	}
	b := []byte(s[:min(len(s), limit)])
	for i, c := range b {
		if !clean(c) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return fallback
	}
	return string(b)
}

// toolNameLimit is the longest name of a tool that every wire takes.
const toolNameLimit = 64

// texts are the texts of a user-side record that is not a result or an update,
// in order: a user message's notes, then its own text.
func texts(b weir.Body) []string {
	switch m := b.(type) {
	case *weir.UserMessage:
		all := make([]string, 0, len(m.References)+1)
		for i := range m.References {
			all = append(all, m.References[i].Note)
		}
		return append(all, m.Said())
	case *weir.RecallSnapshot:
		return []string{m.Text}
	case *weir.Checkpoint:
		return []string{m.Text}
	case *weir.Notice:
		return []string{m.Text}
	}
	return nil
}

// blocks renders such texts one by one, joined by commas: blank ones are left
// out, and where all of them are, that is said. Nil for other records.
func blocks(b weir.Body, appendBlock func(dst []byte, text string) []byte) []byte {
	var dst []byte
	all := texts(b)
	for _, text := range all {
		if blank(text) {
			continue
		}
		if dst != nil {
			dst = append(dst, ',')
		}
		dst = appendBlock(dst, unmarked(text))
	}
	if dst == nil && all != nil {
		dst = appendBlock(nil, noText)
	}
	return dst
}

// resultText is what a tool's result says.
func resultText(m *weir.ToolResult) string {
	if text := unmarked(m.Text); !blank(text) {
		return text
	}
	return noOutput
}

// updateText is what an update says.
func updateText(m *weir.Update) string {
	if blank(m.Text) {
		return noText
	}
	return m.Text
}

// visible are an answer's non-empty texts, the last one marked when it was
// interrupted. Texts between calls keep their place by part index.
func visible(m *weir.AssistantMessage) map[int]string {
	shown := make(map[int]string, len(m.Parts))
	last := -1
	for i, p := range m.Parts {
		switch p.Type {
		case weir.PartText:
			if !blank(p.Text) {
				shown[i], last = p.Text, i
			}
		case weir.PartReasoning, weir.PartToolCall:
		default:
			shown[i] = unknownPart
		}
	}
	if m.Interrupted && last >= 0 {
		shown[last] = strings.TrimRight(shown[last], " \t\r\n") + "\n\n" + interrupted
	}
	return shown
}
