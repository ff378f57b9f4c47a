package store

import (
	"context"

	"weir"
)

func (r *reader) Views(ctx context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error) {
	var all []weir.View
	for _, p := range segments(c, from-1, upto) {
		scan := func(r row) (weir.View, error) {
			v := weir.View{Conversation: p.conversation, Lowering: lowering}
			err := r.Scan(&v.Seq, &v.Mark, &v.Bytes)
			return v, err
		}
		some, err := list(ctx, r, scan, `
			SELECT seq, mark, bytes FROM views WHERE conversation = ? AND lowering = ? AND seq > ? AND seq <= ? ORDER BY seq`,
			p.conversation, lowering, p.after, p.upto)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (t *tx) PutViews(ctx context.Context, fence int64, c weir.ConversationID, views ...weir.View) error {
	if err := t.guard(ctx, c, fence); err != nil {
		return err
	}
	rows := make([][]any, len(views))
	for i, v := range views {
		if v.Bytes == nil {
			v.Bytes = []byte{}
		}
		rows[i] = []any{v.Conversation, v.Lowering, v.Seq, v.Mark, v.Bytes}
	}
	_, err := t.insertMany(ctx, `INSERT INTO views (conversation, lowering, seq, mark, bytes) VALUES `, rows)
	return err
}
