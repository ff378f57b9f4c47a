package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// stays holds over several frames what it found at once.
func (p *page) stays(expression string) {
	p.Helper()
	p.wait(expression)
	held := eval[bool](p, `(async () => {
		for (let i = 0; i < 20; i++) {
			await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
			if (!(`+expression+`)) return false;
		}
		return true;
	})()`)
	if !held {
		p.Fatalf("did not stay: %s", expression)
	}
}

func TestTheMenuThatARightClickOpensStaysOpen(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	_, id := w.says("a", "Say one.", "One.")
	p := w.open("a")

	p.rightClick(message(id))
	p.stays(`document.querySelector(".menu")`)
	for _, label := range []string{"Quote into…", "Copy reference", "Branch from here"} {
		p.wait(`[...document.querySelectorAll(".menu [role=menuitem]")].some((x) => x.textContent === ` + js(label) + `)`)
	}
	p.press(kb.Escape)
	p.wait(`!document.querySelector(".menu")`)
	p.wait(`document.activeElement.matches(` + js(message(id)) + `)`)

	p.press(kb.F10, chromedp.ModifierShift)
	p.stays(`document.querySelector(".menu")`)
	p.press(kb.ArrowDown)
	p.wait(`document.activeElement.textContent === "Copy reference"`)
	p.press(kb.Escape)

	p.click(message(id) + ` .message-tools button:last-child`)
	p.stays(`document.querySelector(".menu")`)
	p.do(chromedp.MouseClickXY(640, 60)) // anywhere else
	p.wait(`!document.querySelector(".menu")`)

	// One right click after another opens one menu after another.
	p.rightClick(message(id))
	p.stays(`document.querySelector(".menu")`)
	p.rightClick(".message.user")
	p.stays(`document.querySelectorAll(".menu").length === 1`)
	// There is something to go back from here, and not from the last message.
	p.wait(`[...document.querySelectorAll(".menu [role=menuitem]")].some((x) => x.textContent === "Rewind to here")`)
}

func TestALongPressOpensTheMenu(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	_, id := w.says("a", "Say one.", "One.")
	p := w.open("a", chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.wait(`document.querySelector(` + js(message(id)) + `)`)
	eval[bool](p, `(() => {
		const el = document.querySelector(`+js(message(id))+`), r = el.getBoundingClientRect();
		el.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerType: "touch", clientX: r.left + 20, clientY: r.top + 10 }));
		return true;
	})()`)
	p.stays(`document.querySelector(".menu")`)
}

func TestARewindOffersToBeUndone(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	first, _ := w.says("a", "Say one.", "One.")
	w.says("a", "Say two.", "Two.")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 4`)

	p.rightClick(message(first))
	p.wait(`document.querySelector(".menu")`)
	eval[bool](p, `([...document.querySelectorAll(".menu [role=menuitem]")].find((x) => x.textContent === "Rewind to here").click(), true)`)
	p.wait(`document.querySelectorAll(".message").length === 1`)
	p.wait(`document.querySelector(".mark-line[data-kind=rewind]")`)

	// The mark opens: what was hidden is shown, dimmed.
	p.click(".mark-line[data-kind=rewind] [aria-pressed]")
	p.wait(`document.querySelectorAll(".message.rewound").length === 3`)
	p.wait(`document.querySelector(".message.rewound .message-tools button:disabled").title.includes("cannot be quoted")`)
	p.click(".mark-line[data-kind=rewind] [aria-pressed]")
	p.wait(`document.querySelectorAll(".message").length === 1`)

	eval[bool](p, `([...document.querySelectorAll(".toast button")].find((x) => x.textContent === "Undo").click(), true)`)
	p.wait(`document.querySelectorAll(".message:not(.rewound)").length === 4`)
}

func TestABranchOpensAndNamesItsParent(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "isolated", "")
	_, id := w.says("a", "Say one.", "One.")
	w.says("a", "Say two.", "Two.")
	p := w.open("a")
	p.rightClick(message(id))
	p.wait(`document.querySelector(".menu")`)
	eval[bool](p, `([...document.querySelectorAll(".menu [role=menuitem]")].find((x) => x.textContent === "Branch from here").click(), true)`)
	p.wait(`location.hash !== "#/c/a" && document.querySelectorAll(".message").length === 2`)
	p.wait(`document.querySelector('.top a[href="#/c/a"]')`)
	// In its parent's island, without a wall of its own.
	p.wait(`document.querySelector(".entry.here .mark-level.inside") && document.querySelector(".entry.here .mark-kind")?.textContent === "branch"`)
}
