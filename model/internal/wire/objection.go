package wire

import "weir/model"

// objection finds in a vendor's words to what in a request it objects. The
// phrases are those of provider-facts.md (1.1, 1.4, 2.3, 2.6, 3), in any case;
// what they do not name is left alone.
func objection(f model.Failure, message string) model.Objection {
	if f != model.FailRefused {
		return ""
	}
	switch {
	case Contains(message,
		"invalid `signature` in `thinking`", "invalid signature in thinking", "block is bound to a different",
		"invalid `data` in `redacted_thinking`",
		"blocks in the latest assistant message cannot be modified",
		"without its required 'reasoning' item", "without its required following item",
		"invalid_encrypted_content", "encrypted content",
		"thought signature is not valid", "thought signature is invalid", "corrupted thought signature", "invalid thought_signature"):
		return model.ObjectsReasoning
	case Contains(message,
		"missing a thought_signature", "missing thought_signature", "missing_thought_signature",
		"reasoning_content in the thinking mode must be passed back", "reasoning_content` in the thinking mode must be passed back"):
		return model.ObjectsBareCalls
	case Contains(message, "roles must alternate", "must alternate user", "cannot have 2 or more assistant messages"):
		return model.ObjectsRoles
	case Contains(message,
		"role 'system' is not supported on this model",
		"system message must be at the beginning", "system message must be the first", "system messages must be at the beginning",
		"only user and assistant roles are supported", "only user, assistant and tool roles are supported",
		"unexpected message role", "unknown variant `developer`", "unexpected role 'developer'", "'developer' is not one of", "role 'developer' is not supported"):
		return model.ObjectsSystem
	}
	return ""
}
