package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/gate"
	"weir/mention"
	"weir/store"
	"weir/test/stores"
)

func TestAConfirmationIsOutdatedByWhateverChangedSinceThePersonLooked(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		for name, change := range map[string]func(w *world, source, target weir.ConversationID){
			"the source is called something else": func(w *world, source, _ weir.ConversationID) {
				w.change(source, weir.ConversationChange{Title: ptr("Other")})
			},
			"the target is called something else": func(w *world, _, target weir.ConversationID) {
				w.change(target, weir.ConversationChange{Title: ptr("Other")})
			},
			"the source is isolated as well (T25)": func(w *world, source, _ weir.ConversationID) {
				w.see(source, weir.Isolated, "X")
			},
			"the source is in another category": func(w *world, source, _ weir.ConversationID) {
				w.see(source, weir.Open, "Y")
			},
			"the source is isolated instead": func(w *world, source, _ weir.ConversationID) {
				w.see(source, weir.Isolated, "")
			},
			"the target is in a category": func(w *world, _, target weir.ConversationID) {
				w.see(target, weir.Open, "Z")
			},
			"the target is isolated": func(w *world, _, target weir.ConversationID) {
				w.see(target, weir.Isolated, "")
			},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, s)
				source, target := w.make(like{title: "Source", category: "X"}), w.make(like{title: "Target"})
				ref := w.seen(target, quote(source, w.say(source, "secret")))
				change(w, source, target)
				_, err := w.send(person, target, "hi", weir.Mentions{}, ref)
				fault := w.refused(err, "confirmation_stale", target, [2]int{})
				fresh := fault.Extra["previews"].([]gate.Preview)
				want, err := w.preview(target, ref)
				w.must(err)
				if diff := cmp.Diff([]gate.Preview{want}, fresh); diff != "" {
					t.Errorf("the previews are not fresh: %s", diff)
				}
				ref.Seen = fresh[0].Digest
				if _, err := w.send(person, target, "hi", weir.Mentions{}, ref); err != nil {
					t.Errorf("confirmed anew: %v", err)
				}
			})
		}
	})
}

func TestAConfirmationCountsForExactlyWhatWasSeen(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target, other := w.make(like{title: "Source", level: weir.Isolated}), w.make(like{title: "Target"}), w.make(like{title: "Target"})
		ref := quote(source, w.say(source, "secret"))
		neighbour := quote(source, w.say(source, "secret"))
		seen := w.seen(target, ref)
		for name, c := range map[string]struct {
			actor  weir.Actor
			change func(r *weir.Reference)
			code   string
		}{
			"not confirmed":                   {person, func(r *weir.Reference) { r.Confirmed = false }, "confirmation_required"},
			"not seen":                        {person, func(r *weir.Reference) { r.Seen = "" }, "confirmation_required"},
			"something else seen":             {person, func(r *weir.Reference) { r.Seen = "x" }, "confirmation_stale"},
			"seen for another message":        {person, func(r *weir.Reference) { r.Message = neighbour.Message }, "confirmation_stale"},
			"seen for the message, a pointer": {person, func(r *weir.Reference) { r.Type, r.Message = weir.Pointer, "" }, "confirmation_stale"},
			"seen for another target":         {person, func(r *weir.Reference) { r.Seen = w.seen(other, ref).Seen }, "confirmation_stale"},
			"by who may not confirm":          {robot, func(r *weir.Reference) {}, "confirmation_required"},
		} {
			t.Run(name, func(t *testing.T) {
				w := &world{TB: t, s: w.s, g: w.g}
				r := seen
				c.change(&r)
				_, err := w.send(c.actor, target, "hi", weir.Mentions{}, r)
				w.refused(err, c.code, target, [2]int{})
			})
		}
		if _, err := w.send(person, target, "hi", weir.Mentions{}, seen); err != nil {
			t.Errorf("confirmed and seen: %v", err)
		}
	})
}

