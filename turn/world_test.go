package turn_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/gate"
	"weir/live"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

const owner = weir.OwnerID("max")

func actor() weir.Actor {
	return weir.Actor{Owner: owner, Name: "Max", Door: "api", MayConfirm: true}
}

// world is an engine on a store, with a model whose answers the test gives.
type world struct {
	t      testing.TB
	s      store.Store
	hub    *live.Hub
	model  *puppet
	engine *turn.Engine
	naps   *naps
}

// naps are the pauses before retries; they take no time unless they are held.
type naps struct {
	mu   sync.Mutex
	took []time.Duration
	hold chan struct{}
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	n.took = append(n.took, d)
	hold := n.hold
	n.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (n *naps) all() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.took)
}

type option func(*turn.Config)

func withTools(tools ...tool.Tool) option {
	return func(c *turn.Config) {
		r, err := tool.NewRegistry(tool.Limits{}, tools...)
		if err != nil {
			panic(err)
		}
		c.Tools = r
	}
}

// stopped is a clock that stands.
func stopped(c *turn.Config) {
	now := time.Now().Truncate(time.Microsecond)
	c.Now = func() time.Time { return now }
}

func newWorld(t testing.TB, s store.Store, options ...option) *world {
	t.Helper()
	w := &world{t: t, s: s, hub: live.NewHub(), model: newPuppet(), naps: &naps{}}
	w.engine = w.another(options...)
	return w
}

// another makes one more engine on the same store, as another process would.
func (w *world) another(options ...option) *turn.Engine {
	w.t.Helper()
	facts, err := fact.Compose(builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return "Max", nil }), builtin.Limits())
	if err != nil {
		w.t.Fatal(err)
	}
	tools, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := turn.Config{
		Store:   turn.Over[store.Tx](w.s),
		Gate:    gate.New(gate.Config{Key: []byte("0123456789abcdef0123456789abcdef")}),
		Lowerer: modelview.New(),
		Models:  w.model,
		Tools:   tools,
		Facts:   facts,
		Live:    w.hub,
		Sleep:   w.naps.sleep,
		Rand:    func() float64 { return 0.5 },
		Log:     slog.New(slog.NewTextHandler(writer{w.t}, nil)),
		Meter:   alarm{w.t},
	}
	for _, o := range options {
		o(&cfg)
	}
	e := turn.New(cfg)
	w.t.Cleanup(e.Stop)
	return e
}

// alarm fails the test when a request does not extend the one before it for no
// reason that is allowed.
type alarm struct{ t testing.TB }

func (a alarm) Began(s *weir.Step) {
	if s.Ledger.Reason == weir.BreakDefect {
		a.t.Errorf("%s: the request of step %s shares %d of %d bytes with the one before, and nothing says why",
			s.Conversation, s.ID, s.Ledger.Shared, s.Ledger.PrefixBytes)
	}
}

func (alarm) Withheld(string)                      {}
func (alarm) Tried(*weir.Step, weir.Usage, string) {}

// writer sends the log to the test's own, as long as the test runs.
type writer struct{ t testing.TB }

