package importer

import (
	"context"
	"fmt"
	"time"

	"weir"
)

// session is one conversation under way: what the transcript said of it so
// far, what is there, and what is to be appended.
type session struct {
	run    *run
	row    weir.Conversation
	parent *session            // of a task
	tasks  map[string]*session // side chains, by their agents or else their entries' uuids
	journal
	tree

	refused *weir.Error // why nothing is written; nil: it may be
	new     bool        // this import makes it
	made    bool        // and has done so
	touched bool        // some entry is a message

	open *answer   // an answer that may not be whole yet
	now  time.Time // of the entry under way

	human   string // what a person said first
	custom  string // the title that a person gave it
	titled  string // the title that the product gave it
	renamed bool   // the row's title is not stored yet

	added, known, counted int
}

func (s *session) empty() bool { return !s.touched && !s.made && s.refused == nil }

// sessionOf returns the conversation that an entry belongs to, nil for none.
func (r *run) sessionOf(ctx context.Context, e *entry) (*session, error) {
	id := r.sessionID(e)
	if id == "" {
		r.report.skip("no_session")
		return nil, nil
	}
	r.current = id
	s, err := r.open(ctx, weir.ConversationID(id), nil)
	if err != nil || !bool(e.Sidechain) {
		return s, err
	}
	return s.task(ctx, e)
}

// task returns the side chain that an entry belongs to: its agent's, else that
// of its parent, else one that begins with it.
func (s *session) task(ctx context.Context, e *entry) (*session, error) {
	uuid, key := string(e.UUID), string(e.Agent)
	if key != "" && !validID(key) {
		s.run.report.skip("bad_id")
		return nil, nil
	}
	if key == "" {
		key = uuid
		if t := s.tasks[string(e.Parent)]; t != nil {
			s.tasks[uuid] = t
			return t, nil
		}
	}
	if t := s.tasks[key]; t != nil {
		return t, nil
	}
	if uuid == "" {
		s.run.report.skip(string(e.Type)) // the title of a side chain that is not there
		return nil, nil
	}
	t, err := s.run.open(ctx, s.row.ID+":"+weir.ConversationID(key), s)
	if err == nil {
		s.tasks[key] = t
		s.run.report.Tasks++
	}
	return t, err
}

// open returns a conversation of this import, loaded when it exists already.
func (r *run) open(ctx context.Context, id weir.ConversationID, parent *session) (*session, error) {
	if s := r.byID[id]; s != nil {
		return s, nil
	}
	s := &session{run: r, parent: parent, tree: newTree(), tasks: map[string]*session{}}
	if err := s.load(ctx, id); err != nil {
		return nil, err
	}
	r.byID[id] = s
	r.sessions = append(r.sessions, s)
	return s, nil
}

// take adds one entry.
func (s *session) take(ctx context.Context, e *entry) error {
	s.describe(e)
	switch {
	case e.Type == "custom-title" || e.Type == "ai-title":
		s.run.report.skip(string(e.Type))
		return nil
	case s.wasRead(string(e.UUID)) && (e.Type == "user" || e.Type == "assistant"):
		s.run.report.skip("duplicate")
		return nil
	case e.Type == "system" && e.Subtype == "compact_boundary":
		s.boundary(e)
		return nil
	case e.Type != "user" && e.Type != "assistant":
		s.pass(string(e.UUID), s.parentOf(e))
		reason := orOther(string(e.Type))
		if e.Type == "system" && e.Subtype != "" {
			reason += "." + string(e.Subtype)
		}
		s.run.report.skip(reason)
		return nil
	}
	var m message
	if !decodeMessage(e, &m) {
		s.pass(string(e.UUID), s.parentOf(e))
		s.run.report.skip("malformed")
		return nil
	}
	switch {
	case bool(e.Compacted):
		s.checkpoint(e, &m)
	case e.Type == "assistant" && (bool(e.APIError) || m.Model == synthetic):
		s.remark(e, &m)
	case e.Type == "assistant":
		s.answer(e, &m)
	default:
		s.user(e, &m)
	}
	return s.write(ctx)
}

// describe keeps what an entry says of the conversation as a whole.
func (s *session) describe(e *entry) {
	s.clock(e)
	if s.new && s.row.CreatedAt.IsZero() {
		s.row.CreatedAt = s.now
	}
	if s.new && !s.made && s.row.Workspace == "" && len(e.Folder) <= maxFolder {
		s.row.Workspace = string(e.Folder)
	}
	title := titleOf(string(firstOf(e.CustomTitle, e.AITitle, e.Title)))
	switch {
	case title == "":
	case e.Type == "custom-title":
		s.custom = title
	case e.Type == "ai-title":
		s.titled = title
	}
}

