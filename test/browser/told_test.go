package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/test/strictpeer/strictpeer"
)

func TestAnUpdateIsASlimLineThatOpensToItsExactText(t *testing.T) {
	const exact = "team/branch is now \"dev\" (was \"main\")"
	w := start(t, holding("a", "A", []weir.Body{
		&weir.Epoch{Baseline: "You are an assistant."},
		said("Switch the branch."), answered("s1", "Done."),
		said("And now?"),
		&weir.Update{Fact: "team/branch", Text: exact, At: seedTime.Add(2 * time.Minute)},
		&weir.Update{Fact: "team/motto", Text: "Be kind.\n\nAnd be\u202e brief.", At: seedTime.Add(3 * time.Minute)},
		&weir.Update{Fact: "team/lunch", Text: "team/lunch no longer applies (was \"noon\")", At: seedTime.Add(3 * time.Minute)},
		answered("s2", "You are on dev."),
	}))
	p := w.open("a")
	p.wait(`document.querySelectorAll(".update").length === 3`)
	lines := eval[[]string](p, `[...document.querySelectorAll(".update .update-words")].map((x) => [...x.childNodes].filter((n) => !(n.classList && n.classList.contains("sr"))).map((n) => n.textContent).join(""))`)
	at := eval[string](p, `new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date("2026-11-30T14:02:00Z"))`)
	if want := "team/branch: main → dev, " + at; lines[0] != want {
		t.Errorf("the line says %q, want %q", lines[0], want)
	}
	if !strings.HasPrefix(lines[1], "team/motto: Be kind, ") || !strings.HasPrefix(lines[2], "team/lunch: no longer applies, ") {
		t.Errorf("the other lines say %q", lines[1:])
	}
	if eval[bool](p, `document.querySelector(".update .fold-text").checkVisibility()`) {
		t.Error("the text is there before it was opened")
	}
	// By keyboard alone.
	eval[bool](p, `(document.querySelector(".update summary").focus(), true)`)
	p.press(enter)
	p.wait(`document.querySelector(".update .fold-text").checkVisibility()`)
	if got := eval[string](p, `document.querySelector(".update .fold-text").textContent`); got != exact {
		t.Errorf("it opens to %q, want %q", got, exact)
	}
	if got := eval[string](p, `document.querySelectorAll(".update .fold-text")[1].textContent`); got != "Be kind.\n\nAnd beU+202E brief." {
		t.Errorf("what cannot be seen is not spelt out: %q", got)
	}
}

func TestAnUpdateComparesLikeWithLike(t *testing.T) {
	const (
		root   = "/tmp/a-folder-with-a-name-that-is-too-long-for-a-line/repo"
		clean  = " Nothing is changed since the last commit, untracked files aside."
		edited = " There are changes that are not committed."
		lone   = " Git has commit 24eb5dfcaa94 checked out, on no branch."
	)
	place := func(path, rest string) weir.Body {
		return &weir.Update{Fact: "core/workspace", Text: "The workspace is now " + path + " (linux/amd64)." + rest, At: seedTime}
	}
	w := start(t, holding("a", "A", []weir.Body{
		&weir.Epoch{Baseline: "The workspace is " + root + " (linux/amd64). The git branch is main." + clean},
		said("One."),
		place(root, " The git branch is dev."+edited),
		place(root, " The git branch is dev."+clean),
		place(root, lone+edited),
		place(root+"/sub", lone+edited),
		place("/tmp/b", " The git branch is feature."+clean),
		place("/tmp/c", " It is in no git repository."),
		&weir.Update{Fact: "core/date", Text: "Today is 2026-11-29 (time zone UTC).", At: seedTime},
		&weir.Update{Fact: "core/date", Text: "Today is now 2026-11-30 (time zone UTC).", At: seedTime},
		&weir.Update{Fact: "ci/k", Text: "ci/k is 1", At: seedTime},
		&weir.Update{Fact: "ci/k", Text: "ci/k is now 2", At: seedTime},
		answered("s1", "One."),
	}))
	p := w.open("a")
	want := []string{
		"main → dev",
		"workspace: changes not committed → nothing uncommitted",
		"workspace: branch dev → commit 24eb5dfcaa94",
		"workspace: …/repo → …/repo/sub",
		"workspace: …/repo/sub → /tmp/b; workspace: commit 24eb5dfcaa94 → branch feature",
		"workspace: /tmp/b → /tmp/c; workspace: branch feature → no git repository",
		"date: 2026-11-29, UTC",
		"date: 2026-11-29 → 2026-11-30",
		"ci/k: 1",
		"ci/k: 1 → 2",
	}
	p.wait(fmt.Sprintf(`document.querySelectorAll(".update").length === %d && document.querySelector(".update bdi").textContent.includes("→")`, len(want)))
	if diff := cmp.Diff(want, eval[[]string](p, updateLines)); diff != "" {
		t.Error(diff)
	}
}

