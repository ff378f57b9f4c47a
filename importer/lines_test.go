package importer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/importer"
)

// raw imports bytes as they are.
func (m *memory) raw(r io.Reader) (importer.Report, error) {
	im := importer.New(importer.Config{Store: m})
	return adding(im.Import(context.Background(), person, importer.Source{Name: "x/s1.jsonl", Reader: r}, importer.Options{}))
}

func TestLinesAreTakenAsTheyCome(t *testing.T) {
	a, b := user("u1", "", "one"), user("u2", "u1", "two")
	for _, c := range []struct {
		name   string
		text   string
		told   string
		broken []importer.Broken
		glued  int
	}{
		{"a mark at the start", "\ufeff" + a + "\n" + b, "u:one u:two", nil, 0},
		{"CRLF and empty lines", a + "\r\n\r\n\n" + b + "\r\n", "u:one u:two", nil, 0},
		{"two objects on a line", a + b + "\n", "u:one u:two", nil, 1},
		{"two objects with space between", a + " \t" + b, "u:one u:two", nil, 1},
		{"a torn last line", a + "\n" + b[:60], "u:one", []importer.Broken{{Line: 2, Reason: "the last line, cut off"}}, 0},
		{"a torn line in the middle", a[:60] + "\n" + b, "u:two", []importer.Broken{{Line: 1, Reason: "cut off"}}, 0},
		{"an object behind a torn one", a[:60] + b, "u:two", []importer.Broken{{Line: 1, Reason: "not JSON"}}, 0},
		{"rubbish behind an object", a + "}\x00\xff\n" + b, "u:one u:two", []importer.Broken{{Line: 1, Reason: "not JSON"}}, 0},
		{"no object", "42\n[1]\n\"x\"\nnull\n" + a, "u:one", []importer.Broken{{1, "not an object"}, {2, "not an object"}, {3, "not an object"}}, 0},
		{"a repeated entry", a + "\n" + a + "\n" + b, "u:one u:two", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			report, err := m.raw(iotest.HalfReader(strings.NewReader(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			m.is(t, "s1", c.told)
			if diff := cmp.Diff(c.broken, report.Broken); diff != "" || report.BrokenLines != len(c.broken) || report.Glued != c.glued {
				t.Errorf("%+v (-want +got)\n%s", report, diff)
			}
		})
	}
}

func TestWhatIsNoTextIsReplacedAndCounted(t *testing.T) {
	m := newMemory()
	line := object("u1", "", `"type":"user","message":{"content":"a`+"\xff"+`b\ud83dc\ude00d\ud83d\ude00e\u0000f\\ud83dg\\\ud83dh`+"\x00"+`"}`)
	tool := said("a1", "u1", "m1", `{"type":"tool_use","id":"t1","name":"x","input":{"k":"`+"\xc3"+`\udc00"}}`)
	report, err := m.raw(strings.NewReader(line + "\n" + tool))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.logs["s1"][0].Body.(*weir.UserMessage).Text; got != "a\ufffdb\ufffdc\ufffdd😀e\ufffdf\\ud83dg\\\ufffdh\ufffd" {
		t.Errorf("%q", got)
	}
	if got := string(m.logs["s1"][1].Body.(*weir.AssistantMessage).Parts[0].Input); got != `{"k":"`+"\ufffd\ufffd"+`"}` {
		t.Errorf("%q", got)
	}
	if want := (importer.Repaired{InvalidUTF8: 2, LoneSurrogates: 4, NUL: 2}); report.Repaired != want {
		t.Errorf("%+v", report.Repaired)
	}
}

// filler is a line of any length.
type filler struct{ n int }

func (f *filler) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.n)
	copy(p, bytes.Repeat([]byte{'x'}, n))
	f.n -= n
	return n, nil
}

func TestALineOverTheLimitIsSetAside(t *testing.T) {
	m := newMemory()
	report, err := m.raw(io.MultiReader(strings.NewReader(user("u1", "", "one")+"\n"), &filler{importer.MaxLine + 1},
		strings.NewReader("\n"+user("u2", "u1", "two"))))
	if err != nil {
		t.Fatal(err)
	}
	m.is(t, "s1", "u:one u:two")
	if len(report.Broken) != 1 || report.Broken[0] != (importer.Broken{Line: 2, Reason: "longer than the limit"}) {
		t.Errorf("%+v", report.Broken)
	}
}

