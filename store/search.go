package store

import (
	"context"
	"strconv"
	"strings"

	"weir"
)

// Finding conversations by words. A word that few conversations hold is looked
// up in the candidate index; a common one is met soon enough by walking in the
// order of the answer. Either way the whole words are checked, so the index
// only has to miss nothing.

// rare is up to how many conversations the index is asked for.
const rare = 500

// holding returns up to [rare] conversations that may hold all words, or ok
// false when there are more.
func (r *reader) holding(ctx context.Context, owner weir.OwnerID, words []string) (ids []weir.ConversationID, ok bool, err error) {
	pieces := queryPieces(words)
	if len(pieces) == 0 {
		return nil, false, nil
	}
	ids, err = list(ctx, r, scanID, r.d.matching, r.d.piecesArg(pieces), owner, rare+1)
	return ids, len(ids) <= rare, err
}

// filter is a growing list of conditions with their arguments.
type filter struct {
	text strings.Builder
	args []any
}

func (f *filter) and(condition string, args ...any) {
	f.text.WriteString(" AND " + condition)
	f.args = append(f.args, args...)
}

func (f *filter) words(words []string) {
	for _, w := range words {
		f.and(`{has}(c.folded, ?) > 0`, w)
	}
}

const fromHeads = ` FROM heads h CROSS JOIN conversations c WHERE c.id = h.conversation AND c.deleted = 0`

func (r *reader) Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error) {
	var page weir.Page[weir.Conversation]
	words, err := wordsOf(q.Words)
	if err != nil {
		return page, err
	}
	var f filter
	f.and(`h.owner = ?`, q.Owner)
	if q.Cursor != "" {
		active, id, err := decodeListCursor(q.Cursor)
		if err != nil {
			return page, err
		}
		f.and(`h.last_active <= ? AND (h.last_active < ? OR h.conversation > ?)`, active, active, id)
	}
	if q.Kind != "" {
		f.and(`c.kind = ?`, q.Kind)
	}
	if q.Archived != nil {
		f.and(`c.archived = ?`, flag(*q.Archived))
	}
	ids, few, err := r.holding(ctx, q.Owner, words)
	if err != nil {
		return page, err
	}
	if few {
		f.and(`h.conversation IN {ids}`, toJSON(append([]weir.ConversationID{}, ids...)))
	}
	f.words(words)
	limit := pageSize(q.Limit)
	page.Items, err = list(ctx, r, scanConversation, `SELECT `+conversationColumns+fromHeads+f.text.String()+
		` ORDER BY h.last_active DESC, h.conversation LIMIT ?`, append(f.args, limit+1)...)
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		last := &page.Items[limit-1]
		page.Next = encodeCursor(strconv.FormatInt(micros(last.LastActive), 10), string(last.ID))
	}
	return page, err
}

func decodeListCursor(cursor string) (active int64, id string, err error) {
	parts, err := decodeCursor(cursor, 2)
	if err != nil {
		return 0, "", err
	}
	active, err = strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return 0, "", badCursor()
	}
	return active, parts[1], nil
}

func (r *reader) Candidates(ctx context.Context, q weir.CandidateQuery) ([]weir.Conversation, error) {
	words, err := wordsOf(q.Words)
	if err != nil {
		return nil, err
	}
	target, err := r.Conversation(ctx, q.Target)
	if err != nil {
		return nil, err
	}
	place, limit := placeOf(target.Workspace), pageSize(q.Limit)
	var f filter
	f.and(`h.owner = ? AND h.conversation <> ? AND c.archived = 0 AND c.kind IN ('chat', 'branch')`, q.Owner, q.Target)
	ids, few, err := r.holding(ctx, q.Owner, words)
	if err != nil {
		return nil, err
	}
	if few {
		f.and(`h.conversation IN {ids}`, toJSON(append([]weir.ConversationID{}, ids...)))
		f.words(words)
		return list(ctx, r, scanConversation, `SELECT `+conversationColumns+fromHeads+f.text.String()+`
			ORDER BY h.spoken DESC, CASE WHEN h.place = ? AND h.place <> '' THEN 0 ELSE 1 END, h.last_active DESC, h.conversation LIMIT ?`,
			append(f.args, place, limit)...)
	}
	f.words(words)
	return r.walk(ctx, &f, place, limit)
}

// walk reads candidates in order, in four stretches that each follow an
// index: spoken in here, spoken in elsewhere, blank here, blank elsewhere.
func (r *reader) walk(ctx context.Context, f *filter, place string, limit int) ([]weir.Conversation, error) {
	var all []weir.Conversation
	for _, spoken := range []int64{1, 0} {
		for _, where := range []string{`h.place = ? AND h.place <> ''`, `h.place <> ?`} {
			if place == "" {
				if where == `h.place <> ?` {
					where = `? = ''` // all are elsewhere
				} else {
					continue
				}
			}
			if len(all) >= limit {
				return all, nil
			}
			args := append(append([]any{}, f.args...), spoken, place, limit-len(all))
			some, err := list(ctx, r, scanConversation, `SELECT `+conversationColumns+fromHeads+f.text.String()+
				` AND h.spoken = ? AND `+where+` ORDER BY h.last_active DESC, h.conversation LIMIT ?`, args...)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}
