package store

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"weir"
)

func TestFoldingMakesAllLettersOfAClassOne(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if n := unicode.SimpleFold(r); foldRune(n) != foldRune(r) {
			t.Fatalf("%q and %q fold to %q and %q", r, n, foldRune(r), foldRune(n))
		}
	}
	if got := fold("Straße ΣΊΣΥΦΟς K 会议"); got != fold("STRAẞE σίσυφος k 会议") {
		t.Error(got)
	}
	if fold("İ") == fold("i") || fold("ı") == fold("i") {
		t.Error("folding knows a language")
	}
}

func TestEveryPieceOfAWordThatIsSearchedIsInTheIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.StringOfN(rapid.RuneFrom([]rune("aB é会议\U0001f600_/")), 0, 20, -1).Draw(t, "title")
		indexed := pieces(foldedOf(title, "cnv_1", "/w"))
		if len(indexed) != len(slices.Compact(slices.Sorted(slices.Values(indexed)))) {
			t.Fatal("a piece is there twice")
		}
		for _, field := range strings.Fields(title) {
			letters := []rune(field)
			from := rapid.IntRange(0, len(letters)-1).Draw(t, "from")
			upto := rapid.IntRange(from+1, len(letters)).Draw(t, "upto")
			words, err := wordsOf(string(letters[from:upto]))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range queryPieces(words) {
				if !slices.Contains(indexed, p) {
					t.Fatalf("%q of %q is not among %q", p, words, indexed)
				}
			}
		}
	})
}

func TestWordsThatArePartOfAnotherAreLeftOut(t *testing.T) {
	got, err := wordsOf("  planning PLAN ann\tx planning ")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"planning", "x"}, got); d != "" {
		t.Error(d)
	}
}

func TestArgumentsAreNumbered(t *testing.T) {
	if got := number(`a = ? AND b IN (?,?) ?`); got != `a = $1 AND b IN ($2,$3) $4` {
		t.Error(got)
	}
}

// TestSegmentsCoverALogOnce: whatever the lineage, the parts follow each other
// without gap or overlap, and each seq is stored under the nearest conversation
// that wrote it.
func TestSegmentsCoverALogOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := weir.Conversation{ID: "self"}
		cut := weir.Seq(rapid.Int64Range(0, 20).Draw(t, "first cut"))
		for i := range rapid.IntRange(0, 4).Draw(t, "depth") {
			c.Lineage = append(c.Lineage, weir.Inherited{Conversation: weir.ConversationID(rune('a' + i)), Upto: cut})
			cut = weir.Seq(rapid.Int64Range(0, 30).Draw(t, "cut"))
		}
		after := weir.Seq(rapid.Int64Range(0, 40).Draw(t, "after"))
		upto := weir.Seq(rapid.Int64Range(int64(after), 45).Draw(t, "upto"))
		at := after
		for _, s := range segments(&c, after, upto) {
			if s.after != at || s.upto <= s.after {
				t.Fatalf("a part of %+v begins behind %d, the last ended at %d", s, s.after, at)
			}
			at = s.upto
			for seq := s.after + 1; seq <= s.upto; seq++ {
				if want := writer(&c, seq); want != s.conversation {
					t.Fatalf("%d is looked for in %s, was written in %s", seq, s.conversation, want)
				}
			}
		}
		if at != upto {
			t.Fatalf("the parts end at %d, not %d", at, upto)
		}
	})
	if got := segments(&weir.Conversation{ID: "a"}, 0, math.MaxInt64); len(got) != 1 {
		t.Error(got)
	}
}

// writer is who wrote the record of a seq, found from the branch outwards.
func writer(c *weir.Conversation, seq weir.Seq) weir.ConversationID {
	who := c.ID
	for i := len(c.Lineage) - 1; i >= 0; i-- {
		if seq > c.Lineage[i].Upto {
			return who
		}
		who = c.Lineage[i].Conversation
	}
	return who
}
