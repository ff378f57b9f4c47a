package gate_test

import (
	"context"
	"encoding/json"
	"testing"

	"weir"
	"weir/gate"
	"weir/store"
	"weir/test/stores"
)

func TestOnlyWhatAPersonOrTheModelSaidCanBeQuoted(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Source"}), w.make(like{title: "Target"})
		for name, body := range map[string]weir.Body{
			"a tool result":               &weir.ToolResult{Call: "c", Text: "secret"},
			"a recall":                    &weir.RecallSnapshot{Text: "secret"},
			"an update":                   &weir.Update{Fact: "core/date", Text: "secret"},
			"a checkpoint":                &weir.Checkpoint{Generation: "gen_2", Text: "secret"},
			"a notice":                    &weir.Notice{Text: "secret"},
			"a title":                     &weir.Retitled{Title: "secret"},
			"a user message without text": &weir.UserMessage{},
			"an answer without text":      &weir.AssistantMessage{},
			"an answer of reasoning and calls": &weir.AssistantMessage{Parts: []weir.Part{
				{Type: weir.PartReasoning, Text: "secret"}, {Type: weir.PartToolCall, Call: "c", Name: "run", Input: json.RawMessage(`{}`)}}},
		} {
			t.Run(name, func(t *testing.T) {
				w := &world{TB: t, s: w.s, g: w.g}
				r := w.append(source, body)
				_, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, r.ID))
				w.refused(err, "reference_not_quotable", target, [2]int{})
			})
		}
	})
}

func TestAQuoteHoldsTheVisibleTextAndNothingElse(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Source"}), w.make(like{title: "Target"})
		answer := w.append(source, &weir.AssistantMessage{Parts: []weir.Part{
			{Type: weir.PartReasoning, Text: "thinking"}, {Type: weir.PartText, Text: "one"},
			{Type: weir.PartToolCall, Call: "c", Name: "run", Input: json.RawMessage(`{}`)}, {Type: weir.PartText, Text: "two"}}}).ID
		user := w.append(source, &weir.UserMessage{Text: "see @[A](weir:ImEi)", Shown: "see @A", References: []weir.Frozen{{Type: weir.Quote, Text: "nested", Note: "nested"}}}).ID
		in, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, answer), quote(source, user))
		w.must(err)
		if got := in.References[0]; got.Text != "one\n\ntwo" || got.Role != "assistant" || got.TextLength != 8 {
			t.Errorf("the answer's quote: %+v", got)
		}
		if got := in.References[1]; got.Text != "see @A" || got.Role != "user" {
			t.Errorf("the user message's quote: %+v", got)
		}
	})
}

func TestARewoundMessageCannotBeQuotedUntilTheRewindIsUndone(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Source"}), w.make(like{title: "Target"})
		first := w.say(source, "first")
		second := w.say(source, "second")
		seq := w.conversation(source).HeadSeq
		rewind := w.append(source, &weir.Rewind{To: first, From: seq, Upto: seq})
		_, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, second))
		w.refused(err, "reference_not_quotable", target, [2]int{})
		if _, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, first)); err != nil {
			t.Errorf("what the rewind left: %v", err)
		}
		w.append(source, &weir.Undo{Rewind: rewind.Seq})
		if _, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, second)); err != nil {
			t.Errorf("after the undo: %v", err)
		}
	})
}

func TestAMessageBeforeACheckpointCanStillBeQuoted(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Source"}), w.make(like{title: "Target"})
		old := w.say(source, "settled long ago")
		w.append(source, &weir.Checkpoint{Generation: "gen_2", Text: "summary"})
		if _, err := w.send(person, target, "hi", weir.Mentions{}, quote(source, old)); err != nil {
			t.Error(err)
		}
	})
}

func TestAnInheritedMessageIsOneOfTheBranchWithTheBranchsScope(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		parent, target := w.make(like{title: "Parent"}), w.make(like{title: "Target"})
		said := w.say(parent, "from the parent")
		branch := w.make(like{title: "Branch", kind: weir.Branch, parent: parent, level: weir.Isolated})
		later := w.say(parent, "after the branch")
		own := w.say(branch, "from the branch")

		if p, err := w.preview(target, quote(parent, said)); err != nil || p.NeedsConfirmation {
			t.Errorf("the parent's message by the parent: %+v, %v", p, err)
		}
		p, err := w.preview(target, quote(branch, said))
		if err != nil || !p.NeedsConfirmation || p.Source.Level != weir.Isolated {
			t.Errorf("the parent's message by the branch: %+v, %v", p, err)
		}
		for name, ref := range map[string]weir.Reference{"by the parent, the branch's": quote(parent, own), "by the branch, the parent's later one": quote(branch, later)} {
			if _, err := w.preview(target, ref); weir.CodeOf(err) != "reference_not_found" {
				t.Errorf("%s: %v", name, err)
			}
		}
		ctx := context.Background()
		w.must(s.Update(ctx, func(tx store.Tx) error { return tx.DeleteBodies(ctx, parent, 1) }))
		if _, err := w.preview(target, quote(branch, said)); err != nil {
			t.Errorf("after the parent was deleted: %v", err)
		}
	})
}

// counting counts what is asked of a transaction.
type counting struct {
	gate.Tx
	asked []string
}

func (c *counting) Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error) {
	c.asked = append(c.asked, "conversation")
	return c.Tx.Conversation(ctx, id)
}

func (c *counting) Message(ctx context.Context, conv *weir.Conversation, id weir.MessageID) (weir.Record, error) {
	c.asked = append(c.asked, "message")
	return c.Tx.Message(ctx, conv, id)
}

