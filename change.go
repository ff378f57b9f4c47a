package weir

import (
	"encoding/json"
	"time"
)

// ChangeScope says whom an entry of the change journal concerns.
type ChangeScope string

// OfConversation is the scope of what changes for one conversation.
func OfConversation(c ConversationID) ChangeScope { return ChangeScope("conversation:" + c) }

// OfOwner is the scope of what changes for all of an owner's conversations.
func OfOwner(o OwnerID) ChangeScope { return ChangeScope("owner:" + o) }

// OfWorkspace is the scope of what changes for all conversations that work there.
func OfWorkspace(path string) ChangeScope { return ChangeScope("workspace:" + path) }

// Change is an entry of the change journal: a value that a fact took, or its
// removal. Entries are appended and never edited.
type Change struct {
	Seq     int64 // order of noticing, from the store; grows in the order of commits
	Scope   ChangeScope
	Fact    string
	Value   json.RawMessage // none: removed
	At      time.Time       // when it happened: the source's own time where it has one
	Noticed time.Time
}

// ClientFact is a fact that a client keeps: its value, and its own words for it
// if it gave any.
type ClientFact struct {
	Scope ChangeScope // of one conversation, or of an owner
	Key   string      // namespace/name; never the namespace core
	Value json.RawMessage
	Text  string // what the model reads; "" to have it made of key and value
	At    time.Time
}

// Size is what the fact takes of the room in its scope: at least as much as
// the longest thing that is told of it, but for a few fixed words.
func (f *ClientFact) Size() int {
	n := len(f.Key) + len(f.Value) + len(f.Text)
	for _, r := range string(f.Value) {
		switch r { // shown as escapes of six bytes
		case '\u0085':
			n += 4
		case '\u2028', '\u2029':
			n += 3
		}
	}
	return n
}

// Limits of the facts that clients keep. What a scope holds at most leaves
// room for one fact of the largest; two scopes and all that the server itself
// tells stay below what a baseline may have.
const (
	MaxFactBytes        = 64 << 10 // of a value; of its text
	MaxClientFacts      = 64       // in one scope
	MaxClientFactsBytes = MaxFactBytes + MaxIDBytes
)
