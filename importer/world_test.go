package importer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/importer"
	"weir/transcript"
)

var (
	person = weir.Actor{Owner: "max", Name: "Max", Door: "import", MayConfirm: true}
	today  = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
)

// memory is a store that is as strict as the real ones and quick.
type memory struct {
	rows    map[weir.ConversationID]weir.Conversation
	logs    map[weir.ConversationID][]weir.Record
	leased  map[weir.ConversationID]bool
	signals []weir.Signal
	writes  int
	before  func(write int) error // may fail an Update
}

func newMemory() *memory {
	return &memory{rows: map[weir.ConversationID]weir.Conversation{}, logs: map[weir.ConversationID][]weir.Record{}, leased: map[weir.ConversationID]bool{}}
}

func (m *memory) Publish(s weir.Signal) { m.signals = append(m.signals, s) }

func (m *memory) Conversation(_ context.Context, id weir.ConversationID) (weir.Conversation, error) {
	c, ok := m.rows[id]
	if !ok {
		return c, weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "no")
	}
	c.HeadSeq = weir.Seq(len(m.logs[id]))
	return c, nil
}

func (m *memory) Records(_ context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	log := m.logs[c.ID]
	log = log[min(int(q.After), len(log)):]
	if q.Limit > 0 {
		log = log[:min(q.Limit, len(log))]
	}
	return slices.Clone(log), nil
}

func (m *memory) Update(_ context.Context, fn func(importer.Tx) error) error {
	m.writes++
	if m.before != nil {
		if err := m.before(m.writes); err != nil {
			return err
		}
	}
	again := newMemory() // as when a database asks for a retry
	for id, c := range m.rows {
		again.rows[id], again.logs[id] = c, slices.Clone(m.logs[id])
	}
	if err := fn(tx{again}); err != nil {
		return err
	}
	return fn(tx{m})
}

type tx struct{ *memory }

func (m tx) InsertConversation(_ context.Context, c *weir.Conversation) error {
	if _, ok := m.rows[c.ID]; ok {
		return weir.Fault(weir.Conflict, "conversation_exists", "%s is there", c.ID)
	}
	if c.Generation == "" || c.Owner == "" || c.CreatedAt.IsZero() || !weir.ValidID(string(c.ID)) {
		return fmt.Errorf("a bad row: %+v", c)
	}
	for _, a := range c.Lineage {
		if _, ok := m.rows[a.Conversation]; !ok {
			return fmt.Errorf("%s descends from %s, which is not there", c.ID, a.Conversation)
		}
	}
	m.rows[c.ID] = *c
	c.Title = "filled in by the store"
	return nil
}

func (m tx) ChangeConversation(_ context.Context, id weir.ConversationID, ch weir.ConversationChange) error {
	c := m.rows[id]
	c.Title, c.TitleSet = *ch.Title, *ch.TitleSet
	m.rows[id] = c
	return nil
}

func (m tx) ChangeActivity(_ context.Context, id weir.ConversationID, a weir.Activity) error {
	c := m.rows[id]
	c.Generation = *a.Generation
	m.rows[id] = c
	return nil
}

func (m tx) Append(_ context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error) {
	log := m.logs[id]
	if !m.leased[id] || fence != 7 {
		return nil, weir.Fault(weir.Conflict, weir.CodeFenced, "no lease")
	}
	if *head != weir.Seq(len(log)) {
		return nil, weir.Fault(weir.Conflict, weir.CodeMoved, "the head is %d, not %d", len(log), *head)
	}
	ids := map[weir.MessageID]bool{}
	for _, r := range log {
		ids[r.ID] = true
	}
	for _, r := range records {
		if ids[r.ID] || !weir.ValidID(string(r.ID)) || r.Time.IsZero() || r.Generation == "" {
			return nil, fmt.Errorf("a bad record: %+v", r)
		}
		ids[r.ID] = true
		r.Conversation, r.Seq = id, weir.Seq(len(log)+1)
		if data, err := json.Marshal(r.Body); err != nil || strings.Contains(string(data), `\u0000`) {
			return nil, fmt.Errorf("%s is not stored: %v", data, err)
		}
		log = append(log, r)
	}
	m.logs[id] = log
	return records, nil
}

func (m tx) AcquireLease(_ context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error) {
	if m.leased[c] {
		return weir.Lease{}, false, nil
	}
	m.leased[c] = true
	return weir.Lease{Conversation: c, Holder: holder, Fence: 7}, true, nil
}

func (m tx) ReleaseLease(_ context.Context, l weir.Lease) error {
	m.leased[l.Conversation] = false
	return nil
}

// bring imports lines into the store.
func (m *memory) bring(lines ...string) (importer.Report, error) {
	return m.with(importer.Options{}, lines...)
}

func (m *memory) with(o importer.Options, lines ...string) (importer.Report, error) {
	im := importer.New(importer.Config{Store: m, Live: m, Now: func() time.Time { return today }})
	src := importer.Source{Name: "s1.jsonl", Reader: strings.NewReader(strings.Join(lines, "\n") + "\n")}
	return adding(im.Import(context.Background(), person, src, o))
}

// adding makes a report that leaves records out an error.
func adding(r importer.Report, err error) (importer.Report, error) {
	skipped := 0
	for _, n := range r.Skipped {
		skipped += n
	}
	if is := r.Added + r.Known + skipped + r.Merged; err == nil && r.Records+r.Split+r.Unanswered != is {
		err = fmt.Errorf("%d records do not add up: %+v", r.Records, r)
	}
	return r, err
}

