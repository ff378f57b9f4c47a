package importer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/importer"
)

// TestEveryRecordIsAccountedFor has one of each fate; that the sum is right is
// checked of every import of these tests.
func TestEveryRecordIsAccountedFor(t *testing.T) {
	m := newMemory()
	lines := []string{
		user("u1", "", "go"),
		said("a1", "u1", "m1", text("one")), // with the next two one message
		said("a2", "a1", "m1", call("t1")),
		said("a3", "a2", "m1", call("t2"), call("t3")),
		said("a4", "a3", "m1", call("t1")), // the same call
		said("a5", "a4", "m1"),             // nothing
		results("r1", "a3", result("t1", "1"), result("t2", "2"), result("t9", "9"), text("<system-reminder>x</system-reminder>"), text("on")), // five; t3 is missing
		user("u1", "", "go"), // twice
		object("x1", "r1", `"type":"progress"`),
		object("x2", "r1", `"type":"user","message":7`),
		object("x 3", "r1", `"type":"user"`),
		`{"type":"summary","summary":"Elsewhere","leafUuid":"zz"}`,
		`{"type":"ai-title","sessionId":"s1","isSidechain":true,"agentId":"ag","aiTitle":"Side"}`,
		`{"type":"ai-title","sessionId":"s1","aiTitle":"Main"}`,
		object("k1", "", `"type":"user","isCompactSummary":true,"message":{"content":"Earlier work"}`),
		`{"broken":`,
	}
	report := m.must(t, lines...)
	m.is(t, "s1", `u:go a:one:t1:t2:t3 t:t1=1 t:t2=2 t:t3=? late:9 s:<system-reminder>x</system-reminder> u:on c:Earlier work`)
	want := importer.Report{
		Records: 15, Added: 9, Merged: 2, Split: 4, Unanswered: 1, SameCalls: 1, OrphanResults: 1, BrokenLines: 1, Compactions: 1, Marks: 2,
		Skipped: map[string]int{"duplicate_call": 1, "empty": 1, "duplicate": 1, "progress": 1, "malformed": 1, "bad_id": 1, "summary": 1, "ai-title": 2},
	}
	got := importer.Report{
		Records: report.Records, Added: report.Added, Known: report.Known, Merged: report.Merged, Split: report.Split, Unanswered: report.Unanswered,
		SameCalls: report.SameCalls, OrphanResults: report.OrphanResults, BrokenLines: report.BrokenLines, Compactions: report.Compactions,
		Marks: report.Marks, Skipped: report.Skipped,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	again := m.must(t, lines...)
	if again.Added+again.Marks != 0 || again.Known != 9 {
		t.Errorf("again: %+v", again)
	}
	refused := newMemory()
	refused.rows["s1"] = weir.Conversation{ID: "s1", Owner: "mia", Generation: "g"}
	other := []string{`{"type":"user","uuid":"v1","sessionId":"s2","message":{"content":"mine"}}`}
	if r := refused.must(t, append(other, plain()...)...); r.Skipped["refused"] != 6 {
		t.Errorf("%+v", r)
	}
}
