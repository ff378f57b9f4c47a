package importer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestATitleEndsBehindAWordAndSaysThatItIsCut(t *testing.T) {
	words := strings.Repeat("seven, ", 20)
	family := "👨‍👩‍👧"
	for in, want := range map[string]string{
		strings.Repeat("x", 80):                  strings.Repeat("x", 80),
		strings.Repeat("x", 81):                  strings.Repeat("x", 79) + "…",
		strings.Repeat("配", 90):                  strings.Repeat("配", 79) + "…",
		strings.Repeat(family, 60):               strings.Repeat(family, 60),
		strings.Repeat(family, 81):               strings.Repeat(family, 79) + "…",
		words:                                    strings.Repeat("seven, ", 10) + "seven…",
		strings.Repeat("x", 79) + " y":           strings.Repeat("x", 79) + "…",
		strings.Repeat("x", 78) + " y":           strings.Repeat("x", 78) + " y",
		strings.Repeat("x", 50) + " of " + words: strings.Repeat("x", 50) + " of seven, seven, seven…",
		"See " + strings.Repeat("x", 100):        "See " + strings.Repeat("x", 75) + "…",
		"e" + strings.Repeat("\u0301", 1000):     "e" + strings.Repeat("\u0301", 398) + "…",
		"\n \x00\t\n first  line \nsecond":       "first line",
		"":                                       "",
	} {
		if got := titleOf(in); got != want {
			t.Errorf("%.60q…\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestATitleIsNeverTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Repeat(rapid.StringN(1, 60, -1).Draw(t, "in"), rapid.IntRange(1, 20).Draw(t, "times"))
		got := titleOf(in)
		if uniseg.GraphemeClusterCount(got) > maxTitle || utf8.RuneCountInString(got) > maxTitlePoints || !utf8.ValidString(got) || tidy(got) != got {
			t.Fatalf("%q", got)
		}
		if !strings.HasSuffix(got, "…") && !strings.Contains(tidy(in), got) {
			t.Fatalf("%q of %q", got, in)
		}
	})
}
