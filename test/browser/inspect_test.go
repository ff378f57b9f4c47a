package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestARequestIsShownWithItsProofAndItsPrefix(t *testing.T) {
	w := start(t)
	w.conversation("src", "Source", "open", "")
	w.conversation("a", "A", "open", "")
	_, source := w.says("src", "Say one.", "One.")
	w.says("a", "First question.", "First answer.")
	p := w.open("src")
	p.quote(source, "a")
	p.at("a")
	p.write("Second question.")
	p.send()
	w.settled("a", "Second question.")
	wire := string(w.peer.Bodies()[len(w.peer.Bodies())-1])

	p.click(`[aria-label="Show what the model was given"]`)
	p.wait(`document.querySelectorAll(".steps .step").length === 2`)
	p.click(".steps li:first-child .step")
	p.wait(`document.querySelector(".verified:not(.not)")?.textContent.includes("Verified")`)

	// The bar: some of it was reused, some is new, in the proportion of the ledger.
	p.wait(`document.querySelector(".request .prefix-bar")`)
	width := eval[float64](p, `Number(document.querySelector(".request .prefix-shared").getAttribute("width"))`)
	steps := w.must("GET", at("a", "steps"), nil)["items"].([]any)
	ledger := steps[0].(object)["ledger"].(object)
	if want := ledger["shared"].(float64) / ledger["prefix_bytes"].(float64) * 100; width < want-0.1 || width > want+0.1 || width <= 0 || width >= 100 {
		t.Errorf("the bar shows %.1f %% reused, the ledger says %.1f %%", width, want)
	}
	size := func(name string) int { return int(ledger[name].(float64)) }
	sum := fmt.Sprintf("%d bytes: %d reused + %d new + %d cache marks and options", size("bytes"), size("shared"),
		size("prefix_bytes")-size("shared"), size("bytes")-size("prefix_bytes"))
	if got := p.text(".facts"); !strings.Contains(got, "Extends the request before") || !strings.Contains(strings.ReplaceAll(got, ",", ""), sum) {
		t.Errorf("the facts say %q, and not %q", got, sum)
	}

	// Readable: the note stands before the person's text, and the line between
	// reused and new lies before both.
	blocks := eval[[]string](p, `[...document.querySelectorAll(".parts > li:has(.role-user)")].at(-1).querySelectorAll(".block pre").length ? [...[...document.querySelectorAll(".parts > li:has(.role-user)")].at(-1).querySelectorAll(".block pre")].map((x) => x.textContent) : []`)
	if len(blocks) != 2 || !strings.Contains(blocks[0], "One.") || blocks[1] != "Second question." {
		t.Errorf("the newest message reads %q", blocks)
	}
	if new := eval[int](p, `document.querySelectorAll(".parts > li.new").length`); new == 0 {
		t.Error("nothing is marked as new")
	}
	p.wait(`document.querySelector(".parts .boundary")`)

	// Raw: the exact bytes.
	p.click(".request-bar [role=tab]:nth-child(2)")
	p.wait(`document.querySelector("pre.raw")`)
	if got := eval[string](p, `document.querySelector("pre.raw").textContent`); got != wire {
		t.Errorf("the raw request differs from what the provider got:\n%s\n%s", got, wire)
	}

	// The first request of the conversation says that it is the first.
	p.click(`.inspector [aria-label="Back"]`)
	p.click(".steps li:last-child .step")
	p.wait(`document.querySelector(".facts")?.textContent.includes("first request")`)
}

func TestABrowserThatIsNotKnownIsToldHowToSignIn(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.stranger()
	p.expects("401")
	p.do(chromedp.Navigate(w.line.URL + "/"))
	p.wait(`document.querySelector(".sign-in input")`)
	if eval[bool](p, `document.body.innerText.includes("A\n")`) {
		t.Error("a stranger sees conversations")
	}
	p.click(".sign-in input")
	p.press("not the token")
	p.press(enter)
	p.wait(`document.querySelector(".sign-in .fault").textContent !== ""`)
	eval[bool](p, `(document.querySelector(".sign-in input").select(), true)`)
	p.press(token)
	p.press(enter)
	p.wait(`document.querySelectorAll(".entry").length === 1`)

	// And out again.
	p.click(`[aria-label="Settings"]`)
	p.wait(`document.querySelector("dialog[open]")`)
	eval[bool](p, `([...document.querySelectorAll("dialog button")].find((x) => x.textContent === "Sign out").click(), true)`)
	p.wait(`document.querySelector(".sign-in input")`)
	p.reload401()
}

// reload401 reloads a page that is no longer known.
func (p *page) reload401() {
	p.Helper()
	p.do(chromedp.Reload())
	p.wait(`document.querySelector(".sign-in input")`)
}

