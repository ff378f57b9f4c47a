package gate

import (
	"context"
	"strings"
	"unicode/utf8"

	"weir"
	"weir/flow"
	"weir/transcript"
)

// passage is one reference, resolved and weighed.
type passage struct {
	named
	source       weir.Conversation
	record       weir.Record // of a quote
	role, text   string      // of a quote; the whole text
	generation   weir.GenerationID
	from, to     weir.Scope
	reasons      []weir.Reason // why it may not pass unasked; nil when it may
	confirmation string
	digest       string
}

// desk looks conversations up for one person, each at most once.
type desk struct {
	r      Reader
	owner  weir.OwnerID
	only   map[weir.ConversationID]bool // when set, nothing else is visible
	known  map[weir.ConversationID]*weir.Conversation
	shapes map[weir.ConversationID]*transcript.Shape
}

func newDesk(r Reader, owner weir.OwnerID) *desk {
	return &desk{
		r: r, owner: owner,
		known:  map[weir.ConversationID]*weir.Conversation{},
		shapes: map[weir.ConversationID]*transcript.Shape{},
	}
}

// conversation returns one that the person may see, or else the same empty
// one for whatever reason there is.
func (d *desk) conversation(ctx context.Context, id weir.ConversationID) (*weir.Conversation, bool, error) {
	c, ok := d.known[id]
	if !ok {
		row, err := d.r.Conversation(ctx, id)
		if err != nil && weir.KindOf(err) != weir.NotFound {
			return nil, false, err
		}
		if err != nil || row.Owner != d.owner || row.Deleted || d.only != nil && !d.only[id] {
			row = weir.Conversation{}
		}
		c = &row
		d.known[id] = c
	}
	return c, c.ID != "", nil
}

// find looks up all parts of a reference at once. A conversation that the
// person may not see is searched for the message like any other, as an empty
// one, so that neither the answer nor the work done tells what was wrong.
func (d *desk) find(ctx context.Context, n named) (passage, error) {
	c, ok, err := d.conversation(ctx, n.Conversation)
	if err != nil {
		return passage{}, err
	}
	p := passage{named: n, source: *c, generation: c.Generation, from: scope(c)}
	if n.Type == weir.Quote {
		p.record, err = d.r.Message(ctx, c, n.Message)
		if err != nil && weir.KindOf(err) != weir.NotFound {
			return passage{}, err
		}
		ok = ok && err == nil
		p.generation = p.record.Generation
	}
	if !ok {
		return passage{}, n.fault(weir.Fault(weir.NotFound, "reference_not_found",
			"What this reference names was not found; remove it, or pick it again."))
	}
	return p, nil
}

// read checks that p's source may be one, and takes the text of a quote.
func (d *desk) read(ctx context.Context, p *passage) error {
	if p.source.Kind != weir.Chat && p.source.Kind != weir.Branch {
		return p.fault(weir.Fault(weir.Unprocessable, "reference_not_quotable",
			"Only chats and branches can be handed over; remove this reference."))
	}
	if p.Type != weir.Quote {
		return nil
	}
	kind, err := d.writtenIn(ctx, p)
	if err != nil {
		return err
	}
	shape, err := d.shape(ctx, &p.source)
	if err != nil {
		return err
	}
	var ok bool
	if p.role, p.text, ok = transcript.Quotable(&p.record, kind, shape); !ok {
		return p.fault(weir.Fault(weir.Unprocessable, "reference_not_quotable",
			"Only what a person or the model wrote in a chat, and what no rewind has hidden, can be quoted; remove this reference."))
	}
	if !utf8.ValidString(p.text) || strings.ContainsRune(p.text, 0) {
		return p.fault(weir.Fault(weir.Unprocessable, "reference_not_quotable",
			"This message holds bytes that are not text and cannot be quoted; remove this reference."))
	}
	return nil
}

// writtenIn returns the kind of the conversation that a quoted record was
// written in, which may be a deleted ancestor.
func (d *desk) writtenIn(ctx context.Context, p *passage) (weir.Kind, error) {
	if p.record.Conversation == p.source.ID {
		return p.source.Kind, nil
	}
	c, err := d.r.Conversation(ctx, p.record.Conversation)
	return c.Kind, err
}

func (d *desk) shape(ctx context.Context, c *weir.Conversation) (*transcript.Shape, error) {
	if s := d.shapes[c.ID]; s != nil {
		return s, nil
	}
	structure, err := d.r.Structure(ctx, c)
	if err != nil {
		return nil, err
	}
	s := transcript.Fold(structure)
	d.shapes[c.ID] = s
	return s, nil
}

// target returns the conversation that things go to.
func (d *desk) target(ctx context.Context, id weir.ConversationID) (*weir.Conversation, error) {
	gone := weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "This conversation was not found; pick another one.")
	if !weir.ValidID(string(id)) {
		return nil, gone
	}
	c, ok, err := d.conversation(ctx, id)
	if err == nil && !ok {
		err = gone
	}
	return c, err
}

// resolve looks everything up and weighs it against the target. The first
// fault in the order of kinds is returned, whichever reference it is in.
func (g *Gate) resolve(ctx context.Context, d *desk, a weir.Actor, target weir.ConversationID, things []named) ([]passage, *weir.Conversation, error) {
	to, err := d.target(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	passages := make([]passage, len(things))
	for i, n := range things {
		if passages[i], err = d.find(ctx, n); err != nil {
			return nil, nil, err
		}
	}
	for i := range passages {
		if err := d.read(ctx, &passages[i]); err != nil {
			return nil, nil, err
		}
	}
	for i := range passages {
		g.weigh(a, &passages[i], to)
	}
	return passages, to, nil
}

// weigh asks the one rule, and makes the question where it says no.
func (g *Gate) weigh(a weir.Actor, p *passage, to *weir.Conversation) {
	p.to = scope(to)
	p.reasons = flow.Explain(p.from, p.to)
	if len(p.reasons) > 0 {
		p.confirmation = sentence(p, to)
	}
	p.digest = g.digest(1, string(a.Owner), string(p.Type), string(p.Conversation), p.messageOrNull(), string(p.generation),
		p.source.Title, p.textDigest(), p.from, string(to.ID), p.to, plain(p.reasons), p.confirmation)
}

// scope returns a conversation's scope; its path is never nil, so that it is
// stored the same way from whatever store it comes.
func scope(c *weir.Conversation) weir.Scope {
	s := c.Scope()
	if s.Path == nil {
		s.Path = []weir.ConversationID{}
	}
	return s
}
