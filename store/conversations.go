package store

import (
	"context"
	"encoding/json"
	"slices"

	"weir"
)

// conversationColumns is what scanConversation reads, of conversations c and
// heads h.
const conversationColumns = `
	c.id, c.owner, c.title, c.title_set, c.kind, c.lineage, {walls}, c.level, c.category,
	c.workspace, c.model, c.agent, c.archived, c.deleted, c.origin, c.created_at,
	h.generation, h.state, h.waiting_for, h.head_seq, h.last_active`

func scanConversation(r row) (weir.Conversation, error) {
	var c weir.Conversation
	var lineage, walls, origin string
	var created, active int64
	err := r.Scan(&c.ID, &c.Owner, &c.Title, &c.TitleSet, &c.Kind, &lineage, &walls,
		&c.Visibility.Level, &c.Visibility.Category, &c.Workspace, &c.Model, &c.Agent,
		&c.Archived, &c.Deleted, &origin, &created,
		&c.Generation, &c.State, &c.WaitingFor, &c.HeadSeq, &active)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.LastActive = fromMicros(created), fromMicros(active)
	if err := fromJSON(lineage, &c.Lineage); err != nil {
		return c, err
	}
	if origin != "" {
		c.Origin = new(weir.Origin)
		if err := json.Unmarshal([]byte(origin), c.Origin); err != nil {
			return c, err
		}
	}
	var isolated []weir.ConversationID
	if err := fromJSON(walls, &isolated); err != nil {
		return c, err
	}
	c.Island = island(&c, isolated)
	return c, nil
}

// island orders the isolated ancestors, outermost first, and adds c itself
// when it has a wall of its own.
func island(c *weir.Conversation, isolated []weir.ConversationID) []weir.ConversationID {
	path := []weir.ConversationID{}
	for _, a := range c.Lineage {
		if slices.Contains(isolated, a.Conversation) {
			path = append(path, a.Conversation)
		}
	}
	if c.Visibility.Level == weir.Isolated {
		path = append(path, c.ID)
	}
	return path
}

func (r *reader) Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error) {
	all, err := list(ctx, r, scanConversation, `SELECT `+conversationColumns+`
		FROM conversations c JOIN heads h ON h.conversation = c.id WHERE c.id = ?`, id)
	if err == nil && len(all) == 0 {
		err = noConversation()
	}
	if err != nil {
		return weir.Conversation{}, err
	}
	return all[0], nil
}

func (r *reader) Descendants(ctx context.Context, id weir.ConversationID) ([]weir.Conversation, error) {
	return list(ctx, r, scanConversation, `SELECT `+conversationColumns+`
		FROM ancestry y JOIN conversations c ON c.id = y.descendant JOIN heads h ON h.conversation = c.id
		WHERE y.ancestor = ? ORDER BY c.created_at, c.id`, id)
}

