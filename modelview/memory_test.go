package modelview_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/modelview"
)

// memory is a store of logs and views: what modelview needs, nothing durable.
// Bodies go through their JSON, as in a real store. It counts what is read.
type memory struct {
	logs  map[weir.ConversationID][]stored
	views map[viewKey]weir.View
	rows  int
}

type stored struct {
	kind weir.RecordKind
	id   weir.MessageID
	body []byte
}

type viewKey struct {
	conversation weir.ConversationID
	seq          weir.Seq
	lowering     string
}

func newMemory() *memory {
	return &memory{logs: map[weir.ConversationID][]stored{}, views: map[viewKey]weir.View{}}
}

// clone is what a transaction works on until it commits.
func (m *memory) clone() *memory {
	c := newMemory()
	for id, log := range m.logs {
		c.logs[id] = slices.Clip(log)
	}
	for k, v := range m.views {
		c.views[k] = v
	}
	return c
}

func (m *memory) append(c *weir.Conversation, b weir.Body) weir.Seq {
	data, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	m.logs[c.ID] = append(m.logs[c.ID], stored{kind: b.Kind(), body: data})
	return m.headOf(c)
}

func (m *memory) headOf(c *weir.Conversation) weir.Seq {
	return c.Inherits() + weir.Seq(len(m.logs[c.ID]))
}

// at returns where the record at seq was written, and it.
func (m *memory) at(c *weir.Conversation, seq weir.Seq) (weir.ConversationID, stored) {
	from := weir.Seq(0)
	for _, in := range c.Lineage {
		if seq <= in.Upto {
			return in.Conversation, m.logs[in.Conversation][seq-from-1]
		}
		from = in.Upto
	}
	return c.ID, m.logs[c.ID][seq-from-1]
}

func (m *memory) record(c *weir.Conversation, seq weir.Seq) weir.Record {
	where, s := m.at(c, seq)
	body, err := weir.DecodeBody(s.kind, s.body)
	if err != nil {
		panic(err)
	}
	m.rows++
	return weir.Record{Conversation: where, Seq: seq, ID: s.id, Body: body}
}

func (m *memory) Records(_ context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	var seqs []weir.Seq
	for seq := q.After + 1; seq <= m.headOf(c) && (q.Before == 0 || seq < q.Before); seq++ {
		_, s := m.at(c, seq)
		if q.Kinds == nil || slices.Contains(q.Kinds, s.kind) {
			seqs = append(seqs, seq)
		}
	}
	if q.Limit > 0 && len(seqs) > q.Limit {
		if q.Newest {
			seqs = seqs[len(seqs)-q.Limit:]
		} else {
			seqs = seqs[:q.Limit]
		}
	}
	found := make([]weir.Record, len(seqs))
	for i, seq := range seqs {
		found[i] = m.record(c, seq)
	}
	return found, nil
}

func (m *memory) Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error) {
	return m.Records(ctx, c, weir.RecordQuery{Kinds: []weir.RecordKind{weir.KindRewind, weir.KindUndo, weir.KindCheckpoint, weir.KindEpoch}})
}

func (m *memory) Views(_ context.Context, c *weir.Conversation, lowering string, from, upto weir.Seq) ([]weir.View, error) {
	var found []weir.View
	for seq := max(from, 1); seq <= min(upto, m.headOf(c)); seq++ {
		where, _ := m.at(c, seq)
		if v, ok := m.views[viewKey{where, seq, lowering}]; ok {
			v.Bytes = slices.Clone(v.Bytes)
			found = append(found, v)
			m.rows++
		}
	}
	return found, nil
}

func (m *memory) putViews(views []weir.View) {
	for _, v := range views {
		k := viewKey{v.Conversation, v.Seq, v.Lowering}
		if _, there := m.views[k]; !there {
			m.views[k] = v
		}
	}
}

// talk drives one conversation as a turn does.
type talk struct {
	t       testing.TB
	m       *memory
	c       *weir.Conversation
	l       *modelview.Lowerer
	window  *modelview.Window
	p       model.Profile
	n       int // steps
	bodies  map[weir.Seq][]byte
	damaged bool // the test has changed what was stored: a defect is right
}

