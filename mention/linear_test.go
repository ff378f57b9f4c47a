package mention_test

import (
	"strings"
	"testing"
	"time"

	"weir/mention"
)

// hard lists texts that make a careless scanner look at the rest of the text
// again and again. Each is repeated to the size asked for.
var hard = []struct{ name, head, unit, tail string }{
	{name: "letters", unit: "a"},
	{name: "open mentions", unit: "@["},
	{name: "open mentions and one end", unit: "@[", tail: "](weir:foo"},
	{name: "open mentions, code, one end", unit: "@[`x`", tail: "]"},
	{name: "unclosed targets", unit: "@[x](weir:"},
	{name: "closed labels", unit: "@[x]"},
	{name: "mentions", unit: "@[x](weir:ImEi) "},
	{name: "bad mentions", unit: "@[x](weir:foo) "},
	{name: "escaped brackets", head: "@[", unit: `\]`},
	{name: "backslashes", head: "@[", unit: `\`, tail: "](weir:ImEi)"},
	{name: "backslashes and backticks", unit: "\\`"},
	{name: "escapes", unit: `\@[`},
	{name: "escaped forms without end", unit: `\@[x](`},
	{name: "schemes", unit: "weir:"},
	{name: "schemes with spaces", unit: "weir: "},
	{name: "bare URIs", unit: "weir:ImEi "},
	{name: "one long URI", head: "weir:", unit: "I"},
	{name: "underscores", head: "weir:ImEi", unit: "_"},
	{name: "underscores apart", unit: "weir:____ "},
	{name: "one run of backticks", unit: "`"},
	{name: "lone backticks", unit: "`` ` ``` "},
	{name: "code spans", unit: "`a`"},
	{name: "unclosed fences", unit: "```\n~~~~\n"},
	{name: "fences", unit: "```\n```\n"},
	{name: "longer and longer fences", head: "```\n", unit: "`````` x\n"},
	{name: "block quotes", unit: ">"},
	{name: "block quotes on lines", unit: ">\n"},
	{name: "nested items", unit: "- ", tail: "x"},
	{name: "nested items, then blank lines", head: strings.Repeat("- ", 10_000) + "x", unit: "\n"},
	{name: "nested items, then deep lines", head: strings.Repeat("- ", 10_000) + "x\n", unit: "\t\t\t\tx\n"},
	{name: "almost rules", unit: "- * _ "},
	{name: "stars", unit: "* "},
	{name: "numbers", unit: "1. "},
	{name: "line ends", unit: "\r"},
	{name: "spaces", unit: " "},
	{name: "hashes", unit: "#"},
}

func fill(i, size int) string {
	h := hard[i]
	n := max(1, (size-len(h.head)-len(h.tail))/len(h.unit))
	return h.head + strings.Repeat(h.unit, n) + h.tail
}

func scanAndShow(text string) {
	scan, _ := mention.Parse(text)
	scan.Shown(text, all, nil)
}

// Eight times the text may take eight times as long, or twenty on a busy
// machine; a quadratic scan takes 64 times as long, and none of half a megabyte
// is done in the time below which nothing is compared.
func TestHardTextsTakeLinearTime(t *testing.T) {
	for i, h := range hard {
		t.Run(h.name, func(t *testing.T) {
			short, long := fill(i, 1<<16), fill(i, 1<<19)
			var ratio float64
			for range 5 {
				took := quickest(long)
				if ratio = float64(took) / float64(quickest(short)); took < 50*time.Millisecond || ratio < 20 {
					return
				}
			}
			t.Errorf("8 times the text takes %.0f times as long", ratio)
		})
	}
}

func quickest(text string) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		scanAndShow(text)
		best = min(best, time.Since(start))
	}
	return best
}

func BenchmarkParse(b *testing.B) {
	for i, h := range hard {
		text := fill(i, 1<<20)
		b.Run(strings.ReplaceAll(h.name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				scanAndShow(text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range vectors[struct{ Text string }](f, "testdata/mention.jsonl") {
		f.Add(v.Text)
	}
	for i := range hard {
		f.Add(fill(i, 100))
	}
	f.Add("- a\n\n  1. ```\n     weir:ImEi\n> > ~~~\n\t`x")
	f.Fuzz(func(t *testing.T, text string) {
		scan, _ := mention.Parse(text)
		at, escapes := 0, scan.Escapes
		for _, m := range scan.Mentions {
			for len(escapes) > 0 && escapes[0] < m.Start {
				at, escapes = checkEscape(t, text, at, escapes)
			}
			if m.Start < at || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("%q: %+v begins before %d or ends beyond", text, m, at)
			}
			checkMention(t, text[m.Start:m.End], m)
			at = m.End
		}
		for len(escapes) > 0 {
			at, escapes = checkEscape(t, text, at, escapes)
		}
		none := scan.Shown(text, func(int) bool { return false }, nil)
		if len(none) != len(text)-len(scan.Escapes) {
			t.Errorf("%q with no mention accepted became %q", text, none)
		}
		scan.Shown(text, all, nil)
	})
}

func checkEscape(t *testing.T, text string, at int, escapes []int) (int, []int) {
	if escapes[0] < at || !strings.HasPrefix(text[escapes[0]:], `\@[`) {
		t.Fatalf("%q: no escape at %d (after %d)", text, escapes[0], at)
	}
	return escapes[0] + len(`\@[`), escapes[1:]
}

func checkMention(t *testing.T, markup string, m mention.Mention) {
	uri := markup
	if m.Explicit {
		if !strings.HasPrefix(markup, "@[") || !strings.HasSuffix(markup, ")") {
			t.Fatalf("%q is no explicit form", markup)
		}
		uri = markup[strings.LastIndex(markup, "](")+2 : len(markup)-1]
	}
	a, err := mention.Decode(uri)
	if err != nil || a.Conversation != m.Reference.Conversation || a.Message != m.Reference.Message {
		t.Fatalf("%q decodes to %+v, %v; the mention is %+v", uri, a, err, m)
	}
	if !m.Explicit && m.Label == "" {
		t.Fatalf("%q has no label", markup)
	}
}
