package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"weir"
	"weir/fact"
)

// firstEpoch observes the facts and renders the baseline. The tools are those
// of this moment and stay frozen with it.
func (d *drain) firstEpoch(c weir.Conversation, modelID string) (*weir.Epoch, error) {
	if modelID == "" {
		modelID = c.Model
	}
	observed := d.e.cfg.Facts.Observe(d.ctx, fact.Subject{Conversation: c, Model: modelID})
	for _, o := range observed {
		if o.State == fact.Unavailable {
			d.e.cfg.Log.Warn("a fact is unavailable", "conversation", d.id, "fact", o.Key, "err", o.Err)
		}
	}
	baseline, snapshot, err := d.e.cfg.Facts.Initialize(observed)
	var blocked *fact.Blocked
	switch {
	case errors.As(err, &blocked):
		return nil, err
	case err != nil:
		return nil, &buildError{err: err, final: true}
	}
	tools, err := d.e.cfg.Tools.Offered()
	if err != nil {
		return nil, &buildError{err: err, final: true}
	}
	snap, err := json.Marshal(snapshot)
	if err != nil {
		return nil, &buildError{err: err, final: true}
	}
	sum := sha256.Sum256([]byte(baseline))
	return &weir.Epoch{Baseline: baseline, SHA256: hex.EncodeToString(sum[:]), Tools: tools, Snapshot: snap}, nil
}
