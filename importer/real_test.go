package importer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"weir"
	"weir/importer"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
	"weir/transcript"
)

// real is a transcript and what is known of it.
type real struct {
	file                                 string
	kinds                                map[weir.RecordKind]int
	broken, glued, compactions, branches int
}

var reals = []real{
	{file: "cc-3-compactions.jsonl", compactions: 3, kinds: map[weir.RecordKind]int{
		weir.KindUser: 51, weir.KindAssistant: 225, weir.KindToolResult: 206, weir.KindCheckpoint: 3, weir.KindNotice: 1}},
	{file: "cc-glued-lines.earlier.jsonl", glued: 1, kinds: map[weir.RecordKind]int{
		weir.KindUser: 7, weir.KindAssistant: 58, weir.KindToolResult: 55, weir.KindNotice: 1}},
	{file: "cc-slice-no-root.jsonl", kinds: map[weir.RecordKind]int{
		weir.KindUser: 3, weir.KindAssistant: 10, weir.KindToolResult: 7}},
}

func TestRealTranscriptsComeIn(t *testing.T) {
	data := os.Getenv("WEIR_REAL_DATA")
	if data == "" {
		t.Skip("WEIR_REAL_DATA is not set")
	}
	for _, r := range reals {
		t.Run(r.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(data, "claude-code", r.file))
			if err != nil {
				t.Fatal(err)
			}
			s := stores.SQLite(t)
			report := bringFile(t, s, r.file, text)
			if report.BrokenLines != r.broken || report.Glued != r.glued || report.Compactions != r.compactions ||
				report.Branches != r.branches || report.OrphanResults+report.Unanswered > 0 || len(report.Conversations) != 1 {
				t.Errorf("%+v", report)
			}
			for kind, n := range r.kinds {
				if report.Kinds[string(kind)] != n {
					t.Errorf("%d records of kind %s, want %d", report.Kinds[string(kind)], kind, n)
				}
			}
			c, log := logOf(t, s, report.Conversations[0].ID)
			if c.Title == "" || c.Workspace == "" || len(log) != report.Added+report.Marks || report.Marks != 2 {
				t.Errorf("%+v, %d records", c, len(log))
			}
			answered(t, c.ID, log)
			if again := bringFile(t, s, r.file, text); again.Added+again.Marks != 0 || again.Known != report.Added {
				t.Errorf("again: %+v", again)
			}
			acceptedByProviders(t, s, &c)
		})
	}
}

