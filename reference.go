package weir

import "time"

// ReferenceType is how much a reference hands over.
type ReferenceType string

// The three weights.
const (
	Quote   ReferenceType = "quote"   // one message, verbatim
	Pointer ReferenceType = "pointer" // a conversation as an address
	RecallT ReferenceType = "recall"  // a conversation as a bounded snapshot
)

// Reference is what a client sends: a pointer and, where a person was asked,
// their decision. Titles, texts and levels are never taken from a client.
type Reference struct {
	Type         ReferenceType  `json:"type"`
	Conversation ConversationID `json:"conversation"`
	Message      MessageID      `json:"message,omitempty"`
	Confirmed    bool           `json:"confirmed,omitempty"`
	Seen         string         `json:"seen,omitempty"`
}

// Same reports whether two references hand over the same thing.
func (r Reference) Same(o Reference) bool {
	return r.Type == o.Type && r.Conversation == o.Conversation && r.Message == o.Message
}

// Mentions says which mentions in a text count: none (the zero value), all,
// or those with the given ordinals, counted from 0 in text order.
type Mentions struct {
	All  bool  `json:"all,omitempty"`
	Only []int `json:"only,omitempty"`
}

// Reason is why content may not flow by itself.
type Reason string

// The reasons, in the order in which they are given.
const (
	ReasonIsolation Reason = "isolation"
	ReasonCategory  Reason = "category"
)

// Frozen is a reference as it was admitted: what was handed over, from where
// to where, and Note, the exact words the model reads. Nothing that happens to
// the source later changes any of it.
type Frozen struct {
	Type               ReferenceType  `json:"type"`
	Conversation       ConversationID `json:"conversation"`
	Message            MessageID      `json:"message,omitempty"`
	Generation         GenerationID   `json:"generation"`
	Title              string         `json:"title"`
	Role               string         `json:"role,omitempty"` // of a quoted message: user or assistant
	Time               time.Time      `json:"time,omitzero"`  // of a quoted message
	Text               string         `json:"text,omitempty"`
	TextLength         int            `json:"text_length,omitempty"` // in code points, before any cut
	Truncated          bool           `json:"truncated,omitempty"`
	SourceScope        Scope          `json:"source_scope"`
	TargetScope        Scope          `json:"target_scope"`
	NeededConfirmation bool           `json:"needed_confirmation"`
	Confirmation       string         `json:"confirmation,omitempty"`
	Reasons            []Reason       `json:"reasons,omitempty"`
	Note               string         `json:"note"`
}

// Excerpt returns at most the first 280 code points of the quoted text.
func (f *Frozen) Excerpt() string { return Excerpt(f.Text) }

// ExcerptLength is the longest excerpt, in code points.
const ExcerptLength = 280

// Excerpt returns at most the first [ExcerptLength] code points of s.
func Excerpt(s string) string {
	n := 0
	for i := range s {
		if n == ExcerptLength {
			return s[:i]
		}
		n++
	}
	return s
}
