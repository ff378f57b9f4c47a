package account

import "context"

// Over lets a store with transactions serve as [Store].
func Over[T interface {
	InitSetting(ctx context.Context, name string, value []byte) ([]byte, error)
}](s interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	Update(ctx context.Context, fn func(T) error) error
}) Store {
	return over[T]{s.Setting, s.Update}
}

type over[T interface {
	InitSetting(ctx context.Context, name string, value []byte) ([]byte, error)
}] struct {
	setting func(ctx context.Context, name string) ([]byte, error)
	update  func(ctx context.Context, fn func(T) error) error
}

func (s over[T]) Setting(ctx context.Context, name string) ([]byte, error) {
	return s.setting(ctx, name)
}

func (s over[T]) InitSetting(ctx context.Context, name string, value []byte) (stored []byte, err error) {
	err = s.update(ctx, func(tx T) error {
		stored, err = tx.InitSetting(ctx, name, value)
		return err
	})
	return stored, err
}