func TestARefusalShowsAllThatNeedsAnAnswerAndOneAnswerWillDo(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		island, open, target := w.make(like{title: "Island", level: weir.Isolated}), w.make(like{title: "Open"}), w.make(like{title: "Target"})
		free := quote(open, w.say(open, "free"))
		one, two := quote(island, w.say(island, "one")), quote(island, w.say(island, "two"))
		text := mention.Markup("two", mention.Address{Conversation: island, Message: two.Message})
		all := weir.Mentions{All: true}
		_, err := w.send(person, target, text, all, free, w.seen(target, one))
		fault := w.refused(err, "confirmation_required", target, [2]int{})
		previews := fault.Extra["previews"].([]gate.Preview)
		if len(previews) != 2 || !previews[0].Reference.Same(one) || !previews[1].Reference.Same(two) || fault.Extra["mention"] != 0 {
			t.Fatalf("the fault carries %+v", fault.Extra)
		}
		// A mention is confirmed by an element of references with its ids.
		var refs []weir.Reference
		for _, p := range previews {
			r := p.Reference
			r.Confirmed, r.Seen = true, p.Digest
			refs = append(refs, r)
		}
		in, err := w.send(person, target, text, all, append([]weir.Reference{free}, refs...)...)
		w.must(err)
		if len(in.References) != 3 || in.Shown != "@two" {
			t.Errorf("admitted %+v, shown %q", in.References, in.Shown)
		}
	})
}

func TestAThingNamedTwiceIsConfirmedByEither(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		island, target := w.make(like{title: "Island", level: weir.Isolated}), w.make(like{title: "Target"})
		ref := quote(island, w.say(island, "secret"))
		in, err := w.send(person, target, "hi", weir.Mentions{}, ref, w.seen(target, ref))
		w.must(err)
		if len(in.References) != 1 || len(w.flows(weir.FlowQuery{Target: target})) != 1 {
			t.Errorf("admitted %+v", in.References)
		}
	})
}

func TestWhoMayNotConfirmIsNotShownWhatWouldCross(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source, target := w.make(like{title: "Secret title", level: weir.Isolated}), w.make(like{title: "Target"})
		ref := quote(source, w.say(source, "secret text"))
		_, err := w.send(robot, target, "hi", weir.Mentions{}, ref)
		fault := w.refused(err, "confirmation_required", target, [2]int{})
		p, err := w.g.Preview(t.Context(), s, robot, target, ref)
		w.must(err)
		for _, v := range []any{fault.Extra, fault.Public, p} {
			if b, _ := json.Marshal(v); strings.Contains(strings.ToLower(string(b)), "secret t") {
				t.Errorf("the answer carries what it refuses: %s", b)
			}
		}
		if !strings.Contains(fault.Public, "person") {
			t.Errorf("the sentence does not say that a person has to: %s", fault.Public)
		}
	})
}

func TestAPreviewShowsWhatWouldBeSentAndHidesNothingInIt(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s)
		source := w.make(like{title: "Sour\u202ece</framework>\n", level: weir.Isolated, category: "A\u200b"})
		target := w.make(like{title: "Tar\u202eget<b>\n", category: "B"})
		text := "look\u200b \u2066here\u2069 " + strings.Repeat("long ", 8000)
		p, err := w.preview(target, quote(source, w.say(source, text)))
		w.must(err)
		want := gate.Preview{
			Reference: p.Reference, Digest: p.Digest,
			Title:      `Sour\u202ece</framework>\u000a`,
			Excerpt:    `look\u200b \u2066here\u2069 ` + strings.Repeat("long ", 8000)[:280-28],
			TextLength: 40_013, Truncated: true, NeedsConfirmation: true, Reasons: both,
			Confirmation: `Let this message go to “Tar\u202egetb ”, although its source is isolated and the target is outside that wall, ` +
				`and its source is kept to the category “A\u200b” and the target is in “B”?`,
			Source: weir.Visibility{Level: weir.Isolated, Category: "A\u200b"},
			Target: weir.Visibility{Level: weir.Open, Category: "B"},
		}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Error(diff)
		}
		b, err := json.Marshal(p.Reference)
		w.must(err)
		if strings.Contains(string(b), "confirmed") || strings.Contains(string(b), "seen") {
			t.Errorf("the reference of a preview is %s", b)
		}
	})
}
