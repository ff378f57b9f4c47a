package transcript

import (
	"time"

	"weir"
)

// Item is one entry of the timeline: an allow-list, so nothing that a record
// gains later shows by accident. Of a reference a person sees what they handed
// over and where it came from, never scopes, confirmations or the note.
type Item struct {
	ID          weir.MessageID    `json:"id"`
	Seq         weir.Seq          `json:"seq"`
	Kind        weir.RecordKind   `json:"kind"`
	Role        string            `json:"role,omitempty"`
	Time        time.Time         `json:"time"`
	Generation  weir.GenerationID `json:"generation"`
	Text        string            `json:"text,omitempty"`
	Parts       []ItemPart        `json:"parts,omitempty"`
	References  []ItemReference   `json:"references,omitempty"`
	Tool        *ItemTool         `json:"tool,omitempty"`
	Update      *ItemUpdate       `json:"update,omitempty"`
	Approval    *ItemApproval     `json:"approval,omitempty"`
	Rewind      *ItemRewind       `json:"rewind,omitempty"`
	Input       weir.InputID      `json:"input,omitempty"`
	Step        weir.StepID       `json:"step,omitempty"`
	Model       string            `json:"model,omitempty"`
	Outcome     string            `json:"outcome,omitempty"` // of a settled step that did not end well
	Code        string            `json:"code,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Title       string            `json:"title,omitempty"`
	Interrupted bool              `json:"interrupted,omitempty"`
	Hidden      bool              `json:"hidden,omitempty"`    // by a rewind
	Synthetic   bool              `json:"synthetic,omitempty"` // imported, typed by nobody
	Quotable    bool              `json:"quotable,omitempty"`  // may be handed over as a quote
}

// ItemPart is one part of an assistant message.
type ItemPart struct {
	Type  weir.PartType `json:"type"`
	Text  string        `json:"text,omitempty"`
	Call  string        `json:"call,omitempty"`
	Name  string        `json:"name,omitempty"`
	Input string        `json:"input,omitempty"` // arguments as JSON text
	// State of a call is set by who knows it: a record is always told the same.
	State weir.CallState `json:"state,omitempty"`
}

// ItemReference is a sent reference's card.
type ItemReference struct {
	Type         weir.ReferenceType  `json:"type"`
	Conversation weir.ConversationID `json:"conversation"`
	Message      weir.MessageID      `json:"message,omitempty"`
	Title        string              `json:"title"`
	Excerpt      string              `json:"excerpt,omitempty"`
	Truncated    bool                `json:"truncated,omitempty"`
	TextLength   int                 `json:"text_length,omitempty"`
}

// ItemTool is a tool's result, and where the whole of it is kept when the text
// is not all.
type ItemTool struct {
	Call     string          `json:"call"`
	Name     string          `json:"name,omitempty"`
	Text     string          `json:"text"`
	IsError  bool            `json:"is_error,omitempty"`
	Artefact weir.ArtefactID `json:"artefact,omitempty"`
	Size     int             `json:"size,omitempty"` // of the artefact, in bytes
}

// ItemUpdate is a mid-conversation update: which fact, what the model was told
// of it, and when it happened.
type ItemUpdate struct {
	Fact string    `json:"fact"`
	Text string    `json:"text"`
	At   time.Time `json:"at,omitzero"`
}

// ItemApproval is a person's decision about a tool call.
type ItemApproval struct {
	Call     string        `json:"call"`
	Name     string        `json:"name,omitempty"`
	Decision weir.Decision `json:"decision"`
}

// ItemRewind names the seqs that a rewind hid or an undo gave back.
type ItemRewind struct {
	From weir.Seq `json:"from"`
	Upto weir.Seq `json:"upto"`
	Undo bool     `json:"undo,omitempty"`
}
