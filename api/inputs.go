package api

import (
	"context"
	"net/http"

	"weir"
	"weir/turn"
)

// recentInputs is how many rejected inputs are listed.
const recentInputs = 50

func (s *server) inputRoutes() {
	const base = "/v1/conversations/{id}/inputs"
	add(s, about("list-inputs", http.MethodGet, base, "What waits to be promoted, and what was rejected lately", http.StatusOK), s.inputs)
	add(s, about("change-input", http.MethodPatch, base+"/{iid}", "Edit a pending input (through the gate again), or switch its delivery", http.StatusOK), s.changeInput)
	add(s, about("withdraw-input", http.MethodDelete, base+"/{iid}", "Take a pending input back", http.StatusOK), s.withdraw)
}

func (s *server) inputs(ctx context.Context, a weir.Actor, in *conversationPath) (*one[page[input]], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	list, err := s.waiting(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &one[page[input]]{page[input]{Items: list}}, nil
}

// waiting lists what people see of an inbox; a retry is a control.
func (s *server) waiting(ctx context.Context, id weir.ConversationID) ([]input, error) {
	got, err := s.cfg.Store.Inputs(ctx, id, recentInputs)
	if err != nil {
		return nil, err
	}
	list := make([]input, 0, len(got))
	for i := range got {
		if got[i].Kind != weir.InputRetry {
			list = append(list, inputOf(&got[i]))
		}
	}
	return list, nil
}

type inputPath struct {
	ID  weir.ConversationID `path:"id"`
	IID weir.InputID        `path:"iid" doc:"Id of the input, percent-encoded."`
}

type changeInputIn struct {
	ID   weir.ConversationID `path:"id"`
	IID  weir.InputID        `path:"iid"`
	Body struct {
		Revision   int64          `json:"revision" doc:"The revision that you saw."`
		Text       *string        `json:"text,omitempty"`
		References *[]referenceIn `json:"references,omitempty" maxItems:"1000" doc:"Left out: as they were."`
		Mentions   *mentions      `json:"mentions,omitempty"`
		Delivery   weir.Delivery  `json:"delivery,omitempty" enum:"steer,queue"`
	}
}

func (s *server) changeInput(ctx context.Context, a weir.Actor, in *changeInputIn) (*one[sent], error) {
	now, err := s.input(ctx, a, in.ID, in.IID)
	if err != nil {
		return nil, err
	}
	b := in.Body
	var got weir.Input
	switch {
	case b.Text == nil && b.References == nil && b.Mentions == nil && b.Delivery == "":
		return nil, bodyInvalid("Say what to change: text, references, mentions or delivery.")
	case b.Text == nil && b.References == nil && b.Mentions == nil:
		got, err = s.cfg.Turns.SetDelivery(ctx, a, in.ID, in.IID, b.Delivery, b.Revision)
	default:
		ad := turn.Admission{
			Conversation: in.ID, ID: in.IID, Text: now.Text, References: now.Asked, Mentions: now.Mentions, Delivery: now.Delivery,
		}
		if b.Text != nil {
			// Ordinals are about the text that they were said of.
			ad.Text, ad.Mentions = *b.Text, weir.Mentions{All: now.Mentions.All}
		}
		if b.References != nil {
			ad.References = referencesOf(*b.References)
		}
		if b.Mentions != nil {
			ad.Mentions = b.Mentions.Mentions
		}
		if b.Delivery != "" {
			ad.Delivery = b.Delivery
		}
		got, err = s.cfg.Turns.Edit(ctx, a, ad, b.Revision)
	}
	if err != nil {
		return nil, err
	}
	return &one[sent]{sent{inputOf(&got)}}, nil
}

func (s *server) withdraw(ctx context.Context, a weir.Actor, in *inputPath) (*one[sent], error) {
	if _, err := s.input(ctx, a, in.ID, in.IID); err != nil {
		return nil, err
	}
	got, err := s.cfg.Turns.Withdraw(ctx, a, in.ID, in.IID)
	if err != nil {
		return nil, err
	}
	return &one[sent]{sent{inputOf(&got)}}, nil
}

func (s *server) input(ctx context.Context, a weir.Actor, id weir.ConversationID, iid weir.InputID) (weir.Input, error) {
	if _, err := s.owned(ctx, a, id); err != nil {
		return weir.Input{}, err
	}
	if !weir.ValidID(string(iid)) {
		return weir.Input{}, noInput()
	}
	in, err := s.cfg.Store.Input(ctx, id, iid)
	if err != nil && weir.KindOf(err) == weir.NotFound {
		err = noInput()
	}
	return in, err
}
