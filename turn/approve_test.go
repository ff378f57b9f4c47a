package turn_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"weir"
	"weir/store"
	"weir/test/stores"
	"weir/tool"
	"weir/turn"
)

// asking is a tool that runs only when a person has agreed.
type asking struct {
	fakeTool
	consent tool.Consent
}

func (a asking) Consent() tool.Consent { return a.consent }

// approvals is a world with a tool that asks, one that does not and one that
// is denied.
func approvals(t *testing.T, s store.Store, ran *atomic.Int32, options ...option) (*world, option) {
	says := func(name string) fakeTool {
		return fakeTool{name: name, run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			ran.Add(1)
			return tool.Result{Text: "did " + c.ID}, nil
		}}
	}
	tools := withTools(says("free"), asking{says("ask"), weir.Ask}, asking{says("never"), weir.Deny})
	return newWorld(t, s, append(options, tools)...), tools
}

func (w *world) decide(c weir.ConversationID, call string, d weir.Decision) {
	w.t.Helper()
	if err := w.engine.Decide(w.t.Context(), actor(), c, call, d, false); err != nil {
		w.t.Fatal(err)
	}
}

// asksPerson waits until a conversation waits for a person's consent.
func (w *world) asksPerson(c weir.ConversationID) {
	w.t.Helper()
	w.until(c, "it waits for consent", func() bool {
		conv := w.get(c)
		return conv.State == weir.Waiting && conv.WaitingFor == "approval"
	})
}

func TestACallThatAsksWaitsForAPerson(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var ran atomic.Int32
		w, tools := approvals(t, s, &ran)
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "ask", `{"a":1}`).call("2", "free", "{}").call("3", "ask", "{}").call("4", "never", "{}").end()
		w.asksPerson(c)
		if got := w.results(c); len(got) != 2 || got["2"].Text != "did 2" || !strings.Contains(got["4"].Text, "may not be called") {
			t.Errorf("the results are %v", got)
		}
		calls, err := s.WaitingCalls(t.Context(), c)
		if err != nil || len(calls) != 2 || calls[0].ID != "1" || calls[1].ID != "3" {
			t.Errorf("the calls that wait are %v (%v)", calls, err)
		}
		// Waiting is durable and holds no lease: nothing of it is in a process.
		w.notDue(c)
		w.engine.Stop()
		w.engine = w.another(tools)
		w.start()
		w.send(c, "meanwhile")
		w.notDue(c)
		if n := len(w.pending(c)); n != 1 {
			t.Errorf("%d inputs are pending", n)
		}
		codeIs(t, w.engine.Decide(t.Context(), actor(), c, "2", weir.Allow, false), "call_not_found")
		codeIs(t, w.engine.Decide(t.Context(), actor(), c, "1", weir.Ask, false), "decision_invalid")
		codeIs(t, w.engine.Decide(t.Context(), weir.Actor{Owner: "else", MayConfirm: true}, c, "1", weir.Allow, false), weir.CodeConversationNotFound)
		codeIs(t, w.engine.Decide(t.Context(), weir.Actor{Owner: owner}, c, "1", weir.Allow, false), "needs_person")

		w.decide(c, "3", weir.Allow)
		w.until(c, "the allowed one has run", func() bool { return w.results(c)["3"] != nil })
		w.asksPerson(c)
		w.notAsked()
		w.decide(c, "1", weir.Allow)
		a := w.next()
		a.has(t, `"did 1"`, `"did 2"`, `"did 3"`, "may not be called", "meanwhile")
		a.say("ok").end()
		w.rests(c)
		codeIs(t, w.engine.Decide(t.Context(), actor(), c, "1", weir.Allow, false), "call_not_found")
		if ran.Load() != 3 {
			t.Errorf("%d calls were run", ran.Load())
		}
		w.clean()
	})
}

func TestNobodyIsAskedAboutAToolThatItsServerDoesNotOffer(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		src := newLate()
		src.claim = &tool.Claim{Consent: weir.Ask, Reason: "the server nu does not offer it.", Lacks: true}
		src.comes(named("nu__there"))
		w := newWorld(t, s, withSource(src)).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "nu__nope", "{}").end()
		w.next().say("ok").end()
		w.rests(c)
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: call nu__nope",
			`result nu__nope: The tool "nu__nope" is not available: the server nu does not offer it.`, "end done", "step", "assistant: ok", "end done")
		w.clean()
	})
}

