package browser

import (
	"strings"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

func TestAMessageThatWaitsAfterAStopSaysWhyAndCanBeSent(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Say("As far as this"), strictpeer.Hold(make(chan struct{}))},
		strictpeer.Answer{strictpeer.Say("And now this.")})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.wait(`(` + streamed + `) === "As far as this"`)
	p.write("One more thing.")
	p.send()
	p.wait(`document.querySelectorAll("ul.pending li[data-input]").length === 1`)
	p.click(`[aria-label="Stop the answer"]`)

	p.wait(`document.querySelector("ul.pending .held")?.textContent.includes("because you stopped the answer")`)
	p.wait(`document.querySelector("ul.pending .pending-kind .sr").textContent === "Waits because you stopped the answer"`)
	p.wait(`document.querySelector(".entry .dot")?.title.includes("because you stopped") && document.querySelector(".entry .dot").ariaLabel === document.querySelector(".entry .dot").title`)
	for _, word := range []string{"Queue instead", "Steer instead"} {
		if strings.Contains(p.text("ul.pending"), word) {
			t.Errorf("%q is offered where nothing runs", word)
		}
	}
	if n := eval[int](p, `[...document.querySelectorAll("button")].filter((x) => x.textContent.trim() === "Retry").length`); n != 0 {
		t.Error("Retry and Send now are both offered, and do the same")
	}
	// The same after a reload.
	p.reload()
	p.at("a")
	p.click("ul.pending .held button")
	w.settled("a", "One more thing.")
	p.wait(`!document.querySelector("ul.pending") && !document.querySelector(".entry .dot")`)
	if got := strings.Join(w.users("a"), "|"); got != "Begin.|One more thing." {
		t.Errorf("the conversation holds %q", got)
	}
}

func TestAnInterruptedAnswerHasOneMarkWithItsRetry(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Say("As far as this"), strictpeer.Hold(make(chan struct{}))},
		strictpeer.Answer{strictpeer.Say("To the end.")})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.wait(`(` + streamed + `) === "As far as this"`)
	p.click(`[aria-label="Stop the answer"]`)
	p.wait(`document.querySelector(".interrupted button")`)
	if eval[bool](p, `document.querySelector(".mark-line[data-kind=step_end]") !== null`) {
		t.Error("the interruption is marked twice")
	}
	p.click(".interrupted button")
	p.wait(`document.querySelectorAll(".message.assistant").length === 2 && !document.querySelector(".streaming")`)
	p.wait(`document.querySelectorAll(".interrupted").length === 1 && !document.querySelector(".interrupted button")`)
}

func TestOnlyTheNewestFailureOffersToTryAgain(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.peer.Script(strictpeer.Answer{strictpeer.Fail(401, "revoked")}, strictpeer.Answer{strictpeer.Fail(401, "revoked")})
	p := w.open("a")
	p.write("Begin.")
	p.send()
	p.click(".mark-line.bad button")
	p.wait(`document.querySelectorAll(".mark-line[data-kind=step_end]").length === 2`)
	p.wait(`document.querySelectorAll(".mark-line.bad").length === 1 && document.querySelectorAll(".mark-line[data-kind=step_end] button").length === 1`)
	p.wait(`[...document.querySelectorAll(".mark-line[data-kind=step_end]")].at(-1).matches(".bad")`)
}
