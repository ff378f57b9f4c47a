package turn_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"weir/turn"
)

func TestATitleIsTheFirstLineInWholeCharacters(t *testing.T) {
	family := "👨‍👩‍👧"
	for _, c := range []struct{ text, want string }{
		{"Which port?\nAnd host?", "Which port?"},
		{"\n \t\n  second   line\t here \r\nthird", "second line here"},
		{"   \n\t", ""},
		{"配置 Nginx 反向代理与负载均衡的最佳实践指南大全示例文档，包含上游健康检查", "配置 Nginx 反向代理与负载均衡的最佳实践指南大全示例文档，包含上游健康检查"},
		{strings.Repeat("a", 49) + "😀x", strings.Repeat("a", 49) + "😀x"},
		{strings.Repeat("a", 80), strings.Repeat("a", 80)},
		{strings.Repeat("a", 81), strings.Repeat("a", 80)},
		{strings.Repeat("a", 76) + family + "b", strings.Repeat("a", 76)},
		{strings.Repeat("a", 75) + family + "b", strings.Repeat("a", 75) + family},
		{"e" + strings.Repeat("\u0301", 200), "e" + strings.Repeat("\u0301", 79)},
		{"bell\aand\x1b[31mred", "bell and [31mred"},
	} {
		if got := turn.TitleOf(c.text); got != c.want {
			t.Errorf("the title of %q is %q, want %q", c.text, got, c.want)
		}
	}
}

func TestATitleIsNeverTooLongNorBroken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		title := turn.TitleOf(text)
		if !utf8.ValidString(title) || utf8.RuneCountInString(title) > 80 || strings.ContainsAny(title, "\n\r\x00") {
			t.Fatalf("%q has the title %q", text, title)
		}
		if uniseg.GraphemeClusterCount(title) == 0 && strings.TrimSpace(text) != "" && title != "" {
			t.Fatal("an empty title of a text")
		}
	})
}
