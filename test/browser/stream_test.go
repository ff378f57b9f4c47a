package browser

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"weir/test/strictpeer/strictpeer"
)

// streamed is what the answer on screen says, whether it is being written or done.
const streamed = `document.querySelector(".row:last-child .message.assistant .md")?.textContent.trim() ?? ""`

// words makes an answer of n numbered words in characters of several lengths.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d–中😀 ", i)
	}
	return strings.TrimSpace(b.String())
}

// cut returns the offset at a fraction of a text, between two characters.
func cut(text string, of, parts int) int {
	at := len(text) * of / parts
	for !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func TestAReloadInTheMiddleOfAnAnswerEndsWithAllOfIt(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	text := words(200)
	quarter, half := cut(text, 1, 4), cut(text, 2, 4)
	more, rest := make(chan struct{}), make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Say(text[:quarter]), strictpeer.Hold(more), strictpeer.Say(text[quarter:half]),
		strictpeer.Hold(rest), strictpeer.Say(text[half:])})
	p := w.open("a")
	p.write("Count.")
	p.send()
	p.wait(`document.querySelector(".streaming") && (` + streamed + `).length > 100`)
	p.wait(`document.querySelector(".composer [aria-label='Stop the answer']")`)
	close(more)
	p.wait(`(` + streamed + `) === ` + js(strings.TrimSpace(text[:half])))

	p.reload()
	p.at("a")
	p.wait(`(` + streamed + `) === ` + js(strings.TrimSpace(text[:half])))
	close(rest)
	p.wait(`!document.querySelector(".streaming") && (` + streamed + `) === ` + js(text))
	if n := eval[int](p, `document.querySelectorAll(".message").length`); n != 2 {
		t.Errorf("%d messages on screen, want the question and its answer", n)
	}
}

func TestADroppedConnectionMissesNothingAndRepeatsNothing(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	text := words(120)
	first, second := cut(text, 1, 3), cut(text, 2, 3)
	dark, end := make(chan struct{}), make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Say(text[:first]), strictpeer.Hold(dark), strictpeer.Say(text[first:second]),
		strictpeer.Hold(end), strictpeer.Say(text[second:])})
	p := w.open("a")
	p.expects("Failed to load resource", "net::ERR")
	p.write("Count.")
	p.send()
	p.wait(`(` + streamed + `).length > 100`)

	w.line.Cut()
	p.wait(`document.querySelector(".lost")`)
	close(dark) // the server goes on writing while nobody listens
	close(end)
	w.settled("a", "Count.")
	w.must("POST", at("a", "messages"), object{"text": "From elsewhere."})
	w.settled("a", "From elsewhere.")
	w.line.Mend()

	p.wait(`!document.querySelector(".lost")`)
	p.wait(`document.querySelectorAll(".message.user").length === 2 && document.querySelectorAll(".message.assistant").length === 2 && !document.querySelector(".streaming")`)
	got := eval[[]string](p, `[...document.querySelectorAll(".message.user .user-text, .message.assistant .md")].map((x) => x.textContent.trim())`)
	if got[0] != "Count." || got[1] != text || got[2] != "From elsewhere." {
		t.Errorf("after the line was mended the page shows %q", got)
	}
}

func TestASendThatTheNetworkLosesIsKeptAndArrivesOnce(t *testing.T) {
	w := start(t)
	w.conversation("src", "Source", "open", "")
	w.conversation("a", "A", "open", "")
	_, source := w.says("src", "Say one.", "One.")
	p := w.open("src")
	p.expects("Failed to load resource", "net::ERR")
	p.quote(source, "a")
	p.at("a")
	p.write("Hold on to this.")

	w.line.Cut()
	p.press(enter)
	p.wait(`document.querySelector(".composer-status .link")`) // says so, and offers to try now
	p.composed("Hold on to this.")
	if n := p.cards(); n != 1 {
		t.Errorf("%d cards are left, want 1", n)
	}
	w.line.Mend()
	p.composed("")
	w.settled("a", "Hold on to this.")
	p.wait(`document.querySelectorAll(".message.user").length === 1 && document.querySelector(".message.user .card.sent")`)
	if got := w.users("a"); len(got) != 1 {
		t.Errorf("the message arrived as %q", got)
	}
}

