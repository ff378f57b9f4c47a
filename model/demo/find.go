package demo

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finding is a sentence that holds words of the question.
type finding struct {
	sentence string
	where    string
	hits     uint64 // a bit for each word
	score    float64
}

// maxWords is how many words of a question are looked for.
const maxWords = 64

// wantedIn numbers the words of a question that say what is asked.
func wantedIn(question string) map[string]int {
	wanted := map[string]int{}
	eachWord(question, func(w []byte) {
		if len(wanted) < maxWords && !common(string(w)) {
			w = stem(w)
			if _, there := wanted[string(w)]; !there {
				wanted[string(w)] = len(wanted)
			}
		}
	})
	return wanted
}

// find returns the sentences that hold the words wanted best, at most n, and
// none that holds fewer of them than least. Rare words count more than common
// ones; of equals the newest come first. Questions are no answers and are left
// out.
func find(wanted map[string]int, sources []source, least, n int) []finding {
	if len(wanted) == 0 {
		return nil
	}
	var found []finding
	var count [maxWords]int
	for i := range sources {
		eachSentence(sources[i].text, func(s string) {
			var hits uint64
			eachWord(s, func(w []byte) {
				if bit, ok := wanted[string(stem(w))]; ok {
					hits |= 1 << bit
				}
			})
			if hits == 0 || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
				return
			}
			for h := hits; h != 0; h &= h - 1 {
				count[bits.TrailingZeros64(h)]++
			}
			found = append(found, finding{sentence: s, where: sources[i].name, hits: hits})
		})
	}
	return best(found, count[:], max(least, (len(wanted)+2)/3), n)
}

// best picks the sentences with the highest scores that hold enough words.
func best(found []finding, count []int, enough, n int) []finding {
	for i := range found {
		f := &found[i]
		if bits.OnesCount64(f.hits) < enough {
			continue
		}
		f.score = float64(bits.OnesCount64(f.hits)) // more words before rarer words
		for h := f.hits; h != 0; h &= h - 1 {
			f.score += 1 / float64(1+count[bits.TrailingZeros64(h)])
		}
	}
	var out []finding
	for len(out) < n {
		top := -1
		for i := range found {
			f := &found[i]
			if f.score > 0 && (top < 0 || f.score >= found[top].score) && !holds(out, f.sentence) {
				top = i
			}
		}
		if top < 0 || (len(out) > 0 && found[top].score <= out[0].score/2) {
			break
		}
		out = append(out, found[top])
	}
	return out
}

func holds(list []finding, sentence string) bool {
	return slices.ContainsFunc(list, func(o finding) bool { return o.sentence == sentence })
}

// eachSentence calls f with the sentences of a text: they end at a line's end,
// and at a mark of punctuation before white space (in scripts without spaces,
// at the mark).
func eachSentence(text string, f func(string)) {
	from := 0
	end := func(at int) {
		if s := strings.TrimSpace(text[from:at]); s != "" {
			f(s)
		}
		from = at
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch r {
		case '\n', '。', '！', '？':
			end(i)
		case '.', '!', '?', '…':
			if i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
				end(i)
			}
		}
	}
	end(len(text))
}

// firstSentence returns what a text says first.
func firstSentence(text string) string {
	first := ""
	eachSentence(text, func(s string) {
		if first == "" {
			first = s
		}
	})
	return first
}

// eachWord calls f with the words of a text, in lower case. Scripts that put no
// spaces between words give each pair of neighbouring characters.
func eachWord(text string, f func([]byte)) {
	var word []byte
	var before rune // of a script without spaces
	flush := func() {
		if len(word) > 0 {
			f(word)
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			if before != 0 {
				f(utf8.AppendRune(utf8.AppendRune(nil, before), r))
			}
			before = r
			continue
		case r < utf8.RuneSelf:
			switch {
			case r >= 'A' && r <= 'Z':
				word = append(word, byte(r)+'a'-'A')
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				word = append(word, byte(r))
			default:
				flush()
			}
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			word = utf8.AppendRune(word, unicode.ToLower(r))
		default:
			flush()
		}
		before = 0
	}
	flush()
}

// stem cuts the ending of an English word so that port finds ports and settle
// finds settled. It is crude, and the same on both sides.
func stem(w []byte) []byte {
	for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
		if len(w)-len(ending) >= 4 && strings.HasSuffix(string(w), ending) {
			return w[:len(w)-len(ending)]
		}
	}
	if len(w) == 4 && w[3] == 's' {
		return w[:3]
	}
	return w
}

// common reports whether a word, with its ending, says nothing about what is
// asked.
func common(w string) bool {
	if utf8.RuneCountInString(w) < 2 {
		return w == "" || w[0] < '0' || w[0] > '9'
	}
	switch w {
	case "the", "an", "and", "or", "but", "not", "no", "yes", "of", "to", "in", "on", "at", "by", "for", "from", "with", "about", "as", "into",
		"is", "are", "was", "were", "be", "been", "am", "do", "did", "does", "done", "have", "has", "had", "can", "could", "will", "would", "shall",
		"should", "may", "might", "must", "it", "its", "this", "that", "these", "those", "there", "here", "he", "she", "they",
		"we", "us", "our", "you", "your", "me", "my", "him", "her", "them", "their", "what", "which", "who", "whom", "whose", "when", "where",
		"why", "how", "if", "then", "than", "so", "too", "very", "just", "also", "any", "some", "all", "one", "say", "said", "tell", "told", "know",
		"please", "hi", "hello", "hey", "thank", "thanks", "ok", "okay", "again", "now", "still", "yet", "ever", "even", "only", "since", "more", "most",
		"such", "both", "each", "other", "same", "own", "while", "because", "until", "ll", "re", "ve", "don", "doesn", "isn", "let", "see", "think", "mean",
		"der", "die", "das", "und", "oder", "ist", "sind", "war", "ein", "eine", "einen", "den", "dem", "des", "wir", "ich", "du", "sie", "es",
		"wer", "wie", "wo", "wann", "warum", "welch", "welche", "welcher", "welchen", "mit", "von", "zu", "im", "auf", "für", "nicht", "hallo", "bitte", "dies", "diese", "noch", "immer":
		return true
	}
	return false
}