func TestAReaderThatFailsEndsTheImportWithItsError(t *testing.T) {
	broken := errors.New("the client left")
	_, err := newMemory().raw(io.MultiReader(strings.NewReader(user("u1", "", "one")+"\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestACancelledImportEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	im := importer.New(importer.Config{Store: newMemory()})
	if _, err := im.Import(ctx, person, importer.Source{Reader: strings.NewReader(user("u1", "", "x"))}, importer.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOnlyTranscriptsAreRecognised(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hello\n", `{"role":"user","content":"hi"}`, `{"uuid":"x","type":"thing"}`, "[]", "PK\x03\x04"} {
		m := newMemory()
		report, err := m.raw(strings.NewReader(text))
		if weir.CodeOf(err) != "import_unrecognised" || m.writes > 0 || len(report.Conversations) > 0 {
			t.Errorf("%q: %v %+v", text, err, report)
		}
	}
	if _, err := newMemory().raw(strings.NewReader(`{"type":"summary","summary":"x","leafUuid":"y"}`)); err != nil {
		t.Errorf("titles only: %v", err)
	}
}

func TestOddMembersDoNoHarm(t *testing.T) {
	m := newMemory()
	report, err := m.raw(strings.NewReader(strings.Join([]string{
		`{"type":"user","uuid":"../../etc","sessionId":"s1","message":{"content":"x"}}`,
		`{"type":"user","uuid":"u0","sessionId":"../s","message":{"content":"x"}}`,
		`{"type":"user","uuid":"u1","sessionId":"s1","message":"x"}`,
		`{"type":"user","uuid":"u2","sessionId":"s1"}`,
		`{"type":"user","uuid":"u3","sessionId":"s1","message":{"content":[]}}`,
		`{"type":"user","uuid":"u4","sessionId":"s1","message":{"content":[1,null,"x",{"type":7}]}}`,
		`{"type":["user"],"uuid":"u5","sessionId":"s1"}`,
		`{"type":"user","uuid":7,"sessionId":"s1","timestamp":12,"message":{"content":"no id"}}`,
		`{"type":"user","uuid":"u6","parentUuid":"u6","sessionId":7,"timestamp":"yesterday","isMeta":"yes","message":{"content":"own parent"}}`,
		`{"type":"assistant","uuid":"a1","parentUuid":{},"sessionId":"s1","message":{"content":[{"type":"tool_use"},{"type":"tool_use","id":"t","name":"n","input":[1]},{"type":"server_tool_use"},{"type":"text"}]}}`,
		`{"type":"user","uuid":"u7","sessionId":"s1","message":{"content":[{"type":"tool_result","content":null},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	m.check(t)
	m.is(t, "s1", "u:[other]\n\n[other] u:own parent a:a1.0:t:[server_tool_use] t:a1.0=? t:t=a\n[image]\nb n:A tool result whose call is not recorded here:")
	input := m.logs["s1"][2].Body.(*weir.AssistantMessage).Parts
	if string(input[0].Input) != "{}" || string(input[1].Input) != `{"value":[1]}` {
		t.Errorf("%s %s", input[0].Input, input[1].Input)
	}
	for reason, n := range map[string]int{"bad_id": 1, "no_session": 1, "malformed": 2, "empty": 1, "user": 1, "other": 1} {
		if report.Skipped[reason] != n {
			t.Errorf("skipped %q: %d, want %d (%v)", reason, report.Skipped[reason], n, report.Skipped)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	im := importer.New(importer.Config{Store: newMemory()})
	for code, o := range map[string]importer.Options{
		"format_unknown":     {Format: "chatgpt"},
		"visibility_invalid": {Visibility: weir.Visibility{Level: "secret"}},
	} {
		if _, err := im.Import(context.Background(), person, importer.Source{Reader: strings.NewReader("")}, o); weir.CodeOf(err) != code {
			t.Errorf("%+v: %v", o, err)
		}
	}
	o := importer.Options{Visibility: weir.Visibility{Category: " a\nb"}}
	if _, err := im.Import(context.Background(), person, importer.Source{Reader: strings.NewReader("")}, o); weir.CodeOf(err) != "visibility_invalid" {
		t.Errorf("category: %v", err)
	}
}
