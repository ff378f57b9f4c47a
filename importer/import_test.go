package importer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/importer"
)

// plain is a short transcript in the words of FORMAT.md.
func plain() []string {
	return []string{
		user("u1", "", "list files"),
		said("a1", "u1", "msg_1", text("Looking.")),
		said("a2", "a1", "msg_1", call("t1")),
		results("u2", "a2", result("t1", "a.go")),
		said("a3", "u2", "msg_2", text("One file.")),
		user("u3", "a3", "thanks"),
	}
}

const plainTold = "u:list files a:Looking.:t1 t:t1=a.go a:One file. u:thanks"

func TestATranscriptComesInAsAConversation(t *testing.T) {
	m := newMemory()
	report := m.must(t, plain()...)
	m.is(t, "s1", plainTold)
	row := m.rows["s1"]
	want := weir.Conversation{
		ID: "s1", Owner: "max", Title: "list files", Kind: weir.Chat, Workspace: "/w/app", State: weir.Idle,
		Visibility: weir.Visibility{Level: weir.Open}, CreatedAt: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC),
		Origin: &weir.Origin{Product: "Claude Code", File: "s1.jsonl", ImportedAt: today}, Generation: row.Generation,
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("row (-want +got)\n%s", diff)
	}
	first, answer := m.logs["s1"][0], m.logs["s1"][1]
	if first.ID != "u1" || !first.Time.Equal(want.CreatedAt) || answer.ID != "a1" || answer.Body.(*weir.AssistantMessage).Model != "m-1" {
		t.Errorf("%+v, %+v", first, answer)
	}
	if report.Added != 5 || report.Records != 6 || report.Kinds["assistant"] != 2 || len(report.Conversations) != 1 || !report.Conversations[0].Created {
		t.Errorf("%+v", report)
	}
	if len(m.signals) == 0 || m.signals[0].Conversation != "s1" || m.signals[0].Head != 7 {
		t.Errorf("watchers heard %+v", m.signals)
	}
}

func TestTheSameAgainAddsNothing(t *testing.T) {
	m := newMemory()
	m.must(t, plain()...)
	writes := m.writes
	report := m.must(t, plain()...)
	m.is(t, "s1", plainTold)
	if report.Added != 0 || report.Known != 5 || report.Conversations[0].Created || m.writes != writes {
		t.Errorf("%+v, %d writes", report, m.writes-writes)
	}
}

func TestALongerTranscriptAddsWhatIsNew(t *testing.T) {
	for cut := 1; cut < len(plain()); cut++ {
		m := newMemory()
		m.must(t, plain()[:cut]...)
		m.must(t, plain()...)
		want := plainTold
		switch cut {
		case 2:
			want = "u:list files a:Looking. a:t1 t:t1=a.go a:One file. u:thanks"
		case 3:
			want = "u:list files a:Looking.:t1 t:t1=? late:a.go a:One file. u:thanks"
		}
		m.is(t, "s1", want)
		if report := m.must(t, plain()...); report.Added != 0 {
			t.Errorf("cut at %d: the third import adds %d", cut, report.Added)
		}
		m.is(t, "s1", want)
	}
}

