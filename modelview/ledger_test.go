package modelview_test

import (
	"bytes"
	"context"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
)

const twoTools = `[{"name":"read","description":"Reads <a> file.","input_schema":{"type":"object","properties":{"p":{"type":"string"}}}},{"name":"list","description":"Lists.","input_schema":{"type":"object"}}]`

// prefixOf returns the unmarked bytes before the tail.
func prefixOf(r *modelview.Request, mark string) []byte {
	b := bytes.ReplaceAll(r.Body, []byte(mark), nil)
	return b[:len(b)-len(r.Tail)]
}

const mark = `,"cache_control":{"type":"ephemeral"}`

func extends(t *testing.T, before, after *modelview.Request) {
	t.Helper()
	a, b := prefixOf(before, mark), prefixOf(after, mark)
	if !bytes.HasPrefix(b, a) {
		t.Errorf("\n%s\ndoes not extend\n%s", b, a)
	}
	if after.Ledger.Reason != "" || after.Ledger.Shared != before.Ledger.PrefixBytes || after.Ledger.Shared != int64(len(a)) {
		t.Errorf("the ledger says %+v", after.Ledger)
	}
}

// breaks checks that a request shares exactly what it says with the one before.
func breaks(t *testing.T, before, after *modelview.Request, why weir.BreakReason) {
	t.Helper()
	a, b := prefixOf(before, mark), prefixOf(after, mark)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if after.Ledger.Reason != why || after.Ledger.Shared != int64(n) {
		t.Errorf("the ledger says %q after %d bytes; want %q after %d\n%s\n%s", after.Ledger.Reason, after.Ledger.Shared, why, n, a, b)
	}
}

// each runs a test once for every way that the dialects differ, with a warm
// window and with one that is cold at every step.
func each(t *testing.T, fn func(t *testing.T, k *talk, again func())) {
	for name, p := range profiles() {
		t.Run(name+"/warm", func(t *testing.T) {
			k := newTalk(t, p)
			fn(t, k, func() {})
			k.rebuild()
		})
		t.Run(name+"/cold", func(t *testing.T) {
			k := newTalk(t, p)
			fn(t, k, k.restart)
			k.rebuild()
		})
	}
}

func TestAConversationOnlyGrows(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", twoTools)
		k.user("hello")
		first := k.step()
		if first.Ledger.Reason != weir.BreakFirst || first.Ledger.Shared != 0 {
			t.Errorf("the first request: %+v", first.Ledger)
		}
		again()
		k.answer(text("hi"), call("c1", "read", `{"p":"x"}`), call("c2", "list", `{}`))
		k.result("c2", "files")
		k.result("c1", "")
		k.update("It is Tuesday.")
		second := k.step()
		extends(t, first, second)
		again()
		k.answer(text("so"))
		k.user("more", "a note")
		extends(t, second, k.step())
	})
}

func TestARetryOfTheSameSurfaceSendsTheSameBytes(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("hello")
		first := k.step()
		again()
		second := k.step()
		extends(t, first, second)
		if !bytes.Equal(first.Body, second.Body) {
			t.Errorf("%s\n%s", first.Body, second.Body)
		}
	})
}

func TestMoreInputAfterAFailedAttemptOpensTheSectionAgain(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("hello")
		k.update("It is Tuesday.")
		first := k.step()
		again()
		k.user("are you there?")
		second := k.step()
		breaks(t, first, second, weir.BreakOpenSection)
		again()
		k.answer(text("yes"))
		k.user("good")
		extends(t, second, k.step())
	})
}

func TestARewindIsNamed(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		k.step()
		k.answer(text("1"))
		two := k.user("two")
		second := k.step()
		end := k.answer(text("2"))
		again()
		k.m.append(k.c, &weir.Rewind{From: two, Upto: end})
		k.user("three")
		third := k.step()
		breaks(t, second, third, weir.BreakRewind)
		again()
		k.answer(text("3"))
		k.user("four")
		extends(t, third, k.step())
	})
}

func TestAnUndoneRewindIsNamedToo(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		k.step()
		one := k.answer(text("1"))
		two := k.user("two")
		second := k.step()
		end := k.answer(text("2"), call("c", "read", `{}`))
		k.result("c", "never frozen before the undo")
		again()
		rewind := k.m.append(k.c, &weir.Rewind{From: two, Upto: end + 1})
		_ = one
		third := k.step() // of an empty section
		breaks(t, second, third, weir.BreakRewind)
		again()
		k.m.append(k.c, &weir.Undo{Rewind: rewind})
		fourth := k.step()
		breaks(t, third, fourth, weir.BreakRewind)
		if !bytes.HasPrefix(prefixOf(fourth, mark), prefixOf(second, mark)) {
			t.Errorf("what was before the rewind has changed:\n%s\n%s", fourth.Body, second.Body)
		}
	})
}

func TestASwitchOfTheModelIsNamedOnce(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		first := k.step()
		again()
		k.answer(text("1"))
		k.user("two")
		k.p.ID, k.p.Name = k.p.Provider+"/other", "other"
		second := k.step()
		breaks(t, first, second, weir.BreakModel)
		again()
		k.answer(text("2"))
		k.user("three")
		third := k.step()
		extends(t, second, third)
	})
}

