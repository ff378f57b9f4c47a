package turn

import (
	"context"
	"encoding/json"
	"time"

	"weir"
)

// Told is what the model was last told of a fact.
type Told struct {
	Value   json.RawMessage
	Removal string // what it will be told when the fact no longer applies
}

// Unseen is a fact that cannot be observed.
type Unseen struct {
	Since  time.Time
	Reason string // of the last time; fit to show
}

// Context is what a conversation's model is told with authority, and what it
// will be told at the next boundary.
type Context struct {
	Epoch       weir.Seq  // of the epoch's record; 0: no step has begun yet
	Began       time.Time // the epoch
	Baseline    string
	SHA256      string
	Snapshot    map[string]Told
	Pending     []weir.Change     // noticed and not told yet, in the order of the journal
	Unavailable map[string]Unseen // facts that cannot be observed, as far as this process knows
}

// Context returns what the model of a conversation is told with authority.
func (e *Engine) Context(ctx context.Context, a weir.Actor, c weir.ConversationID) (Context, error) {
	conv, err := owned(ctx, e.cfg.Store, a, c)
	if err != nil {
		return Context{}, err
	}
	out := Context{Snapshot: map[string]Told{}, Unavailable: e.unseen.of(c)}
	k, err := e.knowledge(ctx, c)
	if err != nil || k == nil {
		return out, err
	}
	found, err := e.cfg.Store.Records(ctx, &conv, weir.RecordQuery{After: k.epoch - 1, Before: k.epoch + 1})
	if err != nil {
		return out, err
	}
	for i := range found {
		if ep, ok := found[i].Body.(*weir.Epoch); ok {
			out.Epoch, out.Began, out.Baseline, out.SHA256 = k.epoch, found[i].Time, ep.Baseline, ep.SHA256
		}
	}
	for key, entry := range k.known {
		out.Snapshot[key] = Told{Value: entry.Value, Removal: entry.Removal}
	}
	out.Pending = k.untold()
	return out, nil
}

// untold returns the entries of the journal that the next boundary may tell. A
// fact that has come back to what is known is among them: where a tool ran in
// between, both ways are told.
func (k *knowledge) untold() []weir.Change {
	var out []weir.Change
	moved := map[string]bool{}
	for i := range k.journal {
		one := k.set.Journal(k.about, k.journal[i:i+1])
		if len(one) > 0 && (moved[one[0].Key] || !k.known.Says(one[0].Key, one[0].Value)) {
			moved[one[0].Key] = true
			out = append(out, k.journal[i])
		}
	}
	return out
}