func TestANewEpochDividesAndTheFirstDoesNot(t *testing.T) {
	w := start(t, holding("a", "A", []weir.Body{
		&weir.Epoch{Baseline: "You are an assistant."},
		said("One."), answered("s1", "One."),
		&weir.Epoch{Baseline: "You are another assistant.", SHA256: strings.Repeat("ab", 32)},
		&weir.Epoch{Baseline: "You are a third assistant.", SHA256: strings.Repeat("cd", 32)},
		said("Two."), answered("s2", "Two."),
	}))
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 4`)
	if n := eval[int](p, `document.querySelectorAll(".divider").length`); n != 2 {
		t.Fatalf("%d dividers, want two", n)
	}
	// One baseline is in force; of the other it is said that it is not.
	p.wait(`[...document.querySelectorAll(".divider")].map((x) => /New baseline.*replaced since$/.test(x.textContent) + " " + (x.querySelector("button")?.textContent ?? "")).join() === "true ,false Show it"`)
	order := eval[[]string](p, `[...document.querySelectorAll(".row > .message, .row > .divider")].map((x) => x.className.split(" ")[0])`)
	if got := strings.Join(order, " "); got != "message message divider divider message message" {
		t.Errorf("in the order %s", got)
	}
	p.click(".divider button")
	p.wait(`document.querySelector(".inspector [role=tab][aria-selected=true]").textContent === "Context"`)
}

// keeps puts a fact of a client's for a conversation.
func (w *world) keeps(conversation, key string, value any) {
	w.Helper()
	w.must("PUT", at(conversation, "context", "facts")+"/"+key, object{"value": value})
}

const updateLines = `[...document.querySelectorAll(".update .update-words")].map((x) => x.querySelector("bdi").textContent)`

func TestWhatAClientTellsIsInTheTimelineWhenTheModelIsTold(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.keeps("a", "team/branch", "main")
	w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	for i, branch := range []string{"dev", "prod"} {
		w.keeps("a", "team/branch", branch)
		w.peer.Script(strictpeer.Answer{strictpeer.Say("Noted.")})
		p.write("And " + branch + ".")
		p.send()
		p.wait(fmt.Sprintf(`document.querySelectorAll(".update").length === %d && document.querySelectorAll(".message.assistant:not(.streaming)").length === %d`, i+1, i+2))
	}
	p.wait(`(` + updateLines + `).join() === "team/branch: main → dev,team/branch: dev → prod"`)
	// Behind what was said, before the answer; and so after a reload.
	const order = `[...document.querySelectorAll(".row > .message, .row > .update")].map((x) => x.className.includes("update") ? "update" : x.className.split(" ")[1]).slice(-3).join(" ")`
	if got := eval[string](p, order); got != "user update assistant" {
		t.Errorf("in the order %s", got)
	}
	p.reload()
	p.at("a")
	p.wait(`document.querySelectorAll(".update").length === 2 && (` + order + `) === "user update assistant"`)
}
