package model

import (
	"cmp"
	"net/http"
)

// Objection is what of a request a provider did not take, where its words say
// it and something can be done about it.
type Objection string

// The objections.
const (
	ObjectsReasoning Objection = "reasoning" // to signed reasoning that was sent back
	ObjectsSystem    Objection = "system"    // to a system message in mid-conversation
	ObjectsRoles     Objection = "roles"     // to messages of one role in a row
	ObjectsBareCalls Objection = "calls"     // to calls without the reasoning that came with them
)

// CodeRefused is the code of an attempt whose request was not taken because of
// o; [ObjectsReasoning] has the code "provider_refused_reasoning".
func (o Objection) CodeRefused() string { return "provider_refused_" + string(cmp.Or(o, "request")) }

// codeNotFound is the code of a request that did not reach a model: nothing is
// said of its bytes.
const codeNotFound = "provider_not_found"

// Code is the code under which an attempt that failed is stored. Codes under
// which a provider has judged the bytes are those of [weir.RefusedCodes].
func (e *Error) Code() string {
	if e.Failure != FailRefused {
		return string(e.Failure)
	}
	switch s := e.Status; {
	case s >= 300 && s < 400, s == http.StatusNotFound, s == http.StatusMethodNotAllowed, s == http.StatusGone,
		s == http.StatusOK && e.Elsewhere:
		return codeNotFound
	}
	return e.Objection.CodeRefused()
}

// Without returns the profile of a model that has made an objection, and
// whether that changes anything. To reasoning that was sent back it never
// does: that is between the model and one conversation.
func (p Profile) Without(o Objection) (Profile, bool) {
	was := p
	switch o {
	case ObjectsSystem:
		p.MidSystem = MidNone
	case ObjectsRoles:
		if p.Dialect == OpenAIChat {
			p.MidSystem, p.RolesAlternate = MidNone, true
		}
	case ObjectsBareCalls:
		switch {
		case p.ReasoningRequired != ReasoningFree:
		case p.Dialect == OpenAIChat:
			p.ReasoningRequired = ReasoningContent
		case p.Dialect == Gemini:
			p.ReasoningRequired = ReasoningSignature
		}
	}
	return p, p.MidSystem != was.MidSystem || p.RolesAlternate != was.RolesAlternate || p.ReasoningRequired != was.ReasoningRequired
}
