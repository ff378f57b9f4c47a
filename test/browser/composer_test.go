package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"weir/test/strictpeer/strictpeer"
)

const (
	alt  = chromedp.ModifierAlt
	ctrl = chromedp.ModifierCtrl
)

func TestEnterDoesNotSendWhileAnInputMethodComposes(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	p.write("nihao")

	// Chrome's order: Enter while the composition is open.
	eval[bool](p, `(() => {
		const el = document.querySelector(".composer .cm-content");
		el.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
		el.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: "Enter", keyCode: 229, isComposing: true }));
		el.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "你好" }));
		// Safari's: the composition ends first, then the Enter that ended it.
		el.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: "Enter", keyCode: 229, isComposing: false }));
		return true;
	})()`)
	p.stays(`document.querySelector(".composer .cm-line").textContent === "nihao" && document.querySelectorAll(".message").length === 0`)

	p.send() // the next Enter is the person's
	w.settled("a", "nihao")
	if got := w.users("a"); len(got) != 1 {
		t.Errorf("sent %q", got)
	}
}

func TestShiftEnterBreaksTheLine(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	p.write("one")
	p.press(enter, chromedp.ModifierShift)
	p.press("two")
	p.composed("one\ntwo")
	p.send()
	w.settled("a", "one\ntwo")
}

func TestOnATouchKeyboardEnterBreaksTheLineAndTheButtonSends(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("", chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.show("a")
	if !eval[bool](p, `matchMedia("(pointer: coarse)").matches`) {
		t.Skip("this browser does not emulate a touch screen")
	}
	p.write("one")
	p.press(enter)
	p.press("two")
	p.composed("one\ntwo")
	p.click(".composer .send")
	p.composed("")
	w.settled("a", "one\ntwo")
}

func TestANewConversationBeginsWithItsWall(t *testing.T) {
	w := start(t)
	p := w.open("")
	p.wait(`document.querySelector(".start .cm-content")`)
	eval[bool](p, `(document.querySelector(".levels input[value=isolated]").click(), true)`)
	p.click(".field.category input")
	p.press("client-a")
	p.write("Let us begin.")
	p.press(enter)
	p.wait(`location.hash.startsWith("#/c/")`)
	id := strings.TrimPrefix(eval[string](p, `decodeURIComponent(location.hash)`), "#/c/")
	w.settled(id, "Let us begin.")
	c := w.must("GET", at(id), nil)
	if v := c["visibility"].(object); v["level"] != "isolated" || v["category"] != "client-a" {
		t.Errorf("it was made %v", v)
	}
	p.wait(`document.querySelector(".entry.here .mark-level.isolated") && document.querySelector(".entry.here .mark-category")?.textContent === "client-a"`)
	p.wait(`document.querySelector(".entry.here .entry-title").textContent === "Let us begin."`)
}

func TestTheListIsLive(t *testing.T) {
	w := start(t)
	w.conversation("a", "First", "open", "")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".entry").length === 1`)
	w.conversation("b", "Second", "isolated", "x")
	p.wait(`document.querySelector(".entry[data-conversation=b] .mark-level.isolated")`)

	end := make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Hold(end), strictpeer.Say("Done.")})
	w.must("POST", at("b", "messages"), object{"text": "Work."})
	p.wait(`document.querySelector(".entry[data-conversation=b] .spinner")`)
	close(end)
	p.wait(`!document.querySelector(".entry .spinner")`)

	w.must("PATCH", at("b"), object{"title": "Renamed"})
	p.wait(`document.querySelector(".entry[data-conversation=b] .entry-title").textContent === "Renamed"`)
	p.click(".sidebar .search input")
	p.press("renam")
	p.wait(`document.querySelectorAll(".entry").length === 1 && document.querySelector(".entry[data-conversation=b]")`)
	w.must("DELETE", at("b"), nil)
	p.wait(`document.querySelectorAll(".entry").length === 0`)
}

func TestAConversationIsRenamedArchivedAndDeleted(t *testing.T) {
	w := start(t)
	w.conversation("a", "Old name", "open", "")
	p := w.open("a")
	p.click(".title-button")
	p.wait(`document.activeElement.matches("dialog input")`)
	p.press("New name")
	p.press(enter)
	p.wait(`document.querySelector(".top h1").textContent === "New name" && document.querySelector(".entry-title").textContent === "New name"`)

	choose := func(label string) {
		t.Helper()
		p.click(`.top [aria-haspopup=menu]`)
		p.wait(`document.querySelector(".menu")`)
		eval[bool](p, `([...document.querySelectorAll(".menu [role=menuitem]")].find((x) => x.textContent === `+js(label)+`).click(), true)`)
	}
	choose("Archive")
	p.wait(`document.querySelectorAll(".entry").length === 0`)
	p.click(".sidebar-foot button")
	p.wait(`document.querySelectorAll(".entry").length === 1`)
	choose("Take out of the archive")
	p.wait(`document.querySelectorAll(".entry").length === 0`)
	choose("Delete…")
	p.wait(`document.activeElement.textContent === "Cancel"`)
	p.click("dialog .button.danger")
	p.wait(`document.querySelector(".start")`)
	if status, _ := w.api("GET", at("a"), nil); status != 404 {
		t.Errorf("after deletion the conversation answers %d", status)
	}
}
