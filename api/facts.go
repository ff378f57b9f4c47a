package api

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"weir"
)

// FactName is exported for huma, which fills embedded structs only then.
type FactName struct {
	NS   string `path:"ns" doc:"Your namespace; “core” is the server's."`
	Name string `path:"name" doc:"Name within it, percent-encoded."`
}

// key is the fact's own, and no key at all where the namespace holds a slash:
// each fact has one address.
func (n FactName) key() string {
	if strings.Contains(n.NS, "/") {
		return "/" + n.Name
	}
	return n.NS + "/" + n.Name
}

type factBody struct {
	Value      json.RawMessage `json:"value" doc:"Any JSON but null, at most 64 KiB, and all facts kept there together as much; two values that differ in nothing but spelling are the same."`
	ChangedAt  *time.Time      `json:"changed_at,omitempty" doc:"When it took this value; now when left out or in the future."`
	UpdateText string          `json:"update_text,omitempty" doc:"What the model reads of it, at most 64 KiB; made of key and value when left out."`
}

// fact is the fact of a body; whether it may be kept is the engine's to say.
func (b *factBody) fact(key string) (weir.ClientFact, error) {
	f := weir.ClientFact{Key: key, Value: bytes.TrimSpace(b.Value), Text: b.UpdateText}
	if string(f.Value) == "null" || len(f.Value) == 0 {
		return f, bodyInvalid("A fact has a value; what no longer applies is taken back instead.").With("member", "value")
	}
	if b.ChangedAt != nil {
		f.At = *b.ChangedAt
	}
	return f, nil
}

// factView is a fact that a client keeps.
type factView struct {
	Fact       string          `json:"fact"`
	Scope      string          `json:"scope" enum:"conversation,owner"`
	Value      json.RawMessage `json:"value"`
	UpdateText string          `json:"update_text,omitempty"`
	ChangedAt  *instant        `json:"changed_at,omitempty"`
}

func factOf(f *weir.ClientFact) factView {
	return factView{Fact: f.Key, Scope: breadth(f.Scope), Value: f.Value, UpdateText: f.Text, ChangedAt: maybe(f.At)}
}

// kept keeps a fact for a conversation, or with "" for all of the actor's, and
// answers what is kept now.
func (s *server) kept(ctx context.Context, a weir.Actor, id weir.ConversationID, name FactName, b *factBody) (*one[factView], error) {
	f, err := b.fact(name.key())
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Facts.PutFact(ctx, a, id, f); err != nil {
		return nil, err
	}
	list, err := s.cfg.Store.ClientFacts(ctx, scopeOf(a, id))
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Key == f.Key {
			return &one[factView]{factOf(&list[i])}, nil
		}
	}
	f.Scope = scopeOf(a, id)
	return &one[factView]{factOf(&f)}, nil // taken back by another at once
}

func scopeOf(a weir.Actor, id weir.ConversationID) weir.ChangeScope {
	if id == "" {
		return weir.OfOwner(a.Owner)
	}
	return weir.OfConversation(id)
}

type putFactIn struct {
	ID weir.ConversationID `path:"id"`
	FactName
	Body factBody
}

func (s *server) putFact(ctx context.Context, a weir.Actor, in *putFactIn) (*one[factView], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	return s.kept(ctx, a, in.ID, in.FactName, &in.Body)
}

type putOwnerFactIn struct {
	FactName
	Body factBody
}

func (s *server) putOwnerFact(ctx context.Context, a weir.Actor, in *putOwnerFactIn) (*one[factView], error) {
	return s.kept(ctx, a, "", in.FactName, &in.Body)
}

type deleteFactIn struct {
	ID weir.ConversationID `path:"id"`
	FactName
	ChangedAt time.Time `query:"changed_at" doc:"When it stopped to apply; now when left out or in the future."`
}

func (s *server) deleteFact(ctx context.Context, a weir.Actor, in *deleteFactIn) (*one[accepted], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	return s.dropped(ctx, a, in.ID, in.FactName, in.ChangedAt)
}

func (s *server) dropped(ctx context.Context, a weir.Actor, id weir.ConversationID, name FactName, at time.Time) (*one[accepted], error) {
	if !weir.ValidID(name.key()) {
		return nil, weir.Fault(weir.NotFound, "fact_not_found", "No client keeps a fact of this key there.")
	}
	if err := s.cfg.Facts.DeleteFact(ctx, a, id, name.key(), at); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}

type deleteOwnerFactIn struct {
	FactName
	ChangedAt time.Time `query:"changed_at" doc:"When it stopped to apply; now when left out or in the future."`
}

func (s *server) deleteOwnerFact(ctx context.Context, a weir.Actor, in *deleteOwnerFactIn) (*one[accepted], error) {
	return s.dropped(ctx, a, "", in.FactName, in.ChangedAt)
}

func (s *server) facts(ctx context.Context, a weir.Actor, in *conversationPath) (*one[page[factView]], error) {
	if _, err := s.owned(ctx, a, in.ID); err != nil {
		return nil, err
	}
	return s.factsOf(ctx, weir.OfConversation(in.ID))
}

func (s *server) ownerFacts(ctx context.Context, a weir.Actor, _ *struct{}) (*one[page[factView]], error) {
	return s.factsOf(ctx, weir.OfOwner(a.Owner))
}

func (s *server) factsOf(ctx context.Context, scope weir.ChangeScope) (*one[page[factView]], error) {
	list, err := s.cfg.Store.ClientFacts(ctx, scope)
	if err != nil {
		return nil, err
	}
	items := make([]factView, 0, len(list)) // bounded by [weir.MaxClientFacts]
	for i := range list {
		items = append(items, factOf(&list[i]))
	}
	return &one[page[factView]]{page[factView]{Items: items}}, nil
}
