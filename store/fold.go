package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"weir"
)

// fold makes texts comparable without regard to case: each letter becomes one
// of its Unicode simple case folding class, whatever the language.
func fold(s string) string { return strings.Map(foldRune, s) }

func foldRune(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	// The class is a ring in ascending order; its first member that is in
	// lower case as ASCII has it stands for all.
	least := r
	for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
		least = min(least, n)
	}
	if least < 0x80 {
		return foldRune(least)
	}
	return least
}

// foldedOf is the text in which a conversation is looked up: title, id and
// workspace, one a line, so that no word is found across two of them.
func foldedOf(title string, id weir.ConversationID, workspace string) string {
	line := func(s string) string { return strings.ReplaceAll(fold(s), "\n", " ") }
	return line(title) + "\n" + line(string(id)) + "\n" + line(workspace)
}

// maxWords bounds a query; more than that is no search but a text.
const maxWords = 16

// wordsOf splits a query into the folded words that must all be found. Words
// that are part of another one are left out.
func wordsOf(query string) ([]string, error) {
	fields := strings.Fields(fold(query))
	slices.SortFunc(fields, func(a, b string) int { return len(b) - len(a) })
	var words []string
	for _, f := range fields {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, f) }) {
			words = append(words, f)
		}
	}
	if len(words) > maxWords {
		return nil, weir.Fault(weir.Invalid, "query_invalid", "A search takes at most %d words.", maxWords)
	}
	return words, valid(words...)
}

// pieces returns the distinct one, two and three letter pieces of the words of
// a folded text, in no particular order.
func pieces(folded string) []string {
	seen := map[string]struct{}{}
	for _, word := range strings.Fields(folded) {
		var starts [3]int // of the last three letters
		n := 0
		for i, r := range word {
			end := i + len(string(r))
			starts[0], starts[1], starts[2] = starts[1], starts[2], i
			n++
			for k := 1; k <= min(n, 3); k++ {
				seen[word[starts[3-k]:end]] = struct{}{}
			}
		}
	}
	all := make([]string, 0, len(seen))
	for p := range seen {
		all = append(all, p)
	}
	return all
}

// maxPieces bounds the pieces of a query; what they find is checked against
// the whole words anyway.
const maxPieces = 24

// queryPieces returns the longest pieces of each word of a query.
func queryPieces(words []string) []string {
	var all []string
	for _, w := range words {
		letters := []rune(w)
		k := min(len(letters), 3)
		for i := 0; i+k <= len(letters) && len(all) < maxPieces; i++ {
			if p := string(letters[i : i+k]); !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// placeOf is a short name of a workspace; conversations without one are
// nowhere.
func placeOf(workspace string) string {
	if workspace == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(workspace))
	return hex.EncodeToString(sum[:12])
}