func newTalk(t testing.TB, p model.Profile, dialects ...modelview.Dialect) *talk {
	k := &talk{t: t, m: newMemory(), c: &weir.Conversation{ID: "cnv_a"}, l: modelview.New(dialects...), p: p, bodies: map[weir.Seq][]byte{}}
	k.restart()
	return k
}

// restart drops everything that is not stored.
func (k *talk) restart() { k.window = k.l.Window(k.c) }

func (k *talk) epoch(baseline, tools string) weir.Seq {
	e := &weir.Epoch{Baseline: baseline}
	if tools != "" {
		e.Tools = json.RawMessage(tools)
	}
	return k.m.append(k.c, e)
}

func (k *talk) user(text string, notes ...string) weir.Seq {
	return k.m.append(k.c, userMessage(text, notes...))
}

func userMessage(text string, notes ...string) *weir.UserMessage {
	u := &weir.UserMessage{Text: text}
	for _, n := range notes {
		u.References = append(u.References, weir.Frozen{Type: weir.Quote, Note: n})
	}
	return u
}

func (k *talk) update(text string) weir.Seq {
	return k.m.append(k.c, &weir.Update{Fact: "core/date", Text: text})
}

func (k *talk) result(call, text string) weir.Seq {
	return k.m.append(k.c, &weir.ToolResult{Call: call, Text: text})
}

// answer appends an assistant message to the newest step.
func (k *talk) answer(parts ...weir.Part) weir.Seq {
	return k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: k.p.ID, Parts: parts})
}

func (k *talk) stepID() weir.StepID { return weir.StepID("stp_" + string(rune('0'+k.n%10))) }

func text(s string) weir.Part { return weir.Part{Type: weir.PartText, Text: s} }

func call(id, name, input string) weir.Part {
	return weir.Part{Type: weir.PartToolCall, Call: id, Name: name, Input: json.RawMessage(input)}
}

func thought(raw string) weir.Part {
	return weir.Part{Type: weir.PartReasoning, Text: "hm", Raw: json.RawMessage(raw)}
}

// step makes and records a request, and returns it.
func (k *talk) step() *modelview.Request {
	k.t.Helper()
	r, err := k.tryStep()
	if err != nil {
		k.t.Fatalf("step: %v", err)
	}
	return r
}

func (k *talk) tryStep() (*modelview.Request, error) {
	ctx := context.Background()
	k.window.Expect(k.p)
	if err := k.window.CatchUp(ctx, k.m); err != nil {
		return nil, err
	}
	tx := k.m.clone()
	r, err := k.window.Next(ctx, tx, k.p, modelview.Options{})
	if err != nil {
		return nil, err
	}
	k.record(tx, r)
	*k.m = *tx
	return r, nil
}

// record appends the StepStart of a request.
func (k *talk) record(tx *memory, r *modelview.Request) {
	if !k.damaged {
		noDefect(k.t, r)
	}
	k.n++
	tx.putViews(r.Views)
	seq := tx.append(k.c, &weir.StepStart{
		Step: k.stepID(), Purpose: "answer", Provider: k.p.Provider, Model: k.p.ID,
		Lowering: r.Lowering, Tail: r.Tail, Marks: r.Marks, Ledger: r.Ledger,
	})
	k.bodies[seq] = r.Body
}

// branch returns a talk in a child that inherits the log up to a seq.
func (k *talk) branch(id weir.ConversationID, at weir.Seq) *talk {
	lineage := slices.Clone(k.c.Lineage)
	for len(lineage) > 0 && lineage[len(lineage)-1].Upto >= at {
		lineage = lineage[:len(lineage)-1]
	}
	where, _ := k.m.at(k.c, at)
	child := *k
	child.c = &weir.Conversation{ID: id, Kind: weir.Branch, Lineage: append(lineage, weir.Inherited{Conversation: where, Upto: at})}
	child.bodies = map[weir.Seq][]byte{}
	child.restart()
	return &child
}

