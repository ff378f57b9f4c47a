package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"weir"
	"weir/gate"
	"weir/store"
)

const max = weir.OwnerID("max")

var (
	person = weir.Actor{Owner: max, Name: "Max", Door: "web", MayConfirm: true}
	robot  = weir.Actor{Owner: max, Name: "Max", Door: "mcp"}
)

// world is a real store with a gate in front and a few short verbs.
type world struct {
	testing.TB
	s store.Store
	g *gate.Gate
	n int
}

func newWorld(t testing.TB, s store.Store) *world {
	return &world{TB: t, s: s, g: gate.New(gate.Config{Key: []byte("the server's key"), Now: time.Now})}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// like describes a conversation to make.
type like struct {
	owner     weir.OwnerID
	title     string
	kind      weir.Kind
	parent    weir.ConversationID
	level     weir.Level
	category  string
	workspace string
}

// make adds a conversation; a branch inherits all that its parent has.
func (w *world) make(l like) weir.ConversationID {
	w.Helper()
	ctx := context.Background()
	w.n++
	now := time.Now()
	c := weir.Conversation{
		ID: weir.NewConversationID(now), Owner: max, Title: l.title, Kind: weir.Chat, Workspace: l.workspace,
		Visibility: weir.Visibility{Level: weir.Open, Category: l.category},
		Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now, LastActive: now,
	}
	if l.owner != "" {
		c.Owner = l.owner
	}
	if l.kind != "" {
		c.Kind = l.kind
	}
	if l.level != "" {
		c.Visibility.Level = l.level
	}
	if l.parent != "" {
		p, err := w.s.Conversation(ctx, l.parent)
		w.must(err)
		c.Lineage = append(c.Lineage, p.Lineage...)
		upto := p.HeadSeq
		if c.Kind == weir.Task {
			upto = 0
			for i := range c.Lineage {
				c.Lineage[i].Upto = 0
			}
		}
		c.Lineage = append(c.Lineage, weir.Inherited{Conversation: p.ID, Upto: upto})
	}
	w.must(w.s.Update(ctx, func(tx store.Tx) error { return tx.InsertConversation(ctx, &c) }))
	return c.ID
}

// append adds a record to a conversation and returns it.
func (w *world) append(c weir.ConversationID, body weir.Body) weir.Record {
	w.Helper()
	ctx := context.Background()
	var out weir.Record
	w.must(w.s.Update(ctx, func(tx store.Tx) error {
		conv, err := tx.Conversation(ctx, c)
		if err != nil {
			return err
		}
		lease, ok, err := tx.AcquireLease(ctx, c, "test", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("lease %v: %w", ok, err)
		}
		now := time.Now()
		records, err := tx.Append(ctx, c, lease.Fence, nil, weir.Record{
			ID: weir.NewMessageID(now), Time: now, Generation: conv.Generation, Body: body,
		})
		if err != nil {
			return err
		}
		out = records[0]
		return tx.ReleaseLease(ctx, lease)
	}))
	return out
}

func (w *world) say(c weir.ConversationID, text string) weir.MessageID {
	w.Helper()
	return w.append(c, &weir.UserMessage{Text: text}).ID
}

func (w *world) answer(c weir.ConversationID, text string) weir.MessageID {
	w.Helper()
	return w.append(c, &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartText, Text: text}}}).ID
}

func (w *world) change(c weir.ConversationID, ch weir.ConversationChange) {
	w.Helper()
	ctx := context.Background()
	w.must(w.s.Update(ctx, func(tx store.Tx) error {
		if err := tx.LockForChange(ctx, c); err != nil {
			return err
		}
		return tx.ChangeConversation(ctx, c, ch)
	}))
}

func (w *world) see(c weir.ConversationID, level weir.Level, category string) {
	w.Helper()
	w.change(c, weir.ConversationChange{Visibility: &weir.Visibility{Level: level, Category: category}})
}

