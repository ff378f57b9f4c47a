package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"weir"
	"weir/transcript"
)

// signalBuffer is how many signals a watcher may fall behind.
const signalBuffer = 512

// batch is how many records are read at once for a watcher.
const batch = 256

// watcher follows one conversation for one client. What it has told is what
// the next connect need not be told again.
type watcher struct {
	s      *server
	out    *stream
	r      *http.Request
	c      weir.Conversation // whose log is told
	row    weir.Conversation // as it was told last
	work   work              // the same
	shape  *transcript.Shape
	kinds  func(weir.ConversationID) weir.Kind
	cursor weir.Seq                      // the last record that was read
	told   map[weir.InputID]inputVersion // what waits in the inbox, as told
	step   weir.StepID                   // the step whose text is being told
	text   int                           // how many bytes of it have been told
}

type inputVersion struct {
	revision int64
	state    weir.InputState
}

type snapshot struct {
	State        weir.State   `json:"state"`
	WaitingFor   string       `json:"waiting_for,omitempty"`
	HeadSeq      weir.Seq     `json:"head_seq"`
	Conversation conversation `json:"conversation"`
	Inputs       []input      `json:"inputs"`
	work
}

// standing is a conversation and what it is at.
type standing struct {
	conversation
	work
}

// events answers errors only before the stream has begun.
func (s *server) events(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	after, given, err := position(r)
	if err != nil {
		return err
	}
	c, err := s.owned(ctx, actorOf(ctx), weir.ConversationID(r.PathValue("id")))
	if err != nil {
		return err
	}
	// First subscribe, then read: what happens in between is told by both, and
	// told twice is recognised by seq and offset.
	signals, cancel := s.cfg.Live.Subscribe(c.ID, signalBuffer)
	defer cancel()
	if c, err = s.owned(ctx, actorOf(ctx), c.ID); err != nil {
		return err
	}
	if !given || after > c.HeadSeq {
		after = c.HeadSeq
	}
	wt := &watcher{s: s, r: r, c: c, row: c, cursor: after, told: map[weir.InputID]inputVersion{}}
	if err := wt.fold(ctx); err != nil {
		return err
	}
	snap, err := wt.snapshot(ctx)
	if err != nil {
		return err
	}
	wt.out = openStream(w)
	wt.out.passing("snapshot", snap)
	wt.follow(ctx, signals)
	return nil
}

// position says behind which seq a client wants to go on.
func position(r *http.Request) (weir.Seq, bool, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, false, parameterInvalid("Say after which seq to go on, as a number.")
	}
	return weir.Seq(n), true, nil
}

// fold makes the shape of the log as it was at the cursor. Items are told as
// they are when they are appended, so that everyone is told the same whenever
// they connect; the item of a rewind says what it hides.
func (wt *watcher) fold(ctx context.Context) error {
	structure, err := wt.s.cfg.Store.Structure(ctx, &wt.c)
	if err != nil {
		return err
	}
	n := 0
	for n < len(structure) && structure[n].Seq <= wt.cursor {
		n++
	}
	wt.shape = transcript.Fold(structure[:n])
	wt.kinds, err = wt.s.kinds(ctx, &wt.c)
	return err
}

func (wt *watcher) snapshot(ctx context.Context) (snapshot, error) {
	inputs, err := wt.s.waiting(ctx, wt.c.ID)
	if err != nil {
		return snapshot{}, err
	}
	for _, in := range inputs {
		wt.told[in.ID] = inputVersion{in.Revision, in.State}
	}
	snap := snapshot{
		State: wt.c.State, WaitingFor: wt.c.WaitingFor, HeadSeq: wt.c.HeadSeq,
		Conversation: conversationOf(&wt.c), Inputs: inputs,
	}
	w, st, err := wt.s.work(ctx, wt.c.ID)
	if err != nil {
		return snap, err
	}
	snap.work, wt.work = w, w
	id, text := wt.s.cfg.Turns.Partial(wt.c.ID)
	if id == "" && st != nil { // another process runs it
		id, text = st.ID, st.Partial
	}
	if id != "" {
		now := runningStep{ID: id}
		if st != nil && st.ID == id {
			now = *w.Step
		}
		now.Text = &text
		snap.Step = &now
		wt.step, wt.text = id, len(text)
	}
	return snap, nil
}

// follow tells what is new until the client leaves, the session ends, or the
// client has fallen too far behind.
func (wt *watcher) follow(ctx context.Context, signals <-chan weir.Signal) {
	beat := time.NewTicker(wt.s.cfg.Heartbeat)
	defer beat.Stop()
	due := weir.Signal{Head: wt.cursor + 1}
	for {
		if !wt.tell(ctx, due) || wt.out.flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			// A signal may be lost, a session may be over: look.
			if _, err := wt.s.cfg.Account.Actor(wt.r); err != nil {
				return
			}
			wt.out.comment()
			due = weir.Signal{Head: wt.cursor + 1, Inputs: true, State: wt.changed(ctx)}
		case sig, open := <-signals:
			if !open {
				wt.out.passing("reset", struct{}{})
				_ = wt.out.flush()
				return
			}
			due = wt.gather(ctx, sig, signals)
		}
	}
}

