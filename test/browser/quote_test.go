package browser

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"weir/test/strictpeer/strictpeer"
)

// sent returns the user texts of the newest request that the provider got.
func sent(t testing.TB, peer *strictpeer.Peer) []string {
	t.Helper()
	bodies := peer.Bodies()
	if len(bodies) == 0 {
		t.Fatal("nothing was sent to the provider")
	}
	var request struct {
		Messages []struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(bodies[len(bodies)-1], &request); err != nil {
		t.Fatal(err)
	}
	last := request.Messages[len(request.Messages)-1]
	var texts []string
	for _, c := range last.Content {
		texts = append(texts, c.Text)
	}
	return texts
}

func TestAQuoteWithoutABoundaryGoesOverUnasked(t *testing.T) {
	w := start(t)
	w.conversation("port", "Which port", "open", "")
	w.conversation("plan", "The plan", "isolated", "")
	_, source := w.says("port", "Which port did we pick?", "We picked port 7447.")
	p := w.open("port")

	p.quote(source, "plan")

	p.at("plan")
	p.wait(`document.querySelectorAll(` + js(pendingCard) + `).length === 1`)
	if got := p.text(pendingCard); !strings.Contains(got, "Which port") || !strings.Contains(got, "We picked port 7447.") {
		t.Errorf("the card says %q", got)
	}
	p.write("Use that one.")
	p.send()
	w.settled("plan", "Use that one.")

	texts := sent(t, w.peer)
	if len(texts) != 2 || !strings.Contains(texts[0], "We picked port 7447.") || texts[1] != "Use that one." {
		t.Errorf("the model got %q, want the note and then the person's text", texts)
	}
	p.wait(`document.querySelector(".message.user .card.sent")`)

	// The sent quote leads back to the source, at that message, lit up.
	p.click(".message.user .card.sent")
	p.at("port")
	p.wait(`document.querySelector(".row.lit ` + message(source) + `")`)
	if focused := eval[string](p, `location.hash`); !strings.Contains(focused, source) {
		t.Errorf("the address is %s, without the message", focused)
	}
}

func TestACrossingIsAskedInTheServersWordsAndCancelIsTheDefault(t *testing.T) {
	w := start(t)
	w.conversation("pay", "Salary bands", "isolated", "")
	w.conversation("memo", "The memo", "open", "")
	_, source := w.says("pay", "What about April?", "Up by four percent.")
	preview := w.must("POST", "/v1/references/preview", object{"target": "memo",
		"reference": object{"type": "quote", "conversation": "pay", "message": source}})
	sentence := preview["confirmation"].(string)
	p := w.open("pay")

	p.quote(source, "memo")
	p.wait(`document.querySelector("dialog[open] .sentence")`)
	if got := p.text("dialog .sentence"); got != sentence {
		t.Errorf("the page asks %q, the server %q", got, sentence)
	}
	asked := p.text("dialog")
	for _, part := range []string{"Salary bands", "The memo", "Up by four percent.", "Isolated", "Open"} {
		if !strings.Contains(asked, part) {
			t.Errorf("the question does not show %q:\n%s", part, asked)
		}
	}
	if focus := eval[string](p, `document.activeElement.textContent`); focus != "Cancel" {
		t.Errorf("the focus is on %q, want Cancel", focus)
	}
	p.press(enter) // what a hasty person does
	p.wait(`!document.querySelector("dialog[open]")`)
	if p.show("memo"); p.cards() != 0 {
		t.Fatal("a crossing that was not confirmed left a card")
	}

	p.show("pay")
	p.quote(source, "memo")
	p.click("dialog .button.caution")
	p.at("memo")
	p.wait(`document.querySelector(".card.pending .card-state.yes")`)
	p.write("As agreed.")
	p.send()
	w.settled("memo", "As agreed.")
	if texts := sent(t, w.peer); !strings.Contains(texts[0], "Up by four percent.") {
		t.Errorf("the model got %q", texts)
	}
	_, crossings := w.api("GET", "/v1/crossings?target=memo", nil)
	if !bytes.Contains(crossings, []byte(`"pay"`)) {
		t.Errorf("the crossing is not on record: %s", crossings)
	}
	p.click(`[aria-label="Show what the model was given"]`)
	p.click(`.inspector [role=tab]:nth-child(3)`)
	p.wait(`document.querySelector(".flow .flow-words")`)
	if got := p.text(".flow"); !strings.Contains(got, "Salary bands") || !strings.Contains(got, sentence) {
		t.Errorf("the inspector shows the crossing as %q", got)
	}
}

func TestAConfirmationThatIsNoLongerTrueIsAskedAgain(t *testing.T) {
	w := start(t)
	w.conversation("source", "Notes on X", "open", "x")
	w.conversation("target", "The letter", "open", "")
	_, source := w.says("source", "What is the term?", "Ninety days.")
	p := w.open("source")
	p.expects("409")
	p.quote(source, "target")
	first := p.text("dialog .sentence")
	p.click("dialog .button.caution")
	p.at("target")
	p.write("Please draft it.")

	// The wall moves while the person writes.
	w.must("PATCH", at("source"), object{"visibility": object{"level": "isolated"}})

	p.press(enter)
	p.wait(`document.querySelector("dialog[open] .sentence")`)
	if again := p.text("dialog .sentence"); again == first {
		t.Errorf("asked again in the old words: %q", again)
	}
	p.press(enter) // Cancel
	p.wait(`!document.querySelector("dialog[open]")`)
	p.composed("Please draft it.")
	if p.cards() != 1 || eval[int](p, `document.querySelectorAll(".card.pending .card-state.no").length`) != 1 {
		t.Error("the card is gone, or still counts as confirmed")
	}
	if got := w.users("target"); len(got) != 0 {
		t.Errorf("something was stored: %q", got)
	}

	p.focusComposer()
	p.press(enter)
	p.click("dialog .button.caution")
	p.composed("")
	w.settled("target", "Please draft it.")
	if texts := sent(t, w.peer); !strings.Contains(texts[0], "Ninety days.") {
		t.Errorf("the model got %q", texts)
	}
}

func TestTheCardGoesToTheTargetsComposerAndTheMessageIsSentThere(t *testing.T) {
	w := start(t)
	for _, id := range []string{"a", "b", "c"} {
		w.conversation(id, "Conversation "+strings.ToUpper(id), "open", "")
	}
	_, source := w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.quote(source, "b")
	p.at("b")
	p.write("for b")

	p.show("a")
	if n := p.cards(); n != 0 {
		t.Fatalf("%d cards on the composer of the source", n)
	}
	p.show("c")
	if n := p.cards(); n != 0 {
		t.Fatalf("%d cards on the composer of a third conversation", n)
	}
	p.write("x")
	p.send()
	w.settled("c", "x")
	if texts := sent(t, w.peer); len(texts) != 1 {
		t.Errorf("the third conversation's message carried %q", texts)
	}

	p.show("b")
	p.composed("for b")
	if n := p.cards(); n != 1 {
		t.Fatalf("%d cards on the target's composer, want its own", n)
	}
	p.focusComposer()
	p.send()
	w.settled("b", "for b")
	if texts := sent(t, w.peer); len(texts) != 2 || !strings.Contains(texts[0], "One.") {
		t.Errorf("the model got %q", texts)
	}
	if got := strings.Join(w.users("a"), "|"); got != "Say one." {
		t.Errorf("the source now holds %q", got)
	}
}

func TestAPendingQuoteAndItsDraftSurviveAReload(t *testing.T) {
	w := start(t)
	w.conversation("pay", "Salary bands", "isolated", "")
	w.conversation("memo", "The memo", "open", "")
	_, source := w.says("pay", "What about April?", "Up by four percent.")
	p := w.open("pay")
	p.quote(source, "memo")
	p.click("dialog .button.caution")
	p.at("memo")
	p.write("half a sen")

	p.reload()
	p.at("memo")
	p.composed("half a sen")
	p.wait(`document.querySelectorAll(".card.pending .card-state.yes").length === 1`)

	// One key removes it, and only it.
	eval[bool](p, `(document.querySelector(".card.pending").focus(), true)`)
	p.press(kb.Backspace)
	p.wait(`document.querySelectorAll(".card.pending").length === 0`)
	p.composed("half a sen")
	p.reload()
	p.at("memo")
	p.composed("half a sen")
	if n := p.cards(); n != 0 {
		t.Errorf("the removed card came back")
	}
}

func TestEachConversationKeepsItsOwnDraft(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.conversation("b", "B", "open", "")
	p := w.open("a")
	p.write("for a")
	p.show("b")
	p.composed("")
	p.write("for b")
	for range 2 {
		p.show("a")
		p.composed("for a")
		p.show("b")
		p.composed("for b")
		p.reload()
		p.at("b")
	}
}

func TestARefusedSendLosesNothing(t *testing.T) {
	w := start(t)
	w.conversation("source", "Soon gone", "open", "")
	w.conversation("target", "Target", "open", "")
	_, source := w.says("source", "Say it.", "It.")
	p := w.open("source")
	p.expects("404")
	p.quote(source, "target")
	p.at("target")
	p.write("With this.")
	w.must("DELETE", at("source"), nil)

	p.press(enter)
	p.wait(`document.querySelector(".composer-status.bad")`)
	p.composed("With this.")
	if n := p.cards(); n != 1 {
		t.Errorf("%d cards are left, want 1", n)
	}
	if got := w.users("target"); len(got) != 0 {
		t.Errorf("stored: %q", got)
	}
	// A source that is gone says so and leaves everything as it was.
	eval[bool](p, `(document.querySelector(".card.pending").focus(), true)`)
	p.press(enter)
	p.wait(`document.querySelector(".toast.bad")`)
	p.composed("With this.")
	if here := eval[string](p, `location.hash`); here != "#/c/target" {
		t.Errorf("the page went to %s", here)
	}
}

func TestEditingAndResendingKeepsTheQuotes(t *testing.T) {
	w := start(t)
	w.conversation("a", "Source", "open", "")
	w.conversation("b", "Target", "open", "")
	_, source := w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.quote(source, "b")
	p.at("b")
	p.write("first try")
	p.send()
	said, _ := w.settled("b", "first try")
	p.wait(`document.querySelector(".message.assistant")`)

	p.rightClick(message(said))
	p.wait(`document.querySelector(".menu")`)
	eval[bool](p, `([...document.querySelectorAll(".menu [role=menuitem]")].find((x) => x.textContent === "Edit and resend").click(), true)`)
	p.composed("first try")
	p.wait(`document.querySelectorAll(".card.pending").length === 1`)
	p.press(" again")
	p.send()
	w.settled("b", "first try again")
	if texts := sent(t, w.peer); len(texts) != 2 || !strings.Contains(texts[0], "One.") || texts[1] != "first try again" {
		t.Errorf("the model got %q", texts)
	}
	p.wait(`!document.querySelector(` + js(message(said)) + `)`)
	p.wait(`document.querySelector(".message.user .card.sent")`)
}

func TestQuotingByKeyboardAlone(t *testing.T) {
	w := start(t)
	w.conversation("a", "Alpha source", "isolated", "")
	w.conversation("b", "Beta target", "open", "")
	_, source := w.says("a", "Say one.", "One.")
	p := w.open("a")
	p.wait(`document.querySelector(` + js(message(source)) + `)`)

	// From the composer back to the newest message.
	p.focusComposer()
	for range 12 {
		if eval[bool](p, `document.activeElement.matches(`+js(message(source))+`)`) {
			break
		}
		p.press(kb.Tab, chromedp.ModifierShift)
	}
	p.wait(`document.activeElement.matches(` + js(message(source)) + `)`)
	p.press(kb.F10, chromedp.ModifierShift)
	p.wait(`document.activeElement.textContent === "Quote into…"`)
	p.press(enter)
	p.wait(`document.activeElement.matches("dialog input")`)
	p.press("beta")
	p.wait(`document.querySelectorAll(".options [data-target]").length === 1 && document.querySelector(".options [data-target=b][aria-selected=true]")`)
	p.press(enter)
	p.wait(`document.activeElement.textContent === "Cancel"`)
	p.press(kb.Tab)
	p.press(enter)
	p.at("b")
	p.wait(`document.querySelector(".card.pending .card-state.yes") && document.activeElement.matches(".cm-content")`)
	p.press("done by hand")
	p.send()
	w.settled("b", "done by hand")
	if texts := sent(t, w.peer); len(texts) != 2 {
		t.Errorf("the model got %q", texts)
	}
}
