package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"weir"
	"weir/mention"
)

// Admit takes an input's references and accepted mentions through the gate,
// inside the transaction that admits it: it locks, resolves, decides and
// freezes them, fills in in.Shown and in.References and appends the flow rows.
// On an error in is as it was, and the transaction must not commit.
func (g *Gate) Admit(ctx context.Context, tx Tx, a weir.Actor, in *weir.Input) error {
	q, err := ask(in)
	if err != nil {
		return err
	}
	if err := g.within(in.Conversation, q.things); err != nil {
		return err
	}
	var passages []passage
	var frozen []weir.Frozen
	if len(q.things) > 0 {
		if passages, err = g.decide(ctx, tx, a, in.Conversation, q.things); err != nil {
			return err
		}
	}
	shown := q.shown(in.Text, passages)
	if len(passages) > 0 {
		now := g.cfg.Now().UTC()
		if frozen, err = g.freeze(a, passages, in.Text, shown); err != nil {
			return err
		}
		flows := make([]*weir.Flow, len(passages))
		for i := range passages {
			flows[i] = g.flow(a, in, &passages[i], &frozen[i])
			flows[i].Time = now
		}
		if err := tx.AppendFlows(ctx, flows...); err != nil {
			return err
		}
	}
	in.Shown, in.References = "", frozen
	if shown != in.Text {
		in.Shown = shown
	}
	return nil
}

// decide locks what decides, resolves everything under the locks and checks
// the confirmations. What was not there to be locked stays unseen, even if it
// appears a moment later.
func (g *Gate) decide(ctx context.Context, tx Tx, a weir.Actor, target weir.ConversationID, things []named) ([]passage, error) {
	before := newDesk(tx, a.Owner)
	if _, err := before.target(ctx, target); err != nil {
		return nil, err
	}
	locked := map[weir.ConversationID]bool{target: true}
	ids := []weir.ConversationID{target}
	for _, n := range things {
		_, ok, err := before.conversation(ctx, n.Conversation)
		if err != nil {
			return nil, err
		}
		if ok && !locked[n.Conversation] {
			locked[n.Conversation] = true
			ids = append(ids, n.Conversation)
		}
	}
	slices.Sort(ids)
	if err := tx.LockShared(ctx, ids...); err != nil {
		return nil, err
	}
	after := newDesk(tx, a.Owner)
	after.only = locked
	passages, to, err := g.resolve(ctx, after, a, target, things)
	if err != nil {
		return nil, err
	}
	return passages, g.confirm(a, passages, to)
}

// shown returns the person's own text as the model and the timeline have it.
func (q *asking) shown(text string, passages []passage) string {
	titles := map[weir.ConversationID]string{}
	for i := range passages {
		titles[passages[i].Conversation] = oneLine(passages[i].source.Title)
	}
	return q.scan.Shown(text, q.accept, func(_ int, m mention.Mention) string {
		return titles[m.Reference.Conversation]
	})
}

// freeze makes what is stored with the input: from here on nothing of the
// sources matters any more. No fence occurs in any text of this message.
func (g *Gate) freeze(a weir.Actor, passages []passage, own, shown string) ([]weir.Frozen, error) {
	taken := []string{strings.ToUpper(own), strings.ToUpper(shown), strings.ToUpper(a.Name)}
	frozen := make([]weir.Frozen, len(passages))
	for i := range passages {
		frozen[i] = passages[i].frozen()
		f := &frozen[i]
		for _, s := range []string{f.Text, f.Title, string(f.Conversation), string(f.Message), string(f.Generation)} {
			taken = append(taken, strings.ToUpper(s))
		}
	}
	for i := range frozen {
		fence, err := g.fence(taken)
		if err != nil {
			return nil, err
		}
		taken = append(taken, fence)
		frozen[i].Note = renderNote(&frozen[i], a.Name, fence)
	}
	return frozen, nil
}

func (p *passage) frozen() weir.Frozen {
	f := weir.Frozen{
		Type:               p.Type,
		Conversation:       p.Conversation,
		Message:            p.Message,
		Generation:         p.generation,
		Title:              p.source.Title,
		SourceScope:        p.from,
		TargetScope:        p.to,
		NeededConfirmation: len(p.reasons) > 0,
		Confirmation:       p.confirmation,
		Reasons:            p.reasons,
	}
	if p.Type == weir.Quote {
		f.Role, f.Time = p.role, p.record.Time
		f.Text, f.TextLength = cut(p.text, maxQuote), utf8.RuneCountInString(p.text)
		f.Truncated = len(f.Text) < len(p.text)
	}
	return f
}

// flow is the row that says what passed: of a quote the text as it was kept.
func (g *Gate) flow(a weir.Actor, in *weir.Input, p *passage, f *weir.Frozen) *weir.Flow {
	row := &weir.Flow{
		Owner:        a.Owner,
		Door:         a.Door,
		Form:         weir.FlowForm(p.Type),
		Source:       p.Conversation,
		Message:      p.Message,
		Generation:   p.generation,
		SourceScope:  p.from,
		Target:       in.Conversation,
		Input:        in.ID,
		TargetScope:  p.to,
		Crossing:     f.NeededConfirmation,
		Reasons:      p.reasons,
		Confirmation: p.confirmation,
	}
	if p.Type == weir.Quote {
		row.TextMAC, row.TextLength = sum(g.textKey, f.Text), utf8.RuneCountInString(f.Text)
	}
	return row
}

// Settle records what became of an input's references: one outcome row for
// each row of its last admission. An earlier admission's rows, before an edit,
// were settled as replaced then.
func (g *Gate) Settle(ctx context.Context, tx Tx, in *weir.Input, result weir.FlowResult, seq weir.Seq) error {
	if len(in.References) == 0 {
		return nil
	}
	flows, err := tx.FlowsOf(ctx, in.Conversation, in.ID)
	if err != nil {
		return err
	}
	flows = slices.DeleteFunc(flows, func(f weir.Flow) bool {
		return f.Form != weir.FlowQuote && f.Form != weir.FlowPointer && f.Form != weir.FlowRecall
	})
	slices.SortFunc(flows, func(a, b weir.Flow) int { return cmp.Compare(a.ID, b.ID) })
	first := len(flows) - len(in.References)
	if first < 0 {
		return fmt.Errorf("gate: input %s has %d references and %d flow rows", in.ID, len(in.References), len(flows))
	}
	var outcomes []*weir.Flow
	for _, f := range flows[first:] {
		outcomes = append(outcomes, &weir.Flow{
			Time: g.cfg.Now().UTC(), Owner: f.Owner, Door: f.Door, Form: weir.FlowOutcome,
			Source: f.Source, Message: f.Message, Generation: f.Generation, SourceScope: f.SourceScope,
			Target: f.Target, Input: f.Input, TargetScope: f.TargetScope,
			Of: f.ID, Result: result, Seq: seq,
		})
	}
	return tx.AppendFlows(ctx, outcomes...)
}