// maxFolder is the longest folder that is kept as the workspace.
const maxFolder = 1024

func firstOf(all ...str) str {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func (s *session) parentOf(e *entry) *node {
	parent := string(e.Parent)
	if s.parent != nil && s.parent.nodes[parent] != nil {
		parent = "" // where the side chain leaves the main line
	}
	return s.tree.parent(parent)
}

// boundary notes a compaction. It begins a new root that remembers what it
// follows.
func (s *session) boundary(e *entry) {
	s.flush()
	parent := s.nodes[string(e.LogicalParent)]
	if e.Parent != "" || parent == nil {
		parent = s.parentOf(e)
	}
	s.pass(string(e.UUID), parent)
	s.run.report.skip("system.compact_boundary")
}

// checkpoint takes the summary that opens a generation.
func (s *session) checkpoint(e *entry, m *message) {
	s.flush()
	said := s.run.report.said(blocksOf(m.Content), false)
	n := s.message(string(e.UUID), s.parentOf(e), false)
	c := &weir.Checkpoint{Text: paragraph(said.synthetic, said.person)}
	if c.Text == "" {
		s.run.report.skip("empty")
		return
	}
	s.run.report.Compactions++
	s.add(n.segment, string(e.UUID), s.now, c)
}

// remark takes an answer that no model gave, such as an error's text.
func (s *session) remark(e *entry, m *message) {
	n := s.message(string(e.UUID), s.parentOf(e), false)
	text := (&weir.AssistantMessage{Parts: s.run.report.parts(blocksOf(m.Content), string(e.UUID))}).VisibleText()
	if text == "" {
		s.run.report.skip("empty")
		return
	}
	s.settle()
	s.later(n.segment, string(e.UUID), &weir.Notice{Text: text})
}

// user takes results of tools, and what was said on the user's side.
func (s *session) user(e *entry, m *message) {
	uuid := string(e.UUID)
	said := s.run.report.said(blocksOf(m.Content), bool(e.Meta))
	prompt := said.results == nil && !bool(e.Meta) && (said.person != "" || isCommand(said.synthetic))
	if prompt {
		s.settle()
	}
	parent := s.parentOf(e)
	n := s.message(uuid, parent, prompt)
	if prompt {
		s.turnBack(parent, n.segment)
	}
	ids := suffixes{uuid: uuid}
	for _, res := range said.results {
		s.result(n.segment, ids.next(), res)
	}
	if said.synthetic != "" {
		if isInterruption(said.synthetic) && s.open != nil && len(s.open.calls) == 0 {
			s.open.interrupted = true
		}
		s.settle()
		s.later(n.segment, ids.next(), &weir.UserMessage{Text: said.synthetic, Synthetic: true})
	}
	if said.person != "" {
		if s.human == "" {
			s.human = said.person
		}
		s.settle()
		s.later(n.segment, ids.next(), &weir.UserMessage{Text: said.person})
	}
	switch messages := ids.given; messages {
	case 0:
		s.run.report.skip("empty")
	default:
		s.run.report.Split += messages - 1
	}
}

// suffixes spells the ids of the records of one entry: its uuid first.
type suffixes struct {
	uuid  string
	given int
}

func (s *suffixes) next() string {
	if s.given++; s.given == 1 {
		return s.uuid
	}
	return fmt.Sprintf("%s:%d", s.uuid, s.given)
}

// turnBack abandons what followed an earlier prompt in the place of this one.
func (s *session) turnBack(parent *node, live *segment) {
	for _, p := range parent.prompts {
		if p == live || p.dead {
			continue
		}
		s.flush()
		s.run.report.Branches++
		s.hide(p.abandon(), p.before, s.now)
	}
	if parent.prompts = parent.prompts[:0]; live != nil {
		parent.prompts = append(parent.prompts, live)
	}
}

// add appends a record of a segment, unless it is there.
func (s *session) add(seg *segment, id string, at time.Time, body weir.Body) {
	s.touched = true
	if s.journal.add(seg, id, at, body, s.run.im.cfg.Now) {
		s.added++
		s.run.report.Kinds[string(body.Kind())]++
		return
	}
	s.known++
	s.run.report.OutOfOrder += s.added - s.counted // they come before this one
	s.counted = s.added
}
