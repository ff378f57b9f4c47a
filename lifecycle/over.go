package lifecycle

import (
	"context"
	"fmt"

	"weir"
)

// Over lets a store whose transactions are wider than [Tx] serve as a [Store].
func Over[T Tx](s interface {
	Reader
	Update(ctx context.Context, fn func(T) error) error
}) Store {
	return over[T]{Reader: s, update: s.Update}
}

type over[T Tx] struct {
	Reader
	update func(ctx context.Context, fn func(T) error) error
}

func (o over[T]) Update(ctx context.Context, fn func(Tx) error) error {
	return o.update(ctx, func(tx T) error { return fn(tx) })
}

// TurnsOver lets an engine serve as [Turns] although it knows transactions by
// a narrower interface: what it hands over has to be a [Tx] all the same.
func TurnsOver[T any](e interface {
	Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx T, fence int64) error) error
}) Turns {
	return turns[T](e.Exclusive)
}

type turns[T any] func(ctx context.Context, c weir.ConversationID, fn func(tx T, fence int64) error) error

func (exclusive turns[T]) Exclusive(ctx context.Context, c weir.ConversationID, fn func(tx Tx, fence int64) error) error {
	return exclusive(ctx, c, func(narrow T, fence int64) error {
		tx, ok := any(narrow).(Tx)
		if !ok {
			return fmt.Errorf("lifecycle: %T is too narrow a transaction", narrow)
		}
		return fn(tx, fence)
	})
}
