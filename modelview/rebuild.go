package modelview

import (
	"context"

	"weir"
	"weir/transcript"
)

const codeMismatch = "request_mismatch"

// mismatch says that stored bytes no longer make what was sent.
func mismatch(why string) error {
	e := weir.Fault(weir.Internal, codeMismatch,
		"The stored bytes of this step do not make the request that was sent (%s). Run weir verify; restore a backup if it reports damage.", why)
	e.Op = "modelview.Rebuild"
	return e
}

// Rebuild returns the exact bytes of a step's request, made of the log, the
// frozen views and the step's record alone, and proved by its digest; the
// error's code is "request_mismatch" when they do not make them.
func (l *Lowerer) Rebuild(ctx context.Context, src Source, c *weir.Conversation, start *weir.Record) ([]byte, error) {
	step, ok := start.Body.(*weir.StepStart)
	if !ok {
		return nil, mismatch("the record is not the start of a step")
	}
	s, err := l.frozen(ctx, src, c, start.Seq, step.Lowering)
	if err != nil {
		return nil, err
	}
	mark := s.dialect.Mark()
	prefix := s.prefix()
	for i, at := range step.Marks {
		if at < 0 || at >= int64(len(prefix)) || i > 0 && at < step.Marks[i-1] {
			return nil, mismatch("a mark is outside the bytes")
		}
	}
	body := make([]byte, 0, len(prefix)+len(step.Marks)*len(mark)+len(step.Tail))
	body, _ = appendMarked(body, prefix, 0, step.Marks, mark)
	body = append(body, step.Tail...)
	if digest(body) != step.Ledger.SHA256 {
		return nil, mismatch("the digest differs")
	}
	return body, nil
}

// frozen builds the state that a request was made of, from views alone. A view
// that is missing shows in the digest.
func (l *Lowerer) frozen(ctx context.Context, src Source, c *weir.Conversation, at weir.Seq, key string) (*state, error) {
	low, ok := l.parse(key)
	if !ok {
		return nil, mismatch("its encoding is not known to this version")
	}
	structure, err := structureUpto(ctx, src, c, at)
	if err != nil {
		return nil, err
	}
	shape := transcript.Fold(structure)
	b := &builder{state: newState(low, c), src: src, structure: structure}
	b.head = at
	b.setEpoch(recordAt(structure, shape.Epoch()))
	if err := b.loadTop(ctx, src); err != nil {
		return nil, err
	}
	if b.top == nil {
		return nil, mismatch("its head is not stored")
	}
	for _, span := range shape.Surface(at) {
		if err := b.readFrozen(ctx, span); err != nil {
			if weir.CodeOf(err) == "history_broken" {
				return nil, mismatch("a part of it is not stored")
			}
			return nil, err
		}
	}
	if id := b.open.missing(); id != "" {
		return nil, mismatch("a part of it is not stored")
	}
	return b.state, nil
}
