package weir

import (
	"encoding/json"
	"fmt"
	"time"
)

// RecordKind names the kinds of entries of a transcript.
type RecordKind string

// The kinds that a model sees, then the hidden ones.
const (
	KindUser       RecordKind = "user"
	KindAssistant  RecordKind = "assistant"
	KindToolResult RecordKind = "tool_result"
	KindRecall     RecordKind = "recall"
	KindSystem     RecordKind = "system"
	KindCheckpoint RecordKind = "checkpoint"
	KindNotice     RecordKind = "notice"

	KindRewind     RecordKind = "rewind"
	KindUndo       RecordKind = "undo"
	KindTitle      RecordKind = "title"
	KindVisibility RecordKind = "visibility"
	KindModel      RecordKind = "model"
	KindAgent      RecordKind = "agent"
	KindWorkspace  RecordKind = "workspace"
	KindEpoch      RecordKind = "epoch"
	KindStep       RecordKind = "step"
	KindStepEnd    RecordKind = "step_end"
	KindApproval   RecordKind = "approval"
	KindRedaction  RecordKind = "redaction"
)

// IsMessage reports whether a model sees records of this kind.
func (k RecordKind) IsMessage() bool {
	switch k {
	case KindUser, KindAssistant, KindToolResult, KindRecall, KindSystem, KindCheckpoint, KindNotice:
		return true
	}
	return false
}

// Record is one entry of a transcript. Conversation is where it was written,
// which for an inherited record is an ancestor. Records are never changed.
type Record struct {
	Conversation ConversationID
	Seq          Seq
	ID           MessageID
	Time         time.Time
	Generation   GenerationID
	Body         Body
}

// Kind returns the kind of the record's body.
func (r *Record) Kind() RecordKind { return r.Body.Kind() }

// Body is the content of a record: one type a kind.
type Body interface{ Kind() RecordKind }

// UserMessage is what a person said, with the references that were frozen
// when it was admitted.
type UserMessage struct {
	Input      InputID  `json:"input,omitempty"`
	Text       string   `json:"text"`            // as typed, mentions kept
	Shown      string   `json:"shown,omitempty"` // with accepted mentions resolved; empty when equal to Text
	References []Frozen `json:"references,omitempty"`
	Synthetic  bool     `json:"synthetic,omitempty"` // imported text that no person typed
}

// Said returns the person's own text as the model and the timeline have it.
func (m *UserMessage) Said() string {
	if m.Shown != "" {
		return m.Shown
	}
	return m.Text
}

// PartType names what a part of an assistant message is.
type PartType string

// The types of parts.
const (
	PartText      PartType = "text"
	PartReasoning PartType = "reasoning"
	PartToolCall  PartType = "tool_call"
)

// Part is one piece of an assistant message, in the order it came. Raw keeps
// the provider's own bytes of it that bind: a signed block of reasoning, or the
// ids and signatures that came beside a text or a call. They go back unchanged
// to the same model and to no other.
type Part struct {
	Type  PartType        `json:"type"`
	Text  string          `json:"text,omitempty"`
	Call  string          `json:"call,omitempty"` // id of a tool call
	Name  string          `json:"name,omitempty"` // of a tool call
	Input json.RawMessage `json:"input,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
}

// AssistantMessage is what a model answered.
type AssistantMessage struct {
	Step        StepID `json:"step,omitempty"`
	Model       string `json:"model,omitempty"`
	Parts       []Part `json:"parts"`
	Interrupted bool   `json:"interrupted,omitempty"` // cut off; what is here is what came
}

// VisibleText returns the text a person reads: text parts, a blank line between.
func (m *AssistantMessage) VisibleText() string {
	var s string
	for _, p := range m.Parts {
		if p.Type != PartText || p.Text == "" {
			continue
		}
		if s != "" {
			s += "\n\n"
		}
		s += p.Text
	}
	return s
}

// Calls returns the tool calls in order.
func (m *AssistantMessage) Calls() []Part {
	var calls []Part
	for _, p := range m.Parts {
		if p.Type == PartToolCall {
			calls = append(calls, p)
		}
	}
	return calls
}

// ToolResult is the one result of a tool call. Text is what the model reads;
// where the tool gave more than that, Artefact has the whole.
type ToolResult struct {
	Call     string     `json:"call"`
	Name     string     `json:"name,omitempty"`
	Text     string     `json:"text"`
	IsError  bool       `json:"is_error,omitempty"`
	Artefact ArtefactID `json:"artefact,omitempty"`
	Size     int        `json:"size,omitempty"` // of the artefact, in bytes
}

// RecallSnapshot is a bounded snapshot of other conversations.
type RecallSnapshot struct {
	Text string `json:"text"`
}

// Update is a mid-conversation system message: a fact's newly effective value,
// or the word that it no longer applies. The snapshot of what the model was
// told is the epoch's, with the updates after it applied, so it follows the
// surface: a rewind takes it back, a branch inherits it.
type Update struct {
	Fact    string          `json:"fact"`
	Text    string          `json:"text"`
	At      time.Time       `json:"at,omitzero"`       // when it happened
	Value   json.RawMessage `json:"value,omitempty"`   // what the model knows from here on; none: the fact no longer applies
	Removal string          `json:"removal,omitempty"` // what it will be told when the fact no longer applies
	Noticed int64           `json:"noticed,omitempty"` // the change journal was considered up to this entry
}

// Checkpoint opens a generation. The surface is then the checkpoint, the kept
// records Keep[0]..Keep[1] (none when zero), and what came after it.
type Checkpoint struct {
	Generation GenerationID `json:"generation"` // the one it opens
	Text       string       `json:"text"`
	Keep       [2]Seq       `json:"keep"`
}

// Notice is something the framework tells the model in passing.
type Notice struct {
	Text string `json:"text"`
}

// Rewind hides the records From..Upto from the surface.
type Rewind struct {
	To   MessageID `json:"to"` // the message that is now the last; "" for the very beginning
	From Seq       `json:"from"`
	Upto Seq       `json:"upto"`
}

// Undo takes back the rewind at seq Rewind.
type Undo struct {
	Rewind Seq `json:"rewind"`
}

// Retitled says what the conversation is called from here on.
type Retitled struct {
	Title string `json:"title"`
	Auto  bool   `json:"auto,omitempty"`
}

// VisibilitySet says what the conversation's own visibility is from here on.
type VisibilitySet struct {
	Visibility
}

// ModelSet says which model answers from here on.
type ModelSet struct {
	Model string `json:"model"`
}

// AgentSet says which agent speaks from here on.
type AgentSet struct {
	Agent string `json:"agent"`
}

// WorkspaceSet says which workspace is in use from here on.
type WorkspaceSet struct {
	Workspace string `json:"workspace"`
}

// Epoch puts a baseline in force: the full system text, immutable bytes.
type Epoch struct {
	Baseline string          `json:"baseline"`
	SHA256   string          `json:"sha256"`             // of Baseline, hex
	Tools    json.RawMessage `json:"tools,omitempty"`    // the tools offered, neutral form, frozen with the epoch
	Snapshot json.RawMessage `json:"snapshot,omitempty"` // per fact, what the model was told
	Noticed  int64           `json:"noticed,omitempty"`  // the change journal was considered up to this entry
}

// StepStart is appended before a step's request is sent: with it and the
// frozen views the log alone rebuilds the request.
type StepStart struct {
	Step     StepID  `json:"step"`
	Purpose  string  `json:"purpose"` // "answer" or "compaction"
	Provider string  `json:"provider"`
	Model    string  `json:"model"`           // catalogue id
	Lowering string  `json:"lowering"`        // key of the views it is made of
	Tail     string  `json:"tail"`            // exact bytes after the last message
	Marks    []int64 `json:"marks,omitempty"` // offsets in the unmarked bytes where a cache mark is spliced in
	Ledger   Ledger  `json:"ledger"`
}

// StepEnd settles a step.
type StepEnd struct {
	Step    StepID    `json:"step"`
	Outcome StepState `json:"outcome"`
	Code    string    `json:"code,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Usage   *Usage    `json:"usage,omitempty"`
}

