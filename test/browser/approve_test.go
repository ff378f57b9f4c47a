package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"weir"
	"weir/app"
	"weir/test/strictpeer/strictpeer"
	"weir/test/toolserver"
	toolkit "weir/tool"
)

// tooled runs the product with a server of tools, whose calls need what is said.
func tooled(t *testing.T, approval string) (*world, *toolserver.Server) {
	t.Helper()
	s := toolserver.New(t)
	return startWith(t, func(c *app.Config) {
		c.MCP = []app.MCP{{Name: "box", URL: s.URL, Approval: approval}}
	}), s
}

// tool is a call in the timeline by its id, in a state.
func tool(id, state string) string {
	return `.tool[data-call="` + id + `"][data-state=` + state + `]`
}

func TestACallWaitsForAPersonWhoAllowsItByKeysAlone(t *testing.T) {
	w, tools := tooled(t, "ask")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(
		strictpeer.Answer{strictpeer.Say("Let me see."), strictpeer.Call("toolu_1", "box__hold", `{"name":"one"}`)},
		strictpeer.Answer{strictpeer.Say("I have seen it.")})
	p.write("Look.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_1", "waiting")) + `)?.open`)
	p.wait(`document.querySelector(".composer [role=alert]").textContent === "box__hold waits for your decision."`)
	p.wait(`document.querySelector(".entry .dot")?.ariaLabel === "A tool call waits for your decision"`)
	if got := p.text(`.tool[data-call="toolu_1"] pre`); !strings.Contains(got, `"name": "one"`) {
		t.Errorf("the arguments are shown as %q", got)
	}
	if got := tools.Runs(); !slices.Equal(got, []string{""}) {
		t.Errorf("%q ran unasked", got)
	}
	// What is said meanwhile waits, and says that there is something to decide.
	p.write("And then?")
	p.send()
	p.wait(`document.querySelector(".standing.decide").textContent.includes("Decide first")`)
	p.wait(`document.querySelector("ul.pending .pending-kind .sr").textContent === "Waits until you have decided about the tool call"`)
	p.reload() // it is durable
	p.at("a")
	p.wait(`document.querySelector(` + js(tool("toolu_1", "waiting")) + `)?.open`)

	// From the composer to the question, past the cautious answer, to the other.
	eval[bool](p, `(document.querySelector(".standing.decide button").focus(), true)`)
	p.press(enter)
	p.wait(`document.activeElement.dataset.decision === "deny"`)
	p.press("\t")
	p.wait(`document.activeElement.dataset.decision === "allow"`)
	p.press(enter)
	p.wait(`document.querySelector(` + js(tool("toolu_1", "running")) + `)?.textContent.includes("running")`)
	p.wait(`document.activeElement.matches(".cm-content")`)
	if err := tools.Began(p.ctx, "one"); err != nil {
		t.Fatal(err)
	}
	p.wait(`!document.querySelector(".standing.decide")`)
	tools.Release("one", "It is a box.")
	p.wait(`document.querySelector(` + js(tool("toolu_1", "done")) + `)?.textContent.includes("allowed by you")`)
	p.wait(`!document.querySelector("ul.pending") && document.querySelectorAll(".message.user").length === 2`)
	p.wait(`!document.querySelector(` + js(tool("toolu_1", "done")) + `).open`)
	if n := tools.Ran("hold one"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestADeclinedCallEndsTheTurnAndAStandingDecisionAsksNoMore(t *testing.T) {
	w, tools := tooled(t, "ask")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	heard := make(chan struct{})
	w.peer.Script(
		strictpeer.Answer{strictpeer.Call("toolu_1", "box__echo", `{"text":"one"}`), strictpeer.Hold(heard), strictpeer.Call("toolu_2", "box__fill", `{"bytes":10}`)},
		strictpeer.Answer{strictpeer.Call("toolu_3", "box__echo", `{"text":"two"}`)},
		strictpeer.Answer{strictpeer.Call("toolu_4", "box__echo", `{"text":"three"}`)},
		strictpeer.Answer{strictpeer.Say("Said.")})
	p.write("Both.")
	p.send()
	p.wait(`document.querySelector(".timeline-frame > .sr").textContent === "The assistant is answering."`)
	close(heard)
	p.wait(`document.querySelector(".composer [role=alert]").textContent === "2 tool calls wait for your decision."`)
	// Nothing is finished, for those who listen either.
	p.wait(`document.querySelector(".timeline-frame > .sr").textContent === "The assistant asks for a tool."`)
	p.click(`.tool[data-call="toolu_1"] [data-decision=deny]`)
	p.wait(`document.activeElement.closest("[data-call=toolu_2]") && document.activeElement.dataset.decision === "deny"`)
	p.press(enter)
	for _, id := range []string{"toolu_1", "toolu_2"} {
		p.wait(`document.querySelector(` + js(tool(id, "failed")) + `)?.textContent.includes("declined by you")`)
	}
	p.wait(`!document.querySelector(".composer [aria-label='Stop the answer']")`)

	p.write("Again.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_3", "waiting")) + `)`)
	p.click(`.tool[data-call="toolu_3"] .check input`)
	p.click(`.tool[data-call="toolu_3"] [data-decision=allow]`)
	// The next call of the same tool is not asked about.
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1)?.textContent.trim() === "Said."`)
	if got := tools.Runs(); !slices.Equal(got, []string{"echo two", "echo three"}) {
		t.Errorf("%q ran", got)
	}
	p.wait(`document.querySelector(` + js(tool("toolu_4", "done")) + `) && !document.querySelector(` + js(tool("toolu_4", "done")) + `).textContent.includes("by you")`)

	// It is seen in the settings, and taken back there.
	const rule = `document.querySelector("[data-tool=box__echo] select")`
	p.click(`[aria-label="Settings"]`)
	p.wait(rule + `.value === "allow" && document.querySelector("[data-tool=box__fill] select").value === "ask"`)
	p.named("the tools")
	eval[bool](p, `(() => { const s = `+rule+`; s.value = "ask"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	p.wait(`await fetch("/v1/tools").then((r) => r.json()).then((x) => x.items.find((i) => i.name === "box__echo").remembered !== "allow")`)
	p.press(escape)
	w.peer.Script(strictpeer.Answer{strictpeer.Call("toolu_5", "box__echo", `{"text":"four"}`)})
	p.write("Once more.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_5", "waiting")) + `)`)
}

