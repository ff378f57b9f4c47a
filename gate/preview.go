package gate

import (
	"context"
	"unicode/utf8"

	"weir"
)

// Preview is what a person sees before they hand something over. Title and
// Excerpt show invisible characters escaped; Confirmation is the one sentence
// to ask, and Digest is what a confirmation has to name as seen.
type Preview struct {
	Reference         weir.Reference  `json:"reference"`
	Title             string          `json:"title"`
	Excerpt           string          `json:"excerpt"`
	TextLength        int             `json:"text_length"`
	Truncated         bool            `json:"truncated"`
	NeedsConfirmation bool            `json:"needs_confirmation"`
	Reasons           []weir.Reason   `json:"reasons"`
	Confirmation      string          `json:"confirmation"`
	Digest            string          `json:"digest"`
	Source            weir.Visibility `json:"source"`
	Target            weir.Visibility `json:"target"`
}

// Preview answers what sending ref to target would do now. It decides nothing:
// Admit resolves again.
func (g *Gate) Preview(ctx context.Context, r Reader, a weir.Actor, target weir.ConversationID, ref weir.Reference) (Preview, error) {
	n := named{Reference: ref}
	if err := wellFormed(ref); err != nil {
		return Preview{}, n.fault(err)
	}
	if err := g.within(target, []named{n}); err != nil {
		return Preview{}, err
	}
	passages, to, err := g.resolve(ctx, newDesk(r, a.Owner), a, target, []named{n})
	if err != nil {
		return Preview{}, err
	}
	return passages[0].preview(a, to), nil
}

// preview shows a passage. Who may not confirm a crossing is not shown what
// would cross: else the refusal itself would carry it.
func (p *passage) preview(a weir.Actor, to *weir.Conversation) Preview {
	v := Preview{
		Reference:         weir.Reference{Type: p.Type, Conversation: p.Conversation, Message: p.Message},
		TextLength:        utf8.RuneCountInString(p.text),
		NeedsConfirmation: len(p.reasons) > 0,
		Reasons:           append([]weir.Reason{}, p.reasons...),
		Confirmation:      p.confirmation,
		Digest:            p.digest,
		Source:            p.source.Visibility,
		Target:            to.Visibility,
	}
	v.Truncated = v.TextLength > maxQuote
	if a.MayConfirm || !v.NeedsConfirmation {
		v.Title, v.Excerpt = escaped(p.source.Title, 4*maxName), excerpt(p.text)
	}
	return v
}