func (w writer) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func (w *world) start() *world {
	w.t.Helper()
	if err := w.engine.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// conversation makes a conversation.
func (w *world) conversation(id weir.ConversationID) weir.ConversationID {
	w.t.Helper()
	now := time.Now()
	err := w.s.Update(w.t.Context(), func(tx store.Tx) error {
		return tx.InsertConversation(w.t.Context(), &weir.Conversation{
			ID: id, Owner: owner, Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
			Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now,
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) send(c weir.ConversationID, text string) weir.Input {
	w.t.Helper()
	in, err := w.engine.Admit(w.t.Context(), actor(), turn.Admission{Conversation: c, Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

func (w *world) queue(c weir.ConversationID, text string) weir.Input {
	w.t.Helper()
	in, err := w.engine.Admit(w.t.Context(), actor(), turn.Admission{Conversation: c, Text: text, Delivery: weir.Queue})
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

func (w *world) get(c weir.ConversationID) weir.Conversation {
	w.t.Helper()
	conv, err := w.s.Conversation(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return conv
}

// until waits until ok says so, looking whenever something is published.
func (w *world) until(c weir.ConversationID, what string, ok func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	signals, done := w.hub.Subscribe(c, 4096)
	defer func() { done() }()
	for !ok() {
		select {
		case _, more := <-signals:
			if !more {
				signals, done = w.hub.Subscribe(c, 4096)
			}
		case <-ctx.Done():
			conv, pending := w.get(c), w.pending(c)
			w.t.Fatalf("waited in vain: %s; it is %s, waits for %q, %d inputs pending\n%s",
				what, conv.State, conv.WaitingFor, len(pending), strings.Join(w.transcript(c), "\n"))
		}
	}
}

// rests waits until a conversation is idle with nothing pending.
func (w *world) rests(c weir.ConversationID) {
	w.t.Helper()
	w.until(c, "the conversation rests", func() bool {
		return len(w.pending(c)) == 0 && w.get(c).State == weir.Idle
	})
}

func (w *world) pending(c weir.ConversationID) []weir.Input {
	w.t.Helper()
	in, err := w.s.PendingInputs(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

func (w *world) records(c weir.ConversationID) []weir.Record {
	w.t.Helper()
	conv := w.get(c)
	all, err := w.s.Records(w.t.Context(), &conv, weir.RecordQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// transcript spells a log, one record a line, without epochs and clocks.
func (w *world) transcript(c weir.ConversationID) []string {
	w.t.Helper()
	var out []string
	for _, r := range w.records(c) {
		if s := spell(&r); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func spell(r *weir.Record) string {
	switch b := r.Body.(type) {
	case *weir.UserMessage:
		return "user: " + b.Text
	case *weir.AssistantMessage:
		s := "assistant: "
		if b.Interrupted {
			s = "assistant, cut off: "
		}
		for i, p := range b.Parts {
			if i > 0 {
				s += " | "
			}
			s += p.Text
			if p.Type == weir.PartToolCall {
				s += "call " + p.Name
			}
		}
		return s
	case *weir.ToolResult:
		return "result " + b.Name + ": " + b.Text
	case *weir.Approval:
		return string(b.Decision) + " " + b.Name
	case *weir.Notice:
		return "notice: " + b.Text
	case *weir.Update:
		return "update " + b.Fact
	case *weir.StepStart:
		return "step"
	case *weir.StepEnd:
		if b.Code != "" {
			return "end " + string(b.Outcome) + " " + b.Code
		}
		return "end " + string(b.Outcome)
	case *weir.Rewind:
		return "rewind"
	case *weir.Retitled:
		return "title: " + b.Title
	}
	return ""
}

// clean verifies the whole store: nothing may differ, nothing be unsettled.
func (w *world) clean() {
	w.t.Helper()
	rep, err := turn.Verify(w.t.Context(), w.s, modelview.New(), owner)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range rep.Differences {
		w.t.Errorf("verify: %s at %d: %s %s", d.Conversation, d.Seq, d.What, d.Detail)
	}
	if rep.Unsettled != 0 {
		w.t.Errorf("verify: %d steps are not settled", rep.Unsettled)
	}
}

// puppet is a model whose answers the test gives, call by call.
type puppet struct {
	calls   chan *asked
	mu      sync.Mutex
	missing error
	auto    func(body []byte) string
}

func newPuppet() *puppet { return &puppet{calls: make(chan *asked, 1024)} }

// Model implements [turn.Models].
func (p *puppet) Model(id string) (model.Profile, model.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missing != nil {
		return model.Profile{}, nil, p.missing
	}
	if id == "" {
		id = "puppet/default"
	}
	return model.Profile{
		ID: id, Provider: "puppet", Name: "puppet", Dialect: model.Anthropic,
		MidSystem: model.MidNative, ContextWindow: 200_000, MaxOutput: 8000,
	}, p, nil
}

func (p *puppet) without(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing = err
}

// asked is one request; the test answers it step by step.
type asked struct {
	body []byte
	do   chan func(emit func(model.Event) error) (done bool, err error)
	over chan struct{} // closed when the stream has ended
	mu   sync.Mutex
	out  model.Answer
}

// Stream implements [model.Client].
func (p *puppet) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	a := &asked{body: bytes.Clone(body), do: make(chan func(func(model.Event) error) (bool, error)), over: make(chan struct{})}
	defer close(a.over)
	if p.auto != nil {
		text := p.auto(a.body)
		if err := emit(model.Event{Text: text}); err != nil {
			return model.Answer{}, err
		}
		return model.Answer{Parts: []weir.Part{{Type: weir.PartText, Text: text}}, Finish: model.FinishEnd}, ctx.Err()
	}
	p.calls <- a
	for {
		select {
		case f := <-a.do:
			if done, err := f(emit); done || err != nil {
				return a.answer(), err
			}
		case <-ctx.Done():
			return a.answer(), &model.Error{Failure: model.FailBroken, Public: "The connection was lost.", Err: ctx.Err()}
		}
	}
}

func (a *asked) answer() model.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out
}

// next waits for the next request.
func (w *world) next() *asked {
	w.t.Helper()
	select {
	case a := <-w.model.calls:
		return a
	case <-time.After(30 * time.Second):
		w.t.Fatal("the model was not asked")
		return nil
	}
}

// asks sends a message and waits for the request that it leads to.
func (w *world) asks(c weir.ConversationID, text string) *asked {
	w.t.Helper()
	w.send(c, text)
	return w.next()
}

// notAsked fails when the model was asked.
func (w *world) notAsked() {
	w.t.Helper()
	select {
	case a := <-w.model.calls:
		w.t.Fatalf("the model was asked: %s", a.body)
	default:
	}
}

func (a *asked) say(text string) *asked {
	a.do <- func(emit func(model.Event) error) (bool, error) {
		a.mu.Lock()
		if n := len(a.out.Parts); n > 0 && a.out.Parts[n-1].Type == weir.PartText {
			a.out.Parts[n-1].Text += text
		} else {
			a.out.Parts = append(a.out.Parts, weir.Part{Type: weir.PartText, Text: text})
		}
		a.mu.Unlock()
		return false, emit(model.Event{Text: text})
	}
	return a
}

func (a *asked) think(text string) *asked {
	a.do <- func(emit func(model.Event) error) (bool, error) {
		a.mu.Lock()
		a.out.Parts = append(a.out.Parts, weir.Part{Type: weir.PartReasoning, Text: text})
		a.mu.Unlock()
		return false, emit(model.Event{Reasoning: text})
	}
	return a
}

func (a *asked) call(id, name, input string) *asked {
	a.do <- func(emit func(model.Event) error) (bool, error) {
		part := weir.Part{Type: weir.PartToolCall, Call: id, Name: name, Input: model.Arguments(input)}
		a.mu.Lock()
		a.out.Parts = append(a.out.Parts, part)
		a.out.Finish = model.FinishTools
		a.mu.Unlock()
		return false, emit(model.Event{Call: &part})
	}
	return a
}

func (a *asked) end() {
	a.do <- func(func(model.Event) error) (bool, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.out.Finish == "" {
			a.out.Finish = model.FinishEnd
		}
		a.out.Usage = weir.Usage{Fresh: 3, Output: 2}
		return true, nil
	}
	<-a.over
}

func (a *asked) fail(f model.Failure, public string) {
	a.failFor(f, public, 0)
}

// failFor fails as a provider does that says how long to wait.
func (a *asked) failFor(f model.Failure, public string, wait time.Duration) {
	a.do <- func(func(model.Event) error) (bool, error) {
		return true, &model.Error{Failure: f, Public: public, RetryAfter: wait, Err: errors.New("a cause")}
	}
	<-a.over
}

func (a *asked) has(t testing.TB, texts ...string) {
	t.Helper()
	at := 0
	for _, s := range texts {
		i := strings.Index(string(a.body[at:]), s)
		if i < 0 {
			t.Errorf("the request lacks %q after byte %d:\n%s", s, at, a.body)
			return
		}
		at += i + len(s)
	}
}

func (a *asked) lacks(t testing.TB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(string(a.body), s) {
			t.Errorf("the request holds %q:\n%s", s, a.body)
		}
	}
}

func codeIs(t testing.TB, err error, code string) {
	t.Helper()
	if got := weir.CodeOf(err); got != code {
		t.Errorf("the answer is %q (%v), want %q", got, err, code)
	}
}
