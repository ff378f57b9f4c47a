package modelview

import "weir/model"

const (
	chatGap   = `\n\n` // as it stands in a JSON string
	chatBreak = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	// chatSilence is what the model said to results before a user message,
	// where a template wants it to have answered.
	chatSilence = `,{"role":"assistant","content":"` + noAnswer + `"}`
)

// Section puts tool messages before user messages before updates. Where there
// are none of the latter in mid-conversation, all texts are one user message.
func (openAIChat) Section(dst []byte, mode Mode, results, said, told [][]byte) ([]byte, int) {
	if len(results)+len(said) == 0 {
		said = [][]byte{chatSaid(mode, []string{continued})}
	}
	for i, r := range results {
		dst = append(append(dst, separator(i, "")...), r...)
	}
	if mode.Mid != model.MidNone {
		for i, s := range said {
			dst = append(append(dst, separator(i+len(results), "")...), s...)
		}
		dst = chatBreakpoint(dst, mode)
		for _, t := range told {
			dst = append(append(dst, ','), t...)
		}
		return dst, -1
	}
	if len(said) == 0 {
		for _, t := range told {
			if mode.Parts && mode.Breakpoints {
				dst = chatMerge(dst, mode, t)
			} else {
				dst = chatAppend(dst, mode, t)
			}
		}
		return chatBreakpoint(dst, mode), -1
	}
	if mode.Alternate && len(results) > 0 {
		dst = append(dst, chatSilence...)
	}
	dst = append(append(dst, separator(len(results), "")...), said[0]...)
	for _, s := range said[1:] {
		dst = chatMerge(dst, mode, s)
	}
	for _, t := range told {
		dst = chatMerge(dst, mode, t)
	}
	return chatBreakpoint(dst, mode), -1
}

// chatOpening is how a user message begins, up to its first text.
func chatOpening(mode Mode) string {
	if mode.Parts {
		return chatUser + "[" + chatText + `"`
	}
	return chatUser + `"`
}

// chatClosing is how a message ends behind its last text.
func chatClosing(mode Mode) string {
	if mode.Parts {
		return `"}]}`
	}
	return `"}`
}

// chatMerge puts what a user message says at the end of the message before,
// whose content is of the same kind.
func chatMerge(dst []byte, mode Mode, user []byte) []byte {
	if !mode.Parts {
		return chatAppend(dst, mode, user)
	}
	dst = append(dst[:len(dst)-len(`]}`)], ',')
	return append(dst, user[len(chatUser+"["):]...)
}

// chatAppend puts the one text of a user message at the end of the last
// message, whose content is a text.
func chatAppend(dst []byte, mode Mode, user []byte) []byte {
	text := user[len(chatOpening(mode)) : len(user)-len(chatClosing(mode))]
	dst = append(dst[:len(dst)-len(`"}`)], chatGap...)
	return append(append(dst, text...), `"}`...)
}

// chatBreakpoint marks the last text of a section's user message, or of its
// last result, where the endpoint takes that. Nothing that was cached is read
// but up to a breakpoint of the request that reads (provider-facts.md, 2.4), so
// every section has one, and it stays for good.
func chatBreakpoint(dst []byte, mode Mode) []byte {
	if !mode.Parts || !mode.Breakpoints {
		return dst
	}
	return append(append(dst[:len(dst)-len(`}]}`)], chatBreak...), `}]}`...)
}
