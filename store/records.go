package store

import (
	"context"
	"math"
	"slices"
	"strings"

	"weir"
)

// isMark names the records of the kinds that are few in any transcript and
// have an index of their own. It is spelled as in the migrations.
const isMark = ` AND kind NOT IN ('user', 'assistant', 'tool_result', 'recall', 'system', 'notice', 'step', 'step_end')`

func marked(kinds []weir.RecordKind) bool {
	return len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k weir.RecordKind) bool {
		switch k {
		case weir.KindUser, weir.KindAssistant, weir.KindToolResult, weir.KindRecall, weir.KindSystem,
			weir.KindNotice, weir.KindStep, weir.KindStepEnd:
			return true
		}
		return false
	})
}

const recordColumns = `conversation, seq, kind, id, time, generation, `

func scanRecord(r row) (weir.Record, error) {
	var rec weir.Record
	var kind weir.RecordKind
	var at int64
	var body []byte
	err := r.Scan(&rec.Conversation, &rec.Seq, &kind, &rec.ID, &at, &rec.Generation, &body)
	if err != nil {
		return rec, err
	}
	rec.Time = fromMicros(at)
	rec.Body, err = weir.DecodeBody(kind, body)
	return rec, err
}

func (r *reader) Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	upto := weir.Seq(math.MaxInt64)
	if q.Before > 0 {
		upto = q.Before - 1
	}
	parts := segments(c, q.After, upto)
	if q.Newest {
		slices.Reverse(parts)
	}
	text := recordsText(q)
	limit := q.Limit
	if limit <= 0 {
		limit = math.MaxInt32
	}
	var all []weir.Record
	for _, p := range parts {
		args := []any{p.conversation, p.after, p.upto}
		for _, k := range q.Kinds {
			args = append(args, k)
		}
		some, err := list(ctx, r, scanRecord, text, append(args, limit-len(all))...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(all) >= limit {
			break
		}
	}
	if q.Newest {
		slices.Reverse(all)
	}
	return all, nil
}

func recordsText(q weir.RecordQuery) string {
	var b strings.Builder
	b.WriteString(`SELECT ` + recordColumns + `body FROM records`)
	few := marked(q.Kinds)
	if few {
		b.WriteString(` {marks}`)
	}
	b.WriteString(` WHERE conversation = ? AND seq > ? AND seq <= ?`)
	if len(q.Kinds) > 0 {
		b.WriteString(` AND kind IN ` + values(1, len(q.Kinds)))
	}
	if few {
		b.WriteString(isMark)
	}
	b.WriteString(` ORDER BY seq`)
	if q.Newest {
		b.WriteString(` DESC`)
	}
	b.WriteString(` LIMIT ?`)
	return b.String()
}

func (r *reader) Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error) {
	var all []weir.Record
	for _, p := range segments(c, 0, math.MaxInt64) {
		some, err := list(ctx, r, scanRecord, `
			SELECT `+recordColumns+`COALESCE(brief, body) FROM records {marks} WHERE conversation = ? AND seq > ? AND seq <= ?
				AND kind IN ('rewind', 'undo', 'checkpoint', 'epoch')`+isMark+` ORDER BY seq`,
			p.conversation, p.after, p.upto)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (r *reader) Message(ctx context.Context, c *weir.Conversation, id weir.MessageID) (weir.Record, error) {
	parts := segments(c, 0, math.MaxInt64)
	slices.Reverse(parts)
	for _, p := range parts {
		found, err := list(ctx, r, scanRecord, `
			SELECT `+recordColumns+`body FROM records WHERE conversation = ? AND id = ? AND seq > ? AND seq <= ?`,
			p.conversation, id, p.after, p.upto)
		if err != nil {
			return weir.Record{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return weir.Record{}, weir.Fault(weir.NotFound, weir.CodeMessageNotFound, "There is no such message in this conversation.")
}
