package modelview_test

import (
	"bytes"
	"context"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
)

func TestAHistoryThatNoProviderTakesIsNeverSent(t *testing.T) {
	histories := map[string]func(k *talk){
		"a call without its result": func(k *talk) {
			k.answer(call("toolu_1", "list", `{}`), call("toolu_2", "list", `{}`))
			k.result("toolu_1", "one")
		},
		"a call that is never answered": func(k *talk) {
			k.answer(call("toolu_1", "list", `{}`))
			k.user("next")
			k.answer(text("so"))
			k.user("more")
		},
		"a result without a call": func(k *talk) {
			k.answer(text("hi"))
			k.result("toolu_9", "nine")
		},
		"two results of one call": func(k *talk) {
			k.answer(call("toolu_1", "list", `{}`))
			k.result("toolu_1", "one")
			k.result("toolu_1", "two")
		},
	}
	for name, make := range histories {
		for dialect, p := range profiles() {
			k := newTalk(t, p)
			k.epoch("You have tools.", twoTools)
			k.user("look")
			k.step()
			make(k)
			if r, err := k.tryStep(); weir.CodeOf(err) != "history_broken" || r != nil {
				t.Errorf("%s, %s: %v", name, dialect, err)
			}
			k.restart()
			if _, err := k.tryStep(); weir.CodeOf(err) != "history_broken" {
				t.Errorf("%s, %s, cold: %v", name, dialect, err)
			}
		}
	}
}

func TestABrokenCallCanStillBeMended(t *testing.T) {
	k := newTalk(t, profiles()["anthropic"])
	k.epoch("You have tools.", twoTools)
	k.user("look")
	before := k.step()
	k.answer(call("toolu_1", "list", `{}`))
	if _, err := k.tryStep(); weir.CodeOf(err) != "history_broken" {
		t.Fatal(err)
	}
	k.result("toolu_1", "interrupted")
	extends(t, before, k.step())
}

func TestWithoutAnEpochNothingIsSent(t *testing.T) {
	k := newTalk(t, profiles()["chat"])
	if _, err := k.tryStep(); weir.CodeOf(err) != "epoch_missing" {
		t.Errorf("an empty log: %v", err)
	}
	k.user("hello")
	if _, err := k.tryStep(); weir.CodeOf(err) != "epoch_missing" {
		t.Errorf("no epoch: %v", err)
	}
}

