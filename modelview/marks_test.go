package modelview_test

import (
	"fmt"
	"strings"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
)

// asked is a talk whose requests go to a strict peer.
type asked struct {
	*talk
	peer   *strictpeer.Peer
	client model.Client // from the first question on
}

func newAsked(t *testing.T, profile string) *asked {
	p := strictpeer.Model(profile, "peer/m", "m")
	peer := strictpeer.New(profile, strictpeer.CacheMinimum(1))
	return &asked{talk: newTalk(t, p), peer: peer}
}

// ask sends the next request and appends what is answered.
func (k *asked) ask(acts ...strictpeer.Act) (*modelview.Request, weir.Usage) {
	k.t.Helper()
	r, u := k.send(acts...)
	k.answer(u.Parts...)
	return r, u.Usage
}

// send sends the next request; nothing is made of the answer.
func (k *asked) send(acts ...strictpeer.Act) (*modelview.Request, model.Answer) {
	k.t.Helper()
	r := k.step()
	k.peer.Script(acts)
	if k.client == nil {
		k.client = wires.Direct(k.p, k.peer)
	}
	a, err := k.client.Stream(ctx, r.Body, func(model.Event) error { return nil })
	if err != nil {
		k.t.Fatalf("%v; %v\n%s", err, k.peer.Refusals(), r.Body)
	}
	return r, a
}

// many calls one tool n times and says what came of it.
func (k *asked) many(n int) (weir.Usage, []strictpeer.Act) {
	k.t.Helper()
	acts := []strictpeer.Act{strictpeer.Think("all of them")}
	for i := range n {
		acts = append(acts, strictpeer.Call(fmt.Sprintf("toolu_%d", i), "list", `{}`))
	}
	_, u := k.ask(acts...)
	for i := range n {
		k.result(fmt.Sprintf("toolu_%d", i), strings.Repeat(fmt.Sprintf("file %d ", i), 50))
	}
	return u, acts
}

// The vendor looks twenty blocks back from a mark. However much a section adds,
// everything that an earlier request had in the cache is read from it.
func TestALongSectionReadsAllThatCameBefore(t *testing.T) {
	for _, profile := range []string{strictpeer.Anthropic, strictpeer.AnthropicOld} {
		t.Run(profile, func(t *testing.T) {
			k := newAsked(t, profile)
			k.epoch(strings.Repeat("You are thorough. ", 50), twoTools)
			k.user("look at everything")
			before, _ := k.many(60)
			for i, next := range []func(){
				func() { k.update("It is Tuesday.") },
				func() { k.user("and now?") },
				func() { k.user("more") },
			} {
				next()
				r, u := k.ask(strictpeer.Think("hm"), strictpeer.Say("so"))
				if u.Read != before.Read+before.Write {
					t.Errorf("request %d read %d tokens of the %d that the one before it left", i, u.Read, before.Read+before.Write)
				}
				if n := len(r.Marks); n > 4 || n != strings.Count(string(r.Body), mark) {
					t.Errorf("%d marks are noted, %d sent", n, strings.Count(string(r.Body), mark))
				}
				before = u
			}
			k.rebuild()
		})
	}
}

// What stands behind the results of an open section is arranged anew when more
// comes; the results, which are most of it, are not paid for again.
func TestResultsAreReadAgainWhenTheirSectionOpensAgain(t *testing.T) {
	k := newAsked(t, strictpeer.Anthropic)
	k.epoch("You are thorough.", twoTools)
	k.user("look at everything")
	k.many(60)
	k.update("It is Tuesday.")
	for i := range 19 {
		k.user(fmt.Sprint("also ", i))
	}
	first, a := k.send(strictpeer.Say("never heard"))
	k.user("are you there?")
	second, b := k.send(strictpeer.Say("yes"))
	if len(first.Marks) != 4 || len(second.Marks) != 4 || second.Ledger.Reason != weir.BreakOpenSection {
		t.Fatalf("marks at %v, then at %v, %q", first.Marks, second.Marks, second.Ledger.Reason)
	}
	if rest := a.Usage.Write - b.Usage.Write; b.Usage.Read <= a.Usage.Read || rest < 60*80 {
		t.Errorf("first %+v, then %+v: the results were written again", a.Usage, b.Usage)
	}
	k.rebuild()
}

