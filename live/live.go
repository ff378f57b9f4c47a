// Package live carries signals between those who change conversations and
// those who watch them: rings (something durable is new: go and read) and
// deltas (text as it streams). It is never the truth: losing a signal costs
// time, not data. Publish never blocks; a slow subscriber is cut off and told
// so by its channel being closed. Signals of one publisher for one
// conversation arrive in the order of publishing.
package live

import "weir"

// Signal is what watchers of a conversation get.
type Signal struct {
	Conversation weir.ConversationID
	Head         weir.Seq // records up to here can be read; 0: unchanged
	Inputs       bool     // the inbox changed
	State        bool     // the conversation's row or state changed
	Delta        *Delta
}

// Delta is more of the running step's answer. Offset is where Text begins in
// that step's text (or reasoning) so far, in bytes.
type Delta struct {
	Step      weir.StepID
	Offset    int
	Text      string
	Reasoning string
	Tool      string // name of a tool call that has begun
}
