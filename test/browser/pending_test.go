package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"weir/test/strictpeer/strictpeer"
)

const (
	escape = kb.Escape
	del    = kb.Delete
)

// queued is what waits above the composer, in its order.
const queued = `[...document.querySelectorAll("ul.pending .pending-text")].map((x) => x.textContent).join("|")`

// running starts an answer that stands still until the returned channel is
// closed, with some messages waiting behind it.
func (w *world) running(p *page, queue ...string) chan struct{} {
	w.Helper()
	end := make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Say("Working"), strictpeer.Hold(end), strictpeer.Say(" done.")})
	p.write("Begin.")
	p.send()
	p.wait(`(` + streamed + `) === "Working"`)
	for _, text := range queue {
		p.write(text)
		p.press(enter, alt)
		p.composed("")
	}
	p.wait(`(` + queued + `) === ` + js(strings.Join(queue, "|")))
	return end
}

func TestQueuedMessagesAreMovedByButtonAndByKey(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	end := w.running(p, "one", "two", "three")

	p.click(`ul.pending li:nth-child(3) [data-move=up]`)
	p.wait(`(` + queued + `) === "one|three|two"`)
	p.wait(`document.activeElement.matches("ul.pending li:nth-child(2) [data-move=up]")`) // it stays at what was moved
	p.wait(`document.querySelector(".composer").textContent.includes("Now 2 of 3 in the queue.")`)

	p.press(enter) // where there is no further to go, at the message itself
	p.wait(`(` + queued + `) === "three|one|two" && document.activeElement.matches("ul.pending li:first-child")`)

	// By keys alone: from the first to the end.
	p.press(down, alt)
	p.wait(`(` + queued + `) === "one|three|two" && document.activeElement.matches("ul.pending li:nth-child(2)")`)
	p.press(down, alt)
	p.wait(`(` + queued + `) === "one|two|three" && document.activeElement.matches("ul.pending li:nth-child(3)")`)
	if !eval[bool](p, `document.querySelector("ul.pending li:nth-child(3) [data-move=down]").disabled && document.querySelector("ul.pending li [data-move=up]").disabled`) {
		t.Error("the ends of the queue offer to move beyond it")
	}
	// Another page sees the same order.
	other := w.open("a")
	other.wait(`(` + queued + `) === "one|two|three"`)
	other.click(`ul.pending li:nth-child(2) [data-move=up]`)
	p.wait(`(` + queued + `) === "two|one|three"`)

	close(end)
	w.settled("a", "three")
	if got := strings.Join(w.users("a"), "|"); got != "Begin.|two|one|three" {
		t.Errorf("they were said as %s", got)
	}
}

func TestAPendingMessageIsEditedSwitchedAndTakenBackByKeys(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	end := w.running(p, "first", "second")
	focus := func(n string) {
		eval[bool](p, `(document.querySelector("ul.pending li:nth-child(`+n+`)").focus(), true)`)
	}

	focus("1")
	p.press(enter)
	p.wait(`document.activeElement.matches("ul.pending textarea")`)
	p.press(" of all")
	p.press(enter, ctrl)
	p.wait(`(` + queued + `) === "first of all|second" && document.activeElement.matches("ul.pending li:first-child")`)

	focus("2")
	p.press(del)
	p.wait(`(` + queued + `) === "first of all"`)
	p.wait(`document.querySelector(".toast .link")?.textContent === "Put back into the composer"`)
	p.click(".toast .link")
	p.composed("second")

	p.wait(`document.querySelector("ul.pending .pending-kind .sr").textContent === "Queued for afterwards"`)
	eval[bool](p, `([...document.querySelectorAll("ul.pending button")].find((x) => x.textContent === "Steer instead").click(), true)`)
	p.wait(`document.querySelector("ul.pending .pending-kind .sr").textContent === "Steers the running answer"`)
	close(end)
	w.settled("a", "first of all")
}

func TestEscapeStopsTheAnswerAndOnlyWhereNothingElseIsToClose(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.running(p, "later")

	// The field of a pending message, and a dialog, are closed by it.
	eval[bool](p, `(document.querySelector("ul.pending li").focus(), true)`)
	p.press(enter)
	p.wait(`document.activeElement.matches("ul.pending textarea")`)
	p.press(escape)
	p.wait(`!document.querySelector("ul.pending textarea")`)
	p.click(`[aria-label="Settings"]`)
	p.wait(`document.querySelector("dialog[open]")`)
	p.press(escape)
	p.wait(`!document.querySelector("dialog[open]")`)
	p.stays(`document.querySelector(".streaming")`)

	p.focusComposer()
	p.press(escape)
	p.wait(`document.querySelector(".message.assistant:not(.streaming) .interrupted")`)
	p.wait(`document.querySelector("ul.pending .held") && (` + queued + `).endsWith("later")`)
}

func TestAnAnswerIsStoppedToGoOnWithWhatWasSaid(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.running(p, "queued")
	if eval[bool](p, `document.querySelector(".go-on") !== null`) {
		t.Error("it is offered though nothing steers")
	}
	w.peer.When(strictpeer.Saying("Not that way."), strictpeer.Answer{strictpeer.Say("Another way.")})
	p.write("Not that way.")
	p.send()
	p.click(".go-on button")
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1).textContent.trim() === "Another way."`)
	p.wait(`document.querySelectorAll(".interrupted").length === 1`)
	// What was queued was not asked for, and waits.
	p.wait(`(` + queued + `).endsWith("queued")`)
	if got := strings.Join(w.users("a"), "|"); got != "Begin.|Not that way." {
		t.Errorf("the conversation holds %q", got)
	}
}
