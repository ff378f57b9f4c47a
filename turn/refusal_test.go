package turn_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
	"weir/turn"
)

// endpoint is strict peers behind one address, one at a time, as [turn.Models].
type endpoint struct {
	t       *testing.T
	now     atomic.Pointer[strictpeer.Peer]
	all     []*strictpeer.Peer
	profile model.Profile
}

// newEndpoint is of a peer's profile, for a model that is believed to be as
// another profile says.
func newEndpoint(t *testing.T, peer, believed string) *endpoint {
	e := &endpoint{t: t, profile: strictpeer.Model(believed, "peer/one", "one")}
	e.becomes(strictpeer.New(peer))
	return e
}

func (e *endpoint) becomes(p *strictpeer.Peer) *strictpeer.Peer {
	e.all = append(e.all, p)
	e.now.Store(p)
	return p
}

// ServeHTTP implements [http.Handler].
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.now.Load().ServeHTTP(w, r) }

// Model implements [turn.Models].
func (e *endpoint) Model(id string) (model.Profile, model.Client, error) {
	p := e.profile
	if id != "" {
		p.ID = id // with the same name, so the same body
	}
	return p, wires.Direct(p, e), nil
}

// refusedOnce checks that no body came again after it was refused, and returns
// how many were refused.
func (e *endpoint) refusedOnce() int {
	e.t.Helper()
	refused := map[string]bool{}
	for _, p := range e.all {
		for _, x := range p.Exchanges() {
			if refused[string(x.Body)] {
				e.t.Errorf("a body came again after it was refused (%d): %.300s", x.Status, x.Body)
			}
			if x.Status >= 400 && x.Status < 500 && x.Status != 429 || x.Refusal != "" {
				refused[string(x.Body)] = true
			}
		}
	}
	return len(refused)
}

func (e *endpoint) bodies() (n int) {
	for _, p := range e.all {
		n += len(p.Bodies())
	}
	return n
}

// refusals is a world on an endpoint; tell changes what the model has to know.
type refusalWorld struct {
	*world
	*endpoint
	dial *dial
	n    int
}

func newRefusalWorld(t *testing.T, s store.Store, e *endpoint) *refusalWorld {
	d := newDial("test/a", 0)
	w := newWorld(t, s)
	w.engine = w.another(withModels(e), withDials(d))
	return &refusalWorld{world: w.start(), endpoint: e, dial: d}
}

// again is another process on the same store.
func (w *refusalWorld) again() {
	w.engine.Stop()
	w.engine = w.another(withModels(w.endpoint), withDials(w.dial))
	w.start()
}

func (w *refusalWorld) tell() { w.n++; w.dial.set(w.n) }

func (w *refusalWorld) retry(c weir.ConversationID) {
	w.world.t.Helper()
	if err := w.engine.Retry(w.world.t.Context(), actor(), c, nil); err != nil {
		w.world.t.Fatal(err)
	}
	w.rests(c)
}

func (w *refusalWorld) says(c weir.ConversationID, text string) {
	w.world.t.Helper()
	w.send(c, text)
	w.rests(c)
}

// lastStep is the newest step, which must have ended as it is said.
func (w *refusalWorld) lastStep(c weir.ConversationID, state weir.StepState, code string) weir.Step {
	w.world.t.Helper()
	all := w.steps(c)
	s := all[len(all)-1]
	if s.State != state || s.Code != code {
		w.world.t.Errorf("the newest step is %s %q: %s", s.State, s.Code, s.Reason)
	}
	return s
}

