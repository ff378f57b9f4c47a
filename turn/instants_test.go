package turn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/race"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
	"weir/turn"
)

// tap counts the instants of what an engine does: around each transaction,
// before each write within one, at each piece of a stream, and where a tool
// begins and ends. At the chosen one it lets something happen.
type tap struct {
	*mortal
	mu     sync.Mutex
	n, at  int
	happen func(inside bool) // inside a transaction nothing can be waited for
	leases map[weir.ConversationID]weir.Lease
}

func (p *tap) instant(inside bool) {
	p.mu.Lock()
	p.n++
	happen := p.happen
	if p.n != p.at {
		happen = nil
	}
	p.mu.Unlock()
	if happen != nil {
		happen(inside)
	}
}

func (p *tap) Update(ctx context.Context, fn func(store.Tx) error) error {
	p.instant(false)
	err := p.mortal.Update(ctx, func(tx store.Tx) error { return fn(tapped{tx, p}) })
	p.instant(false)
	return err
}

// expire ends the lease of a conversation, as time does.
func (p *tap) expire(t testing.TB, c weir.ConversationID) {
	t.Helper()
	p.mu.Lock()
	l, held := p.leases[c]
	p.mu.Unlock()
	if !held {
		return
	}
	err := p.Store.Update(t.Context(), func(tx store.Tx) error { return tx.ReleaseLease(t.Context(), l) })
	if err != nil && weir.CodeOf(err) != weir.CodeFenced {
		t.Fatal(err)
	}
}

// tapped is a transaction whose writes are instants.
type tapped struct {
	store.Tx
	p *tap
}

func (x tapped) AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error) {
	x.p.instant(true)
	l, ok, err := x.Tx.AcquireLease(ctx, c, holder, ttl)
	if ok && err == nil {
		x.p.mu.Lock()
		x.p.leases[c] = l
		x.p.mu.Unlock()
	}
	return l, ok, err
}

func (x tapped) ReleaseLease(ctx context.Context, l weir.Lease) error {
	x.p.instant(true)
	return x.Tx.ReleaseLease(ctx, l)
}

func (x tapped) ChangeActivity(ctx context.Context, id weir.ConversationID, a weir.Activity) error {
	x.p.instant(true)
	return x.Tx.ChangeActivity(ctx, id, a)
}

func (x tapped) Append(ctx context.Context, id weir.ConversationID, fence int64, head *weir.Seq, records ...weir.Record) ([]weir.Record, error) {
	x.p.instant(true)
	return x.Tx.Append(ctx, id, fence, head, records...)
}

func (x tapped) InsertStep(ctx context.Context, s *weir.Step) error {
	x.p.instant(true)
	return x.Tx.InsertStep(ctx, s)
}

func (x tapped) UpdateStep(ctx context.Context, fence int64, s *weir.Step) error {
	x.p.instant(true)
	return x.Tx.UpdateStep(ctx, fence, s)
}

func (x tapped) InsertCalls(ctx context.Context, fence int64, calls ...weir.Call) error {
	x.p.instant(true)
	return x.Tx.InsertCalls(ctx, fence, calls...)
}

func (x tapped) UpdateCall(ctx context.Context, fence int64, call *weir.Call) error {
	x.p.instant(true)
	return x.Tx.UpdateCall(ctx, fence, call)
}

// Model implements [turn.Models]: the streams of its client are instants too.
func (s *scene) Model(id string) (model.Profile, model.Client, error) {
	p, c, err := s.provider.Model(id)
	return p, streaming{c, s}, err
}

type streaming struct {
	model.Client
	s *scene
}

func (c streaming) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	c.s.tap().instant(false)
	answer, err := c.Client.Stream(ctx, body, func(ev model.Event) error {
		c.s.tap().instant(false)
		return emit(ev)
	})
	c.s.tap().instant(false)
	return answer, err
}

// scene is a step with three parallel tools that is played over and over, with
// something happening at another of its instants each time.
type scene struct {
	*world
	provider *provider
	tools    option
	now      atomic.Pointer[tap]
	calls    atomic.Int64

	mu  sync.Mutex
	ran map[string]int
}

