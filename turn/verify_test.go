package turn_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"weir"
	"weir/modelview"
	"weir/store"
	"weir/turn"
)

func TestVerifyFindsEveryKindOfDamage(t *testing.T) {
	whole := t.TempDir()
	fill(t, whole)
	for name, c := range map[string]struct{ damage, want string }{
		"none":                           {"", ""},
		"a record is gone":               {`DELETE FROM records WHERE seq = 3 AND conversation = 'c'`, "seq_gap"},
		"the head is ahead":              {`UPDATE heads SET head_seq = head_seq + 1 WHERE conversation = 'c'`, "seq_gap"},
		"the newest record is gone":      {`DELETE FROM records WHERE conversation = 'c' AND seq = (SELECT MAX(seq) FROM records WHERE conversation = 'c')`, "seq_gap"},
		"a view has other bytes":         {`UPDATE views SET bytes = CAST(REPLACE(CAST(bytes AS TEXT), 'look', 'book') AS BLOB) WHERE conversation = 'c'`, "request_mismatch"},
		"a view is gone":                 {`DELETE FROM views WHERE conversation = 'c' AND seq = (SELECT MAX(seq) FROM views WHERE conversation = 'c')`, "request_mismatch"},
		"a step's tail changed":          {`UPDATE records SET body = CAST(REPLACE(CAST(body AS TEXT), 'max_tokens', 'min_tokens') AS BLOB) WHERE conversation = 'c' AND kind = 'step'`, "request_mismatch"},
		"a baseline has other bytes":     {`UPDATE records SET body = CAST(REPLACE(CAST(body AS TEXT), 'many conversations', 'some conversations') AS BLOB) WHERE conversation = 'c' AND kind = 'epoch'`, "baseline_mismatch"},
		"a settled step runs":            {`UPDATE steps SET state = 'running' WHERE conversation = 'c' AND seq = (SELECT MAX(seq) FROM steps WHERE conversation = 'c')`, "step_unsettled"},
		"a step's row is gone":           {`DELETE FROM steps WHERE conversation = 'c'`, "step_row_missing"},
		"a step's row points elsewhere":  {`UPDATE steps SET seq = seq + 100 WHERE conversation = 'c'`, "step_row_missing"},
		"a promoted input waits again":   {`UPDATE inputs SET state = 'pending' WHERE conversation = 'c'`, "input_not_promoted"},
		"an input is gone":               {`DELETE FROM inputs WHERE conversation = 'c'`, "input_missing"},
		"a result is of no call":         {`UPDATE records SET body = CAST(REPLACE(CAST(body AS TEXT), 'x1', 'x2') AS BLOB) WHERE kind = 'tool_result'`, "result_unasked result_missing"},
		"an outcome is gone":             {`DELETE FROM flows WHERE form = 'outcome'`, "flow_missing"},
		"an outcome is of another place": {`UPDATE flows SET seq = 1 WHERE form = 'outcome'`, "flow_elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			damage(t, dir, c.damage)
			s, err := store.Open(t.Context(), "sqlite:"+dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			rep, err := turn.Verify(t.Context(), s, modelview.New(), owner)
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, d := range rep.Differences {
				found += " " + d.What
				if d.Conversation != "c" {
					t.Errorf("a difference in %s: %+v", d.Conversation, d)
				}
			}
			if c.want == "" && found != "" || !strings.Contains(found, c.want) {
				t.Errorf("found%s, want %q", found, c.want)
			}
			if c.want == "" && (rep.Conversations != 2 || rep.Requests != 4 || rep.Records < 10) {
				t.Errorf("the report is %+v", rep)
			}
		})
	}
}

// fill leaves two conversations behind, one of which quotes the other.
func fill(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := newWorld(t, s).start()
	source, c := w.conversation("source"), w.conversation("c")
	w.asks(source, "We take port 8080.").say("Noted.").end()
	w.rests(source)
	var quoted weir.MessageID
	for _, r := range w.records(source) {
		if r.Kind() == weir.KindUser {
			quoted = r.ID
		}
	}
	if _, err := w.engine.Admit(t.Context(), actor(), turn.Admission{Conversation: c, Text: "look",
		References: []weir.Reference{{Type: weir.Quote, Conversation: source, Message: quoted}}}); err != nil {
		t.Fatal(err)
	}
	a := w.next()
	a.has(t, "We take port 8080.", "look")
	a.say("I see.").end()
	w.rests(c)
	w.asks(c, "and?").call("x1", "nothing", "{}").end()
	w.next().say("8080").end()
	w.rests(c)
	w.engine.Stop()
}

func damage(t *testing.T, dir, statement string) {
	t.Helper()
	if statement == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the database is one of %v (%v)", files, err)
	}
	db, err := sql.Open("sqlite", files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	res, err := db.ExecContext(context.Background(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("the damage changed %d rows (%v)", n, err)
	}
}
