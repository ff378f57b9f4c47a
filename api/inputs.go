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
	add(s, about("list-inputs", http.MethodGet, base, "What waits to be promoted, in that order, and what was rejected lately", http.StatusOK), s.inputs)
	add(s, about("change-input", http.MethodPatch, base+"/{iid}", "Edit a pending input (through the gate again), switch its delivery, or move it among the queued ones", http.StatusOK), s.changeInput)
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

// waiting lists what people see of an inbox; retries and new epochs are controls.
func (s *server) waiting(ctx context.Context, id weir.ConversationID) ([]input, error) {
	got, err := s.cfg.Store.Inputs(ctx, id, recentInputs)
	if err != nil {
		return nil, err
	}
	list := make([]input, 0, len(got))
	for i := range got {
		if got[i].Kind == weir.InputUser || got[i].Kind == weir.InputNotice {
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
		Before     *weir.InputID  `json:"before,omitempty" doc:"Of a queued one, and alone: the queued input that it goes before; empty for the end."`
	}
}

func (s *server) changeInput(ctx context.Context, a weir.Actor, in *changeInputIn) (*one[sent], error) {
	now, err := s.input(ctx, a, in.ID, in.IID)
	if err != nil {
		return nil, err
	}
	b := in.Body
	var got weir.Input
	said := b.Text != nil || b.References != nil || b.Mentions != nil
	switch {
	case !said && b.Delivery == "" && b.Before == nil:
		return nil, bodyInvalid("Say what to change: text, references, mentions, delivery or before.")
	case b.Before != nil && (said || b.Delivery != ""):
		return nil, bodyInvalid("Moving an input is a change of its own; send before without the others.").With("member", "before")
	case b.Before != nil:
		got, err = s.cfg.Turns.Move(ctx, a, in.ID, in.IID, *b.Before, b.Revision)
	case !said:
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
