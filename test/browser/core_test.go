package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	esbuild "github.com/evanw/esbuild/pkg/api"
	"pgregory.net/rapid"
)

// core loads the page's pure functions into an empty tab, as window.core.
func core(t *testing.T) *page {
	t.Helper()
	dir, err := filepath.Abs("../../web/src/core")
	if err != nil {
		t.Fatal(err)
	}
	built := esbuild.Build(esbuild.BuildOptions{
		Stdin: &esbuild.StdinOptions{ResolveDir: dir, Loader: esbuild.LoaderTS,
			Contents: `export * from "./partial"; export * from "./uri"; export * from "./invisible"; export * from "./request"; export * from "./update"; export { EventParser } from "./events";`},
		Bundle: true, Format: esbuild.FormatIIFE, GlobalName: "core", Target: esbuild.ES2022,
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	ctx, cancel := chromedp.NewContext(browserContext, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &page{TB: t, ctx: ctx}
	p.do(chromedp.Navigate("about:blank"))
	eval[bool](p, string(built.OutputFiles[0].Contents)+`; (window.core = core, true)`)
	return p
}

func asJS(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestThePageSpellsAddressesAsTheServerDoes(t *testing.T) {
	f, err := os.Open("../../mention/testdata/uri.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := core(t)
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v struct {
			OK           bool
			URI          string
			Conversation json.RawMessage
			Message      json.RawMessage
			Pointer      bool
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if !v.OK || v.Conversation == nil {
			continue
		}
		args := string(v.Conversation)
		if v.Message != nil {
			args += "," + string(v.Message)
		}
		got := eval[string](p, `core.address(`+args+`)`)
		if want := strings.TrimSuffix(v.URI, "#pointer"); got != want {
			t.Errorf("%s: the page spells %s, want %s", args, got, want)
		}
		n++
	}
	if n < 20 {
		t.Errorf("only %d vectors", n)
	}
	if got := eval[string](p, `core.mention("a]b\\c\nd", "weir:x")`); got != `@[a\]b\\c d](weir:x)` {
		t.Errorf("a mention is spelt %s", got)
	}
}

type delta struct {
	Step   string `json:"step"`
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// Whatever prefix a snapshot has, and however deltas overlap it and each other,
// their merging is the text; a gap is noticed.
func TestDeltasMergeToTheTextWhateverComesTwice(t *testing.T) {
	p := core(t)
	rapid.Check(t, func(r *rapid.T) {
		type run struct {
			Snapshot string  `json:"snapshot"`
			Deltas   []delta `json:"deltas"`
		}
		runs := make([]run, 40)
		texts := make([]string, len(runs))
		for i := range runs {
			text := rapid.StringOf(rapid.SampledFrom([]rune("ab é中😀\u0301"))).Draw(r, "text")
			boundary := func(from int) int {
				at := rapid.IntRange(from, len(text)).Draw(r, "at")
				for at < len(text) && !utf8.RuneStart(text[at]) {
					at++
				}
				return at
			}
			known := boundary(0)
			one := run{text[:known], []delta{}}
			for known < len(text) {
				from := rapid.IntRange(0, known).Draw(r, "from")
				for !utf8.RuneStart(text[from]) {
					from--
				}
				upto := boundary(from)
				one.Deltas = append(one.Deltas, delta{"s", from, text[from:upto]})
				known = max(known, upto)
			}
			runs[i], texts[i] = one, text
		}
		got := eval[[]string](p, `(`+asJS(t, runs)+`).map((r) => {
			let now = core.emptyPartial("s", r.snapshot);
			for (const d of r.deltas) now = core.merge(now, d);
			return now.text.text;
		})`)
		for i := range texts {
			if got[i] != texts[i] {
				r.Fatalf("%+v merge to %q, want %q", runs[i], got[i], texts[i])
			}
		}
	})
	if eval[bool](p, `core.merge(core.emptyPartial("s", "中"), { step: "s", offset: 4, text: "x" }) !== null`) {
		t.Error("a gap went unnoticed")
	}
	if got := eval[string](p, `core.merge(core.emptyPartial("old", "left over"), { step: "new", offset: 0, text: "x" }).text.text`); got != "x" {
		t.Errorf("another step's text begins with %q", got)
	}
}

func TestEventsAreReadHoweverTheBytesAreCut(t *testing.T) {
	p := core(t)
	stream := ": hello\n\nevent: snapshot\ndata: {\"a\":1}\n\nid: 7\r\nevent: item\r\ndata: one\r\ndata: two\r\n\r\ndata:x\r\rid: 8\ndata\n\n"
	want := `[{"name":"snapshot","data":"{\"a\":1}"},{"name":"item","data":"one\ntwo","id":"7"},{"name":"message","data":"x"},{"name":"message","data":"","id":"8"}]`
	for size := 1; size <= len(stream); size++ {
		got := eval[string](p, fmt.Sprintf(`(() => {
			const s = %s, out = [], parser = new core.EventParser();
			for (let i = 0; i < s.length; i += %d) parser.feed(s.slice(i, i + %d), (e) => out.push(e));
			return JSON.stringify(out);
		})()`, js(stream), size, size))
		if got != want {
			t.Fatalf("cut at every %d: %s\nwant %s", size, got, want)
		}
	}
}

func TestWhatCannotBeSeenIsSpeltOutAndSpellingIsNot(t *testing.T) {
	p := core(t)
	for text, want := range map[string]string{
		"plain":              "plain",
		"a\u202eb":           "a[U+202E]b",
		"a\u200bb\u2066":     "a[U+200B]b[U+2066]",
		"\u0000\u001b[31m":   "[U+0000][U+001B][31m",
		"a\nb\tc":            "a\nb\tc",
		"👨\u200d👩\u200d👧":    "👨\u200d👩\u200d👧",
		"می\u200cخواهم":      "می\u200cخواهم",
		"pay\u200dpal":       "pay[U+200D]pal",
		"tag\U000e0041":      "tag[U+E0041]",
		"क्\u200dष ok 10 km": "क्\u200dष ok 10 km",
	} {
		got := eval[string](p, `core.reveal(`+js(text)+`).map((x) => x.code ? "[" + x.code + "]" : x.text).join("")`)
		if got != want {
			t.Errorf("%+q shows as %+q, want %+q", text, got, want)
		}
	}
}

func TestTheLineBetweenReusedAndNewIsFoundInTheBytes(t *testing.T) {
	p := core(t)
	const mark = `,"cache_control":{"type":"ephemeral"}`
	head := `{"model":"m","system":[{"type":"text","text":"\"messages\":[ is only text 中"` + mark + `}],"messages":[`
	first := `{"role":"user","content":[{"type":"text","text":"a ] } \" 中😀"}]}`
	second := `{"role":"assistant","content":[{"type":"text","text":"b"` + mark + `}]}`
	third := `{"role":"user","content":"c"}`
	body := head + first + "," + second + "," + third + `],"max_tokens":5,"stream":true}`
	bare := func(s string) int { return len(strings.ReplaceAll(s, mark, "")) }
	want := fmt.Sprint([]int{bare(head + first), bare(head + first + "," + second), bare(head + first + "," + second + "," + third)})
	got := fmt.Sprint(eval[[]int](p, `core.takeApart(`+js(body)+`).filter((x) => x.kind === "message").map((x) => x.end)`))
	if got != want {
		t.Errorf("the messages end at %s, want %s", got, want)
	}
	if eval[bool](p, `core.takeApart("not json") !== null || core.takeApart("{}") !== null`) {
		t.Error("something was taken apart that is no request")
	}
}

// Each dialect has its own names for the history and for who speaks.
func TestARequestOfEveryDialectIsTakenApart(t *testing.T) {
	p := core(t)
	for name, c := range map[string]struct {
		head, tail string
		messages   []string
		want       []string // role: kind of block=its text
	}{
		"openai-chat": {`{"model":"m","messages":[`, `],"stream":true}`, []string{
			`{"role":"system","content":"s"}`, `{"role":"user","content":"\"input\":[ 中"}`,
			`{"role":"assistant","content":null,"reasoning_content":"h","tool_calls":[]}`, `{"role":"tool","tool_call_id":"c","content":"r"}`,
		}, []string{`system: text=s`, `user: text="input":[ 中`, `assistant: reasoning_content=h tool_calls=[]`, `tool: text=r`}},
		"openai-responses": {`{"model":"m","instructions":"\"input\":[","input":[`, `],"store":false}`, []string{
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}`,
			`{"type":"reasoning","summary":[]}`, `{"type":"function_call","call_id":"c"}`,
			`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"r"}]}`,
			`{"type":"function_call_output","call_id":"c","output":"r"}`,
			`{"type":"message","role":"assistant","content":"a"}`,
		}, []string{`system: text="input":[`, `user: input_text=q`, `assistant: reasoning={"type":"reasoning","summary":[]}`,
			`assistant: function_call={"type":"function_call","call_id":"c"}`, `tool: function_call_output=r`, `tool: function_call_output=r`, `assistant: text=a`}},
		"gemini": {`{"systemInstruction":{"parts":[{"text":"\"contents\":["}]},"contents":[`, `],"generationConfig":{}}`, []string{
			`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"text":"a","thoughtSignature":"x"},{"functionCall":{"id":"c"}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"c"}}]}`,
		}, []string{`system: text="contents":[`, `user: text=q`, `model: text=a functionCall={"functionCall":{"id":"c"}}`, `user: functionResponse={"functionResponse":{"id":"c"}}`}},
	} {
		var ends []int
		for i := range c.messages {
			ends = append(ends, len(c.head+strings.Join(c.messages[:i+1], ",")))
		}
		body := js(c.head + strings.Join(c.messages, ",") + c.tail)
		if got := eval[[]int](p, `core.takeApart(`+body+`).filter((x) => x.kind === "message").map((x) => x.end)`); fmt.Sprint(got) != fmt.Sprint(ends) {
			t.Errorf("%s: the messages end at %v, want %v", name, got, ends)
		}
		got := eval[[]string](p, `core.takeApart(`+body+`).filter((x) => x.kind === "message" || x.kind === "system").map((x) =>
			(x.role ?? x.kind) + ": " + (x.kind === "system" ? core.textsOf(x.value) : core.blocksOf(x.value)).map((b) => b.type + "=" + b.text.replace(/\n */g, "").replaceAll('": ', '":').replace(/,(?=")/g, ",")).join(" "))`)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s reads\n%q\nwant\n%q", name, got, c.want)
		}
	}
}