func TestASendWhoseAnswerIsLostArrivesOnce(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	p.expects("Failed to load resource", "net::ERR")
	p.write("Only once.")
	w.line.Deafen() // the server admits it, and the page never hears of it
	p.press(enter)
	w.settled("a", "Only once.")
	p.wait(`document.querySelector(".composer-status .link")`)
	p.composed("Only once.")
	w.line.Mend()
	p.composed("")
	p.wait(`document.querySelectorAll(".message.user").length === 1`)
	if got := w.users("a"); len(got) != 1 {
		t.Errorf("the message arrived as %q", got)
	}

	// Edited before the outcome was known, the newer text is kept and is a
	// message of its own.
	p.write("Twice")
	w.line.Deafen()
	p.press(enter)
	w.settled("a", "Twice")
	p.wait(`document.querySelector(".composer-status .link")`)
	p.focusComposer()
	p.press(" said")
	p.wait(`!document.querySelector(".composer-status").textContent.includes("Sending")`) // a try that was on its way
	w.line.Mend()
	p.expects("409")
	p.press(enter)
	p.wait(`document.querySelector(".composer-status").textContent.includes("earlier version")`)
	p.composed("Twice said")
	p.send()
	w.settled("a", "Twice said")
	if got := w.users("a"); len(got) != 3 {
		t.Errorf("the conversation holds %q", got)
	}
}

func TestWhatIsTypedWhileAMessageIsOnItsWayStays(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	p.write("First.")
	w.line.Slow()
	p.press(enter)
	w.settled("a", "First.")
	p.press("And then")
	p.composed("First.And then")
	w.line.Mend()
	p.composed("And then") // the next message
	p.wait(`document.querySelectorAll(".message.user").length === 1`)

	// Changed instead of gone on with, it is kept whole.
	w.line.Slow()
	p.press(enter)
	w.settled("a", "And then")
	p.press("\b\b\b\bno more")
	w.line.Mend()
	p.wait(`document.querySelector(".composer-status").textContent.includes("earlier version")`)
	p.composed("And no more")
}

func TestWhileAStepRunsEnterSteersAndAltEnterQueues(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	end := make(chan struct{})
	w.peer.Script(strictpeer.Answer{strictpeer.Say("Working"), strictpeer.Hold(end), strictpeer.Say(" done.")})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.wait(`document.querySelector(".cm-placeholder")?.textContent.includes("Alt+Enter")`)
	p.write("steer me")
	p.send()
	p.wait(`document.querySelectorAll("ul.pending li").length === 1`)
	p.write("queue me")
	p.press(enter, alt)
	p.composed("")
	p.wait(`document.querySelectorAll("ul.pending li").length === 2`)
	if got := eval[[]string](p, `[...document.querySelectorAll("ul.pending .pending-kind .sr")].map((x) => x.textContent)`); got[0] != "Steers the running answer" || got[1] != "Queued for afterwards" {
		t.Errorf("the inputs wait as %q", got)
	}
	// Edit the second, withdraw the first.
	eval[bool](p, `([...document.querySelectorAll("ul.pending li:nth-child(2) button")].find((x) => x.textContent === "Edit").click(), true)`)
	p.wait(`document.activeElement.matches("ul.pending textarea")`)
	p.press(" later")
	eval[bool](p, `(document.querySelector("ul.pending form button[type=submit]").click(), true)`)
	p.wait(`document.querySelector("ul.pending li:nth-child(2) .pending-text")?.textContent === "queue me later"`)
	eval[bool](p, `([...document.querySelectorAll("ul.pending li:nth-child(1) button")].find((x) => x.textContent === "Withdraw").click(), true)`)
	p.wait(`document.querySelectorAll("ul.pending li").length === 1`)
	close(end)
	w.settled("a", "queue me later")
	p.wait(`!document.querySelector("ul.pending")`)
	if got := strings.Join(w.users("a"), "|"); got != "Begin.|queue me later" {
		t.Errorf("the conversation holds %q", got)
	}
}

func TestAnAnswerCanBeStoppedAndKeepsWhatCame(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Say("As far as this"), strictpeer.Hold(make(chan struct{}))})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.wait(`(` + streamed + `) === "As far as this"`)
	p.click(`[aria-label="Stop the answer"]`)
	p.wait(`document.querySelector(".message.assistant:not(.streaming) .interrupted")`)
	if got := p.text(".message.assistant .md"); got != "As far as this" {
		t.Errorf("kept %q", got)
	}
}

func TestAFailedStepSaysWhyAndOffersToTryAgain(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Fail(401, "this key was revoked")}, strictpeer.Answer{strictpeer.Say("Better now.")})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.wait(`document.querySelector(".mark-line.bad button")`)
	if got := p.text(".mark-line.bad"); !strings.Contains(got, "The answer failed.") || len(got) < len("The answer failed. Retry")+5 {
		t.Errorf("the failure says only %q", got)
	}
	p.click(".mark-line.bad button")
	p.wait(`document.querySelector(".message.assistant:not(.streaming) .md")?.textContent.trim() === "Better now."`)
	p.wait(`!document.querySelector(".mark-line.bad button")`)
}