func (s *scene) tap() *tap { return s.now.Load() }

// scenes are what can happen in a step.
var scenes = map[string]struct {
	consent tool.Consent // of the second tool
	breaks  bool         // the first attempts do, before and after output
}{
	"none asks":  {weir.Allow, false},
	"one asks":   {weir.Ask, false},
	"breaks off": {weir.Allow, true},
}

func newScene(t *testing.T, db store.Store, consent tool.Consent, breaks bool) *scene {
	s := &scene{world: newWorld(t, db), provider: newProvider(t, strictpeer.Anthropic), ran: map[string]int{}}
	var asked atomic.Int64
	s.provider.Otherwise(func(r *strictpeer.Request) strictpeer.Answer {
		id := func() string { return fmt.Sprint("call_", s.calls.Add(1)) }
		switch {
		case !strings.Contains(r.Last, "use them"):
			return strictpeer.Answer{strictpeer.Think("So."), strictpeer.Pieces(4), strictpeer.Say("That is it.")}
		case breaks && asked.Add(1)%2 == 1:
			return strictpeer.Answer{strictpeer.Fail(529, "")}
		case breaks:
			return strictpeer.Answer{strictpeer.Think("All."), strictpeer.Say("Let me see."), strictpeer.Call(id(), "first", `{"n":1}`), strictpeer.Abort()}
		}
		return strictpeer.Answer{
			strictpeer.Think("Three of them."), strictpeer.Say("Let me see."),
			strictpeer.Call(id(), "first", `{"n":1}`), strictpeer.Call(id(), "second", `{"n":2}`), strictpeer.Call(id(), "third", `{"n":3}`),
		}
	})
	run := func(_ context.Context, c tool.Call) (tool.Result, error) {
		s.tap().instant(false)
		s.mu.Lock()
		s.ran[string(c.Conversation)+c.ID]++
		s.mu.Unlock()
		s.tap().instant(false)
		return tool.Result{Text: "result of " + c.ID}, nil
	}
	s.tools = withTools(fakeTool{name: "first", run: run}, asking{fakeTool{name: "second", run: run}, consent}, fakeTool{name: "third", run: run})
	return s
}

// begin starts an engine whose store is tapped. Nothing happens before at.
func (s *scene) begin(at int) {
	s.t.Helper()
	p := &tap{mortal: &mortal{Store: s.s}, at: at, leases: map[weir.ConversationID]weir.Lease{}}
	s.now.Store(p)
	s.engine = s.another(s.tools, withModels(s), func(c *turn.Config) { c.Store = turn.Over[store.Tx](p) })
	s.start()
}

// settled lets a conversation come to rest, agreeing to what it asks.
func (s *scene) settled(c weir.ConversationID) {
	s.t.Helper()
	s.until(c, "it has settled", func() bool { return s.isSettled(c) })
}

func (s *scene) isSettled(c weir.ConversationID) bool {
	s.t.Helper()
	conv := s.get(c)
	if conv.State == weir.Waiting && conv.WaitingFor == "approval" {
		s.agree(c)
		return false
	}
	_, err := s.s.UnsettledStep(s.t.Context(), c)
	return weir.CodeOf(err) == weir.CodeStepNotFound && (conv.State == weir.Waiting || conv.State == weir.Idle && len(s.pending(c)) == 0)
}