// rebuild proves every request of the talk from the store alone.
func (k *talk) rebuild() {
	k.t.Helper()
	for seq, body := range k.bodies {
		r := k.m.record(k.c, seq)
		got, err := modelview.New().Rebuild(context.Background(), k.m, k.c, &r)
		if err != nil {
			k.t.Fatalf("rebuild of the step at %d: %v", seq, err)
		}
		if string(got) != string(body) {
			k.t.Fatalf("rebuilt\n%s\nsent\n%s", got, body)
		}
	}
}

// profiles are one of each way that the dialects differ.
func profiles() map[string]model.Profile {
	return map[string]model.Profile{
		"anthropic":     {ID: "a/claude", Provider: "a", Name: "claude", Dialect: model.Anthropic, MidSystem: model.MidNative, MaxOutput: 1000},
		"anthropic-old": {ID: "a/old", Provider: "a", Name: "old", Dialect: model.Anthropic, MidSystem: model.MidNone, MaxOutput: 1000},
		"gemini":        {ID: "g/gemini", Provider: "g", Name: "gemini", Dialect: model.Gemini, MidSystem: model.MidNone, MaxOutput: 1000, ReasoningRequired: model.ReasoningSignature, ThinkingBinding: model.BindPrefix},
		"gemini-old":    {ID: "g/old", Provider: "g", Name: "old", Dialect: model.Gemini, MidSystem: model.MidNone, MaxOutput: 1000},
		"responses": {ID: "r/sol", Provider: "r", Name: "sol", Dialect: model.OpenAIResponses, MidSystem: model.MidDeveloper,
			CacheStyle: model.CacheBreakpoints, MaxOutput: 1000},
		"responses-old":  {ID: "r/old", Provider: "r", Name: "old", Dialect: model.OpenAIResponses, MidSystem: model.MidNative, ThinkingBinding: model.BindNothing, MaxOutput: 1000},
		"responses-none": {ID: "r/oss", Provider: "r", Name: "oss", Dialect: model.OpenAIResponses, MidSystem: model.MidNone, CacheStyle: model.CacheBreakpoints, MaxOutput: 1000},
		"chat":           {ID: "o/gpt", Provider: "o", Name: "gpt", Dialect: model.OpenAIChat, MidSystem: model.MidDeveloper, MaxOutput: 1000, MaxTokensField: "max_completion_tokens", CacheStyle: model.CacheKeyed},
		"chat-system":    {ID: "o/sys", Provider: "o", Name: "sys", Dialect: model.OpenAIChat, MidSystem: model.MidNative, MaxOutput: 1000, MaxTokensField: "max_tokens"},
		"chat-none":      {ID: "l/qwen", Provider: "l", Name: "qwen", Dialect: model.OpenAIChat, MidSystem: model.MidNone, MaxOutput: 1000, MaxTokensField: "max_tokens"},
		"chat-first":     {ID: "l/first", Provider: "l", Name: "first", Dialect: model.OpenAIChat, SystemFirstOnly: true, ContentParts: true, MaxOutput: 1000, MaxTokensField: "max_tokens"},
		"alternating":    {ID: "l/gemma", Provider: "l", Name: "gemma", Dialect: model.OpenAIChat, SystemFirstOnly: true, RolesAlternate: true, MaxOutput: 1000, MaxTokensField: "max_tokens"},
		"breakpoints": {ID: "o/sol", Provider: "o", Name: "sol", Dialect: model.OpenAIChat, MidSystem: model.MidDeveloper, ContentParts: true,
			CacheStyle: model.CacheBreakpoints, MaxOutput: 1000, MaxTokensField: "max_completion_tokens"},
		"deepseek": {ID: "d/seek", Provider: "d", Name: "seek", Dialect: model.OpenAIChat, MidSystem: model.MidNative, ReasoningRequired: model.ReasoningContent,
			MaxOutput: 1000, MaxTokensField: "max_tokens"},
	}
}

var _ modelview.Source = (*memory)(nil)

// someTime keeps the clock out of what is tested.
func someTime() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