func TestARequestThatWasRefusedIsNotSentASecondTime(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, refusal := range map[string]struct {
			status   int
			says     string
			code     string
			template bool
		}{
			"a bad request":   {400, "messages.3.content: Input should be a valid list", "provider_refused_request", false},
			"too long":        {400, "prompt is too long: 201000 tokens > 200000 maximum", "provider_context_overflow", false},
			"too large":       {413, "Request exceeds the maximum size", "provider_context_overflow", false},
			"an old template": {500, "Jinja Exception: Unknown argument", "provider_refused_request", true},
		} {
			t.Run(name, func(t *testing.T) {
				w := newRefusalWorld(t, s, newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
				c := w.conversation(weir.ConversationID(name))
				w.says(c, "one")
				peer := w.now.Load()
				peer.Script(strictpeer.Answer{strictpeer.Fail(refusal.status, refusal.says)})
				w.says(c, "two")
				step := w.lastStep(c, weir.StepFailed, refusal.code)
				if !strings.Contains(step.Reason, refusal.says) || step.Attempts != 1 {
					t.Errorf("the step is %+v", step)
				}
				sent := w.bodies()

				for range 2 {
					w.retry(c)
					again := w.lastStep(c, weir.StepFailed, refusal.code)
					if !strings.Contains(again.Reason, refusal.says) || !strings.Contains(again.Reason, "not sent again: write something more") || again.Ledger.SHA256 != "" {
						t.Errorf("the step is %+v", again)
					}
					w.again()
				}
				if n := w.bodies(); n != sent {
					t.Errorf("%d bodies left after the refusal", n-sent)
				}

				w.says(c, "three")
				w.lastStep(c, weir.StepDone, "")
				if last := w.peerSaw(); !strings.Contains(last, "two") || !strings.Contains(last, "three") {
					t.Errorf("the last request is %s", last)
				}
				if w.refusedOnce() == 0 && !refusal.template {
					t.Error("nothing was refused")
				}
				w.clean()
				w.engine.Stop()
			})
		}
	})
}

func (w *refusalWorld) peerSaw() string {
	all := w.now.Load().Bodies()
	return string(all[len(all)-1])
}

func TestABranchDoesNotSendWhatItsOriginWasRefused(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newRefusalWorld(t, s, newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
		c := w.conversation("origin")
		w.says(c, "one")
		w.now.Load().Script(strictpeer.Answer{strictpeer.Fail(400, "messages: no")})
		w.says(c, "two")
		branch := w.branch(c, "branch")
		w.retry(branch)
		w.lastStep(branch, weir.StepFailed, "provider_refused_request")
		if w.refusedOnce() != 1 || w.bodies() != 2 {
			t.Errorf("%d bodies left", w.bodies())
		}
		w.says(branch, "three")
		w.lastStep(branch, weir.StepDone, "")
		w.clean()
	})
}

// branch makes a child that has everything of c.
func (w *refusalWorld) branch(c, id weir.ConversationID) weir.ConversationID {
	w.world.t.Helper()
	from := w.get(c)
	child := weir.Conversation{
		ID: id, Owner: owner, Kind: weir.Branch, Visibility: from.Visibility,
		Lineage:    append(from.Lineage, weir.Inherited{Conversation: c, Upto: from.HeadSeq}),
		Generation: from.Generation, State: weir.Idle, CreatedAt: from.CreatedAt,
	}
	err := w.s.Update(w.world.t.Context(), func(tx store.Tx) error { return tx.InsertConversation(w.world.t.Context(), &child) })
	if err != nil {
		w.world.t.Fatal(err)
	}
	return id
}

