package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"weir"
)

type spy struct {
	*sqliteConn
	t *testing.T
}

func (s spy) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := s.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+s.d.spell(text), args...)
	if err != nil {
		s.t.Fatal(err, text)
	}
	fmt.Println("--", strings.Join(strings.Fields(text), " "))
	for rows.Next() {
		var a, b, c int
		var d string
		rows.Scan(&a, &b, &c, &d)
		fmt.Println("    ", d)
	}
	rows.Close()
	return s.sqliteConn.query(ctx, text, args...)
}

func TestPlans(t *testing.T) {
	ctx := t.Context()
	s, err := openSQLite(ctx, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Update(ctx, func(tx Tx) error {
		return tx.InsertConversation(ctx, &weir.Conversation{ID: "a", Owner: "me", Title: "Hello", Workspace: "x", Kind: weir.Chat, Generation: "g1"})
	})
	c, _ := s.readers.take(ctx)
	defer c.close()
	r := &reader{q: spy{c, t}, d: c.d}
	cnv, _ := r.Conversation(ctx, "a")
	r.Conversations(ctx, weir.ConversationQuery{Owner: "me", Words: "hel"})
	r.Conversations(ctx, weir.ConversationQuery{Owner: "me", Cursor: encodeCursor("1", "x")})
	r.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a", Words: "hel"})
	r.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a"})
	r.Descendants(ctx, "a")
	r.Records(ctx, &cnv, weir.RecordQuery{Newest: true, Kinds: []weir.RecordKind{"title"}, Limit: 1})
	r.Records(ctx, &cnv, weir.RecordQuery{Newest: true, Kinds: []weir.RecordKind{"user"}, Limit: 1})
	r.Structure(ctx, &cnv)
	r.Message(ctx, &cnv, "x")
	r.Views(ctx, &cnv, "x", 1, 2)
	r.Input(ctx, "a", "x")
	r.Inputs(ctx, "a", 3)
	r.PendingInputs(ctx, "a")
	r.Step(ctx, "a", "x")
	r.Steps(ctx, "a", 0, 1)
	r.UnsettledStep(ctx, "a")
	r.Due(ctx, 10)
	r.Flows(ctx, weir.FlowQuery{Owner: "me"})
	r.Flows(ctx, weir.FlowQuery{Owner: "me", Source: "a"})
	r.Flows(ctx, weir.FlowQuery{Owner: "me", Target: "a"})
	r.Flows(ctx, weir.FlowQuery{Owner: "me", Crossings: true})
	r.FlowsOf(ctx, "a", "b")
	r.Answer(ctx, "a", "b", "c")
}
