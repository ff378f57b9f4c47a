package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"weir"
	"weir/transcript"
	"weir/turn"
)

func (s *server) messageRoutes() {
	const base = "/v1/conversations/{id}/messages"
	add(s, about("send", http.MethodPost, base,
		"Send a message, with what is handed over from elsewhere; a crossing asks first (409 with previews)", http.StatusAccepted), s.send)
	add(s, about("timeline", http.MethodGet, base,
		"The timeline: the newest back, or onward from after", http.StatusOK), s.timeline)
	add(s, about("get-message", http.MethodGet, base+"/{mid}", "One message of this conversation", http.StatusOK), s.message)
	add(s, about("reference-body", http.MethodGet, base+"/{mid}/references/{n}/body",
		"The whole text of what was handed over with a message", http.StatusOK), s.referenceBody)
}

type sendIn struct {
	ID   weir.ConversationID `path:"id"`
	Key  string              `header:"Idempotency-Key" doc:"In the place of an id."`
	Body struct {
		ID         weir.InputID   `json:"id,omitempty" doc:"An id of your own; sending the same again under it changes nothing."`
		Text       string         `json:"text"`
		References []referenceIn  `json:"references,omitempty" maxItems:"1000"`
		Mentions   *mentions      `json:"mentions,omitempty"`
		Delivery   weir.Delivery  `json:"delivery,omitempty" enum:"steer,queue"`
		Replaces   weir.MessageID `json:"replaces,omitempty" doc:"Rewind to before this message first, in the same transaction."`
		IfSeq      *weir.Seq      `json:"if_seq,omitempty" doc:"Refuse when the conversation has moved on since this seq."`
	}
}

type sent struct {
	Input input `json:"input"`
}

func (s *server) send(ctx context.Context, a weir.Actor, in *sendIn) (*one[sent], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	b := in.Body
	ad := turn.Admission{
		Conversation: in.ID, ID: b.ID, Text: b.Text, References: referencesOf(b.References),
		Delivery: b.Delivery, Replaces: b.Replaces, IfSeq: b.IfSeq,
	}
	if b.Mentions != nil {
		ad.Mentions = b.Mentions.Mentions
	}
	if b.Replaces != "" && !weir.ValidID(string(b.Replaces)) {
		return nil, noMessage()
	}
	keyed := ad.ID == "" && in.Key != ""
	if keyed {
		ad.ID = keyedInput(in.ID, in.Key)
	}
	got, err := s.cfg.Turns.Admit(ctx, a, ad)
	if keyed && weir.CodeOf(err) == weir.CodeInputConflict {
		return nil, keyTaken()
	}
	if err != nil {
		return nil, err
	}
	return &one[sent]{sent{inputOf(&got)}}, nil
}