func TestTheSameRequestGoesToAnotherModel(t *testing.T) {
	w := newRefusalWorld(t, stores.SQLite(t), newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
	c := w.conversation("c")
	w.now.Load().Script(strictpeer.Answer{strictpeer.Fail(400, "messages: no")})
	w.says(c, "one")
	other := "other/one"
	w.change(c, weir.ConversationChange{Model: &other})
	w.retry(c)
	w.lastStep(c, weir.StepDone, "")
	w.clean()
}

// An address that is wrong says nothing of the bytes.
func TestWhatReachedNoModelIsSentAgain(t *testing.T) {
	w := newRefusalWorld(t, stores.SQLite(t), newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
	c := w.conversation("c")
	w.now.Load().Script(strictpeer.Answer{strictpeer.Fail(404, "model: one")})
	w.says(c, "one")
	w.lastStep(c, weir.StepFailed, "provider_not_found")
	w.retry(c)
	w.lastStep(c, weir.StepDone, "")
	w.clean()
}

// signing are the profiles whose peers sign reasoning.
var signing = []string{strictpeer.Anthropic, strictpeer.AnthropicOld, strictpeer.Responses, strictpeer.Gemini}

func TestReasoningThatIsRefusedIsLeftOutByItselfAndOnce(t *testing.T) {
	for _, profile := range signing {
		t.Run(profile, func(t *testing.T) {
			stores.Each(t, func(t *testing.T, s store.Store) { reasoningRefused(t, s, profile) })
		})
	}
}

func reasoningRefused(t *testing.T, s store.Store, profile string) {
	moved := func(secret string) *strictpeer.Peer {
		p := strictpeer.New(profile, strictpeer.Signing(secret))
		p.Otherwise(func(r *strictpeer.Request) strictpeer.Answer {
			return strictpeer.Answer{strictpeer.Think("They said something."), strictpeer.Say("You said: " + r.Last)}
		})
		return p
	}
	w := newRefusalWorld(t, s, newEndpoint(t, profile, profile))
	w.becomes(moved("of this account"))
	c := w.conversation("c")
	w.says(c, "one")
	w.says(c, "two")
	signed := func() int {
		return strings.Count(w.peerSaw(), "\"signature\":\"") + strings.Count(w.peerSaw(), "encrypted_content\":\"") + strings.Count(w.peerSaw(), "thoughtSignature\":\"")
	}
	if signed() != 1 {
		t.Fatalf("reasoning is not sent back, so nothing is proved: %s", w.peerSaw())
	}
	w.becomes(moved("of another account"))
	w.says(c, "three")

	all := w.steps(c)
	if n := len(all); n != 4 {
		t.Fatalf("%d steps", n)
	}
	failed, healed := all[2], all[3]
	refusal := w.now.Load().Refusals()[0]
	if failed.State != weir.StepFailed || failed.Code != "provider_refused_reasoning" ||
		!strings.Contains(failed.Reason, refusal) || !strings.Contains(failed.Reason, "without the reasoning so far") {
		t.Errorf("the step that was refused is %+v", failed)
	}
	if healed.State != weir.StepDone || healed.Ledger.Reason != weir.BreakModel || healed.Chained != 1 || signed() != 0 {
		t.Errorf("the step after it is %+v; it sent %s", healed, w.peerSaw())
	}
	want(t, w.transcript(c)[9:], "user: three", "step", "end failed provider_refused_reasoning", "step", w.transcript(c)[13], "end done")

	// From here on it is signed again, and nothing breaks any more.
	w.again()
	w.says(c, "four")
	w.says(c, "five")
	for _, step := range w.steps(c)[4:] {
		if step.State != weir.StepDone || step.Ledger.Reason != "" {
			t.Errorf("a later step is %+v", step)
		}
	}
	if n := signed(); n != 2 {
		t.Errorf("%d pieces of reasoning in %s", n, w.peerSaw())
	}
	if n := w.refusedOnce(); n != 1 {
		t.Errorf("%d bodies were refused", n)
	}

	// And once more.
	w.becomes(moved("of a third account"))
	w.says(c, "six")
	w.lastStep(c, weir.StepDone, "")
	if n := w.refusedOnce(); n != 2 {
		t.Errorf("%d bodies were refused", n)
	}
	w.clean()
}

// nothingRefusedGoesAgain checks that no step of a walk sent what an earlier
// one of the same conversation had refused.
func (w *walk) nothingRefusedGoesAgain() {
	w.t.Helper()
	n := 0
	for _, c := range w.convs {
		judged := map[string]weir.StepID{}
		for _, s := range w.steps(c) {
			key := s.Model + " " + s.Ledger.SHA256
			if was := judged[key]; was != "" && s.Ledger.SHA256 != "" {
				w.t.Errorf("step %s sends what was refused of %s", s.ID, was)
			}
			if slices.Contains(weir.RefusedCodes(), s.Code) && s.State != weir.StepDone {
				judged[key], n = s.ID, n+1
			}
		}
	}
	w.t.Logf("%d requests were refused or withheld", n)
}

// A vendor that goes on complaining is not asked for ever.
func TestAComplaintThatNothingHelpsAgainstEnds(t *testing.T) {
	w := newRefusalWorld(t, stores.SQLite(t), newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
	w.now.Load().Otherwise(func(*strictpeer.Request) strictpeer.Answer {
		return strictpeer.Answer{strictpeer.Fail(400, "messages.1.content.0: Invalid `signature` in `thinking` block")}
	})
	c := w.conversation("c")
	w.says(c, "one")
	w.lastStep(c, weir.StepFailed, "provider_refused_reasoning")
	if n := w.bodies(); n != 1 {
		t.Errorf("%d bodies left", n)
	}
	w.says(c, "two")
	if n := w.bodies(); n != 2 || w.refusedOnce() != 2 {
		t.Errorf("%d bodies left", n)
	}
	w.clean()
}

func TestAModelThatTakesNoSystemMessageIsRemembered(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newRefusalWorld(t, s, newEndpoint(t, strictpeer.AnthropicOld, strictpeer.Anthropic))
		c := w.conversation("c")
		w.says(c, "one")
		w.tell()
		w.says(c, "two")
		all := w.steps(c)
		failed, healed := all[1], all[len(all)-1]
		if failed.Code != "provider_refused_system" || !strings.Contains(failed.Reason, "role 'system' is not supported on this model") ||
			!strings.Contains(failed.Reason, "remembered of the model") {
			t.Errorf("the step that was refused is %+v", failed)
		}
		if len(all) != 3 || healed.State != weir.StepDone || healed.Ledger.Reason != weir.BreakModel {
			t.Errorf("the step after it is %+v", healed)
		}
		if !strings.Contains(w.peerSaw(), "<system-update>") {
			t.Errorf("the update was not told otherwise: %s", w.peerSaw())
		}
		// Elsewhere and after a restart nothing is refused any more.
		w.again()
		other := w.conversation("other")
		for i := range 3 {
			w.tell()
			for _, c := range []weir.ConversationID{c, other} {
				w.says(c, fmt.Sprint("more ", i))
				w.lastStep(c, weir.StepDone, "")
			}
		}
		if n := w.refusedOnce(); n != 1 {
			t.Errorf("%d bodies were refused", n)
		}
		w.clean()
	})
}

// llama.cpp says what a template refuses as a fault of its own.
func TestATemplatesWordsAreUnderstoodWhateverTheStatus(t *testing.T) {
	for words, code := range map[string]string{
		"Jinja Exception: System message must be at the beginning.":                                                                       "provider_refused_system",
		"Conversation roles must alternate user/assistant/user/assistant/...":                                                             "provider_refused_roles",
		"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results": "provider_refused_roles",
		"The reasoning_content in the thinking mode must be passed back to the API.":                                                      "provider_refused_calls",
	} {
		for _, status := range []int{400, 500} {
			if status == 500 && code == "provider_refused_calls" {
				continue
			}
			w := newRefusalWorld(t, stores.SQLite(t), newEndpoint(t, strictpeer.OpenAIChat, strictpeer.OpenAIChat))
			c := w.conversation("c")
			w.says(c, "one")
			w.tell()
			w.now.Load().Script(strictpeer.Answer{strictpeer.Fail(status, words)})
			w.says(c, "two")
			all := w.steps(c)
			if all[1].Code != code || all[1].Attempts != 1 || len(w.naps.all()) != 0 {
				t.Errorf("%d %s: the step is %+v", status, words, all[1])
			}
			if code == "provider_refused_calls" {
				w.says(c, "three") // there are no calls, so the bytes would be the same
			}
			w.lastStep(c, weir.StepDone, "")
			w.refusedOnce()
			w.clean()
		}
	}
}

// With a body of the real size where WEIR_STORM is full: that takes seconds.
func TestABodyOverTheVendorsSizeIsNotSentASecondTime(t *testing.T) {
	if os.Getenv("WEIR_STORM") != "full" {
		t.Skip("only with WEIR_STORM=full")
	}
	w := newWorld(t, stores.SQLite(t))
	e := newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic)
	r := &refusalWorld{world: w, endpoint: e, dial: newDial("test/a", 0)}
	w.engine = w.another(withModels(e), withDials(r.dial))
	c := w.conversation("c")
	for range 6 {
		w.send(c, strings.Repeat("\x01", 1_000_000)) // six bytes each in JSON
	}
	w.start()
	w.rests(c)
	step := r.lastStep(c, weir.StepFailed, "provider_context_overflow")
	if !strings.Contains(step.Reason, "Request exceeds the maximum size") {
		t.Errorf("the step is %+v", step)
	}
	r.retry(c)
	r.lastStep(c, weir.StepFailed, "provider_context_overflow")
	if n := r.refusedOnce(); n != 1 || r.bodies() != 1 {
		t.Errorf("%d bodies left, %d refused", r.bodies(), n)
	}
}

