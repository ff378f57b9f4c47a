package mention

import "weir"

// Address is what a reference URI names: a conversation, or a message of one.
// Pointer is meant for conversations only.
type Address struct {
	Conversation weir.ConversationID
	Message      weir.MessageID
	Pointer      bool
}

// Encode spells an address.
func Encode(a Address) string { panic("not yet") }

// Decode reads a URI.
func Decode(uri string) (Address, error) { panic("not yet") }
