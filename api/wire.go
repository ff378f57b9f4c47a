package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"weir"
	"weir/transcript"
)

// instant is a time as the API writes it: RFC 3339, UTC, milliseconds.
type instant struct{ time.Time }

const instantFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes null for no time.
func (t instant) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(instantFormat))
}

// Schema documents it.
func (instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Description: "RFC 3339, UTC, milliseconds."}
}

func maybe(t time.Time) *instant {
	if t.IsZero() {
		return nil
	}
	return &instant{t}
}

type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"Cursor of the next page; absent at the end."`
}

type conversation struct {
	ID         weir.ConversationID `json:"id"`
	Title      string              `json:"title"`
	Kind       weir.Kind           `json:"kind" enum:"chat,main,branch,task"`
	Parent     weir.ConversationID `json:"parent,omitempty"`
	Generation weir.GenerationID   `json:"generation"`
	Visibility visibility          `json:"visibility"`
	Workspace  string              `json:"workspace,omitempty"`
	Model      string              `json:"model,omitempty" doc:"Catalogue id; absent for the default."`
	Agent      string              `json:"agent,omitempty"`
	Archived   bool                `json:"archived,omitempty"`
	Origin     *origin             `json:"origin,omitempty"`
	State      weir.State          `json:"state" enum:"idle,running,blocked,waiting"`
	WaitingFor string              `json:"waiting_for,omitempty"`
	HeadSeq    weir.Seq            `json:"head_seq" doc:"Seq of the newest record."`
	CreatedAt  instant             `json:"created_at"`
	LastActive instant             `json:"last_active"`
}

type visibility struct {
	Level    weir.Level            `json:"level" enum:"open,isolated" doc:"The conversation's own wall."`
	Category string                `json:"category,omitempty"`
	Island   []weir.ConversationID `json:"island" doc:"The isolated ones among its ancestors and itself, outermost first."`
}

type origin struct {
	Product    string  `json:"product"`
	File       string  `json:"file"`
	ImportedAt instant `json:"imported_at"`
}

func conversationOf(c *weir.Conversation) conversation {
	v := conversation{
		ID: c.ID, Title: c.Title, Kind: c.Kind, Parent: c.Parent(), Generation: c.Generation,
		Visibility: visibility{Level: c.Visibility.Level, Category: c.Visibility.Category, Island: c.Island},
		Workspace:  c.Workspace, Model: c.Model, Agent: c.Agent, Archived: c.Archived,
		State: c.State, WaitingFor: c.WaitingFor, HeadSeq: c.HeadSeq,
		CreatedAt: instant{c.CreatedAt}, LastActive: instant{c.LastActive},
	}
	if v.Visibility.Island == nil {
		v.Visibility.Island = []weir.ConversationID{}
	}
	if c.Origin != nil {
		v.Origin = &origin{c.Origin.Product, c.Origin.File, instant{c.Origin.ImportedAt}}
	}
	return v
}

// item is a timeline item with its times in the API's spelling.
type item struct {
	transcript.Item
	Time   instant     `json:"time"`
	Update *itemUpdate `json:"update,omitempty"`
}

type itemUpdate struct {
	Fact string   `json:"fact"`
	Text string   `json:"text" doc:"What the model was told."`
	At   *instant `json:"at,omitempty" doc:"When it happened."`
}

func itemOf(i transcript.Item) item {
	v := item{Item: i, Time: instant{i.Time}}
	if u := i.Update; u != nil {
		v.Update = &itemUpdate{Fact: u.Fact, Text: u.Text, At: maybe(u.At)}
	}
	return v
}

// referenceIn is a reference as a client sends it.
type referenceIn struct {
	Type         weir.ReferenceType  `json:"type" enum:"quote,pointer,recall"`
	Conversation weir.ConversationID `json:"conversation" doc:"The source."`
	Message      weir.MessageID      `json:"message,omitempty" doc:"Of a quote: the message."`
	Confirmed    bool                `json:"confirmed,omitempty" doc:"The person confirmed what the digest in seen stands for."`
	Seen         string              `json:"seen,omitempty" maxLength:"512" doc:"Digest of the preview that was shown."`
}

func (r referenceIn) reference() weir.Reference {
	return weir.Reference{Type: r.Type, Conversation: r.Conversation, Message: r.Message, Confirmed: r.Confirmed, Seen: r.Seen}
}

func referencesOf(in []referenceIn) []weir.Reference {
	refs := make([]weir.Reference, 0, len(in))
	for _, r := range in {
		refs = append(refs, r.reference())
	}
	return refs
}

// mentions is "all", "none" or a list of ordinals.
type mentions struct{ weir.Mentions }

// UnmarshalJSON reads what Schema lets through.
func (m *mentions) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		m.All = word == "all"
		return nil
	}
	return json.Unmarshal(data, &m.Only)
}

// Schema documents and checks it.
func (mentions) Schema(huma.Registry) *huma.Schema {
	zero, most, many := 0.0, 1e6, 1000
	return &huma.Schema{
		Description: "Which mentions in the text count: all, none (the default), or those with these ordinals, from 0 in text order.",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeString, Enum: []any{"all", "none"}},
			{Type: huma.TypeArray, MaxItems: &many, Items: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero, Maximum: &most}},
		},
	}
}

// input is an accepted message. Of its references it shows cards, as the
// timeline will; asked is what to send again when a draft is restored.
type input struct {
	ID          weir.InputID               `json:"id"`
	Kind        weir.InputKind             `json:"kind" enum:"user,notice,retry"`
	State       weir.InputState            `json:"state" enum:"pending,promoted,rejected,withdrawn"`
	Delivery    weir.Delivery              `json:"delivery" enum:"steer,queue"`
	Position    int64                      `json:"position" doc:"Order in the inbox: lower ones are promoted first."`
	Revision    int64                      `json:"revision"`
	Text        string                     `json:"text"`
	References  []transcript.ItemReference `json:"references"`
	Asked       []weir.Reference           `json:"asked,omitempty" doc:"What the client sent, without decisions."`
	AdmittedAt  instant                    `json:"admitted_at"`
	PromotedSeq weir.Seq                   `json:"promoted_seq,omitempty"`
	Code        string                     `json:"code,omitempty" doc:"Why it was rejected."`
	Reason      string                     `json:"reason,omitempty"`
}

func inputOf(in *weir.Input) input {
	v := input{
		ID: in.ID, Kind: in.Kind, State: in.State, Delivery: in.Delivery, Position: in.Position, Revision: in.Revision,
		Text: in.Text, References: []transcript.ItemReference{}, AdmittedAt: instant{in.AdmittedAt},
		PromotedSeq: in.PromotedSeq, Code: in.Code, Reason: in.Reason,
	}
	for i := range in.References {
		v.References = append(v.References, card(&in.References[i]))
	}
	for _, r := range in.Asked {
		v.Asked = append(v.Asked, weir.Reference{Type: r.Type, Conversation: r.Conversation, Message: r.Message})
	}
	return v
}

// card is what people see of a frozen reference.
func card(f *weir.Frozen) transcript.ItemReference {
	return transcript.ItemReference{
		Type: f.Type, Conversation: f.Conversation, Message: f.Message, Title: f.Title,
		Excerpt: f.Excerpt(), Truncated: f.Truncated, TextLength: f.TextLength,
	}
}

type step struct {
	ID            weir.StepID    `json:"id"`
	Seq           weir.Seq       `json:"seq"`
	State         weir.StepState `json:"state" enum:"running,done,failed,interrupted"`
	Purpose       string         `json:"purpose"`
	Provider      string         `json:"provider"`
	Model         string         `json:"model"`
	Attempts      int            `json:"attempts"`
	Chained       int            `json:"chained,omitempty" doc:"Attempts of the steps before, of which this one is the continuation."`
	NextTry       *instant       `json:"next_try,omitempty" doc:"Of a running one that waits: when the next attempt begins."`
	Usage         *weir.Usage    `json:"usage,omitempty"`
	Ledger        weir.Ledger    `json:"ledger"`
	RequestSHA256 string         `json:"request_sha256" doc:"Of the exact bytes that were sent."`
	Code          string         `json:"code,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	StartedAt     instant        `json:"started_at"`
	EndedAt       *instant       `json:"ended_at,omitempty"`
}

