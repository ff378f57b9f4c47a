package wire

import (
	"bytes"
	"regexp"
	"strconv"

	"weir/model"
)

// phrases are a vendor's words for what it does not take, in lower case.
type phrases struct {
	objection model.Objection
	words     []string
}

// objections are those of provider-facts.md (1.1, 1.4, 2.3, 2.6, 3); the first
// that is found counts.
func objections() []phrases {
	return []phrases{
		{model.ObjectsReasoning, []string{
			"invalid `signature` in `thinking`", "invalid signature in thinking", "block is bound to a different",
			"invalid `data` in `redacted_thinking`",
			"blocks in the latest assistant message cannot be modified",
			"without its required 'reasoning' item", "without its required following item",
			"invalid_encrypted_content", "encrypted content",
			"thought signature is not valid", "thought signature is invalid", "corrupted thought signature", "invalid thought_signature",
		}},
		{model.ObjectsBareCalls, []string{
			"missing a thought_signature", "missing thought_signature", "missing_thought_signature",
			"reasoning_content in the thinking mode must be passed back", "reasoning_content` in the thinking mode must be passed back",
		}},
		{model.ObjectsRoles, []string{"roles must alternate", "must alternate user", "cannot have 2 or more assistant messages"}},
		{model.ObjectsSystem, []string{
			"role 'system' is not supported on this model",
			"system message must be at the beginning", "system message must be the first", "system messages must be at the beginning",
			"only user and assistant roles are supported", "only user, assistant and tool roles are supported",
			"unexpected message role", "unknown variant `developer`", "unexpected role 'developer'", "'developer' is not one of", "role 'developer' is not supported",
		}},
	}
}

// objection finds in a vendor's words to what in a request it objects; what
// they do not name is left alone. Many servers repeat in their words what they
// were sent, so it is also said whether these may be the request's own.
func objection(f model.Failure, message string, sent []byte) (o model.Objection, own bool) {
	if f != model.FailRefused {
		return "", false
	}
	for _, p := range objections() {
		for _, words := range p.words {
			if Contains(message, words) {
				return p.objection, says(sent, words)
			}
		}
	}
	return "", false
}

// escaped is a printable character as JSON may spell it, in strings in strings.
var escaped = regexp.MustCompile(`\\+u00([2-7][0-9a-f])`)

// says reports whether words stand in a request, in any case and spelling.
func says(sent []byte, words string) bool {
	plain := escaped.ReplaceAllFunc(bytes.ToLower(sent), func(e []byte) []byte {
		c, _ := strconv.ParseUint(string(e[len(e)-2:]), 16, 8)
		return []byte{byte(c)}
	})
	return bytes.Contains(bytes.ToLower(plain), []byte(words))
}