func TestAShortSectionTakesNoMarkMore(t *testing.T) {
	k := newAsked(t, strictpeer.Anthropic)
	k.epoch("You are quick.", twoTools)
	k.user("look")
	k.many(5)
	k.user("and now?")
	if r, _ := k.ask(strictpeer.Say("so")); len(r.Marks) != 3 {
		t.Errorf("marks at %v", r.Marks)
	}
}

// While another model answered, much may have come between. What the first one
// has in its cache is read from there when the conversation comes back.
func TestComingBackToAModelReadsWhatItHadInItsCache(t *testing.T) {
	k := newAsked(t, strictpeer.Anthropic)
	k.epoch(strings.Repeat("You are thorough. ", 50), twoTools)
	k.user("one")
	k.ask(strictpeer.Think("hm"), strictpeer.Say("1"))
	k.user(strings.Repeat("two ", 100))
	_, before := k.ask(strictpeer.Think("hm"), strictpeer.Say("2"))
	first, peer, client := k.p, k.peer, k.client
	other := newAsked(t, strictpeer.OpenAIChat)
	k.p, k.peer, k.client = other.p, other.peer, nil
	k.p.ID = "peer/other"
	for i := range 3 {
		k.user("meanwhile")
		k.ask(strictpeer.Call(fmt.Sprint("c", i), "list", `{}`))
		k.result(fmt.Sprint("c", i), "a")
		for j := range 10 {
			k.user(fmt.Sprint("also ", j))
		}
		k.ask(strictpeer.Say("there"))
	}
	k.p, k.peer, k.client = first, peer, client
	k.user("back")
	r, u := k.ask(strictpeer.Think("hm"), strictpeer.Say("here"))
	if r.Ledger.Reason != weir.BreakModel || u.Read != before.Read+before.Write {
		t.Errorf("%q: it read %d tokens of %d", r.Ledger.Reason, u.Read, before.Read+before.Write)
	}
	k.restart()
	k.user("more")
	if _, next := k.ask(strictpeer.Say("still here")); next.Read != u.Read+u.Write {
		t.Errorf("then it read %d tokens of %d", next.Read, u.Read+u.Write)
	}
	k.rebuild()
}

// A vendor that reads nothing but up to breakpoints has one in every section,
// those of a tool loop too.
func TestEverySectionIsReadWhereBreakpointsStand(t *testing.T) {
	for _, profile := range []string{strictpeer.OpenAIChat, strictpeer.Responses} {
		k := newAsked(t, profile)
		k.p.ContentParts, k.p.CacheStyle = profile == strictpeer.OpenAIChat, model.CacheBreakpoints
		k.epoch(strings.Repeat("You are thorough. ", 50), twoTools)
		k.user("one")
		_, before := k.ask(strictpeer.Think("hm"), strictpeer.Call("c0", "list", `{}`))
		for i, more := range []func(){
			func() { k.result("c0", strings.Repeat("a ", 100)) },
			func() { k.result("c1", strings.Repeat("b ", 100)); k.update("It rains.") },
			func() { k.user("two"); k.user("three") },
			func() { k.user("four"); k.update("It snows.") },
		} {
			more()
			acts := []strictpeer.Act{strictpeer.Say("so")}
			if i == 0 {
				acts = []strictpeer.Act{strictpeer.Call("c1", "list", `{}`)}
			}
			_, u := k.ask(acts...)
			if u.Read != before.Read+before.Write || u.Read == 0 {
				t.Errorf("%s: request %d read %d tokens of the %d that the one before it left", profile, i, u.Read, before.Read+before.Write)
			}
			before = u
		}
		k.rebuild()
	}
}
