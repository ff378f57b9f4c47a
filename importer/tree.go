package importer

import "weir"

// node is an entry of a conversation, or a parent that was only named. Entries
// that are no message share the node of their parent, so the links that lead
// through them hold.
type node struct {
	segment *segment
	prompts []*segment // begun by prompts that follow this node; the last is live
	seen    bool       // read, and not only named as a parent
}

// segment is a prompt and what follows it up to the next ones: the parts of a
// conversation that a rewind abandons as a whole.
type segment struct {
	children []*segment
	dead     bool // abandoned
	runs     []span
	before   weir.MessageID // the last live message before its first record
}

// span is a range of seqs, both ends included.
type span struct{ from, upto weir.Seq }

func (s *segment) child() *segment {
	c := &segment{dead: s.dead}
	s.children = append(s.children, c)
	return c
}

// wrote notes that the record at seq belongs to the segment; before it comes
// the message given.
func (s *segment) wrote(seq weir.Seq, before weir.MessageID) {
	if len(s.runs) == 0 {
		s.before = before
	}
	if n := len(s.runs); n > 0 && s.runs[n-1].upto+1 == seq {
		s.runs[n-1].upto = seq
		return
	}
	s.runs = append(s.runs, span{seq, seq})
}

// abandon marks a segment and all that followed it, and returns where their
// records are. Each segment is abandoned once.
func (s *segment) abandon() []span {
	var runs []span
	for todo := []*segment{s}; len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if t.dead {
			continue
		}
		t.dead = true
		runs = append(runs, t.runs...)
		todo = append(todo, t.children...)
	}
	return runs
}

// tree holds the nodes of a conversation by uuid.
type tree struct {
	nodes   map[string]*node
	orphans int
}

func newTree() tree { return tree{nodes: map[string]*node{}} }

// parent returns the node with this uuid. One that was not read yet, and may
// never be, becomes a root; without a uuid the parent is a root of its own.
func (t *tree) parent(uuid string) *node {
	if uuid == "" {
		return &node{segment: &segment{}}
	}
	n := t.nodes[uuid]
	if n == nil {
		t.orphans++
		n = &node{segment: &segment{}}
		t.nodes[uuid] = n
	}
	return n
}

// pass notes an entry that is no message.
func (t *tree) pass(uuid string, parent *node) {
	if n := t.nodes[uuid]; n != nil {
		return // named as a parent before: it stays the root that it became
	}
	t.nodes[uuid] = parent
}

// message notes an entry that is one; a prompt begins a segment of its own.
func (t *tree) message(uuid string, parent *node, prompt bool) *node {
	n := t.nodes[uuid]
	if n == nil {
		n = &node{segment: parent.segment}
		if prompt {
			n.segment = parent.segment.child()
			parent.prompts = append(parent.prompts, n.segment)
		}
		t.nodes[uuid] = n
	}
	n.seen = true
	return n
}

// wasRead reports whether the entry with this uuid was read.
func (t *tree) wasRead(uuid string) bool {
	n := t.nodes[uuid]
	return n != nil && n.seen
}