func TestToolsAreStillListedWhenNoneMayBeCalled(t *testing.T) {
	for name, p := range profiles() {
		for tools, want := range map[string]bool{twoTools: true, "": false} {
			chooses := "tool_choice"
			if p.Dialect == model.Gemini {
				chooses = "functionCallingConfig"
			}
			k := newTalk(t, p)
			k.epoch("You have tools.", tools)
			k.user("look")
			r, err := k.window.Next(context.Background(), k.m, p, modelview.Options{ToolsOff: true, MaxTokens: 55})
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(r.Body, []byte(chooses)); got != want || bytes.Contains(r.Body, []byte(`"tools":`)) != want {
				t.Errorf("%s: %s", name, r.Body)
			}
			if !bytes.Contains([]byte(r.Tail), []byte(`okens":55`)) {
				t.Errorf("%s: the limit is not said: %s", name, r.Tail)
			}
			if err := accepted(p, r.Body); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestACacheKeyIsThatOfTheRootAndNeverTooLong(t *testing.T) {
	k := newTalk(t, profiles()["chat"])
	k.c.ID = weir.ConversationID(bytes.Repeat([]byte("x"), 500))
	k.restart()
	k.epoch("You are kind.", "")
	at := k.user("hello")
	root := k.step()
	child := k.branch("cnv_b", at)
	if r := child.step(); r.Tail != root.Tail {
		t.Errorf("the branch's key differs:\n%s\n%s", r.Tail, root.Tail)
	}
	if len(root.Tail) > 300 {
		t.Errorf("too long: %s", root.Tail)
	}
	task := &talk{t: t, m: k.m, l: k.l, p: k.p, c: &weir.Conversation{ID: "cnv_task", Kind: weir.Task, Lineage: []weir.Inherited{{Conversation: k.c.ID}}}, bodies: map[weir.Seq][]byte{}}
	task.restart()
	task.epoch("You work.", "")
	task.user("go")
	if r := task.step(); !bytes.Contains([]byte(r.Tail), []byte(`"cnv_task"`)) {
		t.Errorf("a task shares no prefix with its parent: %s", r.Tail)
	}
}

func TestADamagedOrUnknownStepIsNotServedAsTrue(t *testing.T) {
	k := newTalk(t, profiles()["anthropic"])
	k.epoch("You are kind.", twoTools)
	k.user("look")
	k.step()
	k.answer(call("toolu_1", "list", `{}`))
	result := k.result("toolu_1", "x")
	k.step()
	start := k.m.record(k.c, result+1)
	good := *start.Body.(*weir.StepStart)
	rebuild := func(change func(*weir.StepStart)) error {
		s := good
		change(&s)
		r := start
		r.Body = &s
		_, err := k.l.Rebuild(context.Background(), k.m, k.c, &r)
		return err
	}
	if err := rebuild(func(*weir.StepStart) {}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*weir.StepStart){
		"a mark outside":      func(s *weir.StepStart) { s.Marks = []int64{1 << 40} },
		"marks out of order":  func(s *weir.StepStart) { s.Marks = []int64{50, 40} },
		"a mark before":       func(s *weir.StepStart) { s.Marks = []int64{-1} },
		"another tail":        func(s *weir.StepStart) { s.Tail += " " },
		"an unknown lowering": func(s *weir.StepStart) { s.Lowering = "smoke/1+signals@x" },
		"no lowering":         func(s *weir.StepStart) { s.Lowering = "" },
		"another lowering":    func(s *weir.StepStart) { s.Lowering = "openai-chat/1+none@a/claude" },
	} {
		if err := rebuild(change); weir.CodeOf(err) != "request_mismatch" {
			t.Errorf("%s: %v", name, err)
		}
	}
	delete(k.m.views, viewKey{k.c.ID, result, good.Lowering})
	if err := rebuild(func(*weir.StepStart) {}); weir.CodeOf(err) != "request_mismatch" {
		t.Errorf("a lost view: %v", err)
	}
	said := k.m.record(k.c, result)
	if _, err := k.l.Rebuild(context.Background(), k.m, k.c, &said); weir.CodeOf(err) != "request_mismatch" {
		t.Errorf("not a step: %v", err)
	}
}

func TestALostViewIsRenderedAgainAndTheMessageIsStillSent(t *testing.T) {
	k := newTalk(t, profiles()["anthropic"])
	k.epoch("You are kind.", "")
	said := k.user("precious")
	k.step()
	k.answer(text("1"))
	k.user("two")
	before := k.step()
	delete(k.m.views, viewKey{k.c.ID, said, before.Lowering})
	k.restart()
	k.answer(text("2"))
	k.user("three")
	after := k.step()
	if !bytes.Contains(after.Body, []byte("precious")) {
		t.Errorf("a message is missing: %s", after.Body)
	}
	extends(t, before, after)
}

func TestAWarmWindowReadsOnlyWhatIsNew(t *testing.T) {
	for name, p := range profiles() {
		k := newTalk(t, p)
		k.epoch("You are kind.", "")
		rows := func() int {
			before := k.m.rows
			ctx := context.Background()
			if err := k.window.CatchUp(ctx, k.m); err != nil {
				t.Fatal(err)
			}
			read := k.m.rows - before
			tx := k.m.clone()
			tx.append(k.c, userMessage("more"))
			if _, err := k.window.Next(ctx, tx, k.p, modelview.Options{}); err != nil {
				t.Fatal(err)
			}
			return read + tx.rows
		}
		for range 10 {
			k.user("said")
			k.step()
			k.answer(text("answered"))
		}
		few := rows()
		for range 200 {
			k.user("said")
			k.step()
			k.answer(text("answered"))
		}
		if many := rows(); many > few {
			t.Errorf("%s: %d rows after 10 turns, %d after 200 more", name, few, many)
		}
	}
}
