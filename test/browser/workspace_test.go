package browser

import (
	"os"
	"path/filepath"
	"testing"

	"weir/test/strictpeer/strictpeer"
	"weir/test/toolserver"
)

// repository makes a git repository with a commit on main.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		git(t, dir, args...)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := toolserver.Git(t.Context(), dir, args...); err != nil {
		t.Fatal(err)
	}
}

func TestABranchSwitchIsALineAndWaitsInTheInspectorUntilItIsTold(t *testing.T) {
	dir := repository(t)
	w := start(t)
	w.must("POST", "/v1/conversations", object{"id": "a", "title": "A", "workspace": dir})
	w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.click(`[aria-label="Show what the model was given"]`)
	p.click(`.inspector [role=tab]:nth-child(2)`)
	const told = `document.querySelector("[data-part=snapshot] [data-fact='core/workspace']")?.textContent`
	const untold = `[...document.querySelectorAll("[data-part=journal] [data-fact='core/workspace']")].map((x) => x.textContent).join()`
	p.wait(told + `.includes('"branch":"main"')`)
	p.wait(`document.querySelector("[data-part=baseline] pre").textContent.includes("The git branch is main.")`)
	p.wait(`document.querySelector("[data-part=baseline] .digest").textContent.length === 64`)

	// Noticed by itself, told with the next step.
	git(t, dir, "checkout", "-q", "-b", "dev")
	p.wait(`(() => { document.querySelector("[data-part=journal] header button").click(); return (` + untold + `).includes('"branch":"dev"'); })()`)
	if n := eval[int](p, `document.querySelectorAll(".update").length`); n != 0 {
		t.Errorf("%d updates before anything was asked for", n)
	}
	w.peer.Script(strictpeer.Answer{strictpeer.Say("On dev.")})
	p.write("And now?")
	p.send()
	p.wait(`document.querySelector(".update .update-words bdi")?.textContent === "main → dev"`)
	p.wait(told + `.includes('"branch":"dev"') && (` + untold + `) === ""`)
}

func TestTheInspectorNamesWhatCannotBeObservedAndBeginsAnEpoch(t *testing.T) {
	w := start(t)
	// A link that leads to itself: what is there cannot be said.
	dir := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(dir, dir); err != nil {
		t.Fatal(err)
	}
	w.must("POST", "/v1/conversations", object{"id": "a", "title": "A", "workspace": dir})
	w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.click(`[aria-label="Show what the model was given"]`)
	p.click(`.inspector [role=tab]:nth-child(2)`)
	p.wait(`/^core\/workspace.*since \d\d:\d\d\S/.test(document.querySelector("[data-part=unavailable] [data-fact='core/workspace']").textContent)`)
	p.named("the context")

	// A fresh baseline, when it was asked for.
	before := p.text("[data-part=baseline] .digest")
	w.keeps("a", "team/motto", "Be kind.")
	p.wait(`document.querySelector("[data-part=journal] [data-fact='team/motto']")`)
	p.click("[data-part=baseline] .small-button")
	p.wait(`document.querySelector(".divider")?.textContent.includes("New baseline")`)
	p.wait(`document.querySelector("[data-part=baseline] pre").textContent.includes("team/motto is \"Be kind.\"")`)
	p.wait(`document.querySelector("[data-part=baseline] .digest").textContent !== ` + js(before))
	p.wait(`!document.querySelector("[data-part=journal] [data-fact]")`)
}
