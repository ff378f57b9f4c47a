package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"weir"
)

const factsPath = "/context/facts/"

func (s *server) contextRoutes() {
	const each, mine = "/v1/conversations/{id}", "/v1"
	const one = "/{ns}/{name}"
	add(s, about("context", http.MethodGet, each+"/context",
		"What the model is told with authority: the baseline in force, what it was last told of each fact, and what it will be told next", http.StatusOK), s.context)
	add(s, about("epoch", http.MethodPost, each+"/epoch",
		"Begin a new epoch at the next step: a fresh baseline, and the tools of that moment", http.StatusAccepted), s.epoch)
	add(s, about("list-facts", http.MethodGet, each+"/context/facts", "Facts that clients keep for this conversation", http.StatusOK), s.facts)
	add(s, about("put-fact", http.MethodPut, each+factsPath[:len(factsPath)-1]+one,
		"Keep a fact of your own for this conversation; its model is told of it with its next step", http.StatusOK), s.putFact)
	add(s, about("delete-fact", http.MethodDelete, each+factsPath[:len(factsPath)-1]+one,
		"Take a fact back; the model is told that it no longer applies", http.StatusOK), s.deleteFact)
	add(s, about("list-owner-facts", http.MethodGet, mine+"/context/facts", "Facts that clients keep for all of your conversations", http.StatusOK), s.ownerFacts)
	add(s, about("put-owner-fact", http.MethodPut, mine+factsPath[:len(factsPath)-1]+one,
		"Keep a fact of your own for all of your conversations", http.StatusOK), s.putOwnerFact)
	add(s, about("delete-owner-fact", http.MethodDelete, mine+factsPath[:len(factsPath)-1]+one,
		"Take a fact back from all of your conversations", http.StatusOK), s.deleteOwnerFact)
}

// freeMember is the member of a request's body in which any JSON may stand.
func freeMember(path string) string {
	if strings.Contains(path, factsPath) {
		return "value"
	}
	return ""
}

type contextView struct {
	Epoch          weir.Seq            `json:"epoch" doc:"Seq at which the epoch in force began; 0 before the first step."`
	BeganAt        *instant            `json:"began_at,omitempty"`
	Baseline       string              `json:"baseline" doc:"The exact system text of the epoch."`
	BaselineSHA256 string              `json:"baseline_sha256"`
	Snapshot       map[string]toldFact `json:"snapshot" doc:"By fact: what the model was last told."`
	Journal        []change            `json:"journal" doc:"Changes that were noticed and that the model has not been told, in the order of noticing."`
	Unavailable    []unavailable       `json:"unavailable" doc:"Facts that cannot be observed at the moment, by key."`
}

type toldFact struct {
	Value       json.RawMessage `json:"value"`
	RemovedText string          `json:"removed_text,omitempty" doc:"What the model will be told when the fact no longer applies."`
}

type change struct {
	Seq       int64           `json:"seq" doc:"Place in the change journal."`
	Scope     string          `json:"scope" enum:"conversation,owner,workspace" doc:"Whom it concerns."`
	Fact      string          `json:"fact"`
	Value     json.RawMessage `json:"value,omitempty" doc:"Absent: the fact no longer applies."`
	ChangedAt instant         `json:"changed_at"`
	NoticedAt instant         `json:"noticed_at"`
}

type unavailable struct {
	Fact   string   `json:"fact"`
	Since  *instant `json:"since,omitempty"`
	Reason string   `json:"reason,omitempty" doc:"Why; for people to read."`
}

func (s *server) context(ctx context.Context, a weir.Actor, in *conversationPath) (*one[contextView], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	got, err := s.cfg.Facts.Context(ctx, a, in.ID)
	if err != nil {
		return nil, err
	}
	v := contextView{
		Epoch: got.Epoch, BeganAt: maybe(got.Began), Baseline: got.Baseline, BaselineSHA256: got.SHA256,
		Snapshot: map[string]toldFact{}, Journal: []change{}, Unavailable: []unavailable{},
	}
	for key, told := range got.Snapshot {
		v.Snapshot[key] = toldFact{Value: told.Value, RemovedText: told.Removal}
	}
	for _, c := range got.Pending {
		v.Journal = append(v.Journal, change{
			Seq: c.Seq, Scope: breadth(c.Scope), Fact: c.Fact, Value: c.Value, ChangedAt: instant{c.At}, NoticedAt: instant{c.Noticed},
		})
	}
	for _, key := range slices.Sorted(maps.Keys(got.Unavailable)) {
		v.Unavailable = append(v.Unavailable, unavailable{Fact: key, Since: maybe(got.Unavailable[key].Since), Reason: got.Unavailable[key].Reason})
	}
	return &one[contextView]{v}, nil
}

// breadth is a scope without what it names.
func breadth(s weir.ChangeScope) string {
	kind, _, _ := strings.Cut(string(s), ":")
	return kind
}

func (s *server) epoch(ctx context.Context, a weir.Actor, in *ifSeqIn) (*one[accepted], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	if err := s.cfg.Facts.NewEpoch(ctx, a, in.ID, in.ifSeq()); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}

// noticed has the facts looked at that a change of a conversation's row may
// have changed, so that the journal knows when. The next boundary would notice
// them by itself: a failure costs the time of the change and nothing else.
func (s *server) noticed(ctx context.Context, id weir.ConversationID, keys ...string) {
	if len(keys) == 0 {
		return
	}
	if err := s.cfg.Facts.Noticed(context.WithoutCancel(ctx), id, keys...); err != nil {
		s.cfg.Log.WarnContext(ctx, "a change was not noticed at once", "request", noteOf(ctx).id, "conversation", id, "code", weir.CodeOf(err))
	}
}
