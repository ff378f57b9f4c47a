package importer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/importer"
)

const (
	uuidA = "0b9c1f0e-6d53-4a55-9d3c-0c6a5a0f7a11"
	uuidB = "5e1d2c3b-4a59-4687-8796-a5b4c3d2e1f0"
)

// named imports lines without a session from a file of a name.
func (m *memory) named(name string, lines ...string) (importer.Report, error) {
	im := importer.New(importer.Config{Store: m, Now: func() time.Time { return today }})
	text := strings.ReplaceAll(strings.Join(lines, "\n"), `"sessionId":"s1",`, "")
	return adding(im.Import(context.Background(), person, importer.Source{Name: name, Reader: strings.NewReader(text)}, importer.Options{}))
}

func TestTranscriptsWithoutASessionStayApart(t *testing.T) {
	for _, name := range []string{"notes.jsonl", "", ".jsonl", "..", "/", "x.jsonl"} {
		for _, ids := range [][2]string{{uuidA, uuidB}, {"1", "1"}} {
			t.Run(name+"/"+ids[0], func(t *testing.T) {
				m := newMemory()
				one, other := user(ids[0], "", "one"), user(ids[1], "", "other")
				for _, lines := range [][]string{{one}, {other}, {one, user("9", ids[0], "more")}} {
					if report, err := m.named(name, lines...); err != nil || report.Added != 1 {
						t.Errorf("%v %+v", err, report)
					}
				}
				if len(m.rows) != 2 {
					t.Errorf("%d conversations", len(m.rows))
				}
			})
		}
	}
}

func TestAFileThatIsCalledAfterItsSessionNeedsNoOther(t *testing.T) {
	m := newMemory()
	if _, err := m.named(uuidB+".jsonl", user(uuidA, "", "one")); err != nil {
		t.Fatal(err)
	}
	m.is(t, uuidB, "u:one")
}

func TestATranscriptThatNamesNothingIsRefused(t *testing.T) {
	m := newMemory()
	_, err := m.named("notes.jsonl", `{"type":"user","message":{"role":"user","content":"hello"}}`, `{"type":"custom-title","customTitle":"Mine"}`)
	if weir.CodeOf(err) != "session_missing" || m.writes > 0 {
		t.Errorf("%v", err)
	}
}

func TestIDsThatNoAddressCanNameAreRefused(t *testing.T) {
	for _, id := range []string{".", "..", "/", "a/b"} {
		m := newMemory()
		line := fmt.Sprintf(`{"type":"user","uuid":"u1","sessionId":%q,"message":{"content":"x"}}`, id)
		if _, err := m.bring(line); weir.CodeOf(err) != "id_invalid" || m.writes > 0 {
			t.Errorf("session %q: %v", id, err)
		}
		line = fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":"s1","message":{"content":"x"}}`, id)
		if report, _ := m.bring(line); report.Skipped["bad_id"] != 1 {
			t.Errorf("message %q: %+v", id, report)
		}
	}
}
