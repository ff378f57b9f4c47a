package api

import (
	"context"
	"net/http"
	"strconv"

	"weir"
)

func (s *server) stepRoutes() {
	const base = "/v1/conversations/{id}/steps"
	add(s, about("list-steps", http.MethodGet, base, "Model calls of a conversation, newest first", http.StatusOK), s.steps)
	add(s, about("get-step", http.MethodGet, base+"/{sid}", "One model call", http.StatusOK), s.step)
	op := about("step-request", http.MethodGet, base+"/{sid}/request",
		"The exact request body, rebuilt from the log and checked against its digest", http.StatusOK)
	add(s, op, s.stepRequest)
}

type stepsIn struct {
	ID     weir.ConversationID `path:"id"`
	Limit  int                 `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string              `query:"cursor"`
}

func (s *server) steps(ctx context.Context, a weir.Actor, in *stepsIn) (*one[page[step]], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	var before int64
	if in.Cursor != "" {
		var err error
		if before, err = strconv.ParseInt(in.Cursor, 10, 64); err != nil || before < 1 {
			return nil, parameterInvalid("This cursor is none of ours; begin without one.")
		}
	}
	got, err := s.cfg.Store.Steps(ctx, in.ID, weir.Seq(before), in.Limit)
	if err != nil {
		return nil, err
	}
	out := &one[page[step]]{page[step]{Items: make([]step, 0, len(got))}}
	for i := range got {
		out.Body.Items = append(out.Body.Items, stepOf(&got[i]))
	}
	if len(got) == in.Limit {
		out.Body.Next = strconv.FormatInt(int64(got[len(got)-1].Seq), 10)
	}
	return out, nil
}

type stepPath struct {
	ID  weir.ConversationID `path:"id"`
	SID weir.StepID         `path:"sid" doc:"Id of the step, percent-encoded."`
}

func (s *server) stepOf(ctx context.Context, a weir.Actor, in *stepPath) (weir.Conversation, weir.Step, error) {
	c, err := s.owned(ctx, a, in.ID)
	if err != nil {
		return c, weir.Step{}, err
	}
	if !weir.ValidID(string(in.SID)) {
		return c, weir.Step{}, noStep()
	}
	st, err := s.cfg.Store.Step(ctx, in.ID, in.SID)
	if err != nil && weir.KindOf(err) == weir.NotFound {
		err = noStep()
	}
	return c, st, err
}

func (s *server) step(ctx context.Context, a weir.Actor, in *stepPath) (*one[step], error) {
	_, st, err := s.stepOf(ctx, a, in)
	if err != nil {
		return nil, err
	}
	return &one[step]{stepOf(&st)}, nil
}

type requestOut struct {
	ContentType string `header:"Content-Type"`
	Verified    string `header:"X-Weir-Verified" doc:"true: the bytes have the digest that was stored when they were sent."`
	Body        []byte
}

func (s *server) stepRequest(ctx context.Context, a weir.Actor, in *stepPath) (*requestOut, error) {
	c, st, err := s.stepOf(ctx, a, in)
	if err != nil {
		return nil, err
	}
	rs, err := s.cfg.Store.Records(ctx, &c, weir.RecordQuery{After: st.Seq - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 || rs[0].Kind() != weir.KindStep {
		return nil, noStep()
	}
	body, err := s.cfg.Rebuild(ctx, &c, &rs[0])
	if err != nil {
		return nil, err
	}
	return &requestOut{ContentType: "application/json", Verified: "true", Body: body}, nil
}
