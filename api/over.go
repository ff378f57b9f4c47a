package api

import (
	"context"
	"net"

	"weir"
)

// AnswersOver lets a store with transactions serve as [Answers].
func AnswersOver[T interface {
	RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error
}](s interface {
	Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error)
	Update(ctx context.Context, fn func(T) error) error
}) Answers {
	return answers[T]{s.Answer, s.Update}
}

type answers[T interface {
	RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error
}] struct {
	answer func(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error)
	update func(ctx context.Context, fn func(T) error) error
}

func (s answers[T]) Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error) {
	return s.answer(ctx, owner, route, key)
}

func (s answers[T]) RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error {
	return s.update(ctx, func(tx T) error { return tx.RememberAnswer(ctx, owner, route, key, a) })
}

func baseContext(ctx context.Context) func(net.Listener) context.Context {
	return func(net.Listener) context.Context { return ctx }
}
