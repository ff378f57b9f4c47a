package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"weir"
)

// scanner collects what the paragraphs of a text hold.
type scanner struct {
	scan Scan
	bad  []int // offsets of explicit forms that do not decode
}

// span is a stretch of text.
type span struct{ from, upto int }

func cut(text string, s span) string { return text[s.from:s.upto] }

// paragraph scans text[from:]; text before from is looked at only for the
// character on the left of a bare URI.
func (sc *scanner) paragraph(text string, from int) {
	code := codeSpans(text, from)
	forms := forms{text: text, code: code, bracket: -1, paren: -1}
	at := byte('@') // worth a look as long as some label may close
	for i := from; i < len(text); {
		if len(code) > 0 && i >= code[0].from {
			i = max(i, code[0].upto)
			code = code[1:]
			continue
		}
		limit := len(text)
		if len(code) > 0 {
			limit = code[0].from
		}
		for i < limit && text[i] != at && text[i] != 'w' && text[i] != '\\' {
			i++
		}
		if i < limit {
			i = sc.special(&forms, i)
		}
		if forms.bracket == len(text) {
			at = 'w'
		}
	}
}

// special looks at one of the characters that may begin something and returns
// where to go on.
func (sc *scanner) special(forms *forms, i int) int {
	switch text := forms.text; text[i] {
	case '@':
		return sc.explicit(forms, i)
	case 'w':
		if strings.HasPrefix(text[i:], scheme) {
			return sc.bare(text, i)
		}
	case '\\':
		if strings.HasPrefix(text[i:], `\@[`) {
			sc.scan.Escapes = append(sc.scan.Escapes, i)
			if forms.at(i + 1) {
				return forms.end // nothing inside is a mention either
			}
			return i + len(`\@[`)
		}
	}
	return i + 1
}

// explicit takes the mention at i, if there is one.
func (sc *scanner) explicit(forms *forms, i int) int {
	if !forms.at(i) {
		return i + 1
	}
	label, target := cut(forms.text, forms.label), cut(forms.text, forms.target)
	if !strings.HasPrefix(target, scheme) {
		return i + len("@[")
	}
	a, ok := decode(target)
	if !ok {
		sc.bad = append(sc.bad, i)
		return forms.end
	}
	sc.add(Mention{Start: i, End: forms.end, Label: unescape(label), Explicit: true}, a)
	return forms.end
}

// bare takes a URI that stands by itself, or what only begins like one.
func (sc *scanner) bare(text string, i int) int {
	run := i + len(scheme)
	for run < len(text) && isBase64URL(text[run]) {
		run++
	}
	if !boundary(text[:i]) {
		return run
	}
	// A payload cannot end in "_": it would have to end in a quotation mark or
	// a bracket, and neither is spelt so. Such a "_" closes an emphasis.
	end := i + len(strings.TrimRight(text[i:run], "_"))
	if end == run && strings.HasPrefix(text[run:], "#") {
		if !strings.HasPrefix(text[run:], fragment) || isWord(text[run+len(fragment):]) {
			return run + len("#")
		}
		end += len(fragment)
	}
	a, ok := decode(text[i:end])
	if !ok {
		return max(run, end)
	}
	sc.add(Mention{Start: i, End: end, Label: string(a.Conversation)}, a)
	return end
}

func (sc *scanner) add(m Mention, a Address) {
	m.Reference = weir.Reference{Type: weir.RecallT, Conversation: a.Conversation, Message: a.Message}
	switch {
	case a.Message != "":
		m.Reference.Type = weir.Quote
	case a.Pointer:
		m.Reference.Type = weir.Pointer
	}
	sc.scan.Mentions = append(sc.scan.Mentions, m)
}

func isBase64URL(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// boundary reports whether a bare URI may follow s.
func boundary(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	if size == 0 {
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-/:.", r)
}

// isWord reports whether s begins with a letter or digit.
func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// unescape takes the backslash from \\ and \] in a label.
func unescape(label string) string {
	if strings.IndexByte(label, '\\') < 0 {
		return label
	}
	var b strings.Builder
	for i := 0; i < len(label); i++ {
		if label[i] == '\\' && i+1 < len(label) && (label[i+1] == '\\' || label[i+1] == ']') {
			i++
		}
		b.WriteByte(label[i])
	}
	return b.String()
}
