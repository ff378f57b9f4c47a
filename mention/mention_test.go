package mention_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"weir"
	"weir/mention"
)

// vectors decodes each line of a file into a new T.
func vectors[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func all(int) bool { return true }

// seen is what a scan of a text amounts to, for comparing.
type seen struct {
	Shown      string
	References []reference
	Error      string
}

type reference struct {
	Type         weir.ReferenceType
	Conversation weir.ConversationID
	Message      weir.MessageID
	Label        string
}

func look(text string) seen {
	scan, err := mention.Parse(text)
	if err != nil {
		return seen{Error: weir.CodeOf(err)}
	}
	s := seen{Shown: scan.Shown(text, all, nil)}
	for _, m := range scan.Mentions {
		s.References = append(s.References,
			reference{m.Reference.Type, m.Reference.Conversation, m.Reference.Message, m.Label})
	}
	return s
}

func TestTheSharedMentionVectorsHold(t *testing.T) {
	vs := vectors[struct {
		Text string
		seen
	}](t, "testdata/mention.jsonl")
	if len(vs) < 48 {
		t.Fatalf("only %d vectors", len(vs))
	}
	for _, v := range vs {
		if diff := cmp.Diff(v.seen, look(v.Text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", v.Text, diff)
		}
	}
}

// In these texts "A" stands for weir:ImEi, a good URI of the conversation a.
func TestWhatIsShownWhenAllMentionsCount(t *testing.T) {
	for _, c := range []struct{ name, text, shown string }{
		{"an escaped backtick opens no code", "\\`A\\`", "\\`@a\\`"},
		{"a backslash in code is a backslash", "`x\\` A `", "`x\\` @a `"},
		{"two escaped runs", "\\`` A ` x ``", "\\`` A ` x ``"},
		{"code may span lines of a paragraph", "`x\nA`", "`x\nA`"},
		{"code ends with its paragraph", "`x\n\nA`", "`x\n\n@a`"},
		{"code ends at a heading", "`x\n# y\nA`", "`x\n# y\n@a`"},
		{"code does not leave a heading", "# `y\nA`", "# `y\n@a`"},
		{"code ends at a rule", "`x\n***\nA`", "`x\n***\n@a`"},
		{"code ends with its list item", "- `x\n- A`", "- `x\n- @a`"},
		{"code goes on in the same list item", "- `x\n  A`", "- `x\n  A`"},
		{"a long run is code too", "`````x ```` A`````", "`````x ```` A`````"},
		{"runs of other lengths do not close", "`x `` A ``` y", "`x `` @a ``` y"},
		{"three spaces before a fence", "   ```\nA\n   ```\nA", "   ```\nA\n   ```\n@a"},
		{"four spaces before are no fence", "    ```\nA", "    ```\n@a"},
		{"a tab before is no fence", "\t~~~\nA", "\t~~~\n@a"},
		{"two tildes are no fence", "~~\nA", "~~\n@a"},
		{"an info string", "```go A\nA\n```\nA", "```go A\nA\n```\n@a"},
		{"backticks in the info string: no fence", "``` a`b\nA", "``` a`b\n@a"},
		{"backticks after tildes: a fence", "~~~ a`b\nA", "~~~ a`b\nA"},
		{"a shorter fence does not close", "````\n```\nA\n````\nA", "````\n```\nA\n````\n@a"},
		{"a longer fence closes", "```\nA\n`````\nA", "```\nA\n`````\n@a"},
		{"another mark does not close", "```\n~~~\nA\n```\nA", "```\n~~~\nA\n```\n@a"},
		{"a closing fence has no info", "```\n``` x\nA\n```\nA", "```\n``` x\nA\n```\n@a"},
		{"a closing fence may have spaces", "```\nA\n```  \t\nA", "```\nA\n```  \t\n@a"},
		{"a closing fence indented by four does not close", "```\n    ```\nA", "```\n    ```\nA"},
		{"blank lines do not end a fence", "```\n\n\nA\n\n```", "```\n\n\nA\n\n```"},
		{"a fence interrupts a paragraph", "x ` y\n```\nA\n```\n` A", "x ` y\n```\nA\n```\n` @a"},
		{"CRLF and CR end lines", "```\r\nA\r```\r\nA", "```\r\nA\r```\r\n@a"},
		{"a fence in a block quote", "> ```\n> A\n>\n> A\n> ```\n> A", "> ```\n> A\n>\n> A\n> ```\n> @a"},
		{"a fence ends with its block quote", "> ```\n> A\nA", "> ```\n> A\n@a"},
		{"a fence in a list item", "- x\n\n  ```\n  A\n\n  A\n  ```\n  A", "- x\n\n  ```\n  A\n\n  A\n  ```\n  @a"},
		{"a fence in a nested list item", "- x\n  - y\n\n    ```\n\n    A\n    ```\n    A", "- x\n  - y\n\n    ```\n\n    A\n    ```\n    @a"},
		{"an empty item ends with a blank line", "-\n\n  ~~~ x\nA", "-\n\n  ~~~ x\nA"},
		{"an empty item is over after a blank line", "10)\n\n    ~~~\n    A", "10)\n\n    ~~~\n    @a"},
		{"a fence ends with its list item", "10. ```\n    A\n\nA", "10. ```\n    A\n\n@a"},

		{"a word before a bare URI", "xA éA 9A ٣A", "xA éA 9A ٣A"},
		{"signs that are no boundary", "_A -A /A :A .A", "_A -A /A :A .A"},
		{"signs that are", "(A,A;A=A<A|A\\A\u00a0A", "(@a,@a;@a=@a<@a|@a\\@a\u00a0@a"},
		{"an emoji is a boundary", "😀A", "😀@a"},
		{"what follows a bare URI", "A/x A?y A:z A=", "@a/x @a?y @a:z @a="},
		{"the longest run", "A- Ax A0", "A- Ax A0"},
		{"several closing underscores", "A__ A_x", "@a__ A_x"},
		{"pointer and a word", "A#pointer2 A#pointeré A#pointer后", "A#pointer2 A#pointeré A#pointer后"},
		{"pointer and a sign", "A#pointer_ A#pointer-x A#pointer#", "@a_ @a-x @a#"},
		{"no fragment after an underscore", "A_#pointer", "@a_#pointer"},
		{"a pointer to a message is none", "weir:WyJhIiwibSJd#pointer", "weir:WyJhIiwibSJd#pointer"},
		{"a bare URI of a message", "weir:WyJhIiwibSJd", "@a"},

		{"an escape reaches over its form only", "\\@[x](A) A", "@[x](A) @a"},
		{"an escape without a form", "\\@[x] A", "@[x] @a"},
		{"an escape of any target", "\\@[x](see A) A", "@[x](see A) @a"},
		{"an escape in code is code", "`\\@[x]`", "`\\@[x]`"},
		{"two backslashes hold an escape", "\\\\@[x](A)", "\\@[x](A)"},
		{"a backslash before another at sign", "\\@beta", "\\@beta"},
		{"a backslash in a label", "@[a\\b\\\\\\]](A)", "@a\\b\\]"},
		{"an escaped end of label", "@[x\\](A)", "@[x\\](@a)"},
		{"a label with code", "@[the `x` line](A)", "@the `x` line"},
		{"a bracket in the label's code", "@[the `]` line](A)", "@the `]` line"},
		{"code beginning in the label", "@[a `b](A) c` A", "@[a `b](A) c` @a"},
		{"code beginning in the target", "@[a](`A`) A", "@[a](`A`) @a"},
		{"a label does not leave its paragraph", "@[x\n\ny](A)", "@[x\n\ny](@a)"},
		{"a target does not leave its line", "@[x](A\n)", "@[x](@a\n)"},
		{"a target that only holds a URI", "@[x](see A)", "@[x](see @a)"},
		{"control characters in a label", "@[a\tb\r\nc\u2028d](A)", "@a b c d"},
		{"mentions side by side", "@[x](A)@[y](A)A", "@x@y@a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.ReplaceAll(c.text, "A", "weir:ImEi")
			want := strings.ReplaceAll(c.shown, "A", "weir:ImEi")
			if got := look(text); got.Shown != want || got.Error != "" {
				t.Errorf("%q\n got %q %s\nwant %q", text, got.Shown, got.Error, want)
			}
		})
	}
}

func TestAnExplicitMentionWithABadAddressIsRefused(t *testing.T) {
	for _, v := range vectors[struct {
		OK  bool
		URI string
	}](t, "testdata/uri.jsonl") {
		if v.OK || !strings.HasPrefix(v.URI, "weir:") || strings.ContainsAny(v.URI, "\n)") {
			continue
		}
		text := "see @[x](" + v.URI + ") and @[y](weir:ImEi) \\@["
		scan, err := mention.Parse(text)
		if weir.CodeOf(err) != "reference_invalid" || weir.KindOf(err) != weir.Invalid {
			t.Errorf("%q: %v", text, err)
		}
		if len(scan.Mentions) != 1 || scan.Mentions[0].Label != "y" || len(scan.Escapes) != 1 {
			t.Errorf("%q: the scan is not complete: %+v", text, scan)
		}
	}
}

func TestMentionsThatAreNotAcceptedStayAsTheyAre(t *testing.T) {
	text := "@[x\ny](weir:ImEi) \\@[z] weir:ImIi @[](weir:ImMi)"
	scan, err := mention.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		accepted []int
		shown    string
	}{
		{nil, "@[x\ny](weir:ImEi) @[z] weir:ImIi @[](weir:ImMi)"},
		{[]int{0}, "@x y @[z] weir:ImIi @[](weir:ImMi)"},
		{[]int{1}, "@[x\ny](weir:ImEi) @[z] @b @[](weir:ImMi)"},
		{[]int{0, 1, 2}, "@x y @[z] @b @Title"},
	} {
		got := scan.Shown(text, func(i int) bool { return contains(c.accepted, i) },
			func(i int, m mention.Mention) string {
				if i != 2 || m.Reference.Conversation != "c" {
					t.Errorf("asked for the title of mention %d, %+v", i, m)
				}
				return "Title"
			})
		if got != c.shown {
			t.Errorf("accepted %v: %q, want %q", c.accepted, got, c.shown)
		}
	}
}