type timelineIn struct {
	ID         weir.ConversationID `path:"id"`
	Generation weir.GenerationID   `query:"generation" doc:"Only what was written in this generation."`
	Before     int64               `query:"before" minimum:"0" doc:"Only seqs below."`
	After      optional[int64]     `query:"after" doc:"Only seqs above, oldest first."`
	Limit      int                 `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Hidden     string              `query:"hidden" enum:"include" doc:"include: with what a rewind hides, marked."`
	Cursor     string              `query:"cursor"`
}

// timeline answers in ascending order always. It reads until the page is full
// or the log ends, since much of a log is not shown.
func (s *server) timeline(ctx context.Context, a weir.Actor, in *timelineIn) (*one[page[item]], error) {
	c, err := s.owned(ctx, a, in.ID)
	if err != nil {
		return nil, err
	}
	w := window{before: weir.Seq(in.Before), after: weir.Seq(max(in.After.Value, 0)), onward: in.After.Set}
	if in.Cursor != "" {
		if err := w.resume(in.Cursor); err != nil {
			return nil, err
		}
	}
	shape, kinds, err := s.shape(ctx, &c)
	if err != nil {
		return nil, err
	}
	keep := func(r *weir.Record) (item, bool) {
		if in.Generation != "" && r.Generation != in.Generation {
			return item{}, false
		}
		i, ok := transcript.Project(r, shape, kinds(r.Conversation))
		if !ok || i.Hidden && in.Hidden == "" {
			return item{}, false
		}
		return itemOf(i), true
	}
	items, more, err := s.readPage(ctx, &c, &w, in.Limit, keep)
	if err == nil {
		err = s.withStates(ctx, c.ID, items)
	}
	if err != nil {
		return nil, err
	}
	out := &one[page[item]]{page[item]{Items: items}}
	if more {
		out.Body.Next = w.cursor()
	}
	return out, nil
}

// window is the part of a log that a page is taken from; reading moves its end.
type window struct {
	after, before weir.Seq
	onward        bool // from after upward, else from before downward
}

func (w *window) cursor() string {
	if w.onward {
		return "a" + strconv.FormatInt(int64(w.after), 10)
	}
	return "b" + strconv.FormatInt(int64(w.before), 10)
}

func (w *window) resume(cursor string) error {
	n, err := strconv.ParseInt(cursor[1:], 10, 64)
	switch {
	case err != nil || n < 0:
	case strings.HasPrefix(cursor, "a"):
		w.onward, w.after = true, weir.Seq(n)
		return nil
	case strings.HasPrefix(cursor, "b"):
		w.onward, w.before = false, weir.Seq(n)
		return nil
	}
	return parameterInvalid("This cursor is none of ours; begin without one.")
}

func (s *server) readPage(ctx context.Context, c *weir.Conversation, w *window, limit int,
	keep func(*weir.Record) (item, bool)) ([]item, bool, error) {
	items := make([]item, 0, limit)
	for {
		chunk := max(limit-len(items), 64)
		rs, err := s.cfg.Store.Records(ctx, c, weir.RecordQuery{
			After: w.after, Before: w.before, Newest: !w.onward, Limit: chunk,
		})
		if err != nil {
			return nil, false, err
		}
		if !w.onward {
			reverse(rs)
		}
		for i := range rs {
			if len(items) == limit {
				return ordered(items, w.onward), true, nil
			}
			if it, ok := keep(&rs[i]); ok {
				items = append(items, it)
			}
			if w.onward {
				w.after = rs[i].Seq
			} else {
				w.before = rs[i].Seq
			}
		}
		if len(rs) < chunk || !w.onward && w.before <= 1 {
			return ordered(items, w.onward), false, nil
		}
	}
}

func ordered(items []item, onward bool) []item {
	if !onward {
		reverse(items)
	}
	return items
}

func reverse[T any](list []T) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

// shape folds c's log and tells in which kind of conversation each of its
// records was written.
func (s *server) shape(ctx context.Context, c *weir.Conversation) (*transcript.Shape, func(weir.ConversationID) weir.Kind, error) {
	structure, err := s.cfg.Store.Structure(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := s.kinds(ctx, c)
	return transcript.Fold(structure), kinds, err
}

func (s *server) kinds(ctx context.Context, c *weir.Conversation) (func(weir.ConversationID) weir.Kind, error) {
	kinds := map[weir.ConversationID]weir.Kind{c.ID: c.Kind}
	for _, in := range c.Lineage {
		above, err := s.cfg.Store.Conversation(ctx, in.Conversation)
		if err != nil {
			return nil, err
		}
		kinds[above.ID] = above.Kind
	}
	return func(id weir.ConversationID) weir.Kind { return kinds[id] }, nil
}

type messagePath struct {
	ID  weir.ConversationID `path:"id"`
	MID weir.MessageID      `path:"mid" doc:"Id of the message, percent-encoded."`
}

// record returns a record of a conversation by its id; one of another
// conversation is not found, like one that never was.
func (s *server) record(ctx context.Context, a weir.Actor, id weir.ConversationID, mid weir.MessageID) (weir.Conversation, weir.Record, error) {
	c, err := s.owned(ctx, a, id)
	if err != nil {
		return c, weir.Record{}, err
	}
	if !weir.ValidID(string(mid)) {
		return c, weir.Record{}, noMessage()
	}
	r, err := s.cfg.Store.Message(ctx, &c, mid)
	if err != nil && weir.KindOf(err) == weir.NotFound {
		err = noMessage()
	}
	return c, r, err
}

func (s *server) message(ctx context.Context, a weir.Actor, in *messagePath) (*one[item], error) {
	c, r, err := s.record(ctx, a, in.ID, in.MID)
	if err != nil {
		return nil, err
	}
	shape, kinds, err := s.shape(ctx, &c)
	if err != nil {
		return nil, err
	}
	i, ok := transcript.Project(&r, shape, kinds(r.Conversation))
	if !ok {
		return nil, noMessage()
	}
	items := []item{itemOf(i)}
	if err := s.withStates(ctx, c.ID, items); err != nil {
		return nil, err
	}
	return &one[item]{items[0]}, nil
}

type referencePath struct {
	ID  weir.ConversationID `path:"id"`
	MID weir.MessageID      `path:"mid"`
	N   string              `path:"n" doc:"Which of the message's references, from 0."`
}

type referenceBody struct {
	transcript.ItemReference
	Role string   `json:"role,omitempty" doc:"Who wrote the quoted message: user or assistant."`
	Time *instant `json:"time,omitempty" doc:"When."`
	Text string   `json:"text" doc:"What was handed over, whole; empty for a pointer."`
}

func (s *server) referenceBody(ctx context.Context, a weir.Actor, in *referencePath) (*one[referenceBody], error) {
	_, r, err := s.record(ctx, a, in.ID, in.MID)
	if err != nil {
		return nil, err
	}
	m, ok := r.Body.(*weir.UserMessage)
	n, err := strconv.Atoi(in.N)
	if !ok || err != nil || n < 0 || n >= len(m.References) {
		return nil, weir.Fault(weir.NotFound, "reference_not_found", "This message has no such reference.")
	}
	f := &m.References[n]
	return &one[referenceBody]{referenceBody{ItemReference: card(f), Role: f.Role, Time: maybe(f.Time), Text: f.Text}}, nil
}
