package importer

import (
	"encoding/json"
	"fmt"
	"time"

	"weir"
)

// maxWaiting is how many records may wait for an answer to be whole.
const maxWaiting = 1000

// answer is a model's answer while its pieces come in: one answer is spread
// over several entries, with results of its calls in between.
type answer struct {
	message     string // the provider's id, "" for none
	model       string
	segment     *segment
	pieces      []piece
	calls       map[string]*given // by call id, nil until its result came
	missing     int               // how many of them are nil
	interrupted bool
	waiting     []waiting // what came after it while a result was missing
}

// piece is one entry's part of an answer.
type piece struct {
	uuid  string
	time  time.Time
	parts []weir.Part
}

// given is a result that came.
type given struct {
	uuid string
	time time.Time
	result
}

type waiting struct {
	segment *segment
	uuid    string
	time    time.Time
	body    weir.Body
}

// decodeMessage reads what a user or assistant entry carries.
func decodeMessage(e *entry, m *message) bool {
	return len(e.Message) > 0 && e.Message[0] == '{' && json.Unmarshal(e.Message, m) == nil
}

// answer takes one piece of an answer.
func (s *session) answer(e *entry, m *message) {
	uuid, id := string(e.UUID), string(m.ID)
	n := s.message(uuid, s.parentOf(e), false)
	parts := s.run.report.parts(blocksOf(m.Content), uuid)
	if s.open == nil || id == "" || s.open.message != id || s.open.segment != n.segment {
		s.flush()
		s.open = &answer{message: id, model: modelName(string(m.Model)), segment: n.segment, calls: map[string]*given{}}
	}
	a := s.open
	kept := parts[:0]
	for _, p := range parts {
		if p.Type == weir.PartToolCall {
			if _, twice := a.calls[p.Call]; twice {
				s.run.report.SameCalls++
				continue
			}
			a.calls[p.Call] = nil
			a.missing++
		}
		kept = append(kept, p)
	}
	switch {
	case len(parts) == 0:
		s.run.report.skip("empty")
		return
	case len(kept) == 0:
		s.run.report.skip("duplicate_call")
		return
	}
	a.pieces = append(a.pieces, piece{uuid, s.now, kept})
}

func modelName(s string) string {
	if len(s) > 200 {
		return ""
	}
	return s
}

// result takes what a tool answered. It belongs to the answer under way, where
// that called it and has no result yet; else it is kept as a notice.
func (s *session) result(seg *segment, uuid string, r result) {
	if s.open != nil {
		if before, called := s.open.calls[r.call]; called && before == nil {
			s.open.calls[r.call] = &given{uuid, s.now, r}
			s.open.missing--
			return
		}
	}
	s.run.report.OrphanResults++
	s.settle()
	s.later(seg, uuid, notice(r))
}

func notice(r result) *weir.Notice {
	return &weir.Notice{Text: paragraph("A tool result whose call is not recorded here:", r.text)}
}

// settle ends the answer under way if all its calls have their results.
func (s *session) settle() {
	if s.open != nil && (s.open.missing == 0 || len(s.open.waiting) >= maxWaiting) {
		s.flush()
	}
}

// later adds a record, behind the answer that is not whole yet.
func (s *session) later(seg *segment, uuid string, body weir.Body) {
	if s.open == nil {
		s.add(seg, uuid, s.now, body)
		return
	}
	s.open.waiting = append(s.open.waiting, waiting{seg, uuid, s.now, body})
}

// flush ends the answer under way, whole or not: the answer, one result a
// call, and what waited for them.
func (s *session) flush() {
	a := s.open
	if a == nil {
		return
	}
	s.open = nil
	for _, group := range s.split(a.pieces) {
		s.group(a, group)
	}
	for _, w := range a.waiting {
		s.add(w.segment, w.uuid, w.time, w.body)
	}
}

// group adds the pieces that are one record, and the results of their calls.
// Where the record is there already, so is one result for each call, and a
// result that comes only now is late.
func (s *session) group(a *answer, pieces []piece) {
	m := &weir.AssistantMessage{Model: a.model, Interrupted: a.interrupted}
	for _, p := range pieces {
		m.Parts = append(m.Parts, p.parts...)
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	there := s.has(first.uuid)
	s.add(a.segment, first.uuid, first.time, m)
	s.run.report.Merged += len(pieces) - 1
	for i, call := range m.Calls() {
		missing := fmt.Sprintf("%s:unanswered%d", first.uuid, i)
		g := a.calls[call.Call]
		if g == nil && !there || there && s.has(missing) {
			s.run.report.Unanswered++
			s.add(a.segment, missing, last.time, &weir.ToolResult{Call: call.Call, Name: call.Name, Text: notRecorded, IsError: true})
		}
		switch {
		case g == nil:
		case there && !s.has(g.uuid):
			s.run.report.OrphanResults++
			a.waiting = append(a.waiting, waiting{a.segment, g.uuid, g.time, notice(g.result)})
		default:
			s.add(a.segment, g.uuid, g.time, &weir.ToolResult{Call: call.Call, Name: call.Name, Text: g.text, IsError: g.isError})
		}
	}
}

const notRecorded = "The result of this call was not recorded."
