package modelview_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
)

// shouting is a dialect after an upgrade that renders everything differently.
type shouting struct {
	modelview.Dialect
	tag string
}

func (d shouting) Tag() string {
	if d.tag != "" {
		return d.tag
	}
	return d.Dialect.Tag()
}

func (d shouting) Fragment(f modelview.Form, b weir.Body) []byte {
	switch m := b.(type) {
	case *weir.UserMessage:
		return d.Dialect.Fragment(f, &weir.UserMessage{Text: strings.ToUpper(m.Text)})
	case *weir.AssistantMessage:
		c := *m
		c.Parts = slices.Clone(m.Parts)
		for i := range c.Parts {
			c.Parts[i].Text = strings.ToUpper(c.Parts[i].Text)
		}
		return d.Dialect.Fragment(f, &c)
	}
	return d.Dialect.Fragment(f, b)
}

func (d shouting) Head(p model.Profile, mode modelview.Mode, e *weir.Epoch) ([]byte, int, error) {
	return d.Dialect.Head(p, mode, &weir.Epoch{Baseline: strings.ToUpper(e.Baseline), Tools: e.Tools})
}

func TestAnUpgradedEncoderChangesNoStoredByte(t *testing.T) {
	for name, p := range profiles() {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, p)
			k.epoch("You are kind.", twoTools)
			k.user("one", "a note")
			k.step()
			k.answer(text("answer"), call("toolu_1", "list", `{}`))
			k.result("toolu_1", "files")
			k.update("It rains.")
			before := k.step()
			stored := maps.Clone(k.m.views)

			k.l = modelview.New(shouting{Dialect: modelview.Anthropic()}, shouting{Dialect: modelview.OpenAIChat()}, shouting{Dialect: modelview.Gemini()},
				shouting{Dialect: modelview.OpenAIResponses()})
			k.restart()
			k.answer(text("later"))
			k.user("two")
			after := k.step()
			extends(t, before, after)
			if !bytes.Contains(after.Body, []byte("LATER")) || !bytes.Contains(after.Body, []byte("TWO")) || bytes.Contains(after.Body, []byte("ONE")) {
				t.Errorf("the new encoder is not at work, or on what was stored: %s", after.Body)
			}
			for key, v := range stored {
				if got := k.m.views[key]; !bytes.Equal(got.Bytes, v.Bytes) || got.Mark != v.Mark {
					t.Errorf("%+v was\n%s\nis\n%s", key, v.Bytes, got.Bytes)
				}
			}
			k.rebuild()
		})
	}
}

func TestAConversationStaysWithTheVersionItWasBegunWith(t *testing.T) {
	k := newTalk(t, profiles()["anthropic"])
	k.epoch("You are kind.", "")
	k.user("one")
	before := k.step()
	k.l = modelview.New(modelview.Anthropic(), shouting{Dialect: modelview.Anthropic(), tag: "anthropic/2"})
	for _, restarted := range []bool{false, true} {
		if restarted {
			k.restart()
		}
		k.answer(text("1"))
		k.user("two")
		after := k.step()
		extends(t, before, after)
		before = after
	}
	fresh := newTalk(t, k.p)
	fresh.l = k.l
	fresh.restart()
	fresh.epoch("You are kind.", "")
	fresh.user("new")
	if r := fresh.step(); !strings.HasPrefix(r.Lowering, "anthropic/2+") || !bytes.Contains(r.Body, []byte("NEW")) {
		t.Errorf("a new conversation is not begun with the new version: %s\n%s", r.Lowering, r.Body)
	}
	// A version that the program no longer knows: once, and said so.
	k.l = modelview.New(shouting{Dialect: modelview.Anthropic(), tag: "anthropic/2"})
	k.restart()
	k.answer(text("3"))
	k.user("four")
	if r := k.step(); r.Ledger.Reason != weir.BreakModel {
		t.Errorf("the ledger says %+v", r.Ledger)
	}
}

func TestWhenTwoFreezeTheSameRecordTheFirstWins(t *testing.T) {
	k := newTalk(t, profiles()["chat"])
	k.epoch("You are kind.", "")
	k.user("one")
	k.step()
	at := k.answer(text("answer"))
	child := k.branch("cnv_b", at)
	if err := child.window.CatchUp(context.Background(), child.m); err != nil {
		t.Fatal(err)
	}
	// Meanwhile the parent goes on, on a node with another encoder.
	k.l = modelview.New(shouting{Dialect: modelview.OpenAIChat()})
	k.restart()
	k.user("parent")
	k.step()
	child.user("child")
	if r := child.step(); !bytes.Contains(r.Body, []byte("ANSWER")) {
		t.Errorf("the branch sends other bytes than are stored: %s", r.Body)
	}
	child.rebuild()
}

func TestNextChangesNothingUntilItIsCommitted(t *testing.T) {
	ctx := context.Background()
	for name, p := range profiles() {
		k := newTalk(t, p)
		k.epoch("You are kind.", twoTools)
		k.user("one")
		k.step()
		k.answer(call("toolu_1", "list", `{}`), call("toolu_2", "list", `{}`))
		if err := k.window.CatchUp(ctx, k.m); err != nil {
			t.Fatal(err)
		}
		next := func(results ...string) []byte {
			tx := k.m.clone()
			for _, r := range results {
				tx.append(k.c, &weir.ToolResult{Call: r, Text: "of " + r})
			}
			tx.append(k.c, userMessage("and "+results[0]))
			r, err := k.window.Next(ctx, tx, k.p, modelview.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Body
		}
		first := next("toolu_1", "toolu_2")
		other := next("toolu_2", "toolu_1")
		if again := next("toolu_1", "toolu_2"); !bytes.Equal(first, again) || bytes.Equal(first, other) {
			t.Errorf("%s: a second run of the transaction makes\n%s\nnot\n%s", name, again, first)
		}
	}
}
