package demo

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// reply puts the answer together.
func reply(v *view) string {
	var parts []string
	seen, about := v.now, asksWhatIsSeen(v.question)
	if about && !seen.any() {
		seen = v.before
	}
	parts = append(parts, sees(&seen)...)
	found := v.find(about)
	switch {
	case len(found) > 0:
		parts = append(parts, answers(found))
	case len(v.now.quotes) > 0 && v.question != "" && !about:
		parts = append(parts, beginnings(v.now.quotes))
	case len(parts) == 0:
		return opening + nothing(v)
	case v.question != "" && !about:
		parts = append(parts, "Beyond that, nothing in this conversation holds the words of your message.")
	}
	return opening + strings.Join(parts, "\n\n")
}

// find looks where an answer may be. What the model was told at the beginning
// speaks of everything, so it is looked at only where there is nothing else.
// Whoever hands a quote over asks about that; elsewhere one word in common is
// chance.
func (v *view) find(about bool) []finding {
	const most = 3
	sources, wanted := v.sources, wantedIn(v.question)
	if about || v.now.any() || len(sources) > v.told {
		sources = sources[v.told:]
	}
	if len(v.now.quotes) == 0 {
		return find(wanted, sources, 1, most)
	}
	var handed []source
	for _, q := range v.now.quotes {
		handed = append(handed, q.source())
	}
	if found := find(wanted, handed, 1, most); len(found) > 0 {
		return found
	}
	return find(wanted, sources, 2, most)
}

// beginnings repeats how quotes begin, where no word of the question is in them.
func beginnings(quotes []reference) string {
	s := "No word that you ask about stands in it. It begins:"
	if len(quotes) > 1 {
		s = "No word that you ask about stands in them. They begin:"
	}
	for _, q := range quotes[:min(len(quotes), most)] {
		s += "\n\n> " + firstWords(firstSentence(q.text), 60) + "\n\n— " + q.source().name
	}
	return s
}

// What it is and what one can try, in full once in a conversation.
const (
	whatIAm  = "I am the model built into Weir: no network and no language model, only the words of this conversation."
	inShort  = whatIAm + " Ask for words that stand in it, or quote a message that holds them."
	atLength = whatIAm + " You can try:\n" +
		"- tell me a fact, such as “The gateway listens on port 7447.”, and ask for it later;\n" +
		"- quote a message of another conversation into this one and ask about a word in it;\n" +
		"- open the request of an answer to see exactly what I was given;\n" +
		"- name a provider in weir.toml to talk to a real model."
)

// nothing answers where nothing was found.
func nothing(v *view) string {
	said := "Nothing in this conversation holds the words of your message, so I have no answer to it."
	switch {
	case v.question == "":
		said = "I was given no words to answer."
	case isStatement(v.question):
		said = "I have read that. It is a part of this conversation now; ask for a word of it and I find it again."
	}
	if v.explained {
		return said + "\n\n" + inShort
	}
	return said + "\n\n" + atLength
}

// isStatement reports whether a message tells something rather than asks: it
// has several words that say something, and no mark or word of a question.
func isStatement(text string) bool {
	if strings.ContainsAny(text, "?？") {
		return false
	}
	first, words := "", 0
	eachWord(text, func(w []byte) {
		if first == "" {
			first = string(stem(w))
		}
		if !common(string(w)) {
			words++
		}
	})
	return words >= 4 && !asks(first)
}

// asks reports whether a word begins a question. Words are stemmed.
func asks(w string) bool {
	switch w {
	case "what", "which", "who", "whom", "whose", "when", "where", "wher", "why", "how", "is", "are", "was", "were", "do", "did", "does", "can",
		"could", "will", "would", "should", "tell", "find", "show", "list", "explain", "please", "pleas",
		"wer", "wie", "wo", "wann", "warum", "welch", "welche", "welcher", "welchen", "ist", "sind", "kann", "zeig":
		return true
	}
	return false
}

// asksWhatIsSeen reports whether a question is about what was handed over.
func asksWhatIsSeen(question string) bool {
	asks := false
	eachWord(question, func(w []byte) {
		switch string(stem(w)) {
		case "quot", "quote", "pointer", "referenc", "reference", "updat", "update", "recall", "attach":
			asks = true
		}
	})
	return asks
}

// most is how many of a kind are named.
const most = 8

// sees says what was handed over.
func sees(a *attached) []string {
	var parts []string
	if n := len(a.quotes); n > 0 {
		parts = append(parts, listed(counted(n, "quote")+":", n, func(i int) string {
			q := a.quotes[i]
			return fmt.Sprintf("from “%s”%s: “%s”", q.title, whose(q.of), firstWords(q.text, 12))
		}))
	}
	if n := len(a.pointers); n > 0 {
		parts = append(parts, listed(counted(n, "pointer")+", without what is behind:", n, func(i int) string {
			return "to “" + a.pointers[i].title + "”"
		}))
	}
	if n := len(a.recalls); n > 0 {
		parts = append(parts, listed(counted(n, "recall")+":", n, func(i int) string {
			return "of “" + a.recalls[i].title + "” (" + a.recalls[i].of + ")"
		}))
	}
	if n := len(a.updates); n > 0 {
		parts = append(parts, listed(counted(n, "update")+" of what I am told:", n, func(i int) string {
			return "“" + firstWords(a.updates[i], 24) + "”"
		}))
	}
	return parts
}

func counted(n int, what string) string {
	if n == 1 {
		return "I see one " + what
	}
	return fmt.Sprintf("I see %d %ss", n, what)
}

func listed(head string, n int, item func(int) string) string {
	for i := range min(n, most) {
		head += "\n- " + item(i)
	}
	if n > most {
		head += fmt.Sprintf("\n- and %d more", n-most)
	}
	return head
}

// whose says the role and time of a quoted message, which stand last in the
// heading's brackets.
func whose(of string) string {
	fields := strings.Split(of, ", ")
	if len(fields) < 3 {
		return ""
	}
	return " (" + strings.Join(fields[len(fields)-2:], ", ") + ")"
}

// firstWords returns the first n words of a text on one line.
func firstWords(text string, n int) string {
	const longest = 160 // code points: some scripts have no spaces
	head := text[:min(len(text), 4*longest*2)]
	words := strings.Fields(strings.ToValidUTF8(head, ""))
	cut := len(head) < len(text)
	if len(words) > n {
		words, cut = words[:n], true
	}
	s := strings.Join(words, " ")
	if utf8.RuneCountInString(s) > longest {
		s, cut = string([]rune(s)[:longest]), true
	}
	if cut {
		s += " …"
	}
	return s
}

// answers gives the sentences that were found.
func answers(found []finding) string {
	s := "This is what I find that has the words of your message:"
	if len(found) == 1 {
		s = "This is what I find on it:"
	}
	for _, f := range found {
		s += "\n\n> " + firstWords(f.sentence, 60) + "\n\n— " + f.where
	}
	return s
}
