package modelview

import (
	"context"
	"slices"
	"strconv"

	"weir"
)

// state is what a window knows: the request so far, in the bytes of one
// lowering, up to the record head.
//
// The prefix of a request is top + closed + the open section. closed only
// grows, so whoever holds a length of it holds those bytes.
type state struct {
	lowering
	conversation *weir.Conversation

	head       weir.Seq // newest record taken in
	epoch      weir.Seq // of the epoch record in force
	behind     string   // key of the views of records from before it
	checkpoint weir.Seq // of the checkpoint in force

	top      []byte // the head of the request, with the comma that a message in it needs
	topMark  int    // where in top a cache mark may stand, -1 for nowhere
	closed   []byte // wire messages, joined by commas, up to and with the newest answer
	lastMark int    // where in closed the newest section takes a cache mark, -1 for nowhere
	open     section
	used     callSet
	pending  []weir.View     // rendered and not yet known to be stored, by seq
	previous *previous       // the newest request in the log
	asking   *weir.StepStart // the newest request that was read
	covering *weir.StepStart // the newest of this lowering, when the state was built
	sums     sums
}

func newState(l lowering, c *weir.Conversation) *state {
	return &state{lowering: l, conversation: c, topMark: -1, lastMark: -1}
}

// fork returns a state that can go on without changing s. It writes behind the
// end of s.closed, where s itself does not look.
func (s *state) fork() (*state, error) {
	f := *s
	f.open.results = slices.Clone(s.open.results)
	f.open.said = slices.Clip(s.open.said)
	f.open.told = slices.Clip(s.open.told)
	f.pending = slices.Clip(s.pending)
	f.used.fork = true
	if s.previous != nil {
		p := *s.previous
		f.previous = &p
	}
	var err error
	f.sums, err = s.sums.clone()
	return &f, err
}

// setEpoch takes the epoch record in force, if there is one.
func (s *state) setEpoch(e *weir.Record) {
	s.epoch, s.behind = 0, ""
	if e == nil {
		return
	}
	s.epoch = e.Seq
	s.behind = s.key + detached + digest([]byte(string(e.Conversation) + "/" + strconv.FormatInt(int64(e.Seq), 10)))[:12]
	s.pending = slices.Clone(s.pending)
	for i := range s.pending { // rendered before there was one
		s.pending[i].Lowering = s.keyOf(s.pending[i].Seq)
	}
}

// keyOf is the key of the view of the record at seq, "" as long as there is no
// epoch and so no request.
func (s *state) keyOf(seq weir.Seq) string {
	if seq < s.epoch || s.epoch == 0 {
		return s.behind
	}
	return s.key
}

// take adds the next record of the surface: as it was frozen, or rendered now.
func (s *state) take(ctx context.Context, src Source, r *weir.Record, frozen []byte) error {
	if frozen != nil {
		return s.add(r.Seq, frozen, nil)
	}
	form := Form{Mode: s.mode}
	var calls []logged
	switch m := r.Body.(type) {
	case *weir.Update:
		if r.Seq < s.epoch {
			return nil // part of the baseline since
		}
	case *weir.AssistantMessage:
		if err := s.seal(); err != nil {
			return err
		}
		made := m.Calls()
		calls = inLog(made)
		form.Calls = s.used.name(made, r.Seq, s.dialect.CallLimit())
		form.Signed = s.signedHere(r, m)
	case *weir.ToolResult:
		id, name, err := s.called(ctx, src, m.Call)
		if err != nil {
			return err
		}
		form.Calls, form.Name = []string{id}, name
	}
	fragment := s.dialect.Fragment(form, r.Body)
	if fragment == nil {
		return nil
	}
	mark := -1
	if s.dialect.Mark() != "" && s.dialect.Class(s.mode, fragment) != Answer {
		mark = len(fragment) - 1
	}
	s.pending = append(s.pending, weir.View{
		Conversation: r.Conversation, Seq: r.Seq, Lowering: s.keyOf(r.Seq), Bytes: fragment, Mark: mark,
	})
	return s.add(r.Seq, fragment, calls)
}

// add puts a fragment at the end of the surface. calls are an answer's, where
// they are at hand.
func (s *state) add(seq weir.Seq, fragment []byte, calls []logged) error {
	class := s.dialect.Class(s.mode, fragment)
	if p := s.previous; p != nil && seq > p.seq && !p.followed {
		p.followed, p.reopened = true, class != Answer
	}
	switch class {
	case Answer:
		return s.answer(seq, fragment, calls)
	case Result:
		calls := s.dialect.Calls(fragment)
		if len(calls) != 1 {
			return broken("a tool result without the id of its call")
		}
		return s.open.place(calls[0], fragment)
	case Told:
		s.open.told = append(s.open.told, fragment)
	default:
		s.open.said = append(s.open.said, fragment)
	}
	return nil
}

// answer closes the open section and opens the next.
func (s *state) answer(seq weir.Seq, fragment []byte, calls []logged) error {
	if !s.open.sealed { // else take did, to see the bytes before it renders
		if err := s.seal(); err != nil {
			return err
		}
	}
	s.closed = append(append(s.closed, ','), fragment...)
	ids := s.dialect.Calls(fragment)
	for _, id := range ids {
		s.used.add(id)
	}
	s.open = section{asked: asked{seq: seq, wire: ids, calls: calls}, results: make([][]byte, len(ids))}
	return nil
}

// seal arranges the open section for good.
func (s *state) seal() error {
	if id := s.open.missing(); id != "" {
		return broken("a tool call (%s) without its result", id)
	}
	s.closed, s.lastMark = s.section(s.closed)
	s.open = section{sealed: true}
	return nil
}

// section appends the open section to the messages so far.
func (s *state) section(dst []byte) ([]byte, int) {
	dst = append(dst, s.comma()...)
	return s.dialect.Section(dst, s.mode, s.open.results, s.open.said, s.open.told)
}

// comma is what stands before the open section.
func (s *state) comma() string {
	if len(s.closed) > 0 {
		return ","
	}
	return ""
}

// signedHere reports whether an answer's signed reasoning still stands behind
// the bytes it was signed behind: those of the request that it answers.
func (s *state) signedHere(r *weir.Record, m *weir.AssistantMessage) bool {
	if s.top == nil || !slices.ContainsFunc(m.Parts, func(p weir.Part) bool { return len(p.Raw) > 0 }) {
		return false
	}
	for _, step := range []*weir.StepStart{s.asking, s.covering} {
		if step == nil || step.Step != m.Step || step.Model != m.Model || step.Lowering != s.key {
			continue
		}
		s.sum()
		sum, err := digestWith(s.sums.plain, nil)
		return err == nil && sum == step.Ledger.PrefixSHA256
	}
	return false
}

// setTop takes the head of the requests of this epoch.
func (s *state) setTop(head []byte, mark int) {
	s.top, s.topMark = head, mark
	if len(head) > 0 && head[len(head)-1] == '}' {
		s.top = append(slices.Clip(head), ',')
	}
	s.sums = sums{}
}

// prefix returns the whole prefix in one piece.
func (s *state) prefix() []byte {
	open, _ := s.section(nil)
	return slices.Concat(s.top, s.closed, open)
}