// doomed is a store whose process dies right after a refusal is in it.
type doomed struct {
	*mortal
	lease atomic.Pointer[weir.Lease]
}

type doomedTx struct {
	store.Tx
	d    *doomed
	last *bool
}

func (x doomedTx) AcquireLease(ctx context.Context, c weir.ConversationID, holder string, ttl time.Duration) (weir.Lease, bool, error) {
	l, ok, err := x.Tx.AcquireLease(ctx, c, holder, ttl)
	x.d.lease.Store(&l)
	return l, ok, err
}

func (x doomedTx) UpdateStep(ctx context.Context, fence int64, s *weir.Step) error {
	*x.last = strings.HasPrefix(s.Code, "provider_refused")
	return x.Tx.UpdateStep(ctx, fence, s)
}

func (d *doomed) Update(ctx context.Context, fn func(store.Tx) error) error {
	last := false
	err := d.mortal.Update(ctx, func(tx store.Tx) error { return fn(doomedTx{tx, d, &last}) })
	if last && err == nil {
		d.kill()
	}
	return err
}

func TestACrashAfterARefusalLeavesItKnown(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newRefusalWorld(t, s, newEndpoint(t, strictpeer.Anthropic, strictpeer.Anthropic))
		c := w.conversation("c")
		w.says(c, "one")
		w.engine.Stop()
		w.becomes(strictpeer.New(strictpeer.Anthropic, strictpeer.Signing("of another account")))
		d := &doomed{mortal: &mortal{Store: s}}
		w.engine = w.another(withModels(w.endpoint), withDials(w.dial), func(c *turn.Config) { c.Store = turn.Over[store.Tx](d) })
		w.start()
		w.send(c, "two")
		w.until(c, "the process is dead", func() bool { return d.dead.Load() })
		w.engine.Stop()
		if step, err := s.UnsettledStep(t.Context(), c); err != nil || step.Code != "provider_refused_reasoning" {
			t.Fatalf("%v, the step is %+v", err, step)
		}
		must(t, s.Update(t.Context(), func(tx store.Tx) error { return tx.ReleaseLease(t.Context(), *d.lease.Load()) }))
		w.again()
		w.rests(c)
		if step := w.steps(c)[1]; step.State != weir.StepFailed || step.Code != "provider_refused_reasoning" {
			t.Errorf("the step that was refused is %+v", step)
		}
		w.lastStep(c, weir.StepDone, "")
		if n := w.refusedOnce(); n != 1 {
			t.Errorf("%d bodies were refused", n)
		}
		w.clean()
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Many servers repeat in an error what they were sent.
func TestWordsThatAreRepeatedTeachNobodyElse(t *testing.T) {
	for _, c := range []struct{ peer, words, code string }{
		{strictpeer.OpenAIChat, "Conversation roles must alternate user/assistant", "provider_refused_roles"},
		{strictpeer.OpenAIChat, "the reasoning_content in the thinking mode must be passed back", "provider_refused_calls"},
		{strictpeer.Anthropic, "role 'system' is not supported on this model", "provider_refused_system"},
	} {
		t.Run(c.code, func(t *testing.T) {
			w := newRefusalWorld(t, stores.SQLite(t), newEndpoint(t, c.peer, c.peer))
			other, evil := w.conversation("other"), w.conversation("evil")
			w.says(other, "one")
			w.says(evil, "one")
			w.tell()
			w.now.Load().Script(strictpeer.Answer{strictpeer.Fail(400, "1 validation error: input_value='"+c.words+"'")})
			w.says(evil, c.words)
			steps := w.steps(evil)
			if s := steps[1]; s.Code != c.code || !strings.Contains(s.Reason, "this conversation alone") {
				t.Errorf("the step is %+v", s)
			}
			err := w.s.View(t.Context(), func(r store.Reader) error {
				lessons, err := r.Lessons(t.Context())
				if len(lessons) > 0 {
					t.Errorf("learnt: %+v", lessons)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			w.again()
			w.says(evil, "two")
			w.lastStep(evil, weir.StepDone, "")
			w.says(other, "two")
			if s := w.lastStep(other, weir.StepDone, ""); s.Ledger.Reason != "" {
				t.Errorf("bytes moved: %s", s.Ledger.Reason)
			}
			w.clean()
		})
	}
}
