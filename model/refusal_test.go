package model

import (
	"slices"
	"testing"

	"weir"
)

func TestACodeSaysWhetherTheBytesWereJudged(t *testing.T) {
	for _, c := range []struct {
		e      Error
		code   string
		judged bool
	}{
		{Error{Failure: FailRefused, Status: 400}, "provider_refused_request", true},
		{Error{Failure: FailRefused, Status: 500}, "provider_refused_request", true},
		{Error{Failure: FailRefused, Status: 400, Objection: ObjectsReasoning}, "provider_refused_reasoning", true},
		{Error{Failure: FailRefused, Status: 400, Objection: ObjectsSystem}, "provider_refused_system", true},
		{Error{Failure: FailRefused, Status: 400, Objection: ObjectsRoles}, "provider_refused_roles", true},
		{Error{Failure: FailRefused, Status: 400, Objection: ObjectsBareCalls}, "provider_refused_calls", true},
		{Error{Failure: FailTooLong, Status: 413}, "provider_context_overflow", true},
		{Error{Failure: FailRefused, Status: 404}, "provider_not_found", false},
		{Error{Failure: FailRefused, Status: 301}, "provider_not_found", false},
		{Error{Failure: FailRefused, Status: 405}, "provider_not_found", false},
		{Error{Failure: FailRefused, Status: 200, Elsewhere: true}, "provider_not_found", false},
		{Error{Failure: FailRefused, Status: 200}, "provider_refused_request", true},
		{Error{Failure: FailAuth, Status: 401}, "provider_auth", false},
		{Error{Failure: FailServer, Status: 500}, "provider_failed", false},
	} {
		if got := c.e.Code(); got != c.code || slices.Contains(weir.RefusedCodes(), got) != c.judged {
			t.Errorf("%+v has the code %q", c.e, got)
		}
	}
}

func TestAnObjectionChangesAProfileOnce(t *testing.T) {
	for _, c := range []struct {
		o        Objection
		is, want Profile
		changes  bool
	}{
		{ObjectsSystem, Profile{Dialect: Anthropic, MidSystem: MidNative}, Profile{Dialect: Anthropic, MidSystem: MidNone}, true},
		{ObjectsSystem, Profile{Dialect: Anthropic, MidSystem: MidNone}, Profile{Dialect: Anthropic, MidSystem: MidNone}, false},
		{ObjectsRoles, Profile{Dialect: OpenAIChat, MidSystem: MidDeveloper}, Profile{Dialect: OpenAIChat, MidSystem: MidNone, RolesAlternate: true}, true},
		{ObjectsRoles, Profile{Dialect: Anthropic, MidSystem: MidNative}, Profile{Dialect: Anthropic, MidSystem: MidNative}, false},
		{ObjectsBareCalls, Profile{Dialect: OpenAIChat}, Profile{Dialect: OpenAIChat, ReasoningRequired: ReasoningContent}, true},
		{ObjectsBareCalls, Profile{Dialect: Gemini}, Profile{Dialect: Gemini, ReasoningRequired: ReasoningSignature}, true},
		{ObjectsBareCalls, Profile{Dialect: Gemini, ReasoningRequired: ReasoningSignature}, Profile{Dialect: Gemini, ReasoningRequired: ReasoningSignature}, false},
		{ObjectsReasoning, Profile{Dialect: Anthropic}, Profile{Dialect: Anthropic}, false},
		{"telegraph", Profile{Dialect: Anthropic}, Profile{Dialect: Anthropic}, false},
	} {
		if got, changes := c.is.Without(c.o); got != c.want || changes != c.changes {
			t.Errorf("%s of %+v makes %+v, %v", c.o, c.is, got, changes)
		}
	}
}
