// Package tool is the contract between a turn and what a model may call: the
// definition that a model reads, the tool itself, and the registry that lists
// and runs them.
//
// Promises. Order: definitions are listed by name, so that the same tools give
// the same bytes. Loss: every call gets exactly one result, whatever the tool
// does: its own, that of its deadline or of the caller's end, of a panic, or
// the word that there is no such tool; what is cut from it is handed over
// beside it. Concurrency: a Registry itself does not change once its sources
// are added and may be used from any goroutine; what its sources list may
// change between any two calls, never within one. A tool that does not end in
// time keeps its goroutine until it does, and [Registry.Wait] waits for it.
package tool

import (
	"context"
	"encoding/json"

	"weir"
)

// Definition is what a model is told of a tool. Its JSON is the neutral form
// that an epoch freezes.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // JSON Schema of an object
}

// Call is one call of a tool by the model of a conversation.
type Call struct {
	Conversation weir.ConversationID
	Owner        weir.OwnerID
	ID           string          // the provider's, unique within the answer
	Input        json.RawMessage // a JSON object
	Artefact     string          // where the whole result will be kept if it is cut; told to the model
}

// Result is what became of a call. Text is what the model reads.
type Result struct {
	Text    string
	Full    string // the whole text, at most [weir.MaxArtefactBytes] of it; only when Text was cut
	IsError bool
	Err     error // why it failed, for the log only
}

// Tool is one thing a model may call. Run ends soon after ctx does. An error
// is a fault of the tool that becomes an error result; of a *weir.Error the
// model reads the public text, of any other only that the tool failed.
type Tool interface {
	Definition() Definition
	Run(ctx context.Context, c Call) (Result, error)
}

// Alone is for tools whose calls must not run beside others of one answer.
type Alone interface{ Alone() bool }
