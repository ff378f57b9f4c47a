package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a test waits for what has to happen by itself.
const patience = 30 * time.Second

// page is one tab of a profile of its own, signed in.
type page struct {
	testing.TB
	ctx context.Context
	w   *world

	mu       sync.Mutex
	console  []string
	asked    []string // addresses that the page asked for
	expected []string // parts of console lines that are no fault of the page
}

// open signs a new browser in and shows a conversation ("" for none).
func (w *world) open(conversation string, before ...chromedp.Action[chromedp.Void]) *page {
	w.Helper()
	p := w.stranger(before...)
	link := strings.Replace(w.run.SignInURL(), w.run.URL, w.line.URL, 1)
	p.do(chromedp.Navigate(link))
	p.wait(`document.querySelector(".app")`)
	if conversation != "" {
		p.show(conversation)
	}
	return p
}

// stranger is a browser that is not signed in.
func (w *world) stranger(before ...chromedp.Action[chromedp.Void]) *page {
	w.Helper()
	ctx, cancel := chromedp.NewContext(browserContext, chromedp.WithNewBrowserContext())
	w.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, 4*time.Minute)
	w.Cleanup(cancelTime)
	p := &page{TB: w.TB, ctx: ctx, w: w}
	p.do(before...)
	p.listen()
	w.Cleanup(p.verdict)
	return p
}

func (p *page) listen() {
	console := chromedp.Console(p.ctx)
	requests := chromedp.Events(p.ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(p.ctx, network.Enable, network.EnableParams{}); err != nil {
		p.Fatal(err)
	}
	go func() { // ends with the context
		for m, err := range console {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.console = append(p.console, m.String()+" "+m.URL)
			p.mu.Unlock()
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.asked = append(p.asked, e.Request.URL)
			p.mu.Unlock()
		}
	}()
}

// expects says that console lines with one of these parts are no fault.
func (p *page) expects(parts ...string) { p.expected = append(p.expected, parts...) }

// verdict fails the test for what the page complained about.
func (p *page) verdict() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.console {
		if !strings.HasPrefix(line, "error") && !strings.HasPrefix(line, "exception") && !strings.HasPrefix(line, "warning") {
			continue
		}
		if !slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(line, part) }) {
			p.Errorf("the page wrote to its console: %s", line)
		}
	}
	if p.Failed() {
		p.picture()
	}
}

// picture keeps what a failed test saw, where WEIR_TEST_PICTURES says.
func (p *page) picture() {
	dir := os.Getenv("WEIR_TEST_PICTURES")
	if dir == "" || p.ctx.Err() != nil {
		return
	}
	if png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot()); err == nil {
		os.WriteFile(filepath.Join(dir, strings.ReplaceAll(p.Name(), "/", "_")+".png"), png, 0o644)
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// eval returns the value of an expression; a promise is awaited.
func eval[T any](p *page, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", short(expression), err)
	}
	return v
}

// wait waits until an expression is truthy. (chromedp's own polling compiles
// text in the page, which the page's policy forbids.)
func (p *page) wait(expression string) {
	p.Helper()
	const poll = `(async () => {
		const until = performance.now() + %d;
		for (;;) {
			try { if (%s) return true; } catch {}
			if (performance.now() > until) return false;
			await new Promise((go) => { setTimeout(go, 40); requestAnimationFrame(go); });
		}
	})()`
	var ok bool
	var err error
	for until := time.Now().Add(patience); ; {
		left := time.Until(until)
		ok, err = chromedp.Run(p.ctx, chromedp.Evaluate[bool](fmt.Sprintf(poll, left.Milliseconds(), expression), chromedp.EvalAwaitPromise))
		if err == nil || left <= 0 || !wentElsewhere(err) {
			break // else what was asked is asked of the document that came
		}
	}
	if err != nil {
		p.Fatalf("%s: %v", short(expression), err)
	}
	if !ok {
		p.Fatalf("waited in vain for %s; the page says:\n%s", short(expression), short(eval[string](p, `document.body.innerText`)))
	}
}