// gather takes what else is there already, so that many signals are one look
// at the store. Deltas go out as they come, behind what came before them.
func (wt *watcher) gather(ctx context.Context, sig weir.Signal, signals <-chan weir.Signal) weir.Signal {
	var due weir.Signal
	for range signalBuffer {
		due.Head = max(due.Head, sig.Head)
		due.Inputs = due.Inputs || sig.Inputs
		due.State = due.State || sig.State
		if sig.Delta != nil {
			if !wt.tell(ctx, due) {
				return due
			}
			due = weir.Signal{}
			wt.delta(sig.Delta)
		}
		select {
		case next, open := <-signals:
			if !open {
				return due // the next receive finds it closed as well
			}
			sig = next
		default:
			return due
		}
	}
	return due
}

type delta struct {
	Step      weir.StepID `json:"step"`
	Offset    int         `json:"offset" doc:"In bytes of the step's text, or of its reasoning."`
	Text      string      `json:"text,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
	Tool      string      `json:"tool,omitempty"`
}

// delta leaves out what the snapshot has said already.
func (wt *watcher) delta(d *weir.Delta) {
	v := delta{d.Step, d.Offset, d.Text, d.Reasoning, d.Tool}
	if d.Step != wt.step {
		wt.step, wt.text = d.Step, 0
	}
	if d.Text != "" {
		if known := wt.text - d.Offset; known > 0 {
			known = min(known, len(d.Text))
			v.Text, v.Offset = d.Text[known:], d.Offset+known
		}
		wt.text = max(wt.text, d.Offset+len(d.Text))
	}
	if v.Text != "" || v.Reasoning != "" || v.Tool != "" {
		wt.out.passing("delta", v)
	}
}

// tell reads what is due and writes it: records, then inputs, then the state,
// so that who hears "idle" has heard what came before. It reports whether to
// go on.
func (wt *watcher) tell(ctx context.Context, due weir.Signal) bool {
	if due.Head > wt.cursor && !wt.records(ctx) {
		return false
	}
	if due.Inputs && wt.inputs(ctx) != nil {
		return false
	}
	return !due.State || wt.state(ctx)
}

func (wt *watcher) records(ctx context.Context) bool {
	for {
		rs, err := wt.s.cfg.Store.Records(ctx, &wt.c, weir.RecordQuery{After: wt.cursor, Limit: batch})
		if err != nil {
			return false
		}
		for i := range rs {
			wt.shape.Apply(&rs[i])
			if it, ok := transcript.Project(&rs[i], wt.shape, wt.kinds(rs[i].Conversation)); ok {
				wt.out.durable(rs[i].Seq, "item", itemOf(it))
			}
			wt.cursor = rs[i].Seq
		}
		if len(rs) < batch {
			return true
		}
		if wt.out.flush() != nil || ctx.Err() != nil {
			return false
		}
	}
}

// inputs tells of each input that is new, changed or gone from the inbox.
func (wt *watcher) inputs(ctx context.Context) error {
	list, err := wt.s.waiting(ctx, wt.c.ID)
	if err != nil {
		return err
	}
	now := map[weir.InputID]inputVersion{}
	for _, in := range list {
		v := inputVersion{in.Revision, in.State}
		now[in.ID] = v
		if wt.told[in.ID] != v {
			wt.out.passing("input", in)
		}
	}
	for id, before := range wt.told {
		if _, still := now[id]; still || before.state != weir.Pending {
			continue
		}
		in, err := wt.s.cfg.Store.Input(ctx, wt.c.ID, id)
		if err == nil {
			wt.out.passing("input", inputOf(&in))
		} else if weir.KindOf(err) != weir.NotFound {
			return err
		}
	}
	wt.told = now
	return nil
}

func (wt *watcher) state(ctx context.Context) bool {
	c, err := wt.s.owned(ctx, actorOf(ctx), wt.c.ID)
	if err != nil {
		if weir.KindOf(err) == weir.NotFound {
			wt.out.passing("deleted", struct {
				ID weir.ConversationID `json:"id"`
			}{wt.c.ID})
			_ = wt.out.flush()
		}
		return false
	}
	w, _, err := wt.s.work(ctx, wt.c.ID)
	if err != nil {
		return false
	}
	wt.row, wt.work = c, w
	wt.out.passing("state", standing{conversationOf(&c), w})
	return true
}

// changed reports whether the conversation or its work is not as it was told.
func (wt *watcher) changed(ctx context.Context) bool {
	c, err := wt.s.owned(ctx, actorOf(ctx), wt.c.ID)
	if err != nil || c.State != wt.row.State || c.WaitingFor != wt.row.WaitingFor || c.Title != wt.row.Title ||
		c.Visibility != wt.row.Visibility || c.Archived != wt.row.Archived || c.Model != wt.row.Model ||
		c.Agent != wt.row.Agent || c.Workspace != wt.row.Workspace {
		return true
	}
	w, _, err := wt.s.work(ctx, wt.c.ID)
	return err != nil || !reflect.DeepEqual(w, wt.work)
}
