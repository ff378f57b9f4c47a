package client

import (
	"encoding/json"
	"time"

	"weir"
)

// Page is one page of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Conversation is what the API says of one, as far as a client acts on it.
type Conversation struct {
	ID         weir.ConversationID `json:"id"`
	Title      string              `json:"title"`
	Kind       weir.Kind           `json:"kind"`
	State      weir.State          `json:"state"`
	Visibility struct {
		Level    weir.Level `json:"level"`
		Category string     `json:"category"`
	} `json:"visibility"`
	Origin *struct {
		Product string `json:"product"`
		File    string `json:"file"`
	} `json:"origin"`
	Model      string    `json:"model"`
	WaitingFor string    `json:"waiting_for"`
	HeadSeq    weir.Seq  `json:"head_seq"`
	LastActive time.Time `json:"last_active"`
}

// Item is an entry of the timeline, as far as a client acts on it.
type Item struct {
	ID    weir.MessageID  `json:"id"`
	Seq   weir.Seq        `json:"seq"`
	Kind  weir.RecordKind `json:"kind"`
	Time  time.Time       `json:"time"`
	Text  string          `json:"text"`
	Parts []struct {
		Type  weir.PartType `json:"type"`
		Text  string        `json:"text"`
		Call  string        `json:"call"`
		Name  string        `json:"name"`
		Input string        `json:"input"`
	} `json:"parts"`
	Tool *struct {
		Name     string          `json:"name"`
		Text     string          `json:"text"`
		IsError  bool            `json:"is_error"`
		Artefact weir.ArtefactID `json:"artefact"`
		Size     int             `json:"size"`
	} `json:"tool"`
	Update *struct {
		Fact string    `json:"fact"`
		Text string    `json:"text"`
		At   time.Time `json:"at"`
	} `json:"update"`
	Approval *struct {
		Call     string        `json:"call"`
		Name     string        `json:"name"`
		Decision weir.Decision `json:"decision"`
	} `json:"approval"`
	Rewind *struct {
		From weir.Seq `json:"from"`
		Upto weir.Seq `json:"upto"`
		Undo bool     `json:"undo"`
	} `json:"rewind"`
	References []struct {
		Type         weir.ReferenceType  `json:"type"`
		Conversation weir.ConversationID `json:"conversation"`
		Message      weir.MessageID      `json:"message"`
		Title        string              `json:"title"`
		Excerpt      string              `json:"excerpt"`
	} `json:"references"`
	Input       weir.InputID `json:"input"`
	Step        weir.StepID  `json:"step"`
	Outcome     string       `json:"outcome"`
	Code        string       `json:"code"`
	Reason      string       `json:"reason"`
	Title       string       `json:"title"`
	Model       string       `json:"model"`
	Interrupted bool         `json:"interrupted"`
	Hidden      bool         `json:"hidden"`
}

// Preview is what a person is shown before a reference is sent.
type Preview struct {
	Reference         weir.Reference `json:"reference"`
	Title             string         `json:"title"`
	Excerpt           string         `json:"excerpt"`
	TextLength        int            `json:"text_length"`
	Truncated         bool           `json:"truncated"`
	NeedsConfirmation bool           `json:"needs_confirmation"`
	Reasons           []weir.Reason  `json:"reasons"`
	Confirmation      string         `json:"confirmation"`
	Digest            string         `json:"digest"`
}

// Input is an accepted message.
type Input struct {
	ID         weir.InputID    `json:"id"`
	State      weir.InputState `json:"state"`
	Delivery   weir.Delivery   `json:"delivery"`
	Revision   int64           `json:"revision"`
	Text       string          `json:"text"`
	AdmittedAt time.Time       `json:"admitted_at"`
	Code       string          `json:"code"`
	Reason     string          `json:"reason"`
}

// Message is what is sent to a conversation.
type Message struct {
	ID         weir.InputID     `json:"id,omitempty"`
	Text       string           `json:"text"`
	References []weir.Reference `json:"references,omitempty"`
	Mentions   string           `json:"mentions,omitempty"`
	Delivery   weir.Delivery    `json:"delivery,omitempty"`
}

// Call is a tool call that has not settled. Input is there where a list is
// asked for: a person has to see what they decide about.
type Call struct {
	Call     string         `json:"call"`
	Name     string         `json:"name"`
	State    weir.CallState `json:"state"`
	Decision weir.Decision  `json:"decision"`
	Input    string         `json:"input"`
}

// Standing is what the events of a conversation say of its state.
type Standing struct {
	State      weir.State `json:"state"`
	WaitingFor string     `json:"waiting_for"`
	Calls      []Call     `json:"calls"`
	Step       *struct {
		ID       weir.StepID `json:"id"`
		Attempts int         `json:"attempts"`
		Chained  int         `json:"chained"`
		NextTry  time.Time   `json:"next_try"`
		Code     string      `json:"code"`
		Reason   string      `json:"reason"`
	} `json:"step"`
}

// Context is what a model is told with authority.
type Context struct {
	Epoch    weir.Seq  `json:"epoch"`
	BeganAt  time.Time `json:"began_at"`
	Baseline string    `json:"baseline"`
	SHA256   string    `json:"baseline_sha256"`
	Snapshot map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"snapshot"`
	Journal []struct {
		Fact      string          `json:"fact"`
		Value     json.RawMessage `json:"value"`
		ChangedAt time.Time       `json:"changed_at"`
	} `json:"journal"`
	Unavailable []struct {
		Fact   string    `json:"fact"`
		Since  time.Time `json:"since"`
		Reason string    `json:"reason"`
	} `json:"unavailable"`
}

// Tools is what models may call, and where it comes from.
type Tools struct {
	Items []struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Server      string        `json:"server"`
		Approval    weir.Decision `json:"approval"`
		Remembered  weir.Decision `json:"remembered"`
	} `json:"items"`
	Servers []struct {
		Name    string   `json:"name"`
		State   string   `json:"state"`
		Reason  string   `json:"reason"`
		Tools   []string `json:"tools"`
		LeftOut []string `json:"left_out"`
	} `json:"servers"`
}

// Step is one model call, as listed.
type Step struct {
	ID        weir.StepID    `json:"id"`
	State     weir.StepState `json:"state"`
	Model     string         `json:"model"`
	Attempts  int            `json:"attempts"`
	NextTry   time.Time      `json:"next_try"`
	Ledger    weir.Ledger    `json:"ledger"`
	Usage     *weir.Usage    `json:"usage"`
	Code      string         `json:"code"`
	Reason    string         `json:"reason"`
	StartedAt time.Time      `json:"started_at"`
}
