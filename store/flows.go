package store

import (
	"context"
	"math"
	"strconv"

	"weir"
)

const flowColumns = `
	time, owner, door, form, source, message, generation, source_scope, target, input, target_scope,
	crossing, reasons, confirmation, text_mac, text_length, of_flow, result, seq`

func scanFlow(r row) (weir.Flow, error) {
	var f weir.Flow
	var at int64
	var source, target, reasons string
	err := r.Scan(&f.ID, &at, &f.Owner, &f.Door, &f.Form, &f.Source, &f.Message, &f.Generation, &source, &f.Target, &f.Input,
		&target, &f.Crossing, &reasons, &f.Confirmation, &f.TextMAC, &f.TextLength, &f.Of, &f.Result, &f.Seq)
	if err != nil {
		return f, err
	}
	f.Time = fromMicros(at)
	if err := fromJSON(source, &f.SourceScope); err != nil {
		return f, err
	}
	if err := fromJSON(target, &f.TargetScope); err != nil {
		return f, err
	}
	return f, fromJSON(reasons, &f.Reasons)
}

func (r *reader) Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error) {
	before := int64(math.MaxInt64)
	if q.Cursor != "" {
		var err error
		if before, err = decodeFlowCursor(q.Cursor); err != nil {
			return weir.Page[weir.Flow]{}, err
		}
	}
	text, args := `SELECT id, `+flowColumns+` FROM flows WHERE owner = ? AND id < ?`, []any{q.Owner, before}
	if q.Source != "" {
		text, args = text+` AND source = ?`, append(args, q.Source)
	}
	if q.Target != "" {
		text, args = text+` AND target = ?`, append(args, q.Target)
	}
	if q.Crossings {
		text += ` AND crossing = 1`
	}
	limit := pageSize(q.Limit)
	all, err := list(ctx, r, scanFlow, text+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	page := weir.Page[weir.Flow]{Items: all}
	if len(all) > limit {
		page.Items = all[:limit]
		page.Next = encodeCursor(strconv.FormatInt(all[limit-1].ID, 10))
	}
	return page, err
}

func decodeFlowCursor(cursor string) (int64, error) {
	parts, err := decodeCursor(cursor, 1)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return 0, badCursor()
	}
	return id, nil
}

func (r *reader) FlowsOf(ctx context.Context, c weir.ConversationID, in weir.InputID) ([]weir.Flow, error) {
	return list(ctx, r, scanFlow, `SELECT id, `+flowColumns+` FROM flows
		WHERE target = ? AND input = ? AND input <> '' AND form <> 'outcome' ORDER BY id`, c, in)
}

func (t *tx) AppendFlows(ctx context.Context, flows ...*weir.Flow) error {
	for _, f := range flows {
		_, err := first(ctx, &t.reader, []any{&f.ID}, `INSERT INTO flows (`+flowColumns+`) VALUES `+values(1, 19)+` RETURNING id`,
			micros(f.Time), f.Owner, f.Door, f.Form, f.Source, f.Message, f.Generation, toJSON(f.SourceScope), f.Target, f.Input,
			toJSON(f.TargetScope), flag(f.Crossing), listJSON(f.Reasons), f.Confirmation, f.TextMAC, f.TextLength, f.Of, f.Result, f.Seq)
		if err != nil {
			return err
		}
		f.Time = fromMicros(micros(f.Time))
	}
	return nil
}