func TestTwoSlicesOfASessionJoin(t *testing.T) {
	m := newMemory()
	m.must(t, plain()[:4]...)
	report := m.must(t, plain()[4:]...)
	m.is(t, "s1", plainTold)
	if report.Orphans != 1 || report.OutOfOrder != 0 {
		t.Errorf("%+v", report)
	}
	later := newMemory()
	later.must(t, plain()[4:]...)
	later.must(t, plain()[:4]...)
	later.is(t, "s1", "a:One file. u:thanks u:list files a:Looking.:t1 t:t1=a.go")
	if report := later.must(t, plain()...); report.Added != 0 {
		t.Errorf("the whole adds %d", report.Added)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	m := newMemory()
	report, err := m.with(importer.Options{DryRun: true}, plain()...)
	if err != nil || m.writes > 0 || len(m.rows) > 0 || len(m.signals) > 0 {
		t.Fatalf("%v: %d writes", err, m.writes)
	}
	if report.Added != 5 || !report.DryRun || report.Conversations[0].Title != "list files" {
		t.Errorf("%+v", report)
	}
}

func TestResultsFollowTheirCallsInTheOrderOfTheCalls(t *testing.T) {
	m := newMemory()
	m.must(t,
		user("u1", "", "go"),
		said("a1", "u1", "msg_1", call("t1")),
		said("a2", "a1", "msg_1", call("t2")),
		results("r2", "a2", result("t2", "two")),
		said("a3", "a2", "msg_1", call("t3")),
		results("r1", "a1", result("t1", "one")),
		object("m1", "r1", `"type":"user","isMeta":true,"message":{"content":"a reminder"}`),
		results("r3", "a3", result("t3", "three")),
		said("a4", "r3", "msg_2", text("done")))
	m.is(t, "s1", "u:go a:t1:t2:t3 t:t1=one t:t2=two t:t3=three s:a reminder a:done")
}

func TestACallWithoutAResultGetsOneAndAResultWithoutACallIsKept(t *testing.T) {
	m := newMemory()
	report := m.must(t,
		said("a1", "", "msg_1", call("t1"), call("t2")),
		results("r1", "a1", result("t2", "two"), result("t9", "nine"), result("t2", "twice")),
		said("a2", "r1", "msg_2", call("t1")),
		results("r2", "a2", result("t1", "of the second")))
	m.is(t, "s1", "a:t1:t2 t:t1=? t:t2=two late:nine late:twice a:t1 t:t1=of the second")
	if report.Unanswered != 1 || report.OrphanResults != 2 {
		t.Errorf("%+v", report)
	}
	if r := m.logs["s1"][1].Body.(*weir.ToolResult); !r.IsError || r.Name != "Bash" {
		t.Errorf("%+v", r)
	}
	if again := m.must(t, said("a1", "", "msg_1", call("t1"), call("t2")), results("r1", "a1", result("t2", "two"))); again.Added != 0 {
		t.Errorf("again adds %d", again.Added)
	}
}

func rewound() []string {
	return []string{
		user("u1", "", "start"),
		said("a1", "u1", "m1", text("one")),
		object("x1", "a1", `"type":"system","subtype":"turn_duration"`),
		user("u2", "x1", "first try"),
		said("a2", "u2", "m2", call("t1")),
		results("r1", "a2", result("t1", "x")),
		said("a3", "r1", "m3", text("bad")),
		user("u3", "a1", "second try"),
		said("a4", "u3", "m4", text("good")),
	}
}

func TestWhatWasRewoundIsKeptAndHidden(t *testing.T) {
	want := "u:start a:one [u:first try] [a:t1] [t:t1=x] [a:bad] rewind(3-6>a1) u:second try a:good"
	for cut := 1; cut <= len(rewound()); cut++ {
		m := newMemory()
		m.must(t, rewound()[:cut]...)
		report := m.must(t, rewound()...)
		if cut != 5 { // there the result is late
			m.is(t, "s1", want)
		}
		if report.Branches != 1 {
			t.Errorf("%+v", report)
		}
		before := told(m.logs["s1"])
		if m.must(t, rewound()...); told(m.logs["s1"]) != before {
			t.Errorf("cut at %d: again: %s", cut, told(m.logs["s1"]))
		}
	}
}

func TestOnlyPromptsMakeARewind(t *testing.T) {
	m := newMemory()
	report := m.must(t,
		user("u1", "", "go"),
		said("a1", "u1", "m1", call("t1")),
		object("p1", "a1", `"type":"progress"`),
		results("r1", "a1", result("t1", "x")),
		object("i1", "r1", `"type":"user","isMeta":true,"message":{"content":"echo"}`),
		user("s1", "r1", "<system-reminder>tests failed</system-reminder>"),
		said("a2", "p1", "m2", text("ok")),
		user("u2", "r1", "next"))
	m.is(t, "s1", "u:go a:t1 t:t1=x s:echo s:<system-reminder>tests failed</system-reminder> a:ok u:next")
	if report.Branches != 0 {
		t.Errorf("%+v", report)
	}
}

func TestAPromptOfAnAbandonedBranchThatComesLateIsHiddenToo(t *testing.T) {
	m := newMemory()
	m.must(t, append(rewound(), said("b1", "a3", "m5", text("late")), user("u4", "a4", "on"))...)
	m.is(t, "s1", "u:start a:one [u:first try] [a:t1] [t:t1=x] [a:bad] rewind(3-6>a1) u:second try a:good [a:late] rewind(10-10>a4) u:on")
}

func TestThreeTriesLeaveTheLastOne(t *testing.T) {
	m := newMemory()
	lines := []string{
		user("u1", "", "start"), said("a1", "u1", "m1", text("one")),
		user("u2", "a1", "x"), user("u3", "a1", "y"), said("a3", "u3", "m3", text("why")),
		user("u5", "a3", "deep"), user("u6", "a3", "deeper"), user("u4", "a1", "z"),
	}
	report := m.must(t, lines...)
	m.is(t, "s1", "u:start a:one [u:x] rewind(3-3>a1) [u:y] [a:why] [u:deep] [rewind(7-7>a3)] [u:deeper] rewind(5-9>a1) u:z")
	if report.Branches != 3 {
		t.Errorf("%+v", report)
	}
	if again := m.must(t, lines...); again.Added+again.Marks != 0 || len(m.logs["s1"]) != 13 {
		t.Errorf("again: %s", told(m.logs["s1"]))
	}
}

func compacted() []string {
	return []string{
		user("u1", "", "start"),
		said("a1", "u1", "m1", text("one")),
		user("u2", "a1", "more"),
		said("a2", "u2", "m2", text("two")),
		object("c1", "", `"type":"system","subtype":"compact_boundary","logicalParentUuid":"a2"`),
		object("k1", "c1", `"type":"user","isCompactSummary":true,"message":{"content":"Earlier work"}`),
		said("a3", "k1", "m3", text("three")),
	}
}

func TestACompactionOpensAGeneration(t *testing.T) {
	m := newMemory()
	report := m.must(t, compacted()...)
	m.is(t, "s1", "u:start a:one u:more a:two c:Earlier work a:three")
	log := m.logs["s1"]
	c := log[4].Body.(*weir.Checkpoint)
	if c.Keep != [2]weir.Seq{} || c.Generation == log[0].Generation || log[4].Generation != c.Generation || log[5].Generation != c.Generation {
		t.Errorf("%+v", c)
	}
	if report.Compactions != 1 || m.rows["s1"].Generation != c.Generation {
		t.Errorf("%+v", report)
	}
	if m.must(t, compacted()...); len(m.logs["s1"]) != 8 {
		t.Errorf("again: %s", told(m.logs["s1"]))
	}
}

func TestARewindAcrossACompactionLeavesTheGeneration(t *testing.T) {
	m := newMemory()
	m.must(t, compacted()...)
	lines := append(compacted(), user("u9", "a1", "other"))
	m.must(t, lines...)
	m.is(t, "s1", "u:start a:one [u:more] [a:two] [c:Earlier work] [a:three] rewind(3-6>a1) u:other")
	if m.rows["s1"].Generation != m.logs["s1"][0].Generation {
		t.Error("the abandoned generation is still the current one")
	}
}

func aside(uuid, parent, more string) string {
	return strings.Replace(object(uuid, parent, more), "{", `{"isSidechain":true,`, 1)
}

// side is two side chains, the second of an agent's own file.
func side() []string {
	return []string{
		aside("q1", "", `"type":"user","message":{"content":"Look into x"}`),
		aside("q2", "q1", `"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"found"}]}`),
		aside("q3", "", `"type":"user","agentId":"ag7","message":{"content":"Another"}`),
	}
}

func TestSideChainsBecomeTasks(t *testing.T) {
	m := newMemory()
	report, err := m.with(importer.Options{Visibility: weir.Visibility{Level: weir.Isolated, Category: "work"}},
		user("u1", "", "go"),
		said("a1", "u1", "m1", call("t1")),
		side()[0],
		side()[1],
		results("r1", "a1", result("t1", "found")),
		side()[2])
	if err != nil {
		t.Fatal(err)
	}
	m.check(t)
	m.is(t, "s1", "u:go a:t1 t:t1=found")
	m.is(t, "s1:q1", "u:Look into x a:found")
	m.is(t, "s1:ag7", "u:Another")
	row := m.rows["s1:q1"]
	if row.Kind != weir.Task || row.Parent() != "s1" || row.Inherits() != 0 || row.Title != "Look into x" ||
		row.Visibility != (weir.Visibility{Level: weir.Open, Category: "work"}) || m.rows["s1"].Visibility.Level != weir.Isolated {
		t.Errorf("%+v", row)
	}
	if report.Tasks != 2 || report.Orphans != 0 {
		t.Errorf("%+v", report)
	}
	alone := newMemory()
	alone.must(t, side()[2])
	alone.is(t, "s1:ag7", "u:Another")
	alone.must(t, plain()...)
	alone.is(t, "s1", plainTold)
	if alone.rows["s1"].Title != "list files" {
		t.Errorf("%+v", alone.rows["s1"])
	}
}

func TestWhatNoPersonTypedIsMarked(t *testing.T) {
	m := newMemory()
	report := m.must(t,
		user("u1", "", "<command-name>/clear</command-name>"),
		object("u2", "u1", `"type":"user","isMeta":true,"message":{"content":"Caveat"}`),
		results("u3", "u2", text("<system-reminder>x</system-reminder>"), text("hello\nthere"), `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAABBBB"}}`),
		said("a1", "u3", "m1", text("Sure")),
		user("u4", "a1", "[Request interrupted by user]"),
		object("a2", "u4", `"type":"assistant","isApiErrorMessage":true,"message":{"id":"e","content":[{"type":"text","text":"API Error"}]}`),
		object("a3", "a2", `"type":"assistant","message":{"id":"f","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}`))
	m.is(t, "s1", "s:<command-name>/clear</command-name> s:Caveat s:<system-reminder>x</system-reminder> u:hello\nthere\n\n[image image/png 6 bytes] "+
		"a!:Sure s:[Request interrupted by user] n:API Error n:No response requested.")
	if m.rows["s1"].Title != "hello" || report.Placeholders != 1 || m.logs["s1"][3].ID != "u3:2" {
		t.Errorf("%q %+v", m.rows["s1"].Title, report)
	}
}

func TestReasoningIsKeptWithoutWhatWasSigned(t *testing.T) {
	m := newMemory()
	report := m.must(t, said("a1", "", "m1", `{"type":"thinking","thinking":"hm","signature":"c2ln"}`,
		`{"type":"redacted_thinking","data":"sealed"}`, text("yes")))
	want := []weir.Part{{Type: weir.PartReasoning, Text: "hm"}, {Type: weir.PartText, Text: "yes"}}
	if diff := cmp.Diff(want, m.logs["s1"][0].Body.(*weir.AssistantMessage).Parts); diff != "" || report.Thoughts != 2 {
		t.Errorf("%+v (-want +got)\n%s", report, diff)
	}
}

func TestTheTitleIsTheBestThatThereIs(t *testing.T) {
	first := user("u1", "", "\n  "+strings.Repeat("配", 90))
	for _, c := range []struct {
		name  string
		lines []string
		title string
		set   bool
	}{
		{"what was said first", []string{first}, strings.Repeat("配", 79) + "…", false},
		{"another file's summary", []string{`{"type":"summary","summary":"Elsewhere","leafUuid":"zz"}`, first}, strings.Repeat("配", 79) + "…", false},
		{"its own summary", []string{`{"type":"summary","summary":"Harbour","leafUuid":"u1"}`, first}, "Harbour", false},
		{"a title that was made", []string{first, `{"type":"ai-title","aiTitle":"Quay","sessionId":"s1"}`, `{"type":"summary","summary":"Harbour","leafUuid":"u1"}`}, "Quay", false},
		{"a title that a person gave", []string{first, `{"type":"custom-title","customTitle":"Mine","sessionId":"s1"}`, `{"type":"ai-title","aiTitle":"Quay","sessionId":"s1"}`}, "Mine", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			m.must(t, c.lines...)
			if row := m.rows["s1"]; row.Title != c.title || row.TitleSet != c.set {
				t.Errorf("%q, %v", row.Title, row.TitleSet)
			}
			row := m.rows["s1"]
			row.Title, row.TitleSet = "Renamed here", true
			m.rows["s1"] = row
			if m.must(t, c.lines...); m.rows["s1"].Title != "Renamed here" {
				t.Errorf("a person's title was replaced by %q", m.rows["s1"].Title)
			}
		})
	}
}