// Approval is a person's decision about a tool call.
type Approval struct {
	Call     string   `json:"call"`
	Name     string   `json:"name,omitempty"` // of the tool
	Decision Decision `json:"decision"`
}

// Redaction says that the text of records was removed on purpose.
type Redaction struct {
	From Seq `json:"from"`
	Upto Seq `json:"upto"`
}

func (*UserMessage) Kind() RecordKind      { return KindUser }
func (*AssistantMessage) Kind() RecordKind { return KindAssistant }
func (*ToolResult) Kind() RecordKind       { return KindToolResult }
func (*RecallSnapshot) Kind() RecordKind   { return KindRecall }
func (*Update) Kind() RecordKind           { return KindSystem }
func (*Checkpoint) Kind() RecordKind       { return KindCheckpoint }
func (*Notice) Kind() RecordKind           { return KindNotice }
func (*Rewind) Kind() RecordKind           { return KindRewind }
func (*Undo) Kind() RecordKind             { return KindUndo }
func (*Retitled) Kind() RecordKind         { return KindTitle }
func (*VisibilitySet) Kind() RecordKind    { return KindVisibility }
func (*ModelSet) Kind() RecordKind         { return KindModel }
func (*AgentSet) Kind() RecordKind         { return KindAgent }
func (*WorkspaceSet) Kind() RecordKind     { return KindWorkspace }
func (*Epoch) Kind() RecordKind            { return KindEpoch }
func (*StepStart) Kind() RecordKind        { return KindStep }
func (*StepEnd) Kind() RecordKind          { return KindStepEnd }
func (*Approval) Kind() RecordKind         { return KindApproval }
func (*Redaction) Kind() RecordKind        { return KindRedaction }

// NewBody returns an empty body of a kind, or nil for an unknown kind.
func NewBody(k RecordKind) Body {
	switch k {
	case KindUser:
		return new(UserMessage)
	case KindAssistant:
		return new(AssistantMessage)
	case KindToolResult:
		return new(ToolResult)
	case KindRecall:
		return new(RecallSnapshot)
	case KindSystem:
		return new(Update)
	case KindCheckpoint:
		return new(Checkpoint)
	case KindNotice:
		return new(Notice)
	case KindRewind:
		return new(Rewind)
	case KindUndo:
		return new(Undo)
	case KindTitle:
		return new(Retitled)
	case KindVisibility:
		return new(VisibilitySet)
	case KindModel:
		return new(ModelSet)
	case KindAgent:
		return new(AgentSet)
	case KindWorkspace:
		return new(WorkspaceSet)
	case KindEpoch:
		return new(Epoch)
	case KindStep:
		return new(StepStart)
	case KindStepEnd:
		return new(StepEnd)
	case KindApproval:
		return new(Approval)
	case KindRedaction:
		return new(Redaction)
	}
	return nil
}

// DecodeBody reads a body that was stored as JSON.
func DecodeBody(k RecordKind, data []byte) (Body, error) {
	b := NewBody(k)
	if b == nil {
		return nil, fmt.Errorf("weir: unknown record kind %q", k)
	}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("weir: decode %s record: %w", k, err)
	}
	return b, nil
}
