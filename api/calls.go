package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"weir"
)

// maxCalls bounds the calls that one event tells of.
const maxCalls = 100

func (s *server) callRoutes() {
	const each = "/v1/conversations/{id}"
	add(s, about("list-approvals", http.MethodGet, each+"/approvals", "Tool calls that wait for a person, with their arguments", http.StatusOK), s.approvals)
	add(s, about("decide-call", http.MethodPost, each+"/approvals/{call}",
		"Allow or deny a tool call that waits for a person; denied, it ends the turn", http.StatusAccepted), s.decide)
	op := about("artefact", http.MethodGet, each+"/artefacts/{aid}",
		"The full text of a tool result of which the model read a part", http.StatusOK)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Its bytes, as plain text whatever they are.",
		Content:     map[string]*huma.MediaType{"text/plain; charset=utf-8": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	add(s, op, s.artefact)
}

func (s *server) approvals(ctx context.Context, a weir.Actor, in *conversationPath) (*one[page[call]], error) {
	c, err := s.owned(ctx, a, in.ID)
	if err != nil {
		return nil, err
	}
	out := &one[page[call]]{page[call]{Items: []call{}}}
	w, st, err := s.work(ctx, in.ID)
	if err != nil || st == nil {
		return out, err
	}
	inputs, err := s.arguments(ctx, &c, st)
	if err != nil {
		return nil, err
	}
	for _, one := range w.Calls {
		if one.State == weir.CallWaiting {
			one.Input = inputs[one.Call]
			out.Body.Items = append(out.Body.Items, one)
		}
	}
	return out, nil
}

// arguments returns the arguments of the calls of a running step's answer,
// which is in the log not far behind the step's start.
func (s *server) arguments(ctx context.Context, c *weir.Conversation, st *weir.Step) (map[string]string, error) {
	rs, err := s.cfg.Store.Records(ctx, c, weir.RecordQuery{After: st.Seq, Limit: batch})
	if err != nil {
		return nil, err
	}
	inputs := map[string]string{}
	for i := range rs {
		if m, ok := rs[i].Body.(*weir.AssistantMessage); ok && m.Step == st.ID {
			for _, p := range m.Calls() {
				inputs[p.Call] = string(p.Input)
			}
			break
		}
	}
	return inputs, nil
}

type approvalIn struct {
	ID   weir.ConversationID `path:"id"`
	Call string              `path:"call" doc:"Id of the call, percent-encoded."`
	Body struct {
		Decision weir.Decision `json:"decision" enum:"allow,deny"`
		Remember bool          `json:"remember,omitempty" doc:"Decide so from now on about this tool, without asking."`
	}
}

func (s *server) decide(ctx context.Context, a weir.Actor, in *approvalIn) (*one[accepted], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	if !a.MayConfirm {
		return nil, mayNotDecide()
	}
	if !weir.ValidID(in.Call) {
		return nil, noCall()
	}
	if err := s.cfg.Turns.Decide(ctx, a, in.ID, in.Call, in.Body.Decision, in.Body.Remember); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}

type artefactPath struct {
	ID  weir.ConversationID `path:"id"`
	AID weir.ArtefactID     `path:"aid" doc:"Id of the artefact, percent-encoded."`
}

// artefactOut is for a browser text and nothing else: a tool may bring any page.
type artefactOut struct {
	ContentType string `header:"Content-Type"`
	Sniff       string `header:"X-Content-Type-Options"`
	Policy      string `header:"Content-Security-Policy"`
	Body        []byte
}

func (s *server) artefact(ctx context.Context, a weir.Actor, in *artefactPath) (*artefactOut, error) {
	c, err := s.owned(ctx, a, in.ID)
	if err != nil {
		return nil, err
	}
	if !weir.ValidID(string(in.AID)) {
		return nil, noArtefact()
	}
	got, err := s.cfg.Store.Artefact(ctx, &c, in.AID)
	if err != nil {
		if weir.KindOf(err) == weir.NotFound {
			err = noArtefact()
		}
		return nil, err
	}
	return &artefactOut{
		ContentType: "text/plain; charset=utf-8", Sniff: "nosniff",
		Policy: "default-src 'none'; sandbox", Body: []byte(got.Text),
	}, nil
}

// call is a tool call that has not settled. Events leave its arguments to the
// item of the answer that made it.
type call struct {
	Call      string         `json:"call"`
	Step      weir.StepID    `json:"step"`
	Name      string         `json:"name"`
	State     weir.CallState `json:"state" enum:"waiting,started" doc:"waiting: for a person's decision."`
	Decision  weir.Decision  `json:"decision,omitempty" enum:"allow,deny" doc:"Of one that waits: what a person decided."`
	StartedAt *instant       `json:"started_at,omitempty"`
	Input     string         `json:"input,omitempty" doc:"Where approvals are listed: its arguments, as JSON text."`
}

// work is what a conversation is at, beside its row.
type work struct {
	Step  *runningStep `json:"step,omitempty" doc:"The step that has not settled."`
	Calls []call       `json:"calls" doc:"Its calls that have not settled, at most 100: first those that wait for a person."`
}

// runningStep tells how the step's request goes. Its text is told by deltas.
type runningStep struct {
	ID       weir.StepID `json:"id"`
	Text     *string     `json:"text,omitempty" doc:"Of a snapshot: the text so far."`
	Attempts int         `json:"attempts" doc:"Requests made for this step."`
	Chained  int         `json:"chained,omitempty" doc:"Requests of the steps before, of which this one is the continuation."`
	NextTry  *instant    `json:"next_try,omitempty" doc:"When the next attempt begins; absent while one runs."`
	Code     string      `json:"code,omitempty" doc:"Why the last attempt failed."`
	Reason   string      `json:"reason,omitempty" doc:"The same in a sentence."`
}

// work reads what a conversation is at.
func (s *server) work(ctx context.Context, id weir.ConversationID) (work, *weir.Step, error) {
	w := work{Calls: []call{}}
	st, err := s.cfg.Store.UnsettledStep(ctx, id)
	switch {
	case weir.KindOf(err) == weir.NotFound && err != nil:
		return w, nil, nil
	case err != nil:
		return w, nil, err
	}
	w.Step = &runningStep{
		ID: st.ID, Attempts: st.Attempts, Chained: st.Chained, NextTry: maybe(st.NextTry), Code: st.Code, Reason: st.Reason,
	}
	calls, err := s.cfg.Store.Calls(ctx, id, st.ID)
	if err != nil {
		return w, nil, err
	}
	w.Calls = unsettled(calls)
	return w, &st, nil
}

func unsettled(calls []weir.Call) []call {
	open := []call{}
	for i := range calls {
		if c := &calls[i]; c.State != weir.CallSettled {
			open = append(open, call{
				Call: c.ID, Step: c.Step, Name: c.Name, State: c.State, Decision: c.Decision, StartedAt: maybe(c.StartedAt),
			})
		}
	}
	urgency := func(c call) int {
		switch {
		case c.State == weir.CallWaiting && c.Decision == "":
			return 0
		case c.State == weir.CallStarted:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(open, func(a, b call) int { return cmp.Compare(urgency(a), urgency(b)) })
	return open[:min(len(open), maxCalls)]
}

// withStates says of the calls in a timeline how far they have come. A settled
// step has settled all of its calls.
func (s *server) withStates(ctx context.Context, id weir.ConversationID, items []item) error {
	var open weir.StepID
	states := map[string]weir.CallState{}
	looked := false
	for i := range items {
		for j := range items[i].Parts {
			p := &items[i].Parts[j]
			if p.Type != weir.PartToolCall {
				continue
			}
			if !looked {
				looked = true
				st, err := s.cfg.Store.UnsettledStep(ctx, id)
				if err == nil {
					var calls []weir.Call
					calls, err = s.cfg.Store.Calls(ctx, id, st.ID)
					open = st.ID
					for _, c := range calls {
						states[c.ID] = c.State
					}
				}
				if err != nil && weir.KindOf(err) != weir.NotFound {
					return err
				}
			}
			if items[i].Step == "" || items[i].Step != open {
				p.State = weir.CallSettled
			} else {
				p.State = states[p.Call]
			}
		}
	}
	return nil
}