func (m *memory) must(t testing.TB, lines ...string) importer.Report {
	t.Helper()
	report, err := m.bring(lines...)
	if err != nil {
		t.Fatal(err)
	}
	m.check(t)
	return report
}

// check holds what is true of every imported log.
func (m *memory) check(t testing.TB) {
	t.Helper()
	for id, log := range m.logs {
		shape := transcript.Fold(log)
		row := m.rows[id]
		generation := shape.Generation()
		if generation == "" {
			generation = log[0].Generation
		}
		if row.Generation != generation {
			t.Errorf("%s: the row's generation is %q, the log's %q", id, row.Generation, generation)
		}
		if row.Owner != person.Owner || row.Origin == nil || m.leased[id] {
			t.Errorf("%s: %+v, leased %v", id, row, m.leased[id])
		}
		answered(t, id, log)
	}
}

// answered checks that the results of an answer's calls follow it, one each.
func answered(t testing.TB, id weir.ConversationID, log []weir.Record) {
	t.Helper()
	var open []string
	for _, r := range log {
		switch b := r.Body.(type) {
		case *weir.ToolResult:
			if len(open) == 0 || open[0] != b.Call {
				t.Errorf("%s: seq %d: a result of %q, open are %q", id, r.Seq, b.Call, open)
				return
			}
			open = open[1:]
		default:
			if len(open) > 0 {
				t.Errorf("%s: seq %d: %s before the results of %q", id, r.Seq, r.Kind(), open)
				return
			}
			if m, ok := b.(*weir.AssistantMessage); ok {
				for _, c := range m.Calls() {
					open = append(open, c.Call)
				}
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: no results of %q", id, open)
	}
}

// told spells a log: each record by its kind's first letter and text, hidden
// ones in brackets. Settings are left out; [settled] spells them.
func told(log []weir.Record) string {
	shape := transcript.Fold(log)
	var all []string
	place := make([]int, len(log)+1) // by seq, as if there were no settings
	for i := range log {
		place[i+1] = place[i] + 1
		if setting(&log[i]) != "" {
			place[i+1]--
			continue
		}
		text := tell(&log[i])
		if b, ok := log[i].Body.(*weir.Rewind); ok {
			text = fmt.Sprintf("rewind(%d-%d>%s)", place[b.From], place[b.Upto], b.To)
		}
		if shape.Hidden(log[i].Seq) {
			text = "[" + text + "]"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// settled spells what a log says of settings.
func settled(log []weir.Record) string {
	var all []string
	for i := range log {
		if s := setting(&log[i]); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

func setting(r *weir.Record) string {
	switch b := r.Body.(type) {
	case *weir.Retitled:
		if b.Auto {
			return fmt.Sprintf("auto(%s)", b.Title)
		}
		return fmt.Sprintf("title(%s)", b.Title)
	case *weir.WorkspaceSet:
		return fmt.Sprintf("folder(%s)", b.Workspace)
	case *weir.VisibilitySet:
		return fmt.Sprintf("visibility(%s,%s)", b.Level, b.Category)
	}
	return ""
}

func tell(r *weir.Record) string {
	switch b := r.Body.(type) {
	case *weir.UserMessage:
		if b.Synthetic {
			return "s:" + b.Text
		}
		return "u:" + b.Text
	case *weir.AssistantMessage:
		s := "a"
		if b.Interrupted {
			s += "!"
		}
		for _, p := range b.Parts {
			s += ":" + p.Text + p.Call
		}
		return s
	case *weir.ToolResult:
		if b.Text == "The result of this call was not recorded." {
			return "t:" + b.Call + "=?"
		}
		return "t:" + b.Call + "=" + b.Text
	case *weir.Notice:
		_, text, ok := strings.Cut(b.Text, "not recorded here:\n\n")
		if ok {
			return "late:" + text
		}
		return "n:" + b.Text
	case *weir.Checkpoint:
		return "c:" + b.Text
	}
	return string(r.Kind())
}

// is compares what a conversation's log tells.
func (m *memory) is(t testing.TB, id weir.ConversationID, want string) {
	t.Helper()
	if got := told(m.logs[id]); got != want {
		t.Errorf("%s\n got %s\nwant %s", id, got, want)
	}
}

// The lines of a transcript, of session s1, a second after each other.

func object(uuid, parent string, more string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s1","cwd":"/w/app","timestamp":"2026-08-01T10:00:00.000Z",%s}`, uuid, p, more)
}

func user(uuid, parent, text string) string {
	data, _ := json.Marshal(text)
	return object(uuid, parent, `"type":"user","message":{"role":"user","content":`+string(data)+`}`)
}

func blocks(kind, uuid, parent, id string, content ...string) string {
	return object(uuid, parent, fmt.Sprintf(`"type":%q,"message":{"id":%q,"role":%q,"model":"m-1","content":[%s]}`, kind, id, kind, strings.Join(content, ",")))
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
func call(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls"}}`, id)
}
func result(id, s string) string {
	return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, id, s)
}

func said(uuid, parent, id string, content ...string) string {
	return blocks("assistant", uuid, parent, id, content...)
}

func results(uuid, parent string, content ...string) string {
	return blocks("user", uuid, parent, "", content...)
}
