package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"weir"
)

// planned is a connection that notes how SQLite means to run each query.
type planned struct {
	*sqliteConn
	t     *testing.T
	steps []string
}

func (p *planned) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := p.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+p.d.spell(text), args...)
	if err != nil {
		p.t.Fatal(err, text)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			p.t.Fatal(err)
		}
		p.steps = append(p.steps, step)
	}
	return p.sqliteConn.query(ctx, text, args...)
}

// unsettled are the indexes that hold only what has not come to its end, so
// that reading all of one is no more than what is asked for.
var unsettled = []string{"inputs_pending", "steps_running", "calls_decided"}

// TestQueriesFollowTheirIndexes holds what keeps the cost of a question
// independent of how much else is stored.
func TestQueriesFollowTheirIndexes(t *testing.T) {
	ctx := t.Context()
	s, err := openSQLite(ctx, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := weir.Conversation{ID: "a", Owner: "me", Title: "Hello", Workspace: "x", Kind: weir.Chat, Generation: "g1"}
	if err := s.Update(ctx, func(tx Tx) error { return tx.InsertConversation(ctx, &c) }); err != nil {
		t.Fatal(err)
	}
	conn, err := s.readers.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.readers.giveBack(conn, true)
	for name, q := range map[string]struct {
		ask  func(r *reader)
		want string
	}{
		"list": {func(r *reader) { r.Conversations(ctx, weir.ConversationQuery{Owner: "me"}) }, "COVERING INDEX heads_recent (owner=?)"},
		"next page": {func(r *reader) {
			r.Conversations(ctx, weir.ConversationQuery{Owner: "me", Cursor: encodeCursor("1", "x")})
		}, "COVERING INDEX heads_recent (owner=? AND last_active<?)"},
		"list by word": {func(r *reader) { r.Conversations(ctx, weir.ConversationQuery{Owner: "me", Words: "hel"}) }, "SCAN j VIRTUAL TABLE"},
		"here":         {func(r *reader) { r.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a"}) }, "COVERING INDEX heads_place (owner=? AND place=?)"},
		"elsewhere":    {func(r *reader) { r.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a"}) }, "COVERING INDEX heads_recent (owner=?)"},
		"rare word":    {func(r *reader) { r.Candidates(ctx, weir.CandidateQuery{Owner: "me", Target: "a", Words: "hel"}) }, "SCAN grams VIRTUAL TABLE INDEX 0:M1"},
		"descendants":  {func(r *reader) { r.Descendants(ctx, "a") }, "SEARCH y USING PRIMARY KEY (ancestor=?)"},
		"last title": {func(r *reader) {
			r.Records(ctx, &c, weir.RecordQuery{Newest: true, Kinds: []weir.RecordKind{weir.KindTitle}, Limit: 1})
		}, "INDEX records_marks (conversation=?"},
		"structure":      {func(r *reader) { r.Structure(ctx, &c) }, "INDEX records_marks (conversation=?"},
		"message":        {func(r *reader) { r.Message(ctx, &c, "m") }, "INDEX records_id (conversation=? AND id=?)"},
		"log":            {func(r *reader) { r.Records(ctx, &c, weir.RecordQuery{Newest: true}) }, "PRIMARY KEY (conversation=? AND seq>? AND seq<?)"},
		"refused":        {func(r *reader) { r.RefusedSteps(ctx, &c) }, "INDEX steps_refused (conversation=? AND seq>? AND seq<?)"},
		"views":          {func(r *reader) { r.Views(ctx, &c, "x", 1, 2) }, "PRIMARY KEY (conversation=? AND lowering=? AND seq>? AND seq<?)"},
		"pending":        {func(r *reader) { r.PendingInputs(ctx, "a") }, "INDEX inputs_pending (conversation=?)"},
		"inbox":          {func(r *reader) { r.Inputs(ctx, "a", 5) }, "PRIMARY KEY (conversation=? AND position>?)"},
		"running step":   {func(r *reader) { r.UnsettledStep(ctx, "a") }, "INDEX steps_running (conversation=?)"},
		"due":            {func(r *reader) { r.Due(ctx, 5) }, "SCAN inputs USING COVERING INDEX inputs_pending"},
		"decided":        {func(r *reader) { r.Due(ctx, 5) }, "SCAN calls USING INDEX calls_decided"},
		"calls":          {func(r *reader) { r.Calls(ctx, "a", "s") }, "PRIMARY KEY (conversation=? AND step=?)"},
		"waiting calls":  {func(r *reader) { r.WaitingCalls(ctx, "a") }, "INDEX calls_waiting (conversation=?)"},
		"call ids":       {func(r *reader) { r.CallIDs(ctx, &c, "x", "y") }, "INDEX calls_id (conversation=? AND id=?)"},
		"artefact":       {func(r *reader) { r.Artefact(ctx, &c, "x") }, "INDEX sqlite_autoindex_artefacts_1 (conversation=? AND id=?)"},
		"tool rules":     {func(r *reader) { r.ToolRules(ctx, "me") }, "PRIMARY KEY (owner=?)"},
		"changes":        {func(r *reader) { r.Changes(ctx, []weir.ChangeScope{"a", "b"}, 3, 5) }, "INDEX changes_scope (scope=? AND seq>?)"},
		"newest change":  {func(r *reader) { r.NewestChange(ctx, "a", "b/c") }, "INDEX changes_fact (scope=? AND fact=?)"},
		"client facts":   {func(r *reader) { r.ClientFacts(ctx, "a") }, "INDEX sqlite_autoindex_facts_1 (scope=?)"},
		"flows from":     {func(r *reader) { r.Flows(ctx, weir.FlowQuery{Owner: "me", Source: "a"}) }, "INDEX flows_source (source=? AND id<?)"},
		"flows to":       {func(r *reader) { r.Flows(ctx, weir.FlowQuery{Owner: "me", Target: "a"}) }, "INDEX flows_target (target=? AND id<?)"},
		"crossings":      {func(r *reader) { r.Flows(ctx, weir.FlowQuery{Owner: "me", Crossings: true}) }, "INDEX flows_crossing (owner=? AND id<?)"},
		"flows of input": {func(r *reader) { r.FlowsOf(ctx, "a", "i") }, "INDEX flows_input (target=? AND input=?)"},
	} {
		p := &planned{sqliteConn: conn, t: t}
		q.ask(&reader{q: p, d: conn.d})
		if !slices.ContainsFunc(p.steps, func(s string) bool { return strings.Contains(s, q.want) }) {
			t.Errorf("%s: no step with %q in\n%s", name, q.want, strings.Join(p.steps, "\n"))
		}
		for _, s := range p.steps {
			scans := strings.HasPrefix(s, "SCAN ") && !strings.Contains(s, "VIRTUAL TABLE") && s != "SCAN found"
			if scans && !slices.ContainsFunc(unsettled, func(index string) bool { return strings.HasSuffix(s, " INDEX "+index) }) {
				t.Errorf("%s reads a whole table: %s", name, s)
			}
		}
	}
}
