package store

import (
	"context"
	"time"

	"weir"
)

func (t *tx) Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error) {
	if len(records) == 0 {
		return nil, t.guard(ctx, id, fence)
	}
	newest, err := t.advance(ctx, id, fence, head, records)
	if err != nil {
		return nil, err
	}
	numbered := make([]weir.Record, len(records))
	rows := make([][]any, len(records))
	for i, rec := range records {
		if !weir.ValidID(string(rec.ID)) || rec.Body == nil {
			return nil, weir.Fault(weir.Invalid, "record_invalid", "A record needs a valid id and a body.")
		}
		rec.Conversation, rec.Seq = id, newest-weir.Seq(len(records)-1-i)
		rec.Time = fromMicros(micros(rec.Time))
		numbered[i] = rec
		rows[i] = []any{id, rec.Seq, rec.Kind(), rec.ID, micros(rec.Time), rec.Generation, brief(rec.Body), []byte(toJSON(rec.Body))}
	}
	n, err := t.insertMany(ctx, `INSERT INTO records (conversation, seq, kind, id, time, generation, brief, body) VALUES `, rows)
	if err == nil && n != int64(len(rows)) {
		err = weir.Fault(weir.Conflict, "message_exists", "There is already a message with this id in this conversation.")
	}
	if err != nil {
		return nil, err
	}
	return numbered, nil
}

// advance moves the head over the records, under the fence, and returns the
// new newest seq.
func (t *tx) advance(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records []weir.Record) (weir.Seq, error) {
	expected := weir.Seq(-1)
	if head != nil {
		expected = *head
	}
	// The index of activity is touched only by what counts as activity.
	text, args := `UPDATE heads SET head_seq = head_seq + ?`, []any{len(records)}
	if last, spoken := activity(records); spoken {
		text += `, spoken = 1, last_active = CASE WHEN last_active < ? THEN ? ELSE last_active END`
		args = append(args, micros(last), micros(last))
	}
	text += ` WHERE conversation = ? AND fence = ? AND holder <> '' AND (head_seq = ? OR CAST(? AS BIGINT) < 0) RETURNING head_seq`
	var newest weir.Seq
	found, err := first(ctx, &t.reader, []any{&newest}, text, append(args, id, fence, expected, expected)...)
	if err != nil {
		return 0, err
	}
	if found {
		t.fenced[string(id)] = fence
		return newest, nil
	}
	_, current, err := t.head(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case current == 0 || current != fence:
		return 0, fencedOff()
	}
	return 0, movedOn("The conversation")
}

// activity returns the newest time of what people and models said.
func activity(records []weir.Record) (last time.Time, spoken bool) {
	for _, r := range records {
		switch r.Kind() {
		case weir.KindUser, weir.KindAssistant:
			if !spoken || r.Time.After(last) {
				last = r.Time
			}
			spoken = true
		}
	}
	return last, spoken
}

// brief is what [Reader.Structure] gives of a body that is long, else nil.
func brief(b weir.Body) any {
	e, ok := b.(*weir.Epoch)
	if !ok {
		return nil
	}
	return []byte(toJSON(&weir.Epoch{SHA256: e.SHA256}))
}

// insertMany inserts rows in as few statements as their sizes allow, leaving
// out those that are already there, and returns how many it inserted.
func (t *tx) insertMany(ctx context.Context, insert string, rows [][]any) (inserted int64, err error) {
	for len(rows) > 0 {
		n := 1
		for _, size := range []int{64, 8} { // few sizes, so that few statements are prepared
			if len(rows) >= size {
				n = size
				break
			}
		}
		args := make([]any, 0, n*len(rows[0]))
		for _, r := range rows[:n] {
			args = append(args, r...)
		}
		affected, err := t.q.exec(ctx, insert+values(n, len(rows[0]))+` ON CONFLICT DO NOTHING`, args...)
		if err != nil {
			return inserted, err
		}
		inserted += affected
		rows = rows[n:]
	}
	return inserted, nil
}
