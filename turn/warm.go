package turn

import (
	"container/list"
	"context"
	"sync"
	"time"

	"weir"
	"weir/fact"
	"weir/modelview"
	"weir/transcript"
)

// warm is what a drain keeps of a conversation between its steps, and the
// engine between its drains: a cache of the log and of nothing else. After any
// error it is dropped, because it may have seen what was rolled back.
type warm struct {
	window *modelview.Window
	shape  *transcript.Shape
	head   weir.Seq // everything up to here is in shape and told
	told   told
	facts
	bytes int64 // of the newest request: about what the window holds
}

// told is what the log says last of what the conversation's row says now.
type told struct {
	title      string
	visibility weir.Visibility
	model      string
	agent      string
	workspace  string
	moved      time.Time // to the workspace
}

// facts is what the model was last told of each fact: the snapshot of the
// epoch in force with the updates after it.
type facts struct {
	known   fact.Snapshot // nil while it has to be read
	noticed int64         // the journal was considered up to this entry
}

// catchUp reads what the log has gained up to c's head.
func (w *warm) catchUp(ctx context.Context, r Reader, c *weir.Conversation) error {
	if w.shape == nil {
		structure, err := r.Structure(ctx, c)
		if err != nil {
			return err
		}
		for len(structure) > 0 && structure[len(structure)-1].Seq > c.HeadSeq {
			structure = structure[:len(structure)-1] // newer than c: read next time
		}
		w.shape = transcript.Fold(structure)
		w.told = told{visibility: weir.Visibility{Level: weir.Open}}
		if err := w.read(ctx, r, c, settingKinds()); err != nil {
			return err
		}
		w.head = c.HeadSeq
	}
	if c.HeadSeq > w.head {
		kinds := append(settingKinds(), weir.KindRewind, weir.KindUndo, weir.KindCheckpoint, weir.KindEpoch, weir.KindSystem)
		if err := w.read(ctx, r, c, kinds); err != nil {
			return err
		}
		w.head = c.HeadSeq
	}
	if w.known == nil {
		var err error
		w.facts, err = readFacts(ctx, r, c, w.shape)
		return err
	}
	return nil
}

// readFacts reads from the log what the model was last told of each fact.
func readFacts(ctx context.Context, r Reader, c *weir.Conversation, shape *transcript.Shape) (facts, error) {
	f := facts{known: fact.Snapshot{}}
	epoch := shape.Epoch()
	if epoch == 0 {
		return f, nil
	}
	records, err := r.Records(ctx, c, weir.RecordQuery{
		After: epoch - 1, Before: c.HeadSeq + 1, Kinds: []weir.RecordKind{weir.KindEpoch, weir.KindSystem},
	})
	for i := range records {
		if !shape.Hidden(records[i].Seq) {
			f.apply(&records[i])
		}
	}
	return f, err
}

// apply takes in an epoch or an update. A snapshot that cannot be read is an
// empty one: everything is told anew.
func (f *facts) apply(r *weir.Record) {
	switch b := r.Body.(type) {
	case *weir.Epoch:
		var err error
		if f.known, err = fact.Parse(b.Snapshot); err != nil {
			f.known = fact.Snapshot{}
		}
		f.noticed = b.Noticed
	case *weir.Update:
		fact.Apply(f.known, b)
		f.noticed = max(f.noticed, b.Noticed)
	}
}

func (w *warm) read(ctx context.Context, r Reader, c *weir.Conversation, kinds []weir.RecordKind) error {
	records, err := r.Records(ctx, c, weir.RecordQuery{After: w.head, Before: c.HeadSeq + 1, Kinds: kinds})
	if err != nil {
		return err
	}
	for i := range records {
		w.apply(&records[i])
	}
	return nil
}

func (w *warm) apply(r *weir.Record) {
	switch b := r.Body.(type) {
	case *weir.Retitled:
		w.told.title = b.Title
	case *weir.VisibilitySet:
		w.told.visibility = b.Visibility
	case *weir.ModelSet:
		w.told.model = b.Model
	case *weir.AgentSet:
		w.told.agent = b.Agent
	case *weir.WorkspaceSet:
		w.told.workspace, w.told.moved = b.Workspace, r.Time
	case *weir.Update:
		if w.known != nil {
			w.facts.apply(r)
		}
	case *weir.Epoch:
		w.shape.Apply(r)
		w.facts.apply(r)
	default:
		w.shape.Apply(r)
		w.known = nil // a rewind, or a part of one taken back
	}
}

// moved says when c came to its workspace; zero: it was always there.
func (w *warm) moved(c *weir.Conversation, now time.Time) time.Time {
	if c.Workspace != w.told.workspace {
		return now
	}
	return w.told.moved
}

func settingKinds() []weir.RecordKind {
	return []weir.RecordKind{weir.KindTitle, weir.KindVisibility, weir.KindModel, weir.KindAgent, weir.KindWorkspace}
}

// settings returns the records that tell what the row says and the log does
// not say yet.
func (w *warm) settings(c *weir.Conversation) []weir.Body {
	var out []weir.Body
	if c.Title != w.told.title {
		out = append(out, &weir.Retitled{Title: c.Title, Auto: !c.TitleSet})
	}
	if c.Visibility != w.told.visibility {
		out = append(out, &weir.VisibilitySet{Visibility: c.Visibility})
	}
	if c.Model != w.told.model {
		out = append(out, &weir.ModelSet{Model: c.Model})
	}
	if c.Agent != w.told.agent {
		out = append(out, &weir.AgentSet{Agent: c.Agent})
	}
	if c.Workspace != w.told.workspace {
		out = append(out, &weir.WorkspaceSet{Workspace: c.Workspace})
	}
	return out
}

// warmer keeps the warm state of the conversations that were drained last, up
// to a number of them and of bytes. Taking it takes it out, so that one drain
// at a time has it.
type warmer struct {
	mu    sync.Mutex
	limit int
	bytes int64
	order *list.List // of *kept, newest first
	byID  map[weir.ConversationID]*list.Element
}

type kept struct {
	id   weir.ConversationID
	warm *warm
}

// maxWarmBytes bounds what is kept of idle conversations; the newest one is
// kept whatever its size.
const maxWarmBytes = 32 << 20

func newWarmer(limit int) *warmer {
	return &warmer{limit: limit, order: list.New(), byID: map[weir.ConversationID]*list.Element{}}
}

func (k *warmer) take(id weir.ConversationID) *warm {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.remove(k.byID[id])
}

func (k *warmer) put(id weir.ConversationID, w *warm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(k.byID[id])
	k.byID[id] = k.order.PushFront(&kept{id, w})
	k.bytes += w.bytes
	for k.order.Len() > k.limit || k.bytes > maxWarmBytes && k.order.Len() > 1 {
		k.remove(k.order.Back())
	}
}

func (k *warmer) remove(el *list.Element) *warm {
	if el == nil {
		return nil
	}
	was := k.order.Remove(el).(*kept)
	delete(k.byID, was.id)
	k.bytes -= was.warm.bytes
	return was.warm
}
