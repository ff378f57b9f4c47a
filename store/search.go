package store

import (
	"context"
	"slices"
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

// What a search reads from: all conversations, or those of a list, which is
// then the first argument.
const (
	fromAll  = ` FROM heads h CROSS JOIN conversations c WHERE c.id = h.conversation AND c.deleted = 0`
	fromList = ` FROM {list} CROSS JOIN heads h CROSS JOIN conversations c
		WHERE h.conversation = j.value AND c.id = j.value AND c.deleted = 0`
)

// search is a growing list of conditions with their arguments.
type search struct {
	text strings.Builder
	args []any
	few  bool // reads from a list, in no order
}

func (f *search) and(condition string, args ...any) {
	f.text.WriteString(" AND " + condition)
	f.args = append(f.args, args...)
}

// list runs the search; more are arguments of order. The part that walks
// reads ids only, so that an index has all it needs.
func (f *search) list(ctx context.Context, r *reader, order string, limit int, more ...any) ([]weir.Conversation, error) {
	args := append(append(append(slices.Clone(f.args), more...), limit), more...)
	return list(ctx, r, scanConversation, `SELECT `+conversationColumns+` FROM (
		SELECT h.conversation AS id `+f.text.String()+` ORDER BY `+order+` LIMIT ?
		) found CROSS JOIN conversations c CROSS JOIN heads h WHERE c.id = found.id AND h.conversation = found.id ORDER BY `+order, args...)
}

// find begins a search for an owner's conversations that hold all words.
func (r *reader) find(ctx context.Context, owner weir.OwnerID, words []string) (*search, error) {
	f := &search{}
	if pieces := queryPieces(words); len(pieces) > 0 {
		text, args := r.d.holding(string(owner), pieces, rare+1)
		ids, err := list(ctx, r, scanID, text, args...)
		if err != nil {
			return nil, err
		}
		if len(ids) <= rare {
			f.few = true
			f.text.WriteString(fromList)
			f.args = append(f.args, toJSON(append([]weir.ConversationID{}, ids...)))
		}
	}
	if f.few {
		f.and(`c.owner = ?`, owner) // and not h's, which has an index that would be in the way
	} else {
		f.text.WriteString(fromAll)
		f.and(`h.owner = ?`, owner)
	}
	for _, w := range words {
		f.and(`{has}(c.folded, ?) > 0`, w)
	}
	return f, nil
}

func (r *reader) Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error) {
	var page weir.Page[weir.Conversation]
	words, err := wordsOf(q.Words)
	if err != nil {
		return page, err
	}
	f, err := r.find(ctx, q.Owner, words)
	if err != nil {
		return page, err
	}
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
	limit := pageSize(q.Limit)
	page.Items, err = f.list(ctx, r, `h.last_active DESC, h.conversation`, limit+1)
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
	f, err := r.find(ctx, q.Owner, words)
	if err != nil {
		return nil, err
	}
	f.and(`h.conversation <> ? AND c.archived = 0 AND c.kind IN ('chat', 'branch')`, q.Target)
	if f.few {
		return f.list(ctx, r, `h.spoken DESC, CASE WHEN h.place = ? AND h.place <> '' THEN 0 ELSE 1 END, h.last_active DESC, h.conversation`,
			limit, place)
	}
	return r.walk(ctx, f, place, limit)
}

// walk reads candidates in order, in stretches that each follow an index:
// spoken in here, spoken in elsewhere, blank here, blank elsewhere.
func (r *reader) walk(ctx context.Context, f *search, place string, limit int) ([]weir.Conversation, error) {
	stretches := []string{`h.place = ? AND h.place <> ''`, `h.place <> ?`}
	if place == "" {
		stretches = []string{`? = ''`} // all are elsewhere
	}
	var all []weir.Conversation
	for _, spoken := range []int64{1, 0} {
		for _, where := range stretches {
			if len(all) >= limit {
				return all, nil
			}
			var stretch search
			stretch.text.WriteString(f.text.String())
			stretch.args = slices.Clone(f.args)
			stretch.and(`h.spoken = ? AND `+where, spoken, place)
			some, err := stretch.list(ctx, r, `h.last_active DESC, h.conversation`, limit-len(all))
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}
