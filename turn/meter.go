package turn

import (
	"context"
	"errors"

	"weir"
	"weir/model"
)

// Meter counts what steps come to, for those who run the server. It is told
// after the fact, from many goroutines, and must not block.
type Meter interface {
	// Began: the step's request is durable and about to be sent. A ledger with
	// the reason [weir.BreakDefect] is a fault of the program.
	Began(s *weir.Step)
	// Withheld: a request was not sent, because its exact bytes were refused
	// before.
	Withheld(provider string)
	// Tried: an attempt has ended, with what it took as far as the provider
	// said, and a code if it failed.
	Tried(s *weir.Step, u weir.Usage, code string)
}

type noMeter struct{}

func (noMeter) Began(*weir.Step)                     {}
func (noMeter) Withheld(string)                      {}
func (noMeter) Tried(*weir.Step, weir.Usage, string) {}

// began says that a step is about to be sent.
func (e *Engine) began(s *weir.Step) {
	if s.Ledger.Reason == weir.BreakDefect {
		e.cfg.Log.Warn("a request does not extend the one before it and nothing that happened says why; the provider's cache is lost, and signed reasoning with it",
			"conversation", s.Conversation, "step", s.ID, "shared", s.Ledger.Shared, "prefix", s.Ledger.PrefixBytes)
	}
	e.cfg.Meter.Began(s)
}

// tried says what came of an attempt.
func (e *Engine) tried(ctx context.Context, s *weir.Step, answer model.Answer, failed error) {
	code := ""
	var failure *model.Error
	switch {
	case failed != nil && ctx.Err() != nil:
		code = codeInterrupted
	case errors.As(failed, &failure):
		code = failure.Code()
	case failed != nil:
		code = "internal"
	}
	e.cfg.Meter.Tried(s, answer.Usage, code)
}
