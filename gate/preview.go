package gate

import (
	"context"

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
	panic("not yet")
}