func (c *counting) Structure(ctx context.Context, conv *weir.Conversation) ([]weir.Record, error) {
	c.asked = append(c.asked, "structure")
	return c.Tx.Structure(ctx, conv)
}

func (c *counting) LockShared(ctx context.Context, ids ...weir.ConversationID) error {
	c.asked = append(c.asked, "lock")
	return c.Tx.LockShared(ctx, ids...)
}

func (c *counting) AppendFlows(ctx context.Context, flows ...*weir.Flow) error {
	c.asked = append(c.asked, "flows")
	return c.Tx.AppendFlows(ctx, flows...)
}

func TestWhatIsNotTheirsAnswersLikeWhatIsNotThere(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		ctx := context.Background()
		target, source, other := w.make(like{title: "Target"}), w.make(like{title: "Source"}), w.make(like{title: "Other"})
		w.say(source, "mine")
		elsewhere := w.say(other, "elsewhere")
		theirs := w.make(like{owner: "eve", title: "Eve's"})
		evesMessage := w.say(theirs, "eve's secret")
		deleted := w.make(like{title: "Deleted"})
		deletedMessage := w.say(deleted, "gone")
		w.must(s.Update(ctx, func(tx store.Tx) error { return tx.DeleteBodies(ctx, deleted, 0) }))
		branched := w.make(like{title: "Deleted with a branch"})
		keptMessage := w.say(branched, "kept for the branch")
		w.make(like{kind: weir.Branch, parent: branched})
		w.must(s.Update(ctx, func(tx store.Tx) error { return tx.DeleteBodies(ctx, branched, 1) }))

		type try struct {
			name string
			ref  weir.Reference
		}
		answers := func(tries []try, missing weir.Reference) {
			send := func(ref weir.Reference) (string, string, []string) {
				c := &counting{}
				_, err := w.sendThrough(func(tx store.Tx) gate.Tx { c.Tx = tx; c.asked = nil; return c }, person, target, "hi", weir.Mentions{}, ref)
				w.refused(err, "reference_not_found", target, [2]int{})
				_, previewed := w.preview(target, ref)
				return spelling(err), spelling(previewed), c.asked
			}
			wantSend, wantPreview, wantAsked := send(missing)
			for _, c := range tries {
				gotSend, gotPreview, gotAsked := send(c.ref)
				if gotSend != wantSend || gotPreview != wantPreview {
					t.Errorf("%s answers\n%s\n%s\nand what is not there\n%s\n%s", c.name, gotSend, gotPreview, wantSend, wantPreview)
				}
				if len(gotAsked) != len(wantAsked) {
					t.Errorf("%s asks %v, and what is not there %v", c.name, gotAsked, wantAsked)
				}
			}
		}
		answers([]try{
			{"a message of another conversation of theirs", quote(source, elsewhere)},
			{"a message of someone else under an own conversation", quote(source, evesMessage)},
			{"someone else's message", quote(theirs, evesMessage)},
			{"an own message under someone else's conversation", quote(theirs, elsewhere)},
			{"no such conversation", quote("cnv_none", "msg_none")},
			{"an existing message under no such conversation", quote("cnv_none", elsewhere)},
			{"a deleted conversation's message", quote(deleted, deletedMessage)},
			{"a deleted conversation's message that a branch keeps", quote(branched, keptMessage)},
		}, quote(source, "msg_none"))
		answers([]try{
			{"someone else's conversation", pointer(theirs)},
			{"a deleted conversation", pointer(deleted)},
		}, pointer("cnv_none"))
	})
}

func TestATargetThatIsNotTheirsIsNotThere(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source := w.make(like{title: "Source"})
		ref := quote(source, w.say(source, "mine"))
		theirs := w.make(like{owner: "eve"})
		for _, target := range []weir.ConversationID{theirs, "cnv_none", "", "nul\x00"} {
			_, err := w.preview(target, ref)
			_, sent := w.send(person, target, "hi", weir.Mentions{}, ref)
			_, listed := w.g.Candidates(context.Background(), s, person, target, "", 10)
			for _, err := range []error{err, sent, listed} {
				if weir.CodeOf(err) != weir.CodeConversationNotFound {
					t.Errorf("target %q: %v", target, err)
				}
			}
		}
	})
}

func TestAMessageWithoutReferencesAsksTheStoreNothing(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		target := w.make(like{title: "Target"})
		c := &counting{}
		text := "plain @[not accepted](weir:ImEi) </quote>\n"
		in, err := w.sendThrough(func(tx store.Tx) gate.Tx { c.Tx = tx; return c }, person, target, text, weir.Mentions{})
		w.must(err)
		if len(c.asked) != 0 || in.Shown != "" || in.References != nil {
			t.Errorf("asked %v, shown %q, references %v", c.asked, in.Shown, in.References)
		}
	})
}

// late is a transaction to which a conversation appears between two looks.
type late struct {
	gate.Tx
	id    weir.ConversationID
	looks int
}

func (l *late) Conversation(ctx context.Context, id weir.ConversationID) (weir.Conversation, error) {
	if id == l.id {
		if l.looks++; l.looks == 1 {
			return weir.Conversation{}, weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "not yet")
		}
	}
	return l.Tx.Conversation(ctx, id)
}

func TestWhatAppearsAfterTheLocksWereTakenIsNotThereYet(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Source"}), w.make(like{title: "Target"})
		l := &late{id: source}
		_, err := w.sendThrough(func(tx store.Tx) gate.Tx { l.Tx = tx; return l }, person, target, "hi", weir.Mentions{}, pointer(source))
		w.refused(err, "reference_not_found", target, [2]int{})
	})
}
