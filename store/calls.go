package store

import (
	"context"

	"weir"
)

const callColumns = `conversation, step, id, ordinal, name, state, decision, started_at, ended_at`

func scanCall(r row) (weir.Call, error) {
	var c weir.Call
	var started, ended int64
	err := r.Scan(&c.Conversation, &c.Step, &c.ID, &c.Ordinal, &c.Name, &c.State, &c.Decision, &started, &ended)
	c.StartedAt, c.EndedAt = fromMicros(started), fromMicros(ended)
	return c, err
}

func (r *reader) Calls(ctx context.Context, c weir.ConversationID, step weir.StepID) ([]weir.Call, error) {
	return list(ctx, r, scanCall, `
		SELECT `+callColumns+` FROM calls WHERE conversation = ? AND step = ? ORDER BY ordinal, id`, c, step)
}

func (r *reader) WaitingCalls(ctx context.Context, c weir.ConversationID) ([]weir.Call, error) {
	return list(ctx, r, scanCall, `
		SELECT `+callColumns+` FROM calls {waiting} WHERE conversation = ? AND state = 'waiting' ORDER BY ordinal, id`, c)
}

func (r *reader) CallIDs(ctx context.Context, c *weir.Conversation, ids ...string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	logs := []weir.ConversationID{c.ID}
	for _, a := range c.Lineage {
		logs = append(logs, a.Conversation)
	}
	scan := func(r row) (string, error) {
		var id string
		err := r.Scan(&id)
		return id, err
	}
	return list(ctx, r, scan, `
		SELECT DISTINCT id FROM calls WHERE conversation IN {ids} AND id IN {ids} ORDER BY id`, toJSON(logs), toJSON(ids))
}

func (t *tx) InsertCalls(ctx context.Context, fence int64, calls ...weir.Call) error {
	rows := make([][]any, len(calls))
	for i, c := range calls {
		if !weir.ValidID(c.ID) {
			return weir.Fault(weir.Invalid, "call_invalid", "A tool call needs a valid id.")
		}
		if err := valid(c.Name); err != nil {
			return err
		}
		if err := t.guard(ctx, c.Conversation, fence); err != nil {
			return err
		}
		rows[i] = []any{c.Conversation, c.Step, c.ID, c.Ordinal, c.Name, c.State, c.Decision, micros(c.StartedAt), micros(c.EndedAt)}
	}
	n, err := t.insertMany(ctx, `INSERT INTO calls (`+callColumns+`) VALUES `, rows)
	if err == nil && n != int64(len(rows)) {
		err = weir.Fault(weir.Conflict, "call_exists", "There is already a tool call with this id.")
	}
	return err
}

// UpdateCall goes forward only, and a call that waited starts only with a
// person's word.
func (t *tx) UpdateCall(ctx context.Context, fence int64, call *weir.Call) error {
	if err := t.guard(ctx, call.Conversation, fence); err != nil {
		return err
	}
	found, err := first(ctx, &t.reader, []any{&call.Decision}, `
		UPDATE calls SET state = ?, decision = CASE WHEN decision = '' THEN ? ELSE decision END, started_at = ?, ended_at = ?
		WHERE conversation = ? AND step = ? AND id = ? AND (
			state = 'waiting' AND CAST(? AS TEXT) = 'settled' OR state = 'started' AND CAST(? AS TEXT) = 'settled' OR
			state = 'waiting' AND CAST(? AS TEXT) = 'started' AND CASE WHEN decision = '' THEN ? ELSE decision END = 'allow')
		RETURNING decision`,
		call.State, call.Decision, micros(call.StartedAt), micros(call.EndedAt), call.Conversation, call.Step, call.ID,
		call.State, call.State, call.State, call.Decision)
	if err != nil || found {
		return err
	}
	var one int64
	found, err = first(ctx, &t.reader, []any{&one}, `SELECT 1 FROM calls WHERE conversation = ? AND step = ? AND id = ?`,
		call.Conversation, call.Step, call.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return noCall()
	}
	return movedOn("The tool call")
}

// DecideCall changes an undecided call only, whoever else decides at the same
// time; the first counts.
func (t *tx) DecideCall(ctx context.Context, c weir.ConversationID, call string, d weir.Decision) (weir.Call, error) {
	if d != weir.Allow && d != weir.Deny {
		return weir.Call{}, weir.Fault(weir.Invalid, "decision_invalid", "A tool call is decided by allow or deny.")
	}
	_, err := t.q.exec(ctx, `
		UPDATE calls {waiting} SET decision = ? WHERE conversation = ? AND id = ? AND state = 'waiting' AND decision = ''`, d, c, call)
	if err != nil {
		return weir.Call{}, err
	}
	all, err := list(ctx, &t.reader, scanCall, `
		SELECT `+callColumns+` FROM calls {waiting} WHERE conversation = ? AND id = ? AND state = 'waiting' {change}`, c, call)
	switch {
	case err != nil:
		return weir.Call{}, err
	case len(all) == 0:
		return weir.Call{}, noCall()
	case all[0].Decision != d:
		return weir.Call{}, weir.Fault(weir.Conflict, "call_decided", "This tool call has been decided already, the other way.")
	}
	return all[0], nil
}

func noCall() error {
	return weir.Fault(weir.NotFound, "call_not_found", "No such tool call is waiting for a decision in this conversation.")
}

func (r *reader) ToolRules(ctx context.Context, owner weir.OwnerID) ([]weir.ToolRule, error) {
	scan := func(r row) (weir.ToolRule, error) {
		rule := weir.ToolRule{Owner: owner}
		err := r.Scan(&rule.Tool, &rule.Decision)
		return rule, err
	}
	return list(ctx, r, scan, `SELECT tool, decision FROM tool_rules WHERE owner = ? ORDER BY tool`, owner)
}

func (t *tx) PutToolRule(ctx context.Context, rule weir.ToolRule) error {
	switch {
	case !weir.ValidID(rule.Tool):
		return weir.Fault(weir.Invalid, "tool_invalid", "A rule needs the name of a tool, of at most %d bytes.", weir.MaxIDBytes)
	case rule.Decision == "":
		_, err := t.q.exec(ctx, `DELETE FROM tool_rules WHERE owner = ? AND tool = ?`, rule.Owner, rule.Tool)
		return err
	case rule.Decision != weir.Ask && rule.Decision != weir.Allow && rule.Decision != weir.Deny:
		return weir.Fault(weir.Invalid, "decision_invalid", "A rule about a tool is ask, allow or deny.")
	}
	_, err := t.q.exec(ctx, `INSERT INTO tool_rules (owner, tool, decision) VALUES (?, ?, ?)
		ON CONFLICT (owner, tool) DO UPDATE SET decision = excluded.decision`, rule.Owner, rule.Tool, rule.Decision)
	return err
}