func TestAConversationOfSomebodyElseIsNotWrittenTo(t *testing.T) {
	origin := &weir.Origin{Product: "Claude Code"}
	for code, row := range map[string]weir.Conversation{
		"conversation_exists":  {ID: "s1", Owner: "mia", Generation: "g", Origin: origin, Title: "secret"},
		"conversation_deleted": {ID: "s1", Owner: "max", Generation: "g", Origin: origin, Deleted: true},
	} {
		m := newMemory()
		m.rows["s1"] = row
		report, err := m.bring(plain()...)
		if weir.CodeOf(err) != code || m.writes > 0 || report.Conversations[0].Refused != code || report.Conversations[0].Title != "" {
			t.Errorf("%v: %+v", err, report)
		}
	}
	m := newMemory()
	m.rows["s1"] = weir.Conversation{ID: "s1", Owner: "max", Generation: "g", Title: "written here"}
	if _, err := m.bring(plain()...); weir.CodeOf(err) != "conversation_exists" {
		t.Errorf("a conversation that was not imported: %v", err)
	}
	other := strings.ReplaceAll(user("v1", "", "mine"), `"s1"`, `"s2"`)
	if report, err := m.bring(append(plain(), other)...); err != nil || report.Added != 1 || report.Skipped["refused"] != 6 {
		t.Errorf("beside another session: %v %+v", err, report)
	}
}

func TestABusyConversationAndAStoreThatFailsEndTheImport(t *testing.T) {
	m := newMemory()
	m.leased["s1"] = true
	if _, err := m.bring(plain()...); weir.CodeOf(err) != weir.CodeBusy {
		t.Errorf("busy: %v", err)
	}
	var long []string
	for i := range 2000 {
		long = append(long, user(fmt.Sprint("u", i), "", "text"))
	}
	m = newMemory()
	m.before = func(write int) error {
		if write == 3 {
			return weir.Fault(weir.Unavailable, "down", "no")
		}
		return nil
	}
	if _, err := m.bring(long...); weir.CodeOf(err) != "down" || len(m.logs["s1"]) == 0 {
		t.Errorf("%v after %d records", err, len(m.logs["s1"]))
	}
	kept := len(m.logs["s1"])
	m.before = nil
	report := m.must(t, long...)
	if report.Known != kept || len(m.logs["s1"]) != 2002 {
		t.Errorf("%d there, %+v", kept, report)
	}
}