func TestADeclinedCallEndsTheTurn(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var ran atomic.Int32
		w, _ := approvals(t, s, &ran)
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "ask", "{}").call("2", "ask", "{}").end()
		w.asksPerson(c)
		w.decide(c, "1", weir.Deny)
		if err := w.engine.Decide(t.Context(), actor(), c, "1", weir.Deny, false); err != nil {
			codeIs(t, err, "call_not_found") // it was acted on already
		}
		w.until(c, "it is settled", func() bool { return w.results(c)["1"] != nil })
		w.asksPerson(c)
		w.decide(c, "2", weir.Allow)
		w.rests(c)
		w.notAsked()
		want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: call ask | call ask",
			"deny ask", "result ask: declined; it was not run", "allow ask", "result ask: did 2", "end done declined")
		a := w.asks(c, "two")
		a.has(t, "declined; it was not run", "did 2", "two")
		a.say("ok").end()
		w.rests(c)
		w.clean()
	})
}

func TestWhatIsPendingGoesOnAfterADecline(t *testing.T) {
	w, _ := approvals(t, stores.SQLite(t), new(atomic.Int32))
	w.start()
	c := w.conversation("c")
	w.asks(c, "one").call("1", "ask", "{}").end()
	w.asksPerson(c)
	w.queue(c, "later")
	w.decide(c, "1", weir.Deny)
	a := w.next()
	a.has(t, "declined", "later")
	a.say("ok").end()
	w.rests(c)
	w.clean()
}

func TestADecisionIsRememberedAboutTheTool(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var ran atomic.Int32
		w, _ := approvals(t, s, &ran)
		w.start()
		c := w.conversation("c")
		for i, d := range []weir.Decision{weir.Allow, weir.Deny} {
			w.asks(c, fmt.Sprint("message ", i)).call(fmt.Sprint("a", i), "ask", "{}").end()
			w.asksPerson(c)
			if err := w.engine.Decide(t.Context(), actor(), c, fmt.Sprint("a", i), d, true); err != nil {
				t.Fatal(err)
			}
			if d == weir.Allow {
				w.next().say("ok").end()
			}
			w.rests(c)
			w.asks(c, "again").call(fmt.Sprint("b", i), "ask", "{}").end() // asks nobody
			a := w.next()
			a.has(t, map[weir.Decision]string{weir.Allow: "did b0", weir.Deny: "may not be called"}[d])
			a.say("ok").end()
			w.rests(c)
			ask := weir.ToolRule{Owner: owner, Tool: "ask", Decision: weir.Ask}
			if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.PutToolRule(t.Context(), ask) }); err != nil {
				t.Fatal(err)
			}
		}
		if ran.Load() != 2 {
			t.Errorf("%d calls were run", ran.Load())
		}
		w.clean()
	})
}

func TestAnInterruptDeclinesWhatWaits(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, end := range map[string]func(w *world, c weir.ConversationID){
			"an interrupt": func(w *world, c weir.ConversationID) { w.interrupt(c); w.interrupt(c) },
			"somebody who wants it to himself": func(w *world, c weir.ConversationID) {
				if err := w.engine.Exclusive(t.Context(), c, func(turn.Tx, int64) error { return nil }); err != nil {
					t.Error(err)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				var ran atomic.Int32
				w, _ := approvals(t, s, &ran)
				w.start()
				c := w.conversation(weir.ConversationID(name))
				w.asks(c, "one").call("1", "ask", "{}").call("2", "free", "{}").end()
				w.asksPerson(c)
				end(w, c)
				w.rests(c)
				if conv := w.get(c); conv.WaitingFor != "" {
					t.Errorf("it waits for %q", conv.WaitingFor)
				}
				codeIs(t, w.engine.Decide(t.Context(), actor(), c, "1", weir.Allow, false), "call_not_found")
				want(t, w.transcript(c), "title: one", "user: one", "step", "assistant: call ask | call free", "result free: did 2",
					"result ask: declined; it was not run", "end interrupted interrupted")
				a := w.asks(c, "two")
				a.has(t, "declined", "did 2", "two")
				a.say("ok").end()
				w.rests(c)
				w.clean()
			})
		}
	})
}

func TestADecisionSurvivesACrashAndIsActedOnOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var ran atomic.Int32
		m := &mortal{Store: s}
		w, tools := approvals(t, m, &ran, withLease(0))
		w.start()
		w.s = s
		c := w.conversation("c")
		w.asks(c, "one").call("1", "ask", "{}").end()
		w.asksPerson(c)
		m.kill()
		w.engine.Stop()
		w.engine = w.another(tools) // not started: it decides and drains nothing
		w.decide(c, "1", weir.Allow)
		w.engine.Stop()
		w.engine = w.another(tools)
		w.start()
		w.next().say("ok").end()
		w.rests(c)
		if ran.Load() != 1 {
			t.Errorf("the call was run %d times", ran.Load())
		}
		w.clean()
	})
}