// send admits a text with references and mentions into a conversation.
func (w *world) send(a weir.Actor, to weir.ConversationID, text string, m weir.Mentions, refs ...weir.Reference) (weir.Input, error) {
	w.Helper()
	return w.sendThrough(nil, a, to, text, m, refs...)
}

func (w *world) sendThrough(wrap func(store.Tx) gate.Tx, a weir.Actor, to weir.ConversationID, text string, m weir.Mentions, refs ...weir.Reference) (weir.Input, error) {
	w.Helper()
	ctx := context.Background()
	in := weir.Input{
		Conversation: to, ID: weir.NewInputID(time.Now()), Owner: a.Owner, Kind: weir.InputUser, Delivery: weir.Steer,
		State: weir.Pending, Revision: 1, Text: text, Asked: refs, Mentions: m, AdmittedAt: time.Now(),
	}
	err := w.s.Update(ctx, func(tx store.Tx) error {
		var through gate.Tx = tx
		if wrap != nil {
			through = wrap(tx)
		}
		if err := w.g.Admit(ctx, through, a, &in); err != nil {
			return err
		}
		return tx.InsertInput(ctx, &in)
	})
	return in, err
}

func (w *world) preview(to weir.ConversationID, ref weir.Reference) (gate.Preview, error) {
	return w.g.Preview(context.Background(), w.s, person, to, ref)
}

// seen previews a reference and returns it as a person confirms it.
func (w *world) seen(to weir.ConversationID, ref weir.Reference) weir.Reference {
	w.Helper()
	p, err := w.preview(to, ref)
	w.must(err)
	ref.Confirmed, ref.Seen = true, p.Digest
	return ref
}

// stored counts what a refusal must not leave behind.
func (w *world) stored(to weir.ConversationID) (inputs, flows int) {
	w.Helper()
	in, err := w.s.Inputs(context.Background(), to, 1000)
	w.must(err)
	return len(in), len(w.flows(weir.FlowQuery{Target: to}))
}

// flows returns the flows, oldest first.
func (w *world) flows(q weir.FlowQuery) []weir.Flow {
	w.Helper()
	q.Owner, q.Limit = max, 1000
	page, err := w.s.Flows(context.Background(), q)
	w.must(err)
	var out []weir.Flow
	for i := len(page.Items) - 1; i >= 0; i-- {
		out = append(out, page.Items[i])
	}
	return out
}

// refused checks that an error is a fault with this code and that the target
// holds as much as before.
func (w *world) refused(err error, code string, to weir.ConversationID, before [2]int) *weir.Error {
	w.Helper()
	var fault *weir.Error
	if !errors.As(err, &fault) || fault.Code != code {
		w.Fatalf("got %v, want %s", err, code)
	}
	if inputs, flows := w.stored(to); [2]int{inputs, flows} != before {
		w.Fatalf("a refusal left %d inputs and %d flows, there were %v", inputs, flows, before)
	}
	return fault
}

func (w *world) count(to weir.ConversationID) [2]int {
	w.Helper()
	inputs, flows := w.stored(to)
	return [2]int{inputs, flows}
}

// spelling is everything that an answer to a person is made of.
func spelling(err error) string {
	var fault *weir.Error
	if !errors.As(err, &fault) {
		return fmt.Sprint(err)
	}
	b, _ := json.Marshal(map[string]any{"kind": fault.Kind, "code": fault.Code, "op": fault.Op, "public": fault.Public, "extra": fault.Extra, "err": fmt.Sprint(fault.Err)})
	return string(b)
}

func quote(c weir.ConversationID, m weir.MessageID) weir.Reference {
	return weir.Reference{Type: weir.Quote, Conversation: c, Message: m}
}

func pointer(c weir.ConversationID) weir.Reference {
	return weir.Reference{Type: weir.Pointer, Conversation: c}
}

func (w *world) conversation(c weir.ConversationID) weir.Conversation {
	w.Helper()
	conv, err := w.s.Conversation(context.Background(), c)
	w.must(err)
	return conv
}