func TestStoppingWhileACallWaitsSettlesIt(t *testing.T) {
	w, tools := tooled(t, "ask")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(strictpeer.Answer{strictpeer.Call("toolu_1", "box__echo", `{"text":"one"}`)}, strictpeer.Answer{strictpeer.Say("Fine.")})
	p.write("Look.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_1", "waiting")) + `)`)
	p.focusComposer()
	p.press(escape)
	p.wait(`document.querySelector(` + js(tool("toolu_1", "failed")) + `) && !document.querySelector(".standing.decide")`)
	p.write("Without it.")
	p.send()
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1)?.textContent.trim() === "Fine."`)
	if got := tools.Runs(); !slices.Equal(got, []string{""}) {
		t.Errorf("%q ran", got)
	}
}

func TestTheWholeOfALongResultOpens(t *testing.T) {
	w, _ := tooled(t, "allow")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(strictpeer.Answer{strictpeer.Call("toolu_1", "box__fill", `{"bytes":500000}`)}, strictpeer.Answer{strictpeer.Say("Much.")})
	p.write("Fill it.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_1", "done")) + `)`)
	if eval[bool](p, `document.querySelector(".tool").open`) {
		t.Error("a settled call is not folded")
	}
	p.click(`.tool summary`)
	p.wait(`document.querySelector(".tool .whole")?.textContent.includes("488 KB")`)
	if n := eval[int](p, `[...document.querySelectorAll(".tool pre")].at(-1).textContent.length`); n > 40_000 {
		t.Errorf("%d characters of it are in the timeline", n)
	}
	p.click(".tool .whole button")
	p.wait(`document.querySelector("dialog[open] pre.raw")?.textContent.length === 200000 && document.activeElement.matches("pre.raw")`)
	for range 2 {
		p.click("dialog .dialog-foot button:first-child")
	}
	p.wait(`document.querySelector("dialog[open] pre.raw").textContent.length === 500000`)
	p.press(escape)
	p.wait(`!document.querySelector("dialog[open]")`)
}

func TestWhatWasSaidGoesOnInPlaceOfACallThatWaits(t *testing.T) {
	w, tools := tooled(t, "ask")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(strictpeer.Answer{strictpeer.Call("toolu_1", "box__echo", `{"text":"one"}`)}, strictpeer.Answer{strictpeer.Say("Another way.")})
	p.write("Look.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_1", "waiting")) + `)`)
	p.write("Not that way.")
	p.send()
	p.click(".go-on button")
	p.wait(`document.querySelector(` + js(tool("toolu_1", "failed")) + `)`)
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1)?.textContent.trim() === "Another way." && !document.querySelector("ul.pending")`)
	if got := tools.Runs(); !slices.Equal(got, []string{""}) {
		t.Errorf("%q ran", got)
	}
}