func TestTheWholeOfACutResultIsKept(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		long := strings.Repeat("0123456789\x00", weir.MaxArtefactBytes/11)
		w := newWorld(t, s, withTools(fakeTool{name: "t", run: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: long}, nil
		}})).start()
		c := w.conversation("c")
		w.asks(c, "one").call("1", "t", "{}").end()
		a := w.next()
		got := w.results(c)["1"]
		if got.Artefact == "" || len(got.Text) > 32<<10 {
			t.Fatalf("%d bytes, and the whole is in %q", len(got.Text), got.Artefact)
		}
		a.has(t, string(got.Artefact))
		conv := w.get(c)
		whole, err := s.Artefact(t.Context(), &conv, got.Artefact)
		if err != nil || whole.Text != long || whole.Call != "1" || whole.Tool != "t" {
			t.Errorf("%d bytes are kept of %s (%v)", len(whole.Text), whole.Tool, err)
		}
		a.say("ok").end()
		w.rests(c)
		w.clean()
	})
}

func TestADecisionIsNeverAboutALaterCall(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		var ran atomic.Int32
		w, tools := approvals(t, s, &ran)
		w.start()
		c := w.conversation("c")
		w.asks(c, "one").call("call_0", "ask", `{"cmd":"ls"}`).end()
		w.asksPerson(c)
		w.decide(c, "call_0", weir.Allow)
		a := w.next()
		a.has(t, `"call_0"`, "did call_0")
		a.call("call_0", "ask", `{"cmd":"rm"}`).end() // some models count from 0 in every answer
		w.asksPerson(c)
		codeIs(t, w.engine.Decide(t.Context(), actor(), c, "call_0", weir.Allow, false), "call_not_found")

		// Nor does it matter who has the conversation now, or what is a branch of it.
		w.engine.Stop()
		w.engine = w.another(tools)
		w.start()
		codeIs(t, w.engine.Decide(t.Context(), actor(), c, "call_0", weir.Allow, false), "call_not_found")
		second := w.waiting(c)
		w.decide(c, second, weir.Allow)
		b := w.next()
		b.has(t, `"call_0"`, "did call_0", "did "+second)
		b.say("ok").end()
		w.rests(c)
		fork := w.branch(c, "fork", w.get(c).HeadSeq)
		w.asks(fork, "two").call("call_0", "ask", "{}").call(second, "ask", "{}").end()
		w.asksPerson(fork)
		for _, id := range []string{"call_0", second} {
			codeIs(t, w.engine.Decide(t.Context(), actor(), fork, id, weir.Allow, false), "call_not_found")
		}
		w.interrupt(fork)
		w.rests(fork)
		if ran.Load() != 2 {
			t.Errorf("%d calls were run", ran.Load())
		}
		w.clean()
	})
}

func TestAnAllowedCallIsNotRunOnceTheConfigurationDeniesIt(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, d := range map[string]weir.Decision{"allowed": weir.Allow, "declined": weir.Deny} {
			t.Run(name, func(t *testing.T) {
				configured := func(d weir.Decision) option {
					return withTools(asking{fakeTool{name: "work", run: func(context.Context, tool.Call) (tool.Result, error) {
						t.Error("it was run")
						return tool.Result{}, nil
					}}, d})
				}
				w := newWorld(t, s, configured(weir.Ask)).start()
				c := w.conversation(weir.ConversationID(name))
				w.asks(c, "one").call("1", "work", "{}").call("2", "work", "{}").end()
				w.asksPerson(c)
				w.engine.Stop()
				w.engine = w.another(configured(weir.Deny))
				w.start()
				w.decide(c, "1", d)
				told := []string{"title: one", "user: one", "step", "assistant: call work | call work", string(d) + " work"}
				if d == weir.Deny {
					told = append(told, "result work: declined; it was not run", "result work: not run: this tool may not be called here", "end done declined")
				} else { // the person ended nothing: the model learns of it and goes on
					a := w.next()
					a.has(t, "may not be called here", "may not be called here")
					a.say("ok").end()
					told = append(told, "result work: not run: this tool may not be called here", "result work: not run: this tool may not be called here",
						"end done", "step", "assistant: ok", "end done")
				}
				w.rests(c)
				want(t, w.transcript(c), told...)
				w.clean()
			})
		}
	})
}

// waiting returns the id of the one call that waits.
func (w *world) waiting(c weir.ConversationID) string {
	w.t.Helper()
	calls, err := w.s.WaitingCalls(w.t.Context(), c)
	if err != nil || len(calls) != 1 {
		w.t.Fatalf("the calls that wait are %v (%v)", calls, err)
	}
	return calls[0].ID
}
