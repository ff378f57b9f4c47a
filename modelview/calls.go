package modelview

import (
	"context"
	"slices"
	"strconv"

	"weir"
)

// asked are the calls of the answer that the open section follows.
type asked struct {
	seq   weir.Seq
	wire  []string // their ids on the wire, in call order
	calls []logged // as the log has them; nil until they are needed
}

// logged is a call as the log names it.
type logged struct{ id, name string }

// callSet are the ids of calls on the surface so far: providers want them
// unique in the whole request, and some models count from 0 in every answer.
type callSet struct {
	base map[string]struct{}
	more []string // of a fork, which must not change base
	fork bool
}

func (u *callSet) has(id string) bool {
	_, ok := u.base[id]
	return ok || slices.Contains(u.more, id)
}

func (u *callSet) add(id string) {
	switch {
	case u.fork:
		u.more = append(u.more, id)
	case u.base == nil:
		u.base = map[string]struct{}{id: {}}
	default:
		u.base[id] = struct{}{}
	}
}

// name gives the calls of the answer at seq their ids on the wire: the log's
// where they may stand, a variant with the seq where they may not or are taken.
func (u *callSet) name(calls []weir.Part, seq weir.Seq, limit int) []string {
	wire := make([]string, len(calls))
	for i, c := range calls {
		kept := scrub(c.Call, limit, fallbackCall)
		id := kept
		for n := 1; slices.Contains(wire[:i], id) || u.has(id); n++ {
			suffix := "_" + strconv.FormatInt(int64(seq), 10)
			if n > 1 {
				suffix += "_" + strconv.Itoa(n)
			}
			id = kept[:min(len(kept), limit-len(suffix))] + suffix
		}
		wire[i] = id
	}
	return wire
}

// section is a user's side that no answer has closed yet.
type section struct {
	sealed  bool // closed already; its answer comes next
	asked   asked
	results [][]byte // one a call, nil until it is there
	said    [][]byte
	told    [][]byte
}

// missing returns the wire id of a call without result, "" for none.
func (o *section) missing() string {
	for i, r := range o.results {
		if r == nil {
			return o.asked.wire[i]
		}
	}
	return ""
}

// place puts a frozen result where its call is.
func (o *section) place(wire string, fragment []byte) error {
	for i, w := range o.asked.wire {
		if w == wire && o.results[i] == nil {
			o.results[i] = fragment
			return nil
		}
	}
	return broken("a tool result (%s) that no call of the message before asked for", wire)
}

// called returns the id on the wire of the call that a logged result is for,
// the first of that id without result, and the name that it called.
func (s *state) called(ctx context.Context, src Source, call string) (id, name string, err error) {
	o := &s.open
	if o.asked.calls == nil && len(o.asked.wire) > 0 {
		found, err := src.Records(ctx, s.conversation, weir.RecordQuery{After: o.asked.seq - 1, Before: o.asked.seq + 1})
		if err != nil {
			return "", "", err
		}
		for i := range found {
			if m, ok := found[i].Body.(*weir.AssistantMessage); ok {
				o.asked.calls = inLog(m.Calls())
			}
		}
	}
	for i, c := range o.asked.calls {
		if c.id == call && i < len(o.results) && o.results[i] == nil {
			return o.asked.wire[i], c.name, nil
		}
	}
	return "", "", broken("a tool result (%s) that no call of the message before asked for", scrub(call, 64, fallbackCall))
}

func inLog(calls []weir.Part) []logged {
	all := make([]logged, len(calls))
	for i := range calls {
		all[i] = logged{calls[i].Call, calls[i].Name}
	}
	return all
}

// broken is a history that no provider takes. It is never sent.
func broken(what string, args ...any) error {
	e := weir.Fault(weir.Unprocessable, "history_broken",
		"This conversation's history has "+what+", so nothing was sent. Rewind to before it, or branch from an earlier message.", args...)
	e.Op = "modelview"
	return e
}
