package turn_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/fact"
	"weir/model"
	"weir/model/demo"
	"weir/modelview"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
	"weir/tool"
	"weir/turn"
)

// provider is a strict peer behind HTTP, as [turn.Models].
type provider struct {
	*strictpeer.Peer
	profile model.Profile
	client  model.Client // nil: one for each model
	base    string
	hc      *http.Client
}

func newProvider(t *testing.T, profile string, options ...strictpeer.Option) *provider {
	t.Helper()
	if options == nil {
		options = []strictpeer.Option{strictpeer.CacheMinimum(16)}
	}
	p := &provider{Peer: strictpeer.New(profile, options...), profile: strictpeer.Model(profile, "peer/one", "one")}
	srv := httptest.NewServer(p.Peer)
	p.base, p.hc = srv.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(func() {
		p.hc.CloseIdleConnections()
		srv.Close()
	})
	return p
}

// Model implements [turn.Models]: any name is a model of the peer's.
func (p *provider) Model(id string) (model.Profile, model.Client, error) {
	profile := p.profile
	if id != "" {
		profile.ID, profile.Name = id, id[strings.IndexByte(id, '/')+1:]
	}
	if p.client != nil {
		return profile, p.client, nil
	}
	return profile, wires.Client(profile, p.base, p.hc), nil
}

func withModels(m turn.Models) option { return func(c *turn.Config) { c.Models = m } }

// walk is a random sequence of what people and accidents do to a few
// conversations.
type walk struct {
	*world
	r     *rand.Rand
	peers *providers
	convs []weir.ConversationID
	sent  map[weir.InputID]string
	dials []*dial
	tap   *tap

	mu        sync.Mutex
	ran       map[string]int // calls, by id
	meanwhile *rand.Rand     // what happens while a tool runs; nil: nothing
}

func TestARandomWalkLeavesEveryHistoryAcceptable(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WEIR_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WEIR_SEED=%d", seed)
	for _, profile := range strictpeer.Profiles() {
		t.Run(profile, func(t *testing.T) {
			run := func(t *testing.T, s store.Store, seed uint64) {
				w := &walk{world: newWorld(t, s), r: rand.New(rand.NewPCG(seed, 1)), peers: newProviders(t, profile), sent: map[weir.InputID]string{}, ran: map[string]int{}, meanwhile: rand.New(rand.NewPCG(seed, 2))}
				w.begin()
				for i := range 3 {
					w.convs = append(w.convs, w.conversation(weir.ConversationID(fmt.Sprint("c", i))))
				}
				for range 60 {
					w.act()
				}
				w.finish()
			}
			if profile == strictpeer.Anthropic {
				stores.Each(t, func(t *testing.T, s store.Store) { run(t, s, seed) })
			} else {
				run(t, stores.SQLite(t), seed)
			}
			for i := range walks() {
				t.Run(fmt.Sprint(i), func(t *testing.T) { run(t, stores.SQLite(t), seed+uint64(i)+1) })
			}
		})
	}
}

// walks is how many more there are of each profile.
func walks() int {
	if os.Getenv("WEIR_STORM") == "full" {
		return 120
	}
	return 0
}

// begin starts an engine with tools that answer, one of which asks first.
func (w *walk) begin() {
	w.t.Helper()
	var e *turn.Engine
	run := func(ctx context.Context, c tool.Call) (tool.Result, error) {
		w.during(ctx, e, c)
		return tool.Result{Text: string(c.Input)}, nil
	}
	p := &tap{mortal: &mortal{Store: w.s}, leases: map[weir.ConversationID]weir.Lease{}}
	w.tap = p
	if w.dials == nil {
		w.dials = []*dial{newDial("test/a", 0), newDial("test/b", 0)}
	}
	w.engine = w.another(withModels(w.peers), withDials(w.dials...), func(c *turn.Config) { c.Store = turn.Over[store.Tx](p) }, withTools(
		fakeTool{name: "echo", run: run}, fakeTool{name: "alone", alone: true, run: run}, asking{fakeTool{name: "careful", run: run}, weir.Ask}))
	e = w.engine
	w.start()
}

