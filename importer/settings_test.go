package importer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/gate"
	"weir/importer"
	"weir/live"
	"weir/model"
	"weir/model/demo"
	"weir/modelview"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

// says checks what a log says of settings.
func (m *memory) says(t *testing.T, id weir.ConversationID, want string) {
	t.Helper()
	if got := settled(m.logs[id]); got != want {
		t.Errorf("%s says %s\nwant %s", id, got, want)
	}
}

func TestTheLogTellsWhatAnImportSets(t *testing.T) {
	m := newMemory()
	o := importer.Options{Visibility: weir.Visibility{Level: weir.Isolated, Category: "work"}}
	report, err := m.with(o, append(plain(), side()...)...)
	if err != nil {
		t.Fatal(err)
	}
	m.says(t, "s1", "visibility(isolated,work) folder(/w/app) auto(list files)")
	m.says(t, "s1:q1", "visibility(open,work) folder(/w/app) auto(Look into x)")
	if dry, err := newMemory().with(importer.Options{DryRun: true, Visibility: o.Visibility}, append(plain(), side()...)...); err != nil || report.Marks != 9 || dry.Marks != 9 {
		t.Errorf("%d marks, a dry run promised %d, %v", report.Marks, dry.Marks, err)
	}
	writes := m.writes
	if again := m.must(t, append(plain(), side()...)...); again.Marks != 0 || m.writes != writes {
		t.Errorf("again: %+v", again)
	}
}

func TestALaterTitleIsToldToo(t *testing.T) {
	m := newMemory()
	m.must(t, plain()...)
	made := append(plain(), `{"type":"ai-title","aiTitle":"Quay","sessionId":"s1"}`)
	m.must(t, made...)
	given := append(made, `{"type":"custom-title","customTitle":"Mine","sessionId":"s1"}`)
	for range 2 {
		m.must(t, given...)
	}
	m.says(t, "s1", "folder(/w/app) auto(list files) auto(Quay) title(Mine)")
	if row := m.rows["s1"]; row.Title != "Mine" || !row.TitleSet {
		t.Errorf("%+v", row)
	}
}

func TestAnImportThatBrokeOffTellsWhenItIsCompleted(t *testing.T) {
	var long []string
	for i := range 600 {
		long = append(long, user(fmt.Sprint("u", i), "", "text"))
	}
	m := newMemory()
	m.before = func(write int) error {
		if write == 3 {
			return weir.Fault(weir.Unavailable, "down", "no")
		}
		return nil
	}
	if _, err := m.bring(long...); weir.CodeOf(err) != "down" {
		t.Fatal(err)
	}
	m.before = nil
	for range 2 {
		m.must(t, long...)
	}
	m.says(t, "s1", "folder(/w/app) auto(text)")
}

func TestAPersonWhoRenamesMeanwhileKeepsTheTitle(t *testing.T) {
	m := newMemory()
	m.must(t, plain()...)
	rename := func() {
		row := m.rows["s1"]
		row.Title, row.TitleSet = "Renamed here", true
		m.rows["s1"] = row
	}
	m.before = func(int) error { rename(); return nil }
	m.must(t, append(plain(), `{"type":"ai-title","aiTitle":"Quay","sessionId":"s1"}`)...)
	m.says(t, "s1", "folder(/w/app) auto(list files)") // whoever goes on with it tells the new one
	if row := m.rows["s1"]; row.Title != "Renamed here" {
		t.Errorf("%+v", row)
	}
}

// offline is the demo model and no other.
type offline struct{}

func (offline) Model(string) (model.Profile, model.Client, error) {
	return model.Profile{ID: "demo/demo", Provider: "demo", Name: "demo", Dialect: model.Anthropic, MidSystem: model.MidNative,
		ContextWindow: 200_000, MaxOutput: 4000}, demo.New(), nil
}

// engine runs turns on a store until the test ends.
func engine(t *testing.T, s store.Store, hub *live.Hub) *turn.Engine {
	t.Helper()
	facts, err := fact.Compose(builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return "Max", nil }))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	e := turn.New(turn.Config{
		Store: turn.Over[store.Tx](s), Gate: gate.New(gate.Config{Key: []byte("0123456789abcdef0123456789abcdef")}),
		Lowerer: modelview.New(), Models: offline{}, Tools: tools, Facts: facts, Live: hub,
	})
	if err := e.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	return e
}

func TestAMessageIntoAnImportedConversationRenamesNothing(t *testing.T) {
	s, hub := stores.SQLite(t), live.NewHub()
	e := engine(t, s, hub)
	im := importer.New(importer.Config{Store: importer.Over[store.Tx](s)})
	src := importer.Source{Name: "s1.jsonl", Reader: strings.NewReader(joined(append(plain(), side()...)))}
	if _, err := im.Import(t.Context(), person, src, importer.Options{Visibility: weir.Visibility{Level: weir.Open, Category: "work"}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []weir.ConversationID{"s1", "s1:q1"} {
		_, before := logOf(t, s, id)
		signals, done := hub.Subscribe(id, 4096)
		if _, err := e.Admit(t.Context(), person, turn.Admission{Conversation: id, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var log []weir.Record
		for len(log) == 0 || log[len(log)-1].Kind() != weir.KindStepEnd {
			select {
			case <-signals:
			case <-ctx.Done():
				t.Fatal("no answer comes")
			}
			_, log = logOf(t, s, id)
		}
		cancel()
		done()
		if said := settled(log[len(before):]); said != "" {
			t.Errorf("%s: the answer brought %s", id, said)
		}
	}
}