func contains(all []int, i int) bool {
	for _, a := range all {
		if a == i {
			return true
		}
	}
	return false
}

func TestATextWithoutMentionsIsShownUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), `\@[`, "")
		scan, err := mention.Parse(text)
		if err != nil || len(scan.Mentions) > 0 {
			t.Skip()
		}
		if got := scan.Shown(text, all, nil); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestMarkupIsFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a`\\][@(\n ~#")), 0, 12, -1)).Draw(t, "label")
		a := addresses.Draw(t, "address")
		before := rapid.SampledFrom([]string{"", "x", "see ", "\n", "- ", "> "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", "x", ")", "`", "_", "\n```\n", "](weir:ImEi)"}).Draw(t, "after")
		markup := mention.Markup(label, a)
		scan, err := mention.Parse(before + markup + after)
		if err != nil {
			t.Fatalf("%q: %v", markup, err)
		}
		if len(scan.Mentions) == 0 {
			t.Fatalf("%q holds no mention", before+markup+after)
		}
		m := scan.Mentions[0]
		if m.Start != len(before) || m.End != len(before+markup) || !m.Explicit ||
			m.Reference.Conversation != a.Conversation || m.Reference.Message != a.Message {
			t.Errorf("%q: found %+v", before+markup+after, m)
		}
		if strings.ContainsAny(m.Label, "\n\r\t") {
			t.Errorf("%q is not one line", m.Label)
		}
		if !strings.ContainsAny(label, "`\n\r\t") && utf8.ValidString(label) && printable(label) && m.Label != label {
			t.Errorf("label %q became %q", label, m.Label)
		}
	})
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}