func (s *scene) agree(c weir.ConversationID) {
	s.t.Helper()
	calls, err := s.s.WaitingCalls(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, call := range calls {
		err := s.engine.Decide(s.t.Context(), actor(), c, call.ID, weir.Allow, false)
		if err != nil && weir.CodeOf(err) != "call_not_found" && !errors.Is(err, errKilled) {
			s.t.Fatal(err)
		}
	}
}

// play plays the scene once and returns how many instants it had.
func (s *scene) play(c weir.ConversationID, happen func(inside bool), after func()) int {
	s.t.Helper()
	s.conversation(c)
	p := s.tap()
	p.mu.Lock()
	p.n, p.happen = 0, happen
	p.mu.Unlock()
	if _, err := s.engine.Admit(s.t.Context(), actor(), turn.Admission{Conversation: c, Text: "use them"}); err != nil && !p.dead.Load() {
		s.t.Fatal(err)
	}
	after()
	s.settled(c)
	p.mu.Lock()
	n := p.n
	p.at = 0
	p.mu.Unlock()
	if _, err := s.engine.Admit(s.t.Context(), actor(), turn.Admission{Conversation: c, Text: "go on"}); err != nil {
		s.t.Fatal(err)
	}
	s.settled(c)
	return n
}

// proven proves what must be true of all that was played.
func (s *scene) proven() {
	s.t.Helper()
	for _, r := range s.provider.Refusals() {
		s.t.Errorf("the peer refused: %s", r)
	}
	s.clean()
	for call, n := range s.ran {
		if n > 1 {
			s.t.Errorf("%s was run %d times", call, n)
		}
	}
}

// instants plays the scene once for each instant that it has; for some of them
// only, other ones each time, unless WEIR_STORM is set, and for fewer under the
// race detector.
func (s *scene) instants(name string, happen func(c weir.ConversationID) func(inside bool), after func(c weir.ConversationID)) {
	s.t.Helper()
	s.begin(0)
	n := s.play(weir.ConversationID(name+" not at all"), nil, func() {})
	s.engine.Stop()
	if n < 20 {
		s.t.Fatalf("only %d instants: nothing is tapped", n)
	}
	stride := 2
	switch {
	case os.Getenv("WEIR_STORM") != "":
		stride = 1
	case strings.Contains(name, "/postgres"):
		stride = 6
	}
	if race.Enabled && stride > 1 {
		stride *= 3
	}
	for at := 1 + rand.IntN(stride); at <= n+2; at += stride {
		c := weir.ConversationID(fmt.Sprint(name, " at ", at))
		s.begin(at)
		s.play(c, happen(c), func() { after(c) })
		s.engine.Stop()
	}
	s.t.Logf("%s: %d instants", name, n)
	s.proven()
}

func TestSomethingHappensAtEveryInstantOfAStepWithThreeTools(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			stores.Each(t, func(t *testing.T, db store.Store) {
				for name, act := range map[string]func(e *turn.Engine, c weir.ConversationID) error{
					"interrupt": func(e *turn.Engine, c weir.ConversationID) error {
						return e.Interrupt(context.Background(), actor(), c, "")
					},
					"interrupt for the steers": func(e *turn.Engine, c weir.ConversationID) error {
						return e.Interrupt(context.Background(), actor(), c, weir.Steer)
					},
					"exclusive": func(e *turn.Engine, c weir.ConversationID) error {
						return e.Exclusive(context.Background(), c, func(turn.Tx, int64) error { return nil })
					},
				} {
					t.Run(name, func(t *testing.T) {
						s := newScene(t, db, scene.consent, scene.breaks)
						s.instants(t.Name(), func(c weir.ConversationID) func(bool) {
							return func(inside bool) {
								e, done := s.engine, make(chan struct{})
								go func() {
									defer close(done)
									if err := act(e, c); err != nil && weir.CodeOf(err) != weir.CodeConversationNotFound {
										t.Error(err)
									}
								}()
								if !inside && name != "exclusive" { // which waits for who waits here
									<-done
								}
								t.Cleanup(func() { <-done })
							}
						}, func(weir.ConversationID) {})
					})
				}
			})
		})
	}
}

func TestAProcessDiesAtEveryInstantOfAStepWithThreeTools(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			stores.Each(t, func(t *testing.T, db store.Store) {
				s := newScene(t, db, scene.consent, scene.breaks)
				var died chan struct{}
				s.instants(t.Name(), func(c weir.ConversationID) func(bool) {
					dead, p := make(chan struct{}), s.tap()
					died = dead
					return func(bool) {
						p.kill()
						close(dead)
						s.hub.Publish(weir.Signal{Conversation: c, State: true})
					}
				}, func(c weir.ConversationID) {
					s.until(c, "the process has died or nothing is left to do", func() bool {
						select {
						case <-died:
							return true
						default:
						}
						return s.isSettled(c)
					})
					p := s.tap()
					s.engine.Stop()
					p.expire(t, c)
					s.begin(0)
				})
			})
		})
	}
}
