package modelview

import (
	"bytes"
	"context"
	"slices"

	"weir"
)

// previous is the newest request in the log, against which the next one is
// measured.
type previous struct {
	seq        weir.Seq
	step       *weir.StepStart
	epoch      weir.Seq
	checkpoint weir.Seq

	// known: its prefix is the state's own top, closed[:base] and open, proved
	// by its digest.
	known bool
	base  int
	open  []byte
	// whole is its prefix where the state has been built anew since.
	whole []byte

	rewound  bool // a rewind or an undo came after it
	followed bool // a message of the surface came after it
	reopened bool // and that one was no answer: its section went on
}

// measure takes the newest request in the log; what the state holds now is
// what it was made of.
func (s *state) measure(r *weir.Record) error {
	step, ok := r.Body.(*weir.StepStart)
	if !ok {
		return nil
	}
	p := &previous{seq: r.Seq, step: step, epoch: s.epoch, checkpoint: s.checkpoint}
	s.previous, s.asking = p, step
	if step.Lowering != s.key || s.top == nil || s.open.sealed || s.open.missing() != "" {
		return nil
	}
	s.sum()
	open, _ := s.section(nil)
	sum, err := digestWith(s.sums.plain, open)
	if err != nil {
		return err
	}
	if sum == step.Ledger.PrefixSHA256 {
		p.known, p.base, p.open = true, len(s.closed), open
		s.pending = nil // stored with it, all of them
	}
	return nil
}

// handOver keeps the bytes of the newest request for a state built anew.
func (s *state) handOver(to *state) {
	p, q := s.previous, to.previous
	if p == nil || q == nil || !p.known || q.known || p.seq != q.seq {
		return
	}
	q.whole = slices.Concat(s.top, s.closed[:p.base], p.open)
}

// compare returns the length of the longest common prefix with the request
// before, and why that one is not extended, if it is not.
func (s *state) compare(ctx context.Context, src Source, l *Lowerer, open []byte) (int64, weir.BreakReason, error) {
	p := s.previous
	if p == nil {
		return 0, weir.BreakFirst, nil
	}
	if p.known {
		n := common(p.open, s.closed[p.base:])
		if rest := len(s.closed) - p.base; n == rest {
			n += common(p.open[n:], open)
		}
		shared := len(s.top) + p.base + n
		if n == len(p.open) {
			return int64(shared), "", nil
		}
		return int64(shared), s.reason(p), nil
	}
	if p.whole == nil {
		then, err := l.frozen(ctx, src, s.conversation, p.seq, p.step.Lowering)
		if err != nil && weir.CodeOf(err) != codeMismatch {
			return 0, "", err
		}
		if err == nil {
			p.whole = then.prefix()
		}
		if digest(p.whole) != p.step.Ledger.PrefixSHA256 {
			p.whole = nil // what was sent is lost
		}
	}
	n := common(p.whole, s.top)
	if n == len(s.top) {
		n += common(p.whole[n:], s.closed)
	}
	if n == len(s.top)+len(s.closed) {
		n += common(p.whole[n:], open)
	}
	// Where the model is named in the address, another one may get the same
	// bytes; what the one before has cached is of no use to it.
	if n == len(p.whole) && n > 0 && target(p.step.Lowering) == target(s.key) {
		return int64(n), "", nil
	}
	return int64(n), s.reason(p), nil
}

// reason names the one reason why the request before is not extended.
func (s *state) reason(p *previous) weir.BreakReason {
	switch {
	case p.step.Lowering != s.key:
		return weir.BreakModel
	case s.checkpoint > p.seq:
		return weir.BreakCompaction
	case p.rewound:
		return weir.BreakRewind
	case s.epoch > p.seq:
		return weir.BreakTools
	case p.known && p.reopened: // what was closed then is as it was
		return weir.BreakOpenSection
	}
	return weir.BreakDefect
}

// common is the length of the longest common prefix.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
