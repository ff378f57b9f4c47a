package wire

import (
	"testing"

	"weir/model"
)

func TestAnObjectionIsFoundInTheVendorsWords(t *testing.T) {
	for words, want := range map[string]model.Objection{
		"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.": model.ObjectsReasoning,
		"Invalid `signature` in `thinking` block":     model.ObjectsReasoning,
		"Invalid `data` in `redacted_thinking` block": model.ObjectsReasoning,
		"The `thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were.": model.ObjectsReasoning,
		"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.":                  model.ObjectsReasoning,
		"Item 'rs_1' of type 'reasoning' was provided without its required following item.":                                model.ObjectsReasoning,
		"The encrypted content for item rs_1 could not be verified.":                                                       model.ObjectsReasoning,
		"Thought signature is not valid.":                                              model.ObjectsReasoning,
		"Function call is missing a thought_signature in functionCall parts.":          model.ObjectsBareCalls,
		"MISSING_THOUGHT_SIGNATURE":                                                    model.ObjectsBareCalls,
		"The `reasoning_content` in the thinking mode must be passed back to the API.": model.ObjectsBareCalls,
		"The reasoning_content in the thinking mode must be passed back to the API.":   model.ObjectsBareCalls,
		"role 'system' is not supported on this model":                                 model.ObjectsSystem,
		"Jinja Exception: System message must be at the beginning.":                    model.ObjectsSystem,
		"qwen3.8: system message must be at the beginning":                             model.ObjectsSystem,
		"Jinja Exception: Unexpected message role.":                                    model.ObjectsSystem,
		"Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`": model.ObjectsSystem,
		"Conversation roles must alternate user/assistant/user/assistant/...":                                                                       model.ObjectsRoles,
		"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls.":                      model.ObjectsRoles,
		"Expected `thinking` or `redacted_thinking`, but found `tool_use`. When thinking is enabled, a final assistant message must":                "",
		"messages.3: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result":                           "",
		"messages.0: use the top-level 'system' parameter for the initial system prompt":                                                            "",
		"messages: at least one message is required":                                                                                                "",
	} {
		if got, own := objection(model.FailRefused, words, []byte(`{"messages":[]}`)); got != want || own {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
		if got, _ := objection(model.FailOverload, words, nil); got != "" {
			t.Errorf("%q amid an overload: %q", words, got)
		}
	}
}

func TestAnObjectionInTheRequestsOwnWordsIsKnown(t *testing.T) {
	const echo = `[{'type': 'list_type', 'loc': ('body', 'messages', 1), 'input': 'Roles must alternate'}]`
	for sent, want := range map[string]bool{
		`{"messages":[{"role":"user","content":"say: roles MUST alternate"}]}`:  true,
		`{"messages":[{"input":{"a":"\u0072oles\u0020must \u0061lternate"}}]}`:  true,
		`{"messages":[{"arguments":"{\"a\":\"\\u0052oles must alternate\"}"}]}`: true,
		`{"messages":[{"role":"user","content":"roles may alternate"}]}`:        false,
	} {
		if o, own := objection(model.FailRefused, echo, []byte(sent)); o != model.ObjectsRoles || own != want {
			t.Errorf("%s: %q, %v", sent, o, own)
		}
	}
}
