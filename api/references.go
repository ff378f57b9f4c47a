package api

import (
	"context"
	"net/http"

	"weir"
	"weir/gate"
)

const previewPath = "/v1/references/preview"

func (s *server) gateRoutes() {
	add(s, about("preview-reference", http.MethodPost, previewPath,
		"What sending a reference to a target would hand over, and what a person would be asked", http.StatusOK), s.preview)
	add(s, about("list-candidates", http.MethodGet, "/v1/conversations/{id}/candidates",
		"Conversations that may be referenced from this one", http.StatusOK), s.candidates)
	add(s, about("list-flows", http.MethodGet, "/v1/flows", "What moved from where to where, newest first", http.StatusOK), s.flows)
	add(s, about("list-crossings", http.MethodGet, "/v1/crossings", "What crossed a boundary because a person confirmed it", http.StatusOK), s.crossings)
}

type previewIn struct {
	Body struct {
		Target    weir.ConversationID `json:"target"`
		Reference referenceIn         `json:"reference"`
	}
}

type preview struct {
	gate.Preview
	Reference pointer       `json:"reference"`
	Reasons   []weir.Reason `json:"reasons"`
}

// pointer is a reference without a decision.
type pointer struct {
	Type         weir.ReferenceType  `json:"type"`
	Conversation weir.ConversationID `json:"conversation"`
	Message      weir.MessageID      `json:"message,omitempty"`
}

func (s *server) preview(ctx context.Context, a weir.Actor, in *previewIn) (*one[preview], error) {
	if _, err := s.owned(ctx, a, in.Body.Target); err != nil {
		return nil, err
	}
	ref := in.Body.Reference.reference()
	ref.Confirmed, ref.Seen = false, "" // nothing is decided here
	p, err := s.cfg.Gate.Preview(ctx, s.cfg.Store, a, in.Body.Target, ref)
	if err != nil {
		return nil, err
	}
	v := preview{Preview: p, Reference: pointer{ref.Type, ref.Conversation, ref.Message}, Reasons: p.Reasons}
	if v.Reasons == nil {
		v.Reasons = []weir.Reason{}
	}
	return &one[preview]{v}, nil
}

type candidatesIn struct {
	ID    weir.ConversationID `path:"id"`
	Query string              `query:"query" doc:"Words that all have to be in title, id or workspace."`
	Limit int                 `query:"limit" minimum:"1" maximum:"50" default:"20"`
}

type candidate struct {
	gate.Candidate
	LastActive instant `json:"last_active"`
}

func (s *server) candidates(ctx context.Context, a weir.Actor, in *candidatesIn) (*one[page[candidate]], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	got, err := s.cfg.Gate.Candidates(ctx, s.cfg.Store, a, in.ID, in.Query, in.Limit)
	if err != nil {
		return nil, err
	}
	list := make([]candidate, 0, len(got))
	for _, c := range got {
		list = append(list, candidate{c, instant{c.LastActive}})
	}
	return &one[page[candidate]]{page[candidate]{Items: list}}, nil
}

type flowsIn struct {
	Source weir.ConversationID `query:"source" doc:"What left this conversation."`
	Target weir.ConversationID `query:"target" doc:"What came into this one."`
	Limit  int                 `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor string              `query:"cursor"`
}

func (s *server) flows(ctx context.Context, a weir.Actor, in *flowsIn) (*one[page[flowRow]], error) {
	return s.flowPage(ctx, a, in, false)
}

func (s *server) crossings(ctx context.Context, a weir.Actor, in *flowsIn) (*one[page[flowRow]], error) {
	return s.flowPage(ctx, a, in, true)
}

func (s *server) flowPage(ctx context.Context, a weir.Actor, in *flowsIn, crossings bool) (*one[page[flowRow]], error) {
	got, err := s.cfg.Store.Flows(ctx, weir.FlowQuery{
		Owner: a.Owner, Source: in.Source, Target: in.Target, Crossings: crossings, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, err
	}
	titles := s.titles(ctx, a)
	out := &one[page[flowRow]]{page[flowRow]{Items: make([]flowRow, 0, len(got.Items)), Next: got.Next}}
	for i := range got.Items {
		v := flowOf(&got.Items[i])
		v.SourceTitle, v.TargetTitle = titles(v.Source), titles(v.Target)
		out.Body.Items = append(out.Body.Items, v)
	}
	return out, nil
}