func stepOf(s *weir.Step) step {
	return step{
		ID: s.ID, Seq: s.Seq, State: s.State, Purpose: s.Purpose, Provider: s.Provider, Model: s.Model,
		Attempts: s.Attempts, Chained: s.Chained, NextTry: maybe(s.NextTry), Usage: s.Usage, Ledger: s.Ledger, RequestSHA256: s.Ledger.SHA256,
		Code: s.Code, Reason: s.Reason, StartedAt: instant{s.StartedAt}, EndedAt: maybe(s.EndedAt),
	}
}

// flowRow is one recorded passage of content, or what became of one.
type flowRow struct {
	ID           int64               `json:"id"`
	Time         instant             `json:"time"`
	Door         string              `json:"door"`
	Form         weir.FlowForm       `json:"form" enum:"quote,pointer,recall,branch,visibility,outcome"`
	Source       weir.ConversationID `json:"source"`
	SourceTitle  string              `json:"source_title,omitempty" doc:"Its title now; absent when it is gone."`
	Message      weir.MessageID      `json:"message,omitempty"`
	Generation   weir.GenerationID   `json:"generation,omitempty"`
	SourceScope  *weir.Scope         `json:"source_scope,omitempty"`
	Target       weir.ConversationID `json:"target"`
	TargetTitle  string              `json:"target_title,omitempty"`
	Input        weir.InputID        `json:"input,omitempty"`
	TargetScope  *weir.Scope         `json:"target_scope,omitempty"`
	Crossing     bool                `json:"crossing"`
	Reasons      []weir.Reason       `json:"reasons,omitempty"`
	Confirmation string              `json:"confirmation,omitempty" doc:"What the person was asked."`
	TextMAC      string              `json:"text_mac,omitempty"`
	TextLength   int                 `json:"text_length,omitempty"`
	Of           int64               `json:"of,omitempty" doc:"Of an outcome: the row it is about."`
	Result       weir.FlowResult     `json:"result,omitempty"`
	Seq          weir.Seq            `json:"seq,omitempty" doc:"Of an outcome delivered: the record in the target."`
}

func flowOf(f *weir.Flow) flowRow {
	v := flowRow{
		ID: f.ID, Time: instant{f.Time}, Door: f.Door, Form: f.Form, Source: f.Source, Message: f.Message,
		Generation: f.Generation, Target: f.Target, Input: f.Input, Crossing: f.Crossing, Reasons: f.Reasons,
		Confirmation: f.Confirmation, TextMAC: f.TextMAC, TextLength: f.TextLength, Of: f.Of, Result: f.Result, Seq: f.Seq,
	}
	if f.Form != weir.FlowOutcome {
		v.SourceScope, v.TargetScope = shownScope(f.SourceScope), shownScope(f.TargetScope)
	}
	return v
}

func shownScope(s weir.Scope) *weir.Scope {
	if s.Path == nil {
		s.Path = []weir.ConversationID{}
	}
	return &s
}
