package gate

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"weir"
)

// facts is everything that a digest covers.
type facts struct {
	person, typ, source, message, generation, title, text string
	path, toPath                                          []string
	category, target, targetTitle, toCategory             string
}

func (f facts) digest() string {
	g := New(Config{Key: []byte("k")})
	p := passage{
		named:      named{Reference: weir.Reference{Type: weir.ReferenceType(f.typ), Conversation: weir.ConversationID(f.source), Message: weir.MessageID(f.message)}},
		source:     weir.Conversation{ID: weir.ConversationID(f.source), Title: f.title},
		text:       f.text,
		generation: weir.GenerationID(f.generation),
		from:       weir.Scope{Path: ids(f.path), Category: f.category},
	}
	to := weir.Conversation{
		ID: weir.ConversationID(f.target), Title: f.targetTitle, Island: ids(f.toPath),
		Visibility: weir.Visibility{Category: f.toCategory},
	}
	g.weigh(weir.Actor{Owner: weir.OwnerID(f.person)}, &p, &to)
	return p.digest
}

func ids(in []string) (out []weir.ConversationID) {
	for _, s := range in {
		out = append(out, weir.ConversationID(s))
	}
	return out
}

func TestADigestChangesWhenAnythingChangesThatAPersonHasSeen(t *testing.T) {
	word := rapid.StringMatching(`[a-c",\[\]\\]{0,3}`)
	path := rapid.SliceOfN(word, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		f := facts{
			person: word.Draw(t, "person"), typ: "quote", source: word.Draw(t, "source"), message: word.Draw(t, "message"),
			generation: word.Draw(t, "generation"), title: word.Draw(t, "title"), text: word.Draw(t, "text"),
			// A crossing, so that the target's title is part of the question.
			path: append([]string{"wall"}, path.Draw(t, "path")...), toPath: path.Draw(t, "to path"),
			category: word.Draw(t, "category"), target: word.Draw(t, "target"), targetTitle: "t" + word.Draw(t, "target title"), toCategory: word.Draw(t, "to category"),
		}
		was := f.digest()
		if f.digest() != was {
			t.Fatal("the same facts have two digests")
		}
		changed := word.Filter(func(s string) bool { return s != "" }).Draw(t, "change")
		for name, change := range map[string]func(*facts){
			"person":          func(f *facts) { f.person += changed },
			"type":            func(f *facts) { f.typ = "pointer" },
			"source":          func(f *facts) { f.source += changed },
			"message":         func(f *facts) { f.message += changed },
			"generation":      func(f *facts) { f.generation += changed },
			"title":           func(f *facts) { f.title += changed },
			"text":            func(f *facts) { f.text += changed },
			"source path":     func(f *facts) { f.path = append(f.path[:len(f.path):len(f.path)], changed) },
			"source category": func(f *facts) { f.category += changed },
			"target":          func(f *facts) { f.target += changed },
			"target's title":  func(f *facts) { f.targetTitle += "x" },
			"target path":     func(f *facts) { f.toPath = append(f.toPath[:len(f.toPath):len(f.toPath)], changed) },
			"target category": func(f *facts) { f.toCategory += changed },
		} {
			now := f
			change(&now)
			if now.digest() == was {
				t.Fatalf("another %s, and the digest is the same: %+v and %+v", name, f, now)
			}
		}
		// Moving a letter from one member to the next is a change too.
		if f.source != "" {
			now := f
			now.source, now.message = f.source[:len(f.source)-1], f.source[len(f.source)-1:]+f.message
			if now.digest() == was {
				t.Fatalf("members run together: %+v and %+v", f, now)
			}
		}
	})
}

func TestAnotherServersDigestIsWorthNothing(t *testing.T) {
	a, b := New(Config{Key: []byte("one")}), New(Config{Key: []byte("two")})
	if a.digest(1, "x") == b.digest(1, "x") {
		t.Error("two keys make the same digest")
	}
	if sum(a.textKey, `[1,"x"]`) == a.digest(1, "x") {
		t.Error("the HMAC of a text can be used as a digest")
	}
}

func TestADecisionCountsOnlyFromAPersonWhoSawTheQuestion(t *testing.T) {
	g := New(Config{Key: []byte("k")})
	person, robot := weir.Actor{Owner: "max", MayConfirm: true}, weir.Actor{Owner: "max"}
	question := Question{
		Form: weir.FlowVisibility, Source: "a", Target: "a", SourceScope: weir.Scope{Path: []weir.ConversationID{"a"}},
		TargetScope: weir.Scope{}, Reasons: []weir.Reason{weir.ReasonIsolation}, Sentence: "Open it, with 2 descendants?", About: "a,b,c",
	}
	var fault *weir.Error
	if err := g.Decide(person, question, false, ""); !errors.As(err, &fault) || fault.Code != "confirmation_required" || fault.Kind != weir.Conflict {
		t.Fatalf("unasked: %v", err)
	}
	digest := fault.Extra["digest"].(string)
	if fault.Extra["confirmation"] != question.Sentence || fault.Extra["reasons"].([]weir.Reason)[0] != weir.ReasonIsolation {
		t.Errorf("the fault carries %v", fault.Extra)
	}
	other := question
	other.About = "a,b,c,d"
	branch := question
	branch.Form = weir.FlowBranch
	for name, c := range map[string]struct {
		actor     weir.Actor
		q         Question
		confirmed bool
		seen      string
		want      string
	}{
		"confirmed and seen":           {person, question, true, digest, ""},
		"seen, not confirmed":          {person, question, false, digest, "confirmation_required"},
		"confirmed, not seen":          {person, question, true, "", "confirmation_required"},
		"something else was seen":      {person, question, true, digest[1:], "confirmation_stale"},
		"the question has changed":     {person, other, true, digest, "confirmation_stale"},
		"an answer to another form":    {person, branch, true, digest, "confirmation_stale"},
		"another person saw it":        {weir.Actor{Owner: "eve", MayConfirm: true}, question, true, digest, "confirmation_stale"},
		"a program says it was seen":   {robot, question, true, digest, "confirmation_required"},
		"a program sees another state": {robot, other, true, digest, "confirmation_required"},
	} {
		if got := weir.CodeOf(g.Decide(c.actor, c.q, c.confirmed, c.seen)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAGateWithoutAKeyIsNotMade(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took an empty key")
		}
	}()
	New(Config{})
}
