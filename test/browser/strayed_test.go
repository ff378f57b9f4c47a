package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestAUsedSignInLinkIsExplainedAndTheTokenGetsIn(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	link := strings.Replace(w.run.SignInURL(), w.run.URL, w.line.URL, 1)
	first := w.stranger()
	first.do(chromedp.Navigate(link))
	first.wait(`document.querySelectorAll(".entry").length === 1`)

	p := w.stranger()
	p.expects("401")
	p.do(chromedp.Navigate(link))
	p.wait(`document.querySelector(".sign-in-used")?.textContent.includes("works once")`)
	p.wait(`document.activeElement.matches(".sign-in input")`)
	if got := p.text(".sign-in"); strings.Contains(got, "`") || !strings.Contains(got, "WEIR_TOKEN") {
		t.Errorf("the form says %q", got)
	}
	p.press(token)
	p.press(enter)
	p.wait(`document.querySelectorAll(".entry").length === 1 && location.search === ""`)
}

func TestAnAddressThatIsNoneLeadsBack(t *testing.T) {
	w := start(t)
	w.conversation("a", "A", "open", "")
	p := w.open("")
	p.expects("404")
	p.do(chromedp.Navigate(w.line.URL + "/c/a"))
	p.wait(`document.querySelector("h1.in-en").offsetHeight > 0 && document.querySelector("h1.in-zh").offsetHeight === 0`)
	p.click(".in-en a")
	p.wait(`document.querySelectorAll(".entry").length === 1`)
}