func (t *tx) InsertConversation(ctx context.Context, c *weir.Conversation) error {
	if c.Generation == "" || !weir.ValidID(string(c.ID)) {
		return weir.Fault(weir.Invalid, "conversation_invalid", "A conversation needs a valid id and a generation.")
	}
	if err := valid(string(c.Owner), c.Title, c.Visibility.Category, c.Workspace, c.Model, c.Agent); err != nil {
		return err
	}
	if len(c.Lineage) > 0 {
		// A branch made while an ancestor's visibility changes must see the change.
		if err := t.LockShared(ctx, c.Parent()); err != nil {
			return err
		}
	}
	origin := ""
	if c.Origin != nil {
		origin = toJSON(c.Origin)
	}
	folded := foldedOf(c.Title, c.ID, c.Workspace)
	n, err := t.q.exec(ctx, `
		INSERT INTO conversations (id, owner, title, title_set, kind, lineage, level, category, workspace,
			model, agent, archived, deleted, origin, created_at, folded)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
		c.ID, c.Owner, c.Title, flag(c.TitleSet), c.Kind, listJSON(c.Lineage), levelOf(c.Visibility), c.Visibility.Category,
		c.Workspace, c.Model, c.Agent, flag(c.Archived), origin, micros(c.CreatedAt), folded)
	if err != nil {
		return err
	}
	if n == 0 {
		return t.known(ctx, c.ID)
	}
	if err := t.insertHead(ctx, c); err != nil {
		return err
	}
	for _, a := range c.Lineage {
		if _, err := t.q.exec(ctx, `INSERT INTO ancestry (ancestor, descendant) VALUES (?, ?)`, a.Conversation, c.ID); err != nil {
			return err
		}
	}
	if err := t.d.index(ctx, t.q, entry{string(c.ID), string(c.Owner), pieces(folded)}, true); err != nil {
		return err
	}
	*c, err = t.Conversation(ctx, c.ID)
	return err
}

func levelOf(v weir.Visibility) weir.Level {
	if v.Level == "" {
		return weir.Open
	}
	return v.Level
}

func (t *tx) insertHead(ctx context.Context, c *weir.Conversation) error {
	active := c.LastActive
	if active.IsZero() {
		active = c.CreatedAt
	}
	state := c.State
	if state == "" {
		state = weir.Idle
	}
	_, err := t.q.exec(ctx, `
		INSERT INTO heads (conversation, owner, place, spoken, last_active, head_seq, generation, state, waiting_for,
			last_input, holder, fence, expires, run)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, 0, '')`,
		c.ID, c.Owner, placeOf(c.Workspace), flag(c.Inherits() > 0), micros(active), c.Inherits(), c.Generation, state, c.WaitingFor)
	return err
}

// known says why a conversation was not inserted.
func (t *tx) known(ctx context.Context, id weir.ConversationID) error {
	var one int64
	found, err := first(ctx, &t.reader, []any{&one}, `SELECT 1 FROM conversations WHERE id = ?`, id)
	switch {
	case err != nil:
		return err
	case found:
		return weir.Fault(weir.Conflict, "conversation_exists", "There is already a conversation with this id.")
	}
	return weir.Fault(weir.Conflict, "main_exists", "There is already a main conversation; there can be only one.")
}

func (t *tx) ChangeConversation(ctx context.Context, id weir.ConversationID, ch weir.ConversationChange) error {
	for _, p := range []*string{ch.Title, ch.Workspace, ch.Model, ch.Agent} {
		if p != nil {
			if err := valid(*p); err != nil {
				return err
			}
		}
	}
	if ch.Visibility != nil {
		if err := valid(ch.Visibility.Category); err != nil {
			return err
		}
	}
	// Only what changes is written: another transaction may be changing the rest.
	n, err := t.q.exec(ctx, `
		UPDATE conversations SET title = COALESCE(?, title), title_set = COALESCE(?, title_set), level = COALESCE(?, level),
			category = COALESCE(?, category), workspace = COALESCE(?, workspace), model = COALESCE(?, model),
			agent = COALESCE(?, agent), archived = COALESCE(?, archived)
		WHERE id = ?`,
		orNil(ch.Title), flagOrNil(ch.TitleSet), levelOrNil(ch.Visibility), categoryOrNil(ch.Visibility), orNil(ch.Workspace),
		orNil(ch.Model), orNil(ch.Agent), flagOrNil(ch.Archived), id)
	switch {
	case err != nil:
		return err
	case n == 0:
		return noConversation()
	case ch.Title != nil || ch.Workspace != nil:
		return t.reindex(ctx, id)
	}
	return nil
}

// reindex brings what is derived from title and workspace up to date.
func (t *tx) reindex(ctx context.Context, id weir.ConversationID) error {
	var title, workspace, owner string
	_, err := first(ctx, &t.reader, []any{&title, &workspace, &owner}, `SELECT title, workspace, owner FROM conversations WHERE id = ?`, id)
	if err != nil {
		return err
	}
	folded := foldedOf(title, id, workspace)
	if _, err := t.q.exec(ctx, `UPDATE conversations SET folded = ? WHERE id = ?`, folded, id); err != nil {
		return err
	}
	place := placeOf(workspace)
	if _, err := t.q.exec(ctx, `UPDATE heads SET place = ? WHERE conversation = ? AND place <> ?`, place, id, place); err != nil {
		return err
	}
	return t.d.index(ctx, t.q, entry{string(id), owner, pieces(folded)}, false)
}

func (t *tx) ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error {
	n, err := t.q.exec(ctx, `
		UPDATE heads SET state = COALESCE(?, state), waiting_for = COALESCE(?, waiting_for), generation = COALESCE(?, generation)
		WHERE conversation = ?`, orNil(a.State), orNil(a.WaitingFor), orNil(a.Generation), id)
	if err == nil && n == 0 {
		err = noConversation()
	}
	return err
}

func (t *tx) DeleteBodies(ctx context.Context, id weir.ConversationID, keep weir.Seq) error {
	folded := foldedOf("", id, "")
	n, err := t.q.exec(ctx, `
		UPDATE conversations SET deleted = 1, title = '', title_set = 0, workspace = '', model = '', agent = '', origin = '', folded = ?
		WHERE id = ?`, folded, id)
	if err != nil {
		return err
	}
	if n == 0 {
		return noConversation()
	}
	if err := t.d.index(ctx, t.q, entry{id: string(id)}, false); err != nil {
		return err
	}
	for _, d := range []struct {
		text  string
		after weir.Seq
	}{
		{`DELETE FROM records WHERE conversation = ? AND seq > ?`, keep},
		{`DELETE FROM views WHERE conversation = ? AND seq > ?`, keep},
		{`DELETE FROM inputs WHERE conversation = ? AND position > ?`, 0},
		{`DELETE FROM steps WHERE conversation = ? AND seq > ?`, 0},
		{`DELETE FROM calls WHERE conversation = ? AND ordinal >= ?`, 0},
	} {
		if _, err := t.q.exec(ctx, d.text, id, d.after); err != nil {
			return err
		}
	}
	if err := t.deleteArtefacts(ctx, id, keep); err != nil {
		return err
	}
	if err := t.deleteFacts(ctx, weir.OfConversation(id)); err != nil {
		return err
	}
	if err := t.forgetAnswers(ctx, id); err != nil {
		return err
	}
	_, err = t.q.exec(ctx, `UPDATE heads SET place = '', state = 'idle', waiting_for = '' WHERE conversation = ?`, id)
	return err
}

func orNil[T ~string](p *T) any {
	if p == nil {
		return nil
	}
	return string(*p)
}

func flagOrNil(p *bool) any {
	if p == nil {
		return nil
	}
	return flag(*p)
}

func levelOrNil(v *weir.Visibility) any {
	if v == nil {
		return nil
	}
	return string(levelOf(*v))
}

func categoryOrNil(v *weir.Visibility) any {
	if v == nil {
		return nil
	}
	return v.Category
}
