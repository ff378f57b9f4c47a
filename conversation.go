package weir

import "time"

// Kind is what a conversation is for.
type Kind string

// The kinds of conversations.
const (
	Chat   Kind = "chat"
	Main   Kind = "main"   // an owner's standing conversation, at most one each
	Branch Kind = "branch" // a child made from a point of another
	Task   Kind = "task"   // a child dispatched to do a piece of work
)

// Level is a conversation's own wall: none, or one around it.
type Level string

// The levels.
const (
	Open     Level = "open"
	Isolated Level = "isolated"
)

// Visibility is what a person sets on a conversation. Category is empty for none.
type Visibility struct {
	Level    Level  `json:"level"`
	Category string `json:"category,omitempty"`
}

// Scope is what [Visibility] amounts to among a conversation's ancestors.
// Path holds the ids of the isolated conversations among itself and its
// ancestors, outermost first.
type Scope struct {
	Path     []ConversationID `json:"path"`
	Category string           `json:"category,omitempty"`
}

// Inherited names the part of an ancestor's log that a conversation begins
// with: the records up to and including Upto. A task inherits none (Upto 0).
type Inherited struct {
	Conversation ConversationID `json:"conversation"`
	Upto         Seq            `json:"upto"`
}

// Origin says where an imported conversation came from, for good.
type Origin struct {
	Product    string    `json:"product"`
	File       string    `json:"file"`
	ImportedAt time.Time `json:"imported_at"`
}

// State is what a conversation is doing.
type State string

// The states of a conversation.
const (
	Idle    State = "idle"
	Running State = "running"
	Blocked State = "blocked" // the first baseline waits for a required fact
	Waiting State = "waiting" // a tool call waits for a person
)

// Conversation is one durable thread of messages between people and a model.
//
// Lineage holds its ancestors, outermost first; it never changes, so a
// deleted conversation stays as a tombstone (Deleted set, title and records
// gone) and island paths never change by deletion. Each entry's Upto is the
// part of that ancestor's own records that this conversation inherits.
type Conversation struct {
	ID         ConversationID
	Owner      OwnerID
	Title      string
	TitleSet   bool // named by a person; an automatic title no longer applies
	Kind       Kind
	Lineage    []Inherited
	Visibility Visibility
	Workspace  string
	Model      string // catalogue id, "" for the default
	Agent      string
	Archived   bool
	Deleted    bool
	Origin     *Origin
	CreatedAt  time.Time

	// From here on the store fills in what others determine.
	Island     []ConversationID // the path of Scope
	Generation GenerationID     // the current one
	State      State
	WaitingFor string
	HeadSeq    Seq // seq of the newest record, inherited ones included
	LastActive time.Time
}

// Parent returns the id of the conversation that c descends from, or "".
func (c *Conversation) Parent() ConversationID {
	if len(c.Lineage) == 0 {
		return ""
	}
	return c.Lineage[len(c.Lineage)-1].Conversation
}

// Scope returns what CanFlow asks about.
func (c *Conversation) Scope() Scope {
	return Scope{Path: c.Island, Category: c.Visibility.Category}
}

// Inherits returns the seq up to which c's log is its ancestors'; its own
// records are numbered from the next one.
func (c *Conversation) Inherits() Seq {
	if len(c.Lineage) == 0 {
		return 0
	}
	return c.Lineage[len(c.Lineage)-1].Upto
}

// Actor is who asks, and through which door.
type Actor struct {
	Owner      OwnerID
	Name       string // the person's name, as the model is told
	Door       string // "api", "web", "cli", "import", "model", …
	MayConfirm bool   // a person's own session or token; never a model or a tool
}
