package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pressly/goose/v3"

	"weir"
	"weir/test/pgcluster"
)

// spine is a database as version 1 of the tables left it: a conversation with
// a record, an input, a step that runs and one that is done. It is spelled as
// that version's statements were.
var spine = []struct {
	text string
	args []any
}{
	{`INSERT INTO conversations (id, owner, title, title_set, kind, lineage, level, category, workspace,
		model, agent, archived, deleted, origin, created_at, folded)
		VALUES ('a', 'me', 'Hello', 1, 'chat', '', 'open', 'x', '/w', 'm', 'g', 0, 0, '', 1700000000000001, 'hello
a
/w')`, nil},
	{`INSERT INTO heads (conversation, owner, place, spoken, last_active, head_seq, generation, state, waiting_for,
		last_input, holder, fence, expires, run)
		VALUES ('a', 'me', 'p', 1, 1700000000000002, 1, 'gen', 'running', '', 1, 'gone', 4, 1700000000000003, 'r')`, nil},
	{`INSERT INTO records (conversation, seq, kind, id, time, generation, brief, body) VALUES ('a', 1, 'user', 'm1', 1700000000000004, 'gen', NULL, ?)`,
		[]any{[]byte(`{"text":"hi"}`)}},
	{`INSERT INTO inputs (conversation, position, id, owner, kind, delivery, state, revision, text, shown,
		asked, mentions, frozen, digest, admitted_at, promoted_seq, code, reason)
		VALUES ('a', 1, 'i1', 'me', 'user', 'steer', 'pending', 1, 'next', '', '', '{}', '', 'd', 1700000000000005, 0, '', '')`, nil},
	{`INSERT INTO steps (conversation, seq, id, fence, state, purpose, provider, model, attempts, ledger, usage, partial,
		resumptions, interrupt, code, reason, started_at, ended_at)
		VALUES ('a', 2, 's1', 4, 'done', 'answer', 'p', 'm', 1, '{"sha256":"x"}', '{"fresh":3}', '', 0, 0, '', '', 1700000000000006, 1700000000000007)`, nil},
	{`INSERT INTO steps (conversation, seq, id, fence, state, purpose, provider, model, attempts, ledger, usage, partial,
		resumptions, interrupt, code, reason, started_at, ended_at)
		VALUES ('a', 3, 's2', 4, 'running', 'answer', 'p', 'm', 2, '{"sha256":"y"}', '', 'so far', 1, 0, 'c', 'r', 1700000000000008, ?)`,
		[]any{micros(time.Time{})}},
}

// leave makes the tables of version 1 and fills them.
func leave(t *testing.T, db *sql.DB, dialect goose.Dialect, folder string, d *dialect) {
	t.Helper()
	p, err := provider(db, dialect, folder)
	if err == nil {
		_, err = p.UpTo(t.Context(), 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range spine {
		if _, err := db.ExecContext(t.Context(), d.spell(row.text), row.args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADatabaseOfVersionOneGoesOnWithItsData(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		db, err := connect(filepath.Join(dir, databaseFile), writing)
		if err != nil {
			t.Fatal(err)
		}
		leave(t, db, goose.DialectSQLite3, "sqlite", sqliteDialect(nil))
		goesOn(t, dir)
	})
	t.Run("postgres", func(t *testing.T) {
		url := pgcluster.Database(t)
		p, err := connectPostgres(t.Context(), url, nil)
		if err != nil {
			t.Fatal(err)
		}
		leave(t, p.db, goose.DialectPostgres, "postgres", p.d)
		goesOn(t, url)
	})
}

func goesOn(t *testing.T, url string) {
	t.Helper()
	ctx := t.Context()
	if _, err := OpenReadOnly(ctx, url); weir.CodeOf(err) != "database_older" {
		t.Errorf("looking at it: %v", err)
	}
	s, err := Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := func(n int64) time.Time { return fromMicros(1700000000000000 + n) }
	running := weir.Step{
		Conversation: "a", ID: "s2", Seq: 3, Fence: 4, State: weir.StepRunning, Purpose: "answer", Provider: "p", Model: "m",
		Attempts: 2, Ledger: weir.Ledger{SHA256: "y"}, Partial: "so far", Resumptions: 1, Code: "c", Reason: "r", StartedAt: at(8),
	}
	done := weir.Step{
		Conversation: "a", ID: "s1", Seq: 2, Fence: 4, State: weir.StepDone, Purpose: "answer", Provider: "p", Model: "m",
		Attempts: 1, Ledger: weir.Ledger{SHA256: "x"}, Usage: &weir.Usage{Fresh: 3}, StartedAt: at(6), EndedAt: at(7),
	}
	steps, err := s.Steps(ctx, "a", 0, 0)
	if d := cmp.Diff([]weir.Step{running, done}, steps); err != nil || d != "" {
		t.Errorf("steps: %v (-want +got):\n%s", err, d)
	}
	c, err := s.Conversation(ctx, "a")
	if err != nil || c.Title != "Hello" || c.HeadSeq != 1 || !c.LastActive.Equal(at(2)) {
		t.Errorf("conversation: %+v, %v", c, err)
	}
	if r, err := s.Message(ctx, &c, "m1"); err != nil || r.Body.(*weir.UserMessage).Text != "hi" {
		t.Errorf("record: %+v, %v", r, err)
	}
	if in, err := s.PendingInputs(ctx, "a"); err != nil || len(in) != 1 || in[0].Text != "next" {
		t.Errorf("inputs: %+v, %v", in, err)
	}
	if due, err := s.Due(ctx, 9); err != nil || len(due) != 1 {
		t.Errorf("due: %v, %v", due, err)
	}
	// A recovery settles what the older program left.
	err = s.Update(ctx, func(tx Tx) error { return takeOver(ctx, tx, running) })
	if err != nil {
		t.Fatal(err)
	}
	calls, err := s.WaitingCalls(ctx, "a")
	if d := cmp.Diff([]weir.Call{{Conversation: "a", Step: "s2", ID: "x", State: weir.CallWaiting}}, calls, cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Errorf("calls: %v (-want +got):\n%s", err, d)
	}
}

// takeOver uses what is new.
func takeOver(ctx context.Context, tx Tx, s weir.Step) error {
	l, _, err := tx.AcquireLease(ctx, "a", "n", time.Hour)
	if err != nil {
		return err
	}
	s.Chained, s.NextTry = 2, time.Unix(9, 0)
	if err := tx.UpdateStep(ctx, l.Fence, &s); err != nil {
		return err
	}
	if err := tx.InsertCalls(ctx, l.Fence, weir.Call{Conversation: "a", Step: "s2", ID: "x", State: weir.CallWaiting}); err != nil {
		return err
	}
	return tx.AppendChanges(ctx, &weir.Change{Scope: weir.OfConversation("a"), Fact: "x/y"})
}
