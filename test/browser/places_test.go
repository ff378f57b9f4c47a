package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"weir"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
)

// chooses picks an entry of the menu that is open.
func (p *page) chooses(label string) {
	p.Helper()
	p.wait(`document.querySelector(".menu")`)
	eval[bool](p, `([...document.querySelectorAll(".menu [role=menuitem]")].find((x) => x.textContent === `+js(label)+`).click(), true)`)
}

func TestAfterARewindTheNextWordsGoIntoTheComposer(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	_, first := w.says("a", "Say one.", "One.")
	_, last := w.says("a", "Say two.", "Two.")
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 4`)

	p.click(message(last) + ` .message-tools button:last-child`)
	p.wait(`document.querySelector(".menu")`)
	if strings.Contains(p.text(".menu"), "Rewind to here") {
		t.Error("the last message offers to rewind to it")
	}
	p.do(chromedp.MouseClickXY(640, 60))

	p.click(message(first) + ` .message-tools button:last-child`)
	p.chooses("Rewind to here")
	p.wait(`document.activeElement.matches(".cm-content")`)
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.wait(`document.querySelector(".mark-line[data-kind=rewind]").textContent.includes("2 messages hidden")`)
	w.peer.Script(strictpeer.Answer{strictpeer.Say("Three.")})
	p.press("Say three.")
	p.send()
	w.settledAfter("a", 1, "Say three.")

	// A rewind over that one does not count what was hidden before.
	p.wait(`document.querySelectorAll(".message").length === 4 && !document.querySelector(".streaming")`)
	p.click(message(first) + ` .message-tools button:last-child`)
	p.chooses("Rewind to here")
	p.wait(`document.querySelectorAll(".message").length === 2`)
	p.wait(`[...document.querySelectorAll(".mark-line[data-kind=rewind]")].at(-1).textContent.includes("2 messages hidden")`)
}

func TestOnAPhoneTheModelIsChosenInTheMenu(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("", chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.show("a")
	p.wait(`document.querySelector(".top .model-select select").offsetHeight === 0`)
	p.click(`.top [aria-haspopup=menu]`)
	p.chooses("Choose the model")
	p.wait(`document.querySelector(".choose-model [aria-pressed=true]")`)
	p.narrow("the choice of a model")
	if got := p.text(".choose-model .choices"); !strings.Contains(got, "claude-strict") {
		t.Errorf("the models are %q", got)
	}
	p.click(".choose-model .choices button")
	p.wait(`!document.querySelector("dialog[open]")`)
	eval[bool](p, `(location.hash = "#/new", true)`)
	p.wait(`document.querySelector(".top.new .model-select select").offsetHeight > 0`)
	p.narrow("a new conversation")
}

func TestTheListThatAPhoneHidesIsThereOnADesktop(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("", chromedp.EmulateViewport(360, 740))
	p.show("a")
	p.wait(`!document.querySelector(".sidebar")`)
	p.click(`[aria-label="Show the list"]`)
	p.click(".entry a")
	p.wait(`!document.querySelector(".sidebar")`)
	p.do(chromedp.EmulateViewport(1280, 800))
	p.wait(`document.querySelector(".sidebar")`)
	p.reload()
	p.wait(`document.querySelector(".sidebar")`)
	// What is chosen where there is room is kept.
	p.click(`[aria-label="Hide the list"]`)
	p.reload()
	p.wait(`document.querySelector('[aria-label="Show the list"]') && !document.querySelector(".sidebar")`)
}

func TestWordsAboveTheComposerCoverNothingOfIt(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	first, _ := w.says("a", "Say one.", "One.")
	p := w.open("a")
	for _, width := range []int64{1280, 360} {
		p.do(chromedp.EmulateViewport(width, 740))
		p.wait(`document.querySelectorAll(".message").length === 2`)
		for range 2 { // each says "Rewound" and "undone"
			eval[bool](p, `(document.querySelector("`+message(first)+` .message-tools button:last-child").click(), true)`)
			p.chooses("Rewind to here")
			p.wait(`document.querySelectorAll(".message").length === 1`)
			p.wait(`[...document.querySelectorAll(".toast button")].some((x) => x.textContent === "Undo")`)
			p.stays(`document.querySelector(".toasts").getBoundingClientRect().bottom <= document.querySelector(".composer").getBoundingClientRect().top + 1`)
			p.narrow("the page with words above the composer")
			eval[bool](p, `([...document.querySelectorAll(".toast button")].find((x) => x.textContent === "Undo").click(), true)`)
			p.wait(`document.querySelectorAll(".message").length === 2 && document.activeElement.matches(".cm-content")`)
			if n := eval[int](p, `document.querySelectorAll(".toast").length`); n > 2 {
				t.Errorf("%d of them at once", n)
			}
		}
		// The composer grows, and they make room.
		p.press("a")
		p.press(enter, chromedp.ModifierShift)
		p.press(enter, chromedp.ModifierShift)
		p.stays(`document.querySelector(".toasts").getBoundingClientRect().bottom <= document.querySelector(".composer").getBoundingClientRect().top + 1`)
		p.wait(`(document.querySelector(".toast [aria-label=Dismiss]")?.click(), !document.querySelector(".toast"))`)
	}
}

func TestTheArchiveHasItsNameItsOwnEmptyTextAndAWayBack(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	p.click(".sidebar-foot button")
	p.wait(`document.querySelector(".sidebar-view h2").textContent === "Archived" && document.querySelector(".list").textContent === "Nothing is archived."`)
	p.click(`[aria-label="Back to all conversations"]`)
	p.wait(`document.querySelectorAll(".entry").length === 1 && !document.querySelector(".sidebar-view")`)
}

// imported makes a conversation that came from elsewhere.
func imported(ctx context.Context, s store.Store, owner weir.OwnerID) error {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	c := weir.Conversation{ID: "old", Owner: owner, Title: "From before", Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
		Generation: weir.NewGenerationID(at), State: weir.Idle, CreatedAt: at, LastActive: at,
		Origin: &weir.Origin{Product: "claude-code", File: "a.jsonl", ImportedAt: at}}
	return s.Update(ctx, func(tx store.Tx) error { return tx.InsertConversation(ctx, &c) })
}

func TestAnImportedConversationSaysWhereItCameFrom(t *testing.T) {
	w := start(t, imported)
	p := w.open("old")
	p.wait(`document.querySelector(".entry .mark-origin").title === "Imported from claude-code"`)
	p.wait(`document.querySelector(".top .mark-origin").textContent.includes("Imported from claude-code") && document.querySelector(".top .mark-origin").title.includes("a.jsonl")`)
	p.click(`[aria-label="Show what the model was given"]`)
	p.wait(`document.querySelector(".inspector .origin")?.textContent.includes("a.jsonl")`)
}
