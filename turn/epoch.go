package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"weir"
	"weir/fact"
)

// firstEpoch renders the first baseline from what was observed. The tools are
// those of this moment and stay frozen with it.
func (d *drain) firstEpoch(s *sight) (*weir.Epoch, error) {
	baseline, snapshot, err := s.facts.Initialize(s.with(false))
	var blocked *fact.Blocked
	switch {
	case errors.As(err, &blocked):
		return nil, err
	case err != nil:
		return nil, &buildError{err: err, final: true}
	}
	ep, err := d.e.epoch(baseline, snapshot, s.journal)
	if err != nil {
		return nil, &buildError{err: err, final: true}
	}
	return ep, nil
}

func (e *Engine) epoch(baseline string, told fact.Snapshot, noticed int64) (*weir.Epoch, error) {
	tools, err := e.cfg.Tools.Offered()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	return &weir.Epoch{Baseline: baseline, SHA256: digestOf(baseline), Tools: tools, Snapshot: raw, Noticed: noticed}, nil
}

func digestOf(baseline string) string {
	sum := sha256.Sum256([]byte(baseline))
	return hex.EncodeToString(sum[:])
}

// listTools waits a while for servers that have been neither ready nor failed
// since the process began: before an epoch freezes the tools, and once a drain,
// so that no model is told after a restart that they start and then that they
// are there.
func (d *drain) listTools() {
	d.listed = true
	ctx, cancel := context.WithTimeout(d.ctx, toolsReady)
	defer cancel()
	if err := d.e.cfg.Tools.Ready(ctx); err != nil && d.ctx.Err() == nil {
		d.e.cfg.Log.Warn("a step begins without tools that are not listed yet", "conversation", d.id, "err", err)
	}
}

// renew begins a new epoch, because a person asked for it; nothing is sent for
// that. What cannot be observed is restated from what was told.
func (en *entry) renew(ctx context.Context, control weir.Input, before bodies) error {
	if err := en.seen(ctx, nil); err != nil {
		return err
	}
	sit, err := en.situation(ctx, false)
	if err != nil {
		return err
	}
	s := en.plan.sight
	baseline, told, err := s.facts.Rebaseline(sit.Observed, sit.Snapshot)
	var ep *weir.Epoch
	if err == nil {
		ep, err = en.d.e.epoch(baseline, told, fact.Considered(sit.Observed, en.d.warm.noticed, en.journal))
	}
	if err != nil {
		en.d.e.cfg.Log.Warn("a new epoch cannot begin", "conversation", en.d.id, "err", err)
		code, reason := shown(err)
		if err := en.reject(ctx, control, code, reason); err != nil {
			return err
		}
		return en.rest(ctx, false)
	}
	appended, err := en.append(ctx, append(before, ep)...)
	if err != nil {
		return err
	}
	if err := en.markPromoted(ctx, []weir.Input{control}, nil, appended[len(appended)-1].Seq); err != nil {
		return err
	}
	en.notice(s.facts.Unnoticed(sit), sit)
	if err := en.rest(ctx, false); err != nil {
		return err
	}
	return en.writeJournal(ctx)
}