func TestASwitchThereAndBackFindsTheOldBytes(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		home := k.p
		k.epoch("You are kind.", "")
		k.user("one")
		first := k.step()
		k.answer(thought(`{"type":"thinking","thinking":"","signature":"mine"}`), text("1"))
		k.user("two")
		k.p.ID, k.p.Name = k.p.Provider+"/other", "other"
		second := k.step()
		again()
		k.answer(thought(`{"type":"thinking","thinking":"","signature":"the other's"}`), text("2"))
		k.user("three")
		k.p = home
		third := k.step()
		if signed := bytes.Contains(third.Body, []byte("mine")); signed != (k.p.Dialect == model.Anthropic) ||
			bytes.Contains(second.Body, []byte("signature")) || bytes.Contains(third.Body, []byte("other's")) {
			t.Errorf("reasoning is not with the model that signed it alone:\n%s\n%s", second.Body, third.Body)
		}
		breaks(t, second, third, weir.BreakModel)
		if !bytes.HasPrefix(prefixOf(third, mark), prefixOf(first, mark)) {
			t.Errorf("the bytes for the first model have changed")
		}
	})
}

func TestACompactionIsNamed(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		k.step()
		k.answer(thought(`{"type":"thinking","thinking":"","signature":"s"}`), text("1"))
		two := k.user("two")
		k.update("It is Tuesday.")
		second := k.step()
		end := k.answer(thought(`{"type":"thinking","thinking":"","signature":"t"}`), text("2"))
		again()
		k.epoch("You are kind. It is Tuesday.", "")
		k.m.append(k.c, &weir.Checkpoint{Generation: "gen_2", Text: "They counted.", Keep: [2]weir.Seq{two, end}})
		k.user("three")
		third := k.step()
		breaks(t, second, third, weir.BreakCompaction)
		if bytes.Contains(third.Body, []byte("signature")) {
			t.Errorf("signed reasoning stands behind other bytes: %s", third.Body)
		}
		if bytes.Count(third.Body, []byte("Tuesday")) != 1 {
			t.Errorf("an update of the epoch before is told again: %s", third.Body)
		}
		again()
		k.answer(text("3"))
		k.user("four")
		extends(t, third, k.step())
	})
}

func TestANewEpochIsNamedTools(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		first := k.step()
		again()
		k.answer(text("1"))
		k.epoch("You are kind.", twoTools)
		k.user("two")
		second := k.step()
		breaks(t, first, second, weir.BreakTools)
		again()
		k.answer(text("2"))
		k.user("three")
		extends(t, second, k.step())
	})
}

func TestOtherOptionsDoNotBreakThePrefix(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", twoTools)
		k.user("one")
		first := k.step()
		again()
		k.answer(text("1"))
		k.user("two")
		k.p.MaxOutput = 77
		second := k.step()
		extends(t, first, second)
		if first.Ledger.OptionsSHA256 == second.Ledger.OptionsSHA256 {
			t.Error("the options' digest does not tell them apart")
		}
	})
}

func TestABranchExtendsItsParentsRequest(t *testing.T) {
	each(t, func(t *testing.T, k *talk, again func()) {
		k.epoch("You are kind.", "")
		k.user("one")
		first := k.step()
		at := k.answer(text("1")) // not frozen yet: parent and child both will
		child := k.branch("cnv_b", at)
		child.user("child")
		of := child.step()
		extends(t, first, of)
		again()
		k.user("parent")
		mine := k.step()
		extends(t, first, mine)
		child.answer(text("c"))
		child.user("more")
		extends(t, of, child.step())
		child.rebuild()
	})
}

func TestABranchAndItsParentShareThePrefixThatTheyShare(t *testing.T) {
	k := newTalk(t, profiles()["anthropic"])
	k.epoch("You are kind.", "")
	k.user("one")
	k.step()
	at := k.answer(text("1"))
	k.user("two")
	k.step()
	k.m.append(k.c, &weir.Rewind{From: at, Upto: at + 2}) // the parent's later life is not the child's
	child := k.branch("cnv_b", at)
	child.user("two")
	got := child.step()
	for seq, want := range k.bodies {
		if r := k.m.record(k.c, seq).Body.(*weir.StepStart); r.Ledger.Reason == "" && !bytes.Equal(got.Body, want) {
			t.Errorf("\n%s\n%s", got.Body, want)
		}
	}
}

func TestAChangedViewIsADefectAndIsNotServedAsTrue(t *testing.T) {
	for _, warm := range []bool{true, false} {
		k := newTalk(t, profiles()["anthropic"])
		k.epoch("You are kind.", "")
		said := k.user("one")
		first := k.step()
		if !warm {
			k.restart()
		}
		key := viewKey{k.c.ID, said, first.Lowering}
		v := k.m.views[key]
		v.Bytes = bytes.Replace(v.Bytes, []byte("one"), []byte("two"), 1)
		k.m.views[key] = v
		k.damaged = true
		k.answer(thought(`{"type":"thinking","thinking":"","signature":"s"}`), text("1"))
		k.user("more")
		second := k.step()
		if !warm && second.Ledger.Reason != weir.BreakDefect {
			t.Errorf("the ledger says %+v", second.Ledger)
		}
		if signed := bytes.Contains(second.Body, []byte("signature")); signed != warm {
			t.Errorf("warm %v: reasoning behind other bytes: %s", warm, second.Body)
		}
		r := k.m.record(k.c, said+1)
		if _, err := k.l.Rebuild(context.Background(), k.m, k.c, &r); weir.CodeOf(err) != "request_mismatch" {
			t.Errorf("rebuild: %v", err)
		}
	}
}
