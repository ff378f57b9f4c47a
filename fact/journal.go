package fact

import (
	"encoding/json"
	"time"

	"weir"
)

// When says since when an observation's value holds that was another before
// (prev nil: none): the source's own time where it has one for this change,
// else now; never later than now.
func (s *Set) When(o Observation, prev json.RawMessage, now time.Time) time.Time {
	for i := range s.facts {
		if f := &s.facts[i]; f.Key == o.Key {
			return f.when(o, prev, now)
		}
	}
	return now
}

func (f *Fact) when(o Observation, prev json.RawMessage, now time.Time) time.Time {
	if o.At.IsZero() || o.At.After(now) {
		return now
	}
	if f.Dates != nil {
		v := o.Value
		if o.State != Present {
			v = nil
		}
		if !f.Dates(prev, v) {
			return now
		}
	}
	return o.At
}

// Scopes are the scopes of the change journal that concern a conversation.
func (s *Set) Scopes(about Subject) []weir.ChangeScope {
	c := &about.Conversation
	return []weir.ChangeScope{weir.OfConversation(c.ID), weir.OfOwner(c.Owner), weir.OfWorkspace(c.Workspace)}
}

// ScopeOf is the scope in which a change of one of the facts stands; of an
// unknown one, the conversation's.
func (s *Set) ScopeOf(key string, about Subject) weir.ChangeScope {
	b := OfConversation
	for _, f := range s.facts {
		if f.Key == key {
			b = f.Breadth
		}
	}
	return s.Scopes(about)[b]
}

// Journal makes of the journal's entries those that concern a conversation, in
// their order: entries of another breadth than the fact's own are somebody
// else's, but a conversation's own entry about its workspace says that it has
// moved there. Of what happened to a workspace before the conversation came to
// it, each fact's last entry counts, as of when it came.
func (s *Set) Journal(about Subject, entries []weir.Change) []Change {
	scopes := s.Scopes(about)
	home := make(map[string]weir.ChangeScope, len(s.facts))
	for _, f := range s.facts {
		home[f.Key] = scopes[f.Breadth]
	}
	var out []Change
	arrived := map[string]int{} // where a fact's last entry from before stands in out
	for _, e := range entries {
		if h, ok := home[e.Fact]; ok && h != e.Scope && (h != scopes[OfWorkspace] || e.Scope != scopes[OfConversation]) {
			continue
		}
		c := Change{Key: e.Fact, Value: e.Value, At: e.At}
		if e.Scope == scopes[OfWorkspace] && e.At.Before(about.Moved) {
			c.At = about.Moved
			if i, ok := arrived[e.Fact]; ok {
				out[i] = c
				continue
			}
			arrived[e.Fact] = len(out)
		}
		out = append(out, c)
	}
	return out
}
