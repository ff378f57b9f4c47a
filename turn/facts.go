package turn

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"weir"
	"weir/fact"
)

// PutFact keeps a client's fact for a conversation, or, where c is "", for all
// of the actor's, and journals the change. The fact's Scope is set here; a zero
// At is now. It is told at the next boundary, and wakes nobody.
func (e *Engine) PutFact(ctx context.Context, a weir.Actor, c weir.ConversationID, f weir.ClientFact) error {
	now := e.cfg.Now()
	if f.At.IsZero() || f.At.After(now) {
		f.At = now
	}
	if err := checkFact(&f); err != nil {
		return err
	}
	return e.cfg.Store.Update(ctx, func(tx Tx) (err error) {
		if f.Scope, err = factScope(ctx, tx, a, c); err != nil {
			return err
		}
		stored, err := tx.ClientFacts(ctx, f.Scope)
		if err != nil {
			return err
		}
		for i := range stored {
			if stored[i].Key == f.Key && bytes.Equal(stored[i].Value, f.Value) && stored[i].Text == f.Text {
				return nil // nothing has changed, since when neither
			}
		}
		if err := tx.PutClientFact(ctx, f); err != nil {
			return err
		}
		return tx.AppendChanges(ctx, &weir.Change{Scope: f.Scope, Fact: f.Key, Value: f.Value, At: f.At, Noticed: now})
	})
}

// DeleteFact takes a client's fact away; a zero at is now.
func (e *Engine) DeleteFact(ctx context.Context, a weir.Actor, c weir.ConversationID, key string, at time.Time) error {
	now := e.cfg.Now()
	if at.IsZero() || at.After(now) {
		at = now
	}
	return e.cfg.Store.Update(ctx, func(tx Tx) error {
		scope, err := factScope(ctx, tx, a, c)
		if err != nil {
			return err
		}
		if err := tx.DeleteClientFact(ctx, scope, key); err != nil {
			return err
		}
		return tx.AppendChanges(ctx, &weir.Change{Scope: scope, Fact: key, At: at, Noticed: now})
	})
}

func factScope(ctx context.Context, r Reader, a weir.Actor, c weir.ConversationID) (weir.ChangeScope, error) {
	if c == "" {
		return weir.OfOwner(a.Owner), nil
	}
	_, err := owned(ctx, r, a, c)
	return weir.OfConversation(c), err
}

// checkFact refuses what cannot be told, and brings the value into its
// canonical form.
func checkFact(f *weir.ClientFact) error {
	namespace, _, _ := strings.Cut(f.Key, "/")
	switch {
	case len(f.Key) > maxFactKey || !fact.ValidKey(f.Key):
		return weir.Fault(weir.Invalid, "fact_key_invalid",
			"A fact's key is namespace/name in at most %d lower-case letters, digits, dots, dashes and underscores, like “ci/status”.", maxFactKey)
	case namespace == "core":
		return weir.Fault(weir.Unprocessable, "fact_reserved", "The namespace “core” is the server's own; choose another.")
	case len(f.Value) > weir.MaxFactBytes || len(f.Text) > weir.MaxFactBytes:
		return weir.Fault(weir.TooLarge, "fact_too_long", "A fact's value and its text may have 64 KiB each; shorten them.")
	case !utf8.ValidString(f.Text) || strings.IndexByte(f.Text, 0) >= 0:
		return weir.Fault(weir.Invalid, "fact_invalid", "The fact's text is not valid UTF-8 without NUL characters.")
	}
	value, err := fact.Canonical(f.Value)
	if err != nil {
		return weir.Fault(weir.Invalid, "fact_invalid", "The fact's value is not valid JSON.")
	}
	f.Value = value
	return nil
}

const maxFactKey = 200

// Noticed observes the named facts of a conversation and journals what changed.
// It is for right after a change of the conversation's row. What is another
// workspace now is the conversation's own change: nothing happened to the place,
// and what did before is not when the conversation came to it.
func (e *Engine) Noticed(ctx context.Context, c weir.ConversationID, keys ...string) error {
	k, err := e.knowledge(ctx, c)
	if err != nil || k == nil {
		return err
	}
	observed := k.set.Only(keys...).Observe(ctx, k.about)
	now, place := e.cfg.Now(), weir.OfWorkspace(k.about.Conversation.Workspace)
	k.journal = slices.DeleteFunc(k.journal, func(c weir.Change) bool { return c.Scope == place })
	fresh := k.set.Unnoticed(fact.Situation{
		Observed: observed, Journal: k.set.Journal(k.about, k.journal), Now: now, Snapshot: k.known,
	})
	if len(fresh) == 0 {
		return nil
	}
	var changes []*weir.Change
	for _, f := range fresh {
		scope := k.set.ScopeOf(f.Key, k.about)
		if scope == place {
			scope = weir.OfConversation(c)
		}
		changes = append(changes, &weir.Change{Scope: scope, Fact: f.Key, Value: f.Value, At: f.At, Noticed: now})
	}
	return e.cfg.Store.Update(ctx, func(tx Tx) error { return tx.AppendChanges(ctx, changes...) })
}

// knowledge is what a model has been told, and what has happened since.
type knowledge struct {
	facts
	set     *fact.Set
	about   fact.Subject
	epoch   weir.Seq
	journal []weir.Change
}

// knowledge reads what the model of c was told; nil when that is nothing yet.
func (e *Engine) knowledge(ctx context.Context, id weir.ConversationID) (*knowledge, error) {
	r := e.cfg.Store
	c, err := r.Conversation(ctx, id)
	if err != nil || c.Deleted {
		return nil, err
	}
	w := warm{}
	if err := w.catchUp(ctx, r, &c); err != nil {
		return nil, err
	}
	k := &knowledge{facts: w.facts, epoch: w.shape.Epoch()}
	if k.epoch == 0 {
		return nil, nil
	}
	model := c.Model
	if c.State != weir.Idle {
		model = w.told.model // a switch waits for the tools of the running step
	}
	if profile, _, err := e.cfg.Models.Model(model); err == nil {
		model = profile.ID
	}
	k.about = fact.Subject{Conversation: c, Model: model, Moved: w.moved(&c, e.cfg.Now())}
	if k.set, err = e.factsOf(ctx, r, &c); err != nil {
		return nil, err
	}
	k.journal, err = r.Changes(ctx, k.set.Scopes(k.about), k.noticed, maxJournal)
	return k, err
}