// A transcript that grows while it is imported ends the same, whichever lines
// it was cut at: only answers that were cut are in more than one piece.
func TestARealTranscriptMayComeInPieces(t *testing.T) {
	data := os.Getenv("WEIR_REAL_DATA")
	if data == "" {
		t.Skip("WEIR_REAL_DATA is not set")
	}
	text, err := os.ReadFile(filepath.Join(data, "claude-code", reals[1].file))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	whole := newMemory()
	wholeReport, err := whole.raw(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	id := wholeReport.Conversations[0].ID
	m := newMemory()
	for cut := 5; cut < len(lines)+20; cut += 20 {
		if _, err := m.raw(bytes.NewReader(bytes.Join(lines[:min(cut, len(lines))], nil))); err != nil {
			t.Fatal(err)
		}
	}
	m.check(t)
	if got, want := sayings(m.logs[id]), sayings(whole.logs[id]); got != want {
		t.Errorf("in pieces %d bytes, at once %d", len(got), len(want))
	}
}

// sayings joins what was said, in order.
func sayings(log []weir.Record) string {
	var s string
	for i := range log {
		switch b := log[i].Body.(type) {
		case *weir.UserMessage:
			s += b.Text + "\n"
		case *weir.AssistantMessage:
			for _, p := range b.Parts {
				s += p.Text + p.Call + "\n"
			}
		}
	}
	return s
}

func bringFile(t *testing.T, s store.Store, name string, text []byte) importer.Report {
	t.Helper()
	im := importer.New(importer.Config{Store: importer.Over[store.Tx](s)})
	report, err := adding(im.Import(t.Context(), person, importer.Source{Name: name, Reader: bytes.NewReader(text)}, importer.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func logOf(t *testing.T, s store.Store, id weir.ConversationID) (weir.Conversation, []weir.Record) {
	t.Helper()
	c, err := s.Conversation(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.Records(t.Context(), &c, weir.RecordQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return c, log
}

// acceptedByProviders goes on with the conversation and sends the request that
// comes of it to the strict peer, in both dialects.
func acceptedByProviders(t *testing.T, s store.Store, c *weir.Conversation) {
	t.Helper()
	var lease weir.Lease
	err := s.Update(t.Context(), func(tx store.Tx) (err error) {
		if lease, _, err = tx.AcquireLease(t.Context(), c.ID, "test", time.Hour); err != nil {
			return err
		}
		_, err = tx.Append(t.Context(), c.ID, lease.Fence, nil,
			weir.Record{ID: "e", Time: today, Generation: c.Generation, Body: &weir.Epoch{Baseline: "Be brief."}},
			weir.Record{ID: "q", Time: today, Generation: c.Generation, Body: &weir.UserMessage{Text: "What did we settle?"}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range strictpeer.Profiles() {
		p := strictpeer.Model(profile, profile+"/m", "m")
		p.ContextWindow, p.MaxOutput = 1_000_000, 8_000
		now, err := s.Conversation(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		var body []byte
		err = s.Update(t.Context(), func(tx store.Tx) error {
			r, err := modelview.New().Window(&now).Next(t.Context(), tx, p, modelview.Options{MaxTokens: 1000})
			if err == nil {
				body = r.Body
			}
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", profile, err)
		}
		peer := strictpeer.New(profile)
		peer.Script(strictpeer.Answer{strictpeer.Say("ok")})
		if _, err := wires.Direct(p, peer).Stream(t.Context(), body, func(model.Event) error { return nil }); err != nil {
			t.Errorf("%s refuses %d bytes: %v; %v", profile, len(body), err, peer.Refusals())
		}
	}
}

func TestAnImportedConversationIsOneOfTheStores(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		lines := append(append(rewound(), side()...),
			object("c1", "", `"type":"system","subtype":"compact_boundary","logicalParentUuid":"a4"`),
			object("k1", "c1", `"type":"user","isCompactSummary":true,"message":{"content":"Earlier work"}`),
			said("a5", "k1", "m5", text("on")))
		text := []byte(joined(lines))
		report := bringFile(t, s, "s1.jsonl", text)
		c, log := logOf(t, s, "s1")
		want := "u:start a:one [u:first try] [a:t1] [t:t1=x] [a:bad] rewind(3-6>a1) u:second try a:good c:Earlier work a:on"
		if told(log) != want || c.Title != "start" || c.Kind != weir.Chat || c.Origin == nil || c.HeadSeq != weir.Seq(len(log)) {
			t.Errorf("%+v: %s", c, told(log))
		}
		if c.Generation != transcript.Fold(log).Generation() || !c.LastActive.Equal(time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("generation %q, last active %v", c.Generation, c.LastActive)
		}
		task, _ := logOf(t, s, "s1:q1")
		if task.Kind != weir.Task || task.Parent() != "s1" {
			t.Errorf("%+v", task)
		}
		if again := bringFile(t, s, "s1.jsonl", text); again.Added+again.Marks != 0 || again.Known != report.Added {
			t.Errorf("again: %+v", again)
		}
		acceptedByProviders(t, s, &c)
	})
}

func FuzzImport(f *testing.F) {
	for _, lines := range [][]string{plain(), rewound(), compacted(), side()} {
		f.Add([]byte(joined(lines)))
	}
	f.Add([]byte("\ufeff" + plain()[0] + plain()[1] + "\r\n" + plain()[2][:50] + plain()[3] + "\xff\\ud800"))
	f.Add([]byte(object("x1", "", `"type":"progress"`) + side()[0])) // a conversation without messages of its own
	f.Fuzz(func(t *testing.T, text []byte) {
		m := newMemory()
		first, err := m.raw(bytes.NewReader(text))
		m.check(t)
		if err != nil {
			if weir.CodeOf(err) == "internal" {
				t.Fatal(err)
			}
			return
		}
		if _, err := json.Marshal(first); err != nil {
			t.Fatal(err)
		}
		before := m.writes
		again, err := m.raw(bytes.NewReader(text))
		if err != nil || again.Added+again.Marks != 0 || m.writes != before {
			t.Fatalf("again: %v, %d added, %d writes", err, again.Added, m.writes-before)
		}
		half := newMemory()
		if _, err := half.raw(bytes.NewReader(text[:len(text)/2])); err == nil {
			half.check(t)
			if _, err := half.raw(bytes.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			half.check(t)
		}
	})
}

func joined(lines []string) string {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}
