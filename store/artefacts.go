package store

import (
	"context"
	"math"
	"slices"

	"weir"
)

func (r *reader) Artefact(ctx context.Context, c *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error) {
	parts := segments(c, 0, math.MaxInt64)
	slices.Reverse(parts)
	for _, p := range parts {
		found, err := list(ctx, r, scanArtefact, `
			SELECT conversation, id, call, tool, time, text FROM artefacts WHERE conversation = ? AND id = ?`, p.conversation, id)
		if err != nil {
			return weir.Artefact{}, err
		}
		if len(found) == 0 {
			continue
		}
		// What an ancestor's tools gave after the branch is not c's.
		seen := p.conversation == c.ID
		if !seen {
			seen, err = r.artefactNamed(ctx, p, id)
		}
		if err != nil {
			return weir.Artefact{}, err
		}
		if seen {
			return found[0], nil
		}
	}
	return weir.Artefact{}, weir.Fault(weir.NotFound, "artefact_not_found", "There is no such artefact in this conversation.")
}

func scanArtefact(r row) (weir.Artefact, error) {
	var a weir.Artefact
	var at int64
	var text []byte
	err := r.Scan(&a.Conversation, &a.ID, &a.Call, &a.Tool, &at, &text)
	a.Time, a.Text = fromMicros(at), string(text)
	return a, err
}

// artefactNamed reports whether a tool's result in a part of a log names an
// artefact. It reads all results there.
func (r *reader) artefactNamed(ctx context.Context, p segment, id weir.ArtefactID) (bool, error) {
	var one int64
	return first(ctx, r, []any{&one}, `
		SELECT 1 FROM records WHERE conversation = ? AND seq > ? AND seq <= ? AND kind = 'tool_result' AND {named} LIMIT 1`,
		p.conversation, p.after, p.upto, `"artefact":`+toJSON(id))
}

func (t *tx) PutArtefact(ctx context.Context, fence int64, a *weir.Artefact) error {
	switch {
	case !weir.ValidID(string(a.ID)):
		return weir.Fault(weir.Invalid, "artefact_invalid", "An artefact needs a valid id.")
	case len(a.Text) > weir.MaxArtefactBytes:
		return weir.Fault(weir.TooLarge, "artefact_too_large", "An artefact has at most %d bytes; keep a part of it.", weir.MaxArtefactBytes)
	}
	if err := valid(a.Call, a.Tool); err != nil {
		return err
	}
	if err := t.guard(ctx, a.Conversation, fence); err != nil {
		return err
	}
	n, err := t.q.exec(ctx, `INSERT INTO artefacts (conversation, id, call, tool, time, text) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		a.Conversation, a.ID, a.Call, a.Tool, micros(a.Time), []byte(a.Text))
	switch {
	case err != nil:
		return err
	case n == 0:
		return weir.Fault(weir.Conflict, "artefact_exists", "There is already an artefact with this id in this conversation.")
	}
	a.Time = fromMicros(micros(a.Time))
	return nil
}

// deleteArtefacts removes a conversation's artefacts but those that its
// records up to keep name. Of those nothing is left to name them later.
func (t *tx) deleteArtefacts(ctx context.Context, c weir.ConversationID, keep weir.Seq) error {
	if keep <= 0 {
		_, err := t.q.exec(ctx, `DELETE FROM artefacts WHERE conversation = ?`, c)
		return err
	}
	scan := func(r row) (id weir.ArtefactID, err error) { return id, r.Scan(&id) }
	ids, err := list(ctx, &t.reader, scan, `SELECT id FROM artefacts WHERE conversation = ?`, c)
	if err != nil {
		return err
	}
	for _, id := range ids {
		named, err := t.artefactNamed(ctx, segment{c, 0, keep}, id)
		if err == nil && !named {
			_, err = t.q.exec(ctx, `DELETE FROM artefacts WHERE conversation = ? AND id = ?`, c, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
