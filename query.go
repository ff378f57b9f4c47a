package weir

// Page is one page of a list. Next is an opaque cursor, empty at the end.
type Page[T any] struct {
	Items []T
	Next  string
}

// ConversationQuery asks for conversations, newest activity first.
type ConversationQuery struct {
	Owner    OwnerID
	Words    string // every word somewhere in title, id or workspace
	Kind     Kind   // "" for all
	Archived *bool  // nil for both
	Limit    int
	Cursor   string
}

// CandidateQuery asks for conversations that may be a source for Target.
type CandidateQuery struct {
	Owner  OwnerID
	Target ConversationID
	Words  string
	Limit  int
}

// RecordQuery asks for a part of a log, ancestors' part included.
type RecordQuery struct {
	After  Seq          // only seq > After
	Before Seq          // only seq < Before; 0 for no bound
	Kinds  []RecordKind // nil for all
	Newest bool         // take the newest Limit; the answer is in ascending order all the same
	Limit  int          // 0 for all
}

// FlowQuery asks for flows, newest first.
type FlowQuery struct {
	Owner     OwnerID
	Source    ConversationID
	Target    ConversationID
	Crossings bool // only the confirmed ones
	Limit     int
	Cursor    string
}

// ConversationChange names what changes on a conversation; nil stays.
type ConversationChange struct {
	Title      *string
	TitleSet   *bool
	Visibility *Visibility
	Workspace  *string
	Model      *string
	Agent      *string
	Archived   *bool
}

// Activity names what changes on a conversation's head; nil stays.
type Activity struct {
	State      *State
	WaitingFor *string
	Generation *GenerationID
}

// IdempotentAnswer is a stored answer to a POST with an Idempotency-Key.
type IdempotentAnswer struct {
	Digest string // of the request's canonical body
	Status int
	Body   []byte
}
