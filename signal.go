package weir

// Signal is what watchers of a conversation get: never the truth, only the
// word that there is something new to read, and text as it streams.
type Signal struct {
	Conversation ConversationID
	Head         Seq  // records up to here can be read; 0: unchanged
	Inputs       bool // the inbox changed
	State        bool // the conversation's row or state changed
	Delta        *Delta
}

// Delta is more of the running step's answer. Offset is where Text begins in
// that step's text (or reasoning) so far, in bytes.
type Delta struct {
	Step      StepID
	Offset    int
	Text      string
	Reasoning string
	Tool      string // name of a tool call that has begun
}
