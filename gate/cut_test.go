package gate

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestACutKeepsWhatFitsAndNotOneCharacterMore(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kept       int
	}{
		{"one under", strings.Repeat("a", maxQuote-1), maxQuote - 1},
		{"exactly", strings.Repeat("a", maxQuote), maxQuote},
		{"one over", strings.Repeat("a", maxQuote+1), maxQuote},
		{"far over", strings.Repeat("a", 3*maxQuote), maxQuote},
		{"three bytes each, exactly", strings.Repeat("中", maxQuote), maxQuote},
		{"three bytes each, one over", strings.Repeat("中", maxQuote+1), maxQuote},
		{"emoji at the cut", strings.Repeat("a", maxQuote-1) + "😀😀", maxQuote},
		{"a family across the cut", strings.Repeat("a", maxQuote-2) + "👨‍👩‍👧", maxQuote - 2},
		{"a family that ends at the cut", strings.Repeat("a", maxQuote-5) + "👨‍👩‍👧b", maxQuote},
		{"an accent after the cut", strings.Repeat("a", maxQuote) + "\u0301", maxQuote - 1},
		{"a flag across the cut", strings.Repeat("a", maxQuote-1) + "🇩🇪", maxQuote - 1},
		{"\\r\\n across the cut", strings.Repeat("a", maxQuote-1) + "\r\n", maxQuote - 1},
		{"right-to-left marks around the cut", strings.Repeat("ب", maxQuote-1) + "\u200f\u200f\u200f", maxQuote},
		{"the last cluster ends 15 before the cut", strings.Repeat("a", maxQuote-14) + strings.Repeat("\u0301", 20), maxQuote - 15},
		{"the last cluster ends 16 before the cut", strings.Repeat("a", maxQuote-15) + strings.Repeat("\u0301", 20), maxQuote},
		{"a cluster longer than the slack", strings.Repeat("a", maxQuote-99) + strings.Repeat("\u0301", 200), maxQuote},
		{"nothing but accents", strings.Repeat("\u0301", maxQuote+50), maxQuote},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cut(c.text, maxQuote)
			if n := utf8.RuneCountInString(got); n != c.kept {
				t.Errorf("kept %d code points, want %d", n, c.kept)
			}
			if !strings.HasPrefix(c.text, got) || !utf8.ValidString(got) {
				t.Error("the kept text is not a valid head of the text")
			}
		})
	}
}

func TestACutIsAHeadThatEndsBetweenCharacters(t *testing.T) {
	pieces := []string{"a", "é", "e\u0301", "中", "😀", "👨‍👩‍👧", "👍🏽", "🇩🇪", "\u200f", "\u202e", "\r\n", "\n", "क्षि", "한", "\u1112\u1161\u11ab", "\u0301"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		got := cut(text, limit)
		runes := utf8.RuneCountInString(got)
		if !strings.HasPrefix(text, got) || !utf8.ValidString(got) {
			t.Fatalf("cut(%q, %d) = %q is no head", text, limit, got)
		}
		if utf8.RuneCountInString(text) <= limit {
			if got != text {
				t.Fatalf("cut(%q, %d) = %q cut what fits", text, limit, got)
			}
			return
		}
		// The oracle: all boundaries of the whole text, the long way.
		want, at := limit, 0
		best := -1
		for g := uniseg.NewGraphemes(text); g.Next(); {
			at += len(g.Runes())
			if at <= limit && at > limit-cutSlack {
				best = at
			}
		}
		if best >= 0 {
			want = best
		}
		if runes != want {
			t.Fatalf("cut(%q, %d) kept %d code points, want %d", text, limit, runes, want)
		}
	})
}
