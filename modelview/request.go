package modelview

import (
	"context"

	"weir"
	"weir/model"
)

// Options are what a request says beside its prefix.
type Options struct {
	MaxTokens int64 // 0: the profile's
	ToolsOff  bool  // list the tools, permit none
}

// limit is how many tokens an answer may have, 0 for what the endpoint says.
func (o Options) limit(p model.Profile) int64 {
	if o.MaxTokens > 0 {
		return o.MaxTokens
	}
	return max(p.MaxOutput, 0)
}

// Request is a request to a provider and what is to be stored with it. Nobody
// else holds its bytes: the body is not reused, because an HTTP transport may
// read a body after the round trip has returned.
type Request struct {
	Body     []byte
	Lowering string
	Tail     string
	Marks    []int64
	Ledger   weir.Ledger
	Views    []weir.View // to be put in the transaction that appends the StepStart
}

// request makes the request for what the state holds.
func (s *state) request(ctx context.Context, src Source, l *Lowerer, o Options) (*Request, error) {
	if s.top == nil {
		e := weir.Fault(weir.Internal, "epoch_missing", "This conversation has no system text yet, so nothing was sent. Try again.")
		e.Op = "modelview"
		return nil, e
	}
	if id := s.open.missing(); id != "" {
		return nil, broken("a tool call (%s) without its result", id)
	}
	s.sum()
	open, openMark := s.section(nil)
	shared, reason, err := s.compare(ctx, src, l, open)
	if err != nil {
		return nil, err
	}
	back := s.back()
	r := &Request{
		Lowering: s.key,
		Tail:     s.dialect.Tail(s.profile, o, s.top, cacheKey(s.conversation)),
		Marks:    s.marks(openMark, back),
		Views:    s.pending,
	}
	mark := s.dialect.Mark()
	prefix := len(s.top) + len(s.closed) + len(open)
	r.Body = make([]byte, 0, prefix+len(mark)*len(r.Marks)+len(r.Tail))
	offset, marks := int64(0), r.Marks
	for _, part := range [][]byte{s.top, s.closed, open} {
		r.Body, marks = appendMarked(r.Body, part, offset, marks, mark)
		offset += int64(len(part))
	}
	r.Body = append(r.Body, r.Tail...)

	// The wire's digest holds top, its mark, and closed up to wireAt.
	at := len(s.top) + s.sums.wireAt
	if s.topMark >= 0 {
		at += len(mark)
	}
	r.Ledger = weir.Ledger{
		Bytes: int64(len(r.Body)), PrefixBytes: int64(prefix),
		Shared: shared, Reason: reason, OptionsSHA256: digest([]byte(r.Tail)),
	}
	if back >= 0 { // a mark that those bytes do not have
		r.Ledger.SHA256 = digest(r.Body)
	} else if r.Ledger.SHA256, err = digestWith(s.sums.wire, r.Body[at:]); err != nil {
		return nil, err
	}
	r.Ledger.PrefixSHA256, err = digestWith(s.sums.plain, open)
	return r, err
}

// appendMarked appends a part that begins at offset, with the marks that fall
// into it, and returns those that come after it.
func appendMarked(dst, part []byte, offset int64, marks []int64, mark string) ([]byte, []int64) {
	end := offset + int64(len(part))
	at := offset
	for len(marks) > 0 && marks[0] < end {
		dst = append(dst, part[at-offset:marks[0]-offset]...)
		dst = append(dst, mark...)
		at = marks[0]
		marks = marks[1:]
	}
	return append(dst, part[at-offset:]...), marks
}
