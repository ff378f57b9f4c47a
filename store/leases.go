package store

import (
	"context"
	"time"

	"weir"
)

// A lease is part of its conversation's head, so that one statement checks the
// fence and takes the next seq, and no takeover can come between the two.

func (t *tx) AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error) {
	l := weir.Lease{Conversation: c, Holder: holder}
	if holder == "" {
		return l, false, weir.Fault(weir.Internal, "internal", "A lease needs a holder.")
	}
	now := t.d.now()
	var expires int64
	found, err := first(ctx, &t.reader, []any{&l.Fence, &expires}, `
		UPDATE heads SET holder = ?, fence = fence + 1, expires = {now} + ?, run = ?
		WHERE conversation = ? AND (holder = '' OR expires <= {now} OR run <> ?)
		RETURNING fence, expires`,
		holder, now, ttl.Microseconds(), t.d.run, c, now, t.d.run)
	if err != nil {
		return l, false, err
	}
	delete(t.fenced, string(c))
	if found {
		l.Expires = fromMicros(expires)
		t.fenced[string(c)] = l.Fence
		return l, true, nil
	}
	_, l.Fence, err = t.head(ctx, c)
	return l, false, err
}

func (t *tx) RenewLease(ctx context.Context, l weir.Lease, ttl time.Duration) (weir.Lease, error) {
	var expires int64
	found, err := first(ctx, &t.reader, []any{&expires}, `
		UPDATE heads SET expires = {now} + ? WHERE conversation = ? AND holder = ? AND fence = ? AND run = ?
		RETURNING expires`, t.d.now(), ttl.Microseconds(), l.Conversation, l.Holder, l.Fence, t.d.run)
	if err == nil && !found {
		err = fencedOff()
	}
	l.Expires = fromMicros(expires)
	return l, err
}

func (t *tx) ReleaseLease(ctx context.Context, l weir.Lease) error {
	delete(t.fenced, string(l.Conversation))
	_, err := t.q.exec(ctx, `
		UPDATE heads SET holder = '', expires = 0 WHERE conversation = ? AND holder = ? AND fence = ?`,
		l.Conversation, l.Holder, l.Fence)
	return err
}

// guard fails unless fence is the conversation's current one, and keeps it
// current until the transaction ends.
func (t *tx) guard(ctx context.Context, c weir.ConversationID, fence int64) error {
	if held, ok := t.fenced[string(c)]; ok && held == fence {
		return nil
	}
	var current int64
	var holder string
	found, err := first(ctx, &t.reader, []any{&current, &holder},
		`SELECT fence, holder FROM heads WHERE conversation = ? {change}`, c)
	switch {
	case err != nil:
		return err
	case !found:
		return noConversation()
	case holder == "" || current != fence:
		return fencedOff()
	}
	t.fenced[string(c)] = fence
	return nil
}

// head returns the newest seq and the fence, 0 when nobody holds the lease.
func (t *tx) head(ctx context.Context, c weir.ConversationID) (seq weir.Seq, fence int64, err error) {
	found, err := first(ctx, &t.reader, []any{&seq, &fence},
		`SELECT head_seq, CASE WHEN holder = '' THEN 0 ELSE fence END FROM heads WHERE conversation = ?`, c)
	if err == nil && !found {
		err = noConversation()
	}
	return seq, fence, err
}

func (r *reader) Due(ctx context.Context, limit int) ([]weir.ConversationID, error) {
	return list(ctx, r, scanID, `
		SELECT h.conversation FROM heads h
		WHERE h.conversation IN (
				SELECT conversation FROM inputs WHERE state = 'pending'
				UNION SELECT conversation FROM steps WHERE state = 'running')
			AND (h.state <> 'waiting' OR h.conversation IN (
				SELECT conversation FROM steps WHERE state = 'running' AND interrupt = 1
				UNION SELECT conversation FROM calls WHERE state = 'waiting' AND decision <> ''))
			AND (h.holder = '' OR h.expires <= {now} OR h.run <> ?)
		ORDER BY h.conversation LIMIT ?`, r.d.now(), r.d.run, limit)
}