func TestAQuestionAndWhatWaitsFitANarrowScreenInBothLanguages(t *testing.T) {
	w, _ := tooled(t, "ask")
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Say("Let me see."), strictpeer.Call("toolu_1", "box__echo", `{"text":"`+strings.Repeat("unbroken", 40)+`"}`)})
	w.must("POST", at("a", "messages"), object{"text": "Look."})
	p := w.open("", chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.show("a")
	p.wait(`document.querySelector(".decision")`)
	for _, delivery := range []string{"steer", "queue", "queue"} {
		w.must("POST", at("a", "messages"), object{"text": delivery + strings.Repeat(" and so on", 20), "delivery": delivery})
	}
	p.wait(`document.querySelectorAll("ul.pending li").length === 3 && document.querySelector(".go-on")`)
	p.narrow("a question")
	p.named("a question")

	eval[bool](p, `(localStorage.setItem("weir.lang", "zh"), localStorage.setItem("weir.theme", "dark"), true)`)
	p.reload()
	p.at("a")
	p.wait(`document.querySelector(".decision") && document.querySelectorAll("ul.pending li").length === 3`)
	p.narrow("a question in Chinese")
	p.named("a question in Chinese")
	const words = `[...document.querySelectorAll(".standing, .decision, .tool .tag, .pending-tools, .pending-kind, .go-on, .composer [role=alert]")].map((x) => x.textContent.replace("box__echo", "")).filter((s) => /[A-Za-z]/.test(s))`
	if english := eval[[]string](p, words); len(english) > 0 {
		t.Errorf("still English: %q", english)
	}
	// Every word can be told from its ground.
	const faint = `(() => {
		const level = (c) => { const v = c.map((x) => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
		const parse = (s) => s.match(/[\d.]+/g).map(Number);
		const ground = (el) => { for (let x = el; x; x = x.parentElement) { const c = parse(getComputedStyle(x).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
		return [...document.querySelectorAll(".standing-words, .decision-words, .check, .decision button, .tool .tag, .pending-text, .pending-tools .link")].filter((el) => {
			const [a, b] = [level(parse(getComputedStyle(el).color).slice(0, 3)), level(ground(el).slice(0, 3))];
			return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
		}).map((el) => el.className + " " + el.textContent);
	})()`
	for _, theme := range []string{"dark", "light"} {
		eval[bool](p, `(document.documentElement.dataset.theme = "`+theme+`", true)`)
		if bad := eval[[]string](p, faint); len(bad) > 0 {
			t.Errorf("%s: hard to read: %q", theme, bad)
		}
	}
}

func TestCallsSideBySideSayHowFarEachHasCome(t *testing.T) {
	w, tools := tooled(t, "allow")
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(
		strictpeer.Answer{strictpeer.Call("toolu_1", "box__hold", `{"name":"one"}`), strictpeer.Call("toolu_2", "box__echo", `{"text":"two"}`), strictpeer.Call("toolu_3", "box__nothing", `{}`)},
		strictpeer.Answer{strictpeer.Say("All three.")})
	p.write("Begin.")
	p.send()
	p.wait(`document.querySelector(` + js(tool("toolu_1", "running")) + `) && document.querySelector(` + js(tool("toolu_2", "done")) + `) && document.querySelector(` + js(tool("toolu_3", "failed")) + `)`)
	p.reload()
	p.at("a")
	p.wait(`document.querySelector(` + js(tool("toolu_1", "running")) + `) && document.querySelector(` + js(tool("toolu_2", "done")) + `)`)
	if eval[bool](p, `[...document.querySelectorAll(".tool")].some((x) => x.open)`) {
		t.Error("a call is not folded")
	}
	tools.Release("one", "one")
	p.wait(`document.querySelector(` + js(tool("toolu_1", "done")) + `)`)
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1)?.textContent.trim() === "All three."`)
}

func TestACallThatWasCutShortIsNoFailure(t *testing.T) {
	w := start(t, holding("a", "A", []weir.Body{
		said("Look."),
		answered("s1", "Let me see.", calling("c1", "look", `{}`), calling("c2", "look", `{}`), calling("c3", "look", `{}`)),
		&weir.ToolResult{Call: "c1", Name: "look", Text: toolkit.Interrupted().Text, IsError: true},
		&weir.ToolResult{Call: "c2", Name: "look", Text: "interrupted; it was not run", IsError: true},
		&weir.ToolResult{Call: "c3", Name: "look", Text: "There is nothing to see.", IsError: true},
	}))
	p := w.open("a")
	p.wait(`[...document.querySelectorAll(".tool .tag")].map((x) => x.textContent).join() === "interrupted,interrupted,failed"`)
}