func TestThePageFitsANarrowScreen(t *testing.T) {
	w := start(t)
	w.conversation("a", "A conversation with quite a long title that does not fit", "isolated", "a-long-category-label")
	w.says("a", "Show me.", "Some text.\n\n```\n"+strings.Repeat("a long line of code ", 20)+"\n```\n\n| "+strings.Repeat("column | ", 12)+"\n|"+strings.Repeat("---|", 12)+"\n\n"+strings.Repeat("unbroken", 60))
	p := w.open("", chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	eval[bool](p, `(localStorage.setItem("weir.sidebar", "closed"), true)`)
	p.reload()
	p.show("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.narrow("the conversation")
	p.click(`[aria-label="Show the list"]`)
	p.wait(`document.querySelector(".sidebar")`)
	p.narrow("the list")
	p.click(`.entry a`) // choosing one puts the list away
	p.wait(`!document.querySelector(".sidebar")`)
	p.click(`[aria-label="Show what the model was given"]`)
	p.click(".steps .step")
	p.wait(`document.querySelector(".verified")`)
	p.narrow("the inspector")
	p.click(`.inspector [aria-label="Close"]`)
	eval[bool](p, `(document.querySelector(".message .message-tools button").click(), true)`)
	p.wait(`document.querySelector("dialog[open]")`)
	p.narrow("the picker")
}

// narrow checks that nothing sticks out sideways.
func (p *page) narrow(what string) {
	p.Helper()
	out := eval[[]string](p, `[...document.querySelectorAll("body *")].filter((el) => {
		const r = el.getBoundingClientRect();
		if (r.width === 0 || r.right <= innerWidth + 1) return false;
		for (let x = el; x; x = x.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(x).overflowX) && x !== document.body) return false;
		return true;
	}).map((el) => el.className + " " + el.tagName).slice(0, 5)`)
	if len(out) > 0 || eval[bool](p, `document.documentElement.scrollWidth > innerWidth`) {
		p.Errorf("%s is wider than the screen: %q", what, out)
	}
}

func TestEveryControlHasAName(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "isolated", "x")
	w.conversation("b", "B", "open", "")
	_, id := w.says("a", "Show me.", "```go\nfunc main() {}\n```\n\n| a |\n|---|\n| b |")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.named("a conversation")
	p.rightClick(message(id))
	p.wait(`document.querySelector(".menu")`)
	p.named("the menu")
	p.click(`.menu [role=menuitem]:first-child`)
	p.wait(`document.querySelector(".options [data-target=b]")`)
	p.named("the picker")
	p.click(".options [data-target=b]")
	p.wait(`document.querySelector("dialog .sentence")`)
	p.named("the question")
	p.click("dialog .caution")
	p.at("b")
	p.click(`[aria-label="Show what the model was given"]`)
	p.wait(`document.querySelector(".inspector")`)
	p.named("card and inspector")
	p.click(`[aria-label="Settings"]`)
	p.wait(`document.querySelector("dialog[open]")`)
	p.named("the settings")
}

func (p *page) named(where string) {
	p.Helper()
	nameless := eval[[]string](p, `[...document.querySelectorAll("button, a, input, select, textarea, summary, [role=button], [role=textbox], [role=listbox], [role=menu], dialog, nav, aside")].filter((el) => {
		if (el.closest("[aria-hidden=true]")) return false;
		const words = el.getAttribute("aria-label") || (el.labels && [...el.labels].map((l) => l.innerText).join("")) || el.textContent || el.title;
		return !words.trim();
	}).map((el) => el.outerHTML.slice(0, 200))`)
	if len(nameless) > 0 {
		p.Errorf("%s: without a name: %q", where, nameless)
	}
	if twice := eval[[]string](p, `[...document.querySelectorAll("[id]")].map((x) => x.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(twice) > 0 {
		p.Errorf("%s: ids that stand twice: %q", where, twice)
	}
}

func TestThePageSpeaksChineseAndChangesItsLook(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "isolated", "")
	w.says("a", "Show me.", "Here.")
	p := w.open("a")
	p.click(`[aria-label="Settings"]`)
	eval[bool](p, `(() => { const s = document.querySelector("dialog select"); s.value = "zh"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	p.wait(`document.querySelector("dialog h2").textContent === "设置" && document.documentElement.lang === "zh-CN"`)
	ground := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
	looks := map[string]string{}
	for _, theme := range []string{"light", "dark"} {
		eval[bool](p, fmt.Sprintf(`(document.querySelector("input[name=theme][value=%s]").click(), true)`, theme))
		p.wait(`document.documentElement.dataset.theme === ` + js(theme))
		looks[theme] = ground()
	}
	if looks["light"] == looks["dark"] {
		t.Errorf("light and dark are both %s", looks["light"])
	}
	p.reload() // both are kept
	p.wait(`document.documentElement.lang === "zh-CN" && document.documentElement.dataset.theme === "dark"`)
	p.wait(`document.querySelector(".sidebar .new").textContent.includes("新对话")`)
	if english := eval[[]string](p, `[...document.querySelectorAll("button, label, h2, .cm-placeholder")].map((x) => (x.getAttribute("aria-label") || x.textContent).trim()).filter((s) => /^[A-Z][a-z]+ [a-z]+/.test(s))`); len(english) > 0 {
		t.Errorf("still English: %q", english)
	}
}
