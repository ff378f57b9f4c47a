package browser

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"weir/test/strictpeer/strictpeer"
)

// barsOf reads the bars of the nth step of the list, newest first: what a
// screen reader says of each, and the widths of the parts of the second.
func barsOf(p *page, n int) (said []string, widths map[string]float64) {
	p.Helper()
	step := fmt.Sprintf(`document.querySelectorAll(".steps .step")[%d]`, n)
	return eval[[]string](p, `[...`+step+`.querySelectorAll("svg[role=img]")].map((x) => x.getAttribute("aria-label"))`),
		eval[map[string]float64](p, `Object.fromEntries([...`+step+`.querySelectorAll(".tokens rect")].map((x) => [x.getAttribute("class"), Number(x.getAttribute("width"))]))`)
}

func TestEachStepShowsWhatWasSharedWhatTheCacheGaveAndWhyItBroke(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	w.says("a", strings.Repeat("A long question about the gateway. ", 200), "An answer.")
	w.says("a", "A second question.", "Another answer.")
	w.peer.When(strictpeer.Saying("Refuse this."), strictpeer.Answer{strictpeer.Fail(400, "messages: <b>no</b>")})
	w.must("POST", at("a", "messages"), object{"text": "Refuse this."})
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 5`)
	p.click(`[aria-label="Show what the model was given"]`)
	p.wait(`document.querySelectorAll(".steps .step").length === 3 && !document.querySelector(".steps").textContent.includes("Running")`)
	w.must("POST", at("a", "retry"), nil)
	p.wait(`document.querySelectorAll(".steps .step").length === 4`)

	items := w.must("GET", at("a", "steps"), nil)["items"].([]any)
	ledger := func(n int) object { return items[n].(object)["ledger"].(object) }
	foot := func(n int) string {
		return eval[string](p, fmt.Sprintf(`document.querySelectorAll(".steps .step")[%d].textContent`, n))
	}

	// The first of all, the one that extends it, the one that was refused, and
	// the same once more, which was not sent.
	said, widths := barsOf(p, 3)
	if len(said) != 2 || !strings.HasPrefix(said[0], "Prefix: 0 B reused") || !strings.Contains(foot(3), "The first request: nothing to reuse") || widths["tokens-written"] < 90 {
		t.Errorf("of the first step the bars say %q, %v; it reads %q", said, widths, foot(3))
	}
	said, widths = barsOf(p, 2)
	usage := items[2].(object)["usage"].(object)
	read, write, fresh := usage["read"].(float64), usage["write"].(float64), usage["fresh"].(float64)
	if want := fmt.Sprintf("Input tokens: %v read from the cache, %v written to it, %v read anew", group(read), group(write), group(fresh)); len(said) != 2 || said[1] != want {
		t.Errorf("of the second step the bars say %q, not %q", said, want)
	}
	if want := read / (read + write + fresh) * 100; read == 0 || math.Abs(widths["tokens-read"]-want) > 0.1 {
		t.Errorf("the bar shows %.1f %% read, the provider says %.1f %%", widths["tokens-read"], want)
	}
	if want := fmt.Sprintf("%.0f %% from the cache", math.Round(read/(read+write+fresh)*100)); !strings.Contains(foot(2), "Extends the request before") || !strings.Contains(foot(2), want) {
		t.Errorf("the second step reads %q, without %q", foot(2), want)
	}
	if said, _ = barsOf(p, 1); len(said) != 1 || ledger(1)["shared"].(float64) == 0 || !strings.Contains(foot(1), "messages: <b>no</b>") {
		t.Errorf("of the step that was refused the bars say %q; it reads %q", said, foot(1))
	}
	if said, _ = barsOf(p, 0); len(said) != 0 || !strings.Contains(foot(0), "Not sent") || !strings.Contains(foot(0), "not sent again") {
		t.Errorf("of the step that was not sent the bars say %q; it reads %q", said, foot(0))
	}

	// By keyboard alone, into a step and back.
	eval[bool](p, `(document.querySelectorAll(".steps .step")[2].focus(), true)`)
	p.press(enter)
	p.wait(`document.querySelector(".request .tokens .prefix-legend")`)
	if got := p.text(".request .tokens .prefix-legend"); !strings.Contains(got, "From the cache "+group(read)) || !strings.Contains(got, "Written to it "+group(write)) {
		t.Errorf("the legend says %q", got)
	}
	p.named("a step")
	eval[bool](p, `(document.querySelector('.inspector [aria-label="Back"]').focus(), true)`)
	p.press(enter)
	p.wait(`document.querySelectorAll(".steps .step").length === 4`)
	eval[bool](p, `(document.querySelectorAll(".steps .step")[0].focus(), true)`)
	p.press(enter)
	p.wait(`document.querySelector(".facts")?.textContent.includes("Not sent")`)
	p.wait(`!document.querySelector(".inspector .fault, .inspector .prefix")`)
	p.click(`.inspector [aria-label="Back"]`)

	// Another model: in words why, and other colours in the dark.
	w.must("PATCH", at("a"), object{"model": "demo/demo"})
	w.must("POST", at("a", "messages"), object{"text": "And you?"})
	p.wait(`document.querySelector(".steps .step").textContent.includes("Breaks off from the request before: made afresh for the model")`)
	p.wait(`document.querySelector(".steps .step .prefix-break") && !document.querySelector(".steps").textContent.includes("Running")`)
	p.named("the steps")
	colours := map[string]string{}
	for _, theme := range []string{"light", "dark"} {
		eval[bool](p, `(document.documentElement.dataset.theme = `+js(theme)+`, true)`)
		colours[theme] = eval[string](p, `[...document.querySelectorAll(".tokens rect")].map((x) => getComputedStyle(x).fill).join()`)
		p.picture()
	}
	if colours["light"] == colours["dark"] {
		t.Errorf("light and dark are both %s", colours["light"])
	}
}

// group spells a number as the page does in English.
func group(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