// crash kills the process amid whatever it does, and starts another.
func (w *walk) crash() {
	w.t.Helper()
	w.tap.kill()
	dead := w.tap
	w.engine.Stop()
	for _, c := range w.convs {
		dead.expire(w.t, c)
	}
	w.begin()
}

// decideSome decides about the calls of a conversation that wait for a person.
func (w *walk) decideSome(c weir.ConversationID, all bool) {
	w.t.Helper()
	calls, err := w.s.WaitingCalls(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, call := range calls {
		d := weir.Allow
		if w.r.IntN(4) == 0 {
			d = weir.Deny
		}
		err := w.engine.Decide(w.t.Context(), actor(), c, call.ID, d, false)
		if code := weir.CodeOf(err); err != nil && code != "call_not_found" && code != "call_decided" {
			w.t.Fatal(err)
		}
		if !all {
			return
		}
	}
}

// act does one random thing.
func (w *walk) act() {
	w.t.Helper()
	c := w.convs[w.r.IntN(len(w.convs))]
	switch n := w.r.IntN(40); {
	case n >= 37:
		w.switchModel(c)
	case n >= 33:
		w.reshape(c)
	case n >= 31:
		w.crash()
	case n >= 28:
		w.decideSome(c, false)
	case n >= 26:
		w.interruptForSteers(c)
	case n < 9:
		w.say(c)
	case n < 11:
		w.peers.peer(w.get(c).Model).Script(w.mishap())
		w.say(c)
	case n < 13:
		if err := w.engine.Interrupt(w.t.Context(), actor(), c, ""); err != nil {
			w.t.Fatal(err)
		}
	case n < 14:
		if err := w.engine.Retry(w.t.Context(), actor(), c, nil); err != nil && weir.CodeOf(err) != "nothing_to_retry" {
			w.t.Fatal(err)
		}
	case n < 16:
		w.replace(c)
	case n < 18:
		w.engine.Stop()
		w.begin()
	case n < 22:
		w.fact(c)
	case n < 23:
		if err := w.engine.NewEpoch(w.t.Context(), actor(), c, nil); err != nil && weir.CodeOf(err) != "nothing_to_renew" {
			w.t.Fatal(err)
		}
	case n < 24:
		w.reorder(c)
	default:
		w.until(c, "the conversation rests or waits", func() bool {
			return w.get(c).State == weir.Waiting || len(w.pending(c)) == 0 && w.get(c).State == weir.Idle
		})
	}
}

// fact has something happen to what the model is told with authority.
func (w *walk) fact(c weir.ConversationID) {
	w.t.Helper()
	d := w.dials[w.r.IntN(len(w.dials))]
	var err error
	switch w.r.IntN(6) {
	case 0:
		d.gone()
	case 1:
		d.lost()
	case 2:
		err = w.engine.DeleteFact(w.t.Context(), actor(), c, "test/kept", time.Time{})
	case 3:
		err = w.engine.PutFact(w.t.Context(), actor(), c, weir.ClientFact{Key: "test/kept", Value: []byte(strconv.Itoa(w.r.IntN(3)))})
	default:
		d.set(w.r.IntN(3))
	}
	if err != nil && weir.CodeOf(err) != "fact_not_found" {
		w.t.Fatal(err)
	}
}

// reorder moves a queued message to the end, if it still can be.
func (w *walk) reorder(c weir.ConversationID) {
	w.t.Helper()
	for _, in := range w.pending(c) {
		if in.Kind == weir.InputUser && in.Delivery == weir.Queue {
			_, err := w.engine.Move(w.t.Context(), actor(), c, in.ID, "", in.Revision)
			if code := weir.CodeOf(err); err != nil && code != weir.CodeInputPromoted && code != weir.CodeMoved {
				w.t.Fatal(err)
			}
			return
		}
	}
}

func (w *walk) say(c weir.ConversationID) {
	w.t.Helper()
	ad := turn.Admission{Conversation: c, Text: fmt.Sprintf("message %d for %s", w.number(), c), Delivery: weir.Steer}
	if w.r.IntN(3) == 0 {
		ad.Delivery = weir.Queue
	}
	if w.r.IntN(3) == 0 {
		if source := w.quotable(c); source != nil {
			ad.References = []weir.Reference{*source}
		}
	}
	w.admit(ad)
}

func (w *walk) admit(ad turn.Admission) {
	w.t.Helper()
	in, err := w.engine.Admit(w.t.Context(), actor(), ad)
	switch {
	case err == nil:
		w.mu.Lock()
		w.sent[in.ID] = in.Text
		w.mu.Unlock()
	case weir.CodeOf(err) == "cut_invalid" && ad.Replaces != "", weir.CodeOf(err) == "reference_not_found", weir.CodeOf(err) == "reference_not_quotable":
	default:
		w.t.Fatal(err)
	}
}

// quotable picks a message of another conversation.
func (w *walk) quotable(not weir.ConversationID) *weir.Reference {
	c := w.convs[w.r.IntN(len(w.convs))]
	if c == not {
		return &weir.Reference{Type: weir.Pointer, Conversation: w.convs[(w.r.IntN(len(w.convs)-1)+1+index(w.convs, not))%len(w.convs)]}
	}
	records := w.records(c)
	for range 10 {
		if len(records) == 0 {
			return nil
		}
		r := records[w.r.IntN(len(records))]
		if r.Kind() == weir.KindUser {
			return &weir.Reference{Type: weir.Quote, Conversation: c, Message: r.ID}
		}
	}
	return nil
}

func index(convs []weir.ConversationID, c weir.ConversationID) int {
	for i := range convs {
		if convs[i] == c {
			return i
		}
	}
	return 0
}

func (w *walk) replace(c weir.ConversationID) {
	w.t.Helper()
	var users []weir.MessageID
	for _, r := range w.records(c) {
		if r.Kind() == weir.KindUser {
			users = append(users, r.ID)
		}
	}
	if len(users) > 0 {
		w.admit(turn.Admission{Conversation: c, Text: fmt.Sprint("replaced ", w.number()), Replaces: users[w.r.IntN(len(users))]})
	}
}

// mishap is an answer that does not go well, or calls what is not there.
func (w *walk) mishap() strictpeer.Answer {
	say := strictpeer.Say("half of what was meant")
	mishaps := [...]strictpeer.Answer{
		{strictpeer.Fail(529, "")},
		{strictpeer.Fail(401, "")},
		{say, strictpeer.Abort()},
		{strictpeer.Think("hm"), say, strictpeer.Cut()},
		{strictpeer.Think("hm"), strictpeer.Cut()},
		{say, strictpeer.Call("call_1", "nothing", `{"a":1}`)},
		{strictpeer.Call("call_1", "nothing", `{"a":`), strictpeer.Call("call_2", "nothing", ``)},
		{strictpeer.Call("call_1", "nothing", `{}`), say, strictpeer.Abort()},
		{},
		{say, strictpeer.Fail(500, "went wrong")},
		{strictpeer.Think("hm"), strictpeer.Call("call_1", "echo", `{"a":1}`), strictpeer.Call("call_2", "echo", `{}`)},
		{strictpeer.Think("hm"), say, strictpeer.Call("call_1", "echo", `{"a":`)},
		{strictpeer.Use("echo", `{"a":1}`), strictpeer.Use("careful", `{"b":2}`), strictpeer.Use("echo", `{"c":3}`)},
		{strictpeer.Use("careful", `{"b":2}`), strictpeer.Use("alone", `{}`), strictpeer.Use("careful", `{"c":3}`)},
		{say, strictpeer.Use("alone", `{}`), strictpeer.Use("echo", `{}`)},
		{strictpeer.Fail(429, "", "1")},
		{strictpeer.Fail(400, "messages: no")},
		{strictpeer.Fail(413, "Request exceeds the maximum size")},
		{strictpeer.Fail(400, "messages.1.content.0: Invalid `signature` in `thinking` block")},
		{say, strictpeer.Use("echo", `{}`), strictpeer.Reset()},
		{say, strictpeer.Stop("never_heard")},
	}
	return mishaps[w.r.IntN(len(mishaps))]
}

// finish lets everything settle and proves what must be true.
func (w *walk) finish() {
	w.t.Helper()
	w.mu.Lock()
	w.meanwhile = nil
	w.mu.Unlock()
	for _, c := range w.convs {
		// Without a reference, which could be refused: whoever waits after an
		// interrupt goes on with this.
		w.admit(turn.Admission{Conversation: c, Text: fmt.Sprint("the last for ", c)})
		w.until(c, "the conversation rests", func() bool {
			w.decideSome(c, true)
			return len(w.pending(c)) == 0 && w.get(c).State == weir.Idle
		})
	}
	w.engine.Stop()
	w.peers.each(func(profile string, p *provider) {
		for _, refusal := range p.Refusals() {
			w.t.Errorf("%s refused: %s", profile, refusal)
		}
	})
	w.clean()
	for call, n := range w.ran {
		if n > 1 {
			w.t.Errorf("%s was run %d times", call, n)
		}
	}
	w.everyInputOnce()
	w.nothingRefusedGoesAgain()
	w.everyBodyRebuilds()
	w.everyRequestExtends()
	w.everyoneKnows()
}

// everyoneKnows checks that each conversation was told last what is so now, as
// far as it can be observed.
func (w *walk) everyoneKnows() {
	w.t.Helper()
	for _, c := range w.convs {
		known := w.context(c).Snapshot
		for _, d := range w.dials {
			told, ok := known[d.key]
			switch {
			case d.o.State == fact.Absent && ok, d.o.State == fact.Present && string(told.Value) != string(d.o.Value):
				w.t.Errorf("%s was told last %q of %s, which is %s %s", c, told.Value, d.key, d.o.State, d.o.Value)
			}
		}
	}
}

func (w *walk) everyInputOnce() {
	w.t.Helper()
	seen := map[weir.InputID]int{}
	for _, c := range w.convs {
		for _, r := range w.records(c) {
			if m, ok := r.Body.(*weir.UserMessage); ok && r.Conversation == c {
				seen[m.Input]++
				if w.sent[m.Input] != m.Text {
					w.t.Errorf("%s says %q, was sent %q", m.Input, m.Text, w.sent[m.Input])
				}
			}
		}
	}
	for id := range w.sent {
		if seen[id] != 1 {
			w.t.Errorf("%s was promoted %d times", id, seen[id])
		}
	}
}

func (w *walk) everyBodyRebuilds() {
	w.t.Helper()
	arrived := map[string]bool{}
	w.peers.each(func(_ string, p *provider) {
		for _, b := range p.Bodies() {
			arrived[string(b)] = true
		}
	})
	rebuilt, l := 0, modelview.New()
	for _, c := range w.convs {
		conv := w.get(c)
		for _, r := range w.records(c) {
			if r.Kind() != weir.KindStep {
				continue
			}
			body, err := l.Rebuild(context.Background(), w.s, &conv, &r)
			if err != nil {
				w.t.Errorf("the request of step %d of %s: %v", r.Seq, c, err)
				continue
			}
			rebuilt++
			delete(arrived, string(body))
		}
	}
	for b := range arrived {
		w.t.Errorf("a request arrived that no step made: %s", b)
	}
	w.t.Logf("%d requests were rebuilt", rebuilt)
}

func TestTheDemoModelAnswers(t *testing.T) {
	p := &provider{client: demo.New(), profile: model.Profile{
		ID: "demo/demo", Provider: "demo", Name: "demo", Dialect: model.Anthropic, MidSystem: model.MidNative,
		ContextWindow: 200_000, MaxOutput: 8192,
	}}
	w := newWorld(t, stores.SQLite(t))
	w.engine = w.another(withModels(p))
	w.start()
	c := w.conversation("c")
	w.send(c, "Which port did we pick?")
	w.rests(c)
	w.send(c, "And the host?")
	w.rests(c)
	var said [][]byte
	for _, r := range w.records(c) {
		if m, ok := r.Body.(*weir.AssistantMessage); ok {
			said = append(said, []byte(m.VisibleText()))
		}
	}
	if len(said) != 2 || len(bytes.TrimSpace(said[0])) == 0 {
		t.Errorf("it said %q", said)
	}
	w.clean()
}
