package browser

import (
	"context"
	"testing"

	"weir"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
)

func TestARetryInProgressSaysWhyAndCountsDown(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(strictpeer.Answer{strictpeer.Fail(429, "", "50")}, strictpeer.Answer{strictpeer.Say("At last.")})
	p.write("Begin.")
	p.send()
	const left = `Number(/; next try in (\d+) s$/.exec(document.querySelector(".standing.retrying").textContent)[1])`
	p.wait(left + ` > 40`)
	first := eval[int](p, left)
	p.wait(left + ` < ` + asJS(t, first))
	// What is read out does not change with each second.
	said := eval[string](p, `document.querySelector(".composer [role=status]:not(.composer-status)").textContent`)
	if want := "; it is tried again by itself"; len(said) <= len(want) || said[len(said)-len(want):] != want {
		t.Errorf("%q is read out", said)
	}
	if eval[bool](p, `document.querySelector(".thinking") !== null`) {
		t.Error("it looks as if the model was thinking")
	}
	p.reload()
	p.at("a")
	p.wait(left + ` > 10`)
	p.press(escape) // the wait ends
	p.wait(`!document.querySelector(".standing") && !document.querySelector(".composer [aria-label='Stop the answer']")`)
	p.write("Now.")
	p.send()
	p.wait(`[...document.querySelectorAll(".message.assistant .md")].at(-1)?.textContent.trim() === "At last."`)
}

func TestARetryGoesOnByItself(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("a")
	w.peer.Script(strictpeer.Answer{strictpeer.Fail(529, "")}, strictpeer.Answer{strictpeer.Say("At last.")})
	p.write("Begin.")
	p.send()
	p.wait(`/^The provider is overloaded; (next try in \d s|trying again)$/.test(document.querySelector(".standing.retrying").textContent)`)
	p.wait(`document.querySelector(".message.assistant:not(.streaming) .md")?.textContent.trim() === "At last." && !document.querySelector(".standing")`)
	if eval[bool](p, `document.querySelector(".mark-line[data-kind=step_end]") !== null`) {
		t.Error("what was got over is marked as a failure")
	}
}

func TestABlockedConversationSaysWhatItWaitsFor(t *testing.T) {
	blocked, what := weir.Blocked, "core/workspace"
	w := start(t, holding("a", "A", []weir.Body{said("Hello.")}, func(ctx context.Context, tx store.Tx, _ weir.Lease) error {
		return tx.ChangeActivity(ctx, "a", weir.Activity{State: &blocked, WaitingFor: &what})
	}))
	p := w.open("a")
	const words = "Waits for core/workspace; tried again by itself"
	p.wait(`document.querySelector(".standing.blocked")?.textContent === ` + js(words))
	p.wait(`document.querySelector(".composer [role=status]:not(.composer-status)").textContent === ` + js(words))
	p.wait(`document.querySelector(".entry .dot")?.ariaLabel === ` + js(words))
}