// wentElsewhere says that a document went away under a question to it.
func wentElsewhere(err error) bool {
	text := err.Error()
	return strings.Contains(text, "navigated or closed") || strings.Contains(text, "context was destroyed") || strings.Contains(text, "Cannot find context")
}

func short(s string) string {
	if r := []rune(s); len(r) > 1500 {
		return string(r[:1500]) + "…"
	}
	return s
}

// js quotes a string for an expression.
func js(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// show goes to a conversation and waits for it.
func (p *page) show(conversation string) {
	p.Helper()
	eval[bool](p, `(location.hash = "#/c/" + encodeURIComponent(`+js(conversation)+`), true)`)
	p.at(conversation)
}

// at waits until a conversation is on screen and live.
func (p *page) at(conversation string) {
	p.Helper()
	p.wait(`document.querySelector(".composer[data-conversation=" + JSON.stringify(` + js(conversation) + `) + "] .cm-content") && document.querySelector(".timeline")`)
}

func (p *page) reload() {
	p.Helper()
	p.do(chromedp.Reload())
	p.wait(`document.querySelector(".app")`)
}

func (p *page) click(css string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible))
}

func (p *page) rightClick(css string) {
	p.Helper()
	p.do(chromedp.QueryAfter(chromedp.CSS(css), func(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (chromedp.Void, error) {
		return chromedp.MouseClickNode(nodes[0], chromedp.ButtonType(input.MouseButtonRight))(ctx, t)
	}, chromedp.NodeVisible))
}

// press presses keys, with modifiers held. As on a keyboard, what a page does
// about a key that goes down decides whether it types; chromedp's own key
// events type in any case.
func (p *page) press(keys string, modifiers ...chromedp.Modifier) {
	p.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		pressed, released := *events[0], *events[len(events)-1]
		shortcut := false
		for _, m := range modifiers {
			pressed.Modifiers |= int64(m)
			released.Modifiers |= int64(m)
			shortcut = shortcut || m != chromedp.ModifierShift
		}
		if len(events) == 3 && !shortcut {
			pressed.Text, pressed.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, e := range []input.DispatchKeyEventParams{pressed, released} {
			if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, e); err != nil {
				p.Fatal(err)
			}
		}
	}
}

const (
	enter = kb.Enter
	down  = kb.ArrowDown
)

// write puts the caret into the composer and types.
func (p *page) write(text string) {
	p.Helper()
	p.focusComposer()
	p.press(text)
}

func (p *page) focusComposer() {
	p.Helper()
	eval[bool](p, `(document.querySelector(".composer .cm-content").focus(), true)`)
}

// composed waits until the composer on screen holds exactly a text.
func (p *page) composed(text string) {
	p.Helper()
	p.wait(`[...document.querySelectorAll(".composer .cm-line")].map((l) => l.querySelector(".cm-placeholder") ? "" : l.textContent).join("\n") === ` + js(text))
}

// send presses Enter and waits until the composer is empty.
func (p *page) send() {
	p.Helper()
	p.press(enter)
	p.composed("")
}

func message(id string) string { return ".message[data-message='" + id + "']" }

// quote begins "Quote into…" for a message by its menu, and chooses a target.
func (p *page) quote(id, target string) {
	p.Helper()
	p.wait(`document.querySelector(` + js(message(id)) + `)`)
	p.rightClick(message(id))
	p.click(`.menu [role=menuitem]:first-child`)
	p.click(`.options [data-target="` + target + `"]`)
}

const pendingCard = `.composer .card.pending`

func (p *page) cards() int {
	p.Helper()
	return eval[int](p, `document.querySelectorAll(`+js(pendingCard)+`).length`)
}

func (p *page) text(css string) string {
	p.Helper()
	p.wait(`document.querySelector(` + js(css) + `)`)
	return eval[string](p, `document.querySelector(`+js(css)+`).innerText`)
}
