// Package model is what Weir knows of language models: the profile of each
// (a catalogue, embedded, overlaid by configuration), the neutral form of a
// streamed answer, and the classes of failure. The wires live in its
// sub-packages and send bytes that modelview made; none of them encodes or
// changes a request.
package model

import (
	"context"
	"fmt"
	"time"

	"weir"
)

// Dialect names a wire protocol.
type Dialect string

// The dialects.
const (
	Anthropic       Dialect = "anthropic"        // Messages
	OpenAIResponses Dialect = "openai-responses" // Responses, stateless
	OpenAIChat      Dialect = "openai-chat"      // Chat Completions
	Gemini          Dialect = "gemini"           // generateContent
)

// MidSystem says how an endpoint takes a system message in mid-conversation.
type MidSystem string

// The ways.
const (
	MidNative    MidSystem = "native"    // role system
	MidDeveloper MidSystem = "developer" // role developer
	MidNone      MidSystem = "none"      // marked text on the user's side
)

// Reasoning says what a vendor insists on where an answer with tool calls is
// sent back without the reasoning that came with it.
type Reasoning string

// What stands in.
const (
	ReasoningFree      Reasoning = ""          // nothing
	ReasoningContent   Reasoning = "content"   // reasoning_content, which may be empty (DeepSeek)
	ReasoningSignature Reasoning = "signature" // the documented bypass on the first call (Gemini 3)
)

// Binding says what a vendor binds signed reasoning to.
type Binding string

// The bindings.
const (
	BindNothing Binding = "none"
	BindModel   Binding = "model"
	BindPrefix  Binding = "prefix"
)

// CacheStyle says how an endpoint's prefix cache is asked for.
type CacheStyle string

// The styles.
const (
	CacheNone        CacheStyle = "none"        // there is none, or nothing is known of it
	CacheAutomatic   CacheStyle = "automatic"   // by stable bytes alone
	CacheMarks       CacheStyle = "marks"       // Anthropic's cache_control
	CacheKeyed       CacheStyle = "key"         // OpenAI's prompt_cache_key
	CacheBreakpoints CacheStyle = "breakpoints" // that, and explicit breakpoints that stay where they were written
)

// Event is one piece of a streaming answer: exactly one member is set.
type Event struct {
	Text      string
	Reasoning string
	Call      *weir.Part // a tool call has begun: id and name
	CallInput string     // more of the arguments of the last begun call
}

// Answer is a streamed answer, complete or as far as it came. The input of a
// tool call is as [Arguments] makes it: an object, or a string that holds the
// raw text of arguments that were none.
type Answer struct {
	Parts  []weir.Part
	Usage  weir.Usage
	Finish Finish
	// Dropped are the provider's reasons for having left out reasoning that
	// was sent back to it, where it says so instead of refusing.
	Dropped []string
}

// Finish is why an answer ended.
type Finish string

// The reasons.
const (
	FinishEnd      Finish = "end"
	FinishTools    Finish = "tools"
	FinishLength   Finish = "length"
	FinishFiltered Finish = "filtered"
	FinishUnknown  Finish = "unknown"
)

// Failure classes what went wrong with an attempt.
type Failure string

// The classes. The first four may be tried again.
const (
	FailRateLimit Failure = "provider_rate_limited"
	FailOverload  Failure = "provider_overloaded"
	FailServer    Failure = "provider_failed"
	FailBroken    Failure = "provider_connection_lost" // before or amid the stream
	FailAuth      Failure = "provider_auth"
	FailQuota     Failure = "provider_quota"
	FailRefused   Failure = "provider_refused_request" // our bytes were not accepted
	FailTooLong   Failure = "provider_context_overflow"
	FailTooMuch   Failure = "provider_answer_too_long"
	FailUnknown   Failure = "provider_not_configured"
)

// Retryable reports whether the same request may well succeed a little later.
func (f Failure) Retryable() bool {
	switch f {
	case FailRateLimit, FailOverload, FailServer, FailBroken:
		return true
	}
	return false
}

// Error is a failed attempt. Public is fit to show: the vendor's own words,
// bounded, without secrets.
type Error struct {
	Failure    Failure
	Status     int       // HTTP, 0 for none
	Objection  Objection // of FailRefused: to what, where that is known
	Own        bool      // the words of the objection also stand in the request, so they may be anybody's
	Elsewhere  bool      // of FailRefused: what answered is no such endpoint
	Public     string
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (status %d): %s", e.Failure, e.Status, e.Public)
}

func (e *Error) Unwrap() error { return e.Err }

// Client speaks one dialect to one endpoint.
type Client interface {
	// Stream sends body, exactly, and calls emit for each piece in order from
	// the calling goroutine. It returns the whole answer, or what came of it
	// with an *Error. An emit error ends the stream and is returned as it is.
	// Cancelling ctx ends the request at once.
	Stream(ctx context.Context, body []byte, emit func(Event) error) (Answer, error)
}
