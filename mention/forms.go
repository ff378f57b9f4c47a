package mention

import "strings"

// forms finds explicit forms, @[label](target) with whatever target, in one
// paragraph. It is asked for ascending positions and remembers how far it
// looked, so that many open brackets without a close cost one look and not
// one each.
type forms struct {
	text    string
	code    []span // code spans that end after bracket
	bracket int    // the last unescaped "]" found, or the end of the text
	paren   int    // the same for what ends a target

	label, target span // of the form found last
	end           int
}

// at finds the form whose "@" is at i. (The result is left in f: returned, it
// would cost more than the look at what is most often no form.)
func (f *forms) at(i int) bool {
	if i+1 >= len(f.text) || f.text[i+1] != '[' {
		return false
	}
	from := i + len("@[")
	if f.bracket < from {
		f.bracket = f.closing(from)
	}
	if !strings.HasPrefix(f.text[f.bracket:], "](") {
		return false
	}
	f.label = span{from, f.bracket}
	f.target = span{f.bracket + len("]("), f.ending(f.bracket + len("]("))}
	f.end = f.target.upto + 1
	return strings.HasPrefix(f.text[f.target.upto:], ")") && (len(f.code) == 0 || f.code[0].from > f.target.upto)
}

// closing returns the first "]" from i on that is neither escaped nor in code,
// or the end of the text. A backslash before it belongs to the label unless
// it is itself escaped, so only the run of backslashes right before counts.
func (f *forms) closing(i int) int {
	for i < len(f.text) {
		limit := len(f.text)
		if len(f.code) > 0 {
			limit = f.code[0].from
		}
		if i >= limit {
			i = max(i, f.code[0].upto)
			f.code = f.code[1:]
			continue
		}
		n := strings.IndexByte(f.text[i:limit], ']')
		switch {
		case n < 0:
			i = limit
		case escaped(f.text, i+n):
			i += n + 1
		default:
			return i + n
		}
	}
	return len(f.text)
}

// ending returns where the target that begins at i ends: at a ")", or, open,
// at the end of its line.
func (f *forms) ending(i int) int {
	if f.paren < i {
		f.paren = len(f.text)
		if n := strings.IndexAny(f.text[i:], ")\n\r"); n >= 0 {
			f.paren = i + n
		}
	}
	return f.paren
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(text string, i int) bool {
	n := 0
	for n < i && text[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// codeSpans finds the inline code in text[from:]: a run of backticks, not
// escaped, up to the next run of the same length.
func codeSpans(text string, from int) []span {
	i := strings.IndexByte(text[from:], '`')
	if i < 0 {
		return nil
	}
	var runs []span
	for i += from; i < len(text); {
		end := i
		for end < len(text) && text[end] == '`' {
			end++
		}
		runs = append(runs, span{i, end})
		n := strings.IndexByte(text[end:], '`')
		if n < 0 {
			break
		}
		i = end + n
	}
	return pair(text, from, runs)
}

// pair makes spans of runs of backticks. A backslash before a run takes its
// first backtick away from an opening run; a closing run does not care.
func pair(text string, from int, runs []span) []span {
	last := map[int]int{}           // by length, the first run after k
	opens := make([]int, len(runs)) // the next run that closes this one, 0 for none
	for k := len(runs) - 1; k >= 0; k-- {
		length := runs[k].upto - runs[k].from
		open := length
		if escaped(text[from:], runs[k].from-from) {
			open--
		}
		opens[k] = last[open]
		last[length] = k
	}
	var spans []span
	for k := 0; k < len(runs); k++ {
		if close := opens[k]; close > k {
			start := runs[k].from
			if escaped(text[from:], start-from) {
				start++
			}
			spans = append(spans, span{start, runs[close].upto})
			k = close
		}
	}
	return spans
}

// closedCode puts an apostrophe for each backtick that has no partner in s.
func closedCode(s string) string {
	if strings.IndexByte(s, '`') < 0 {
		return s
	}
	spans := codeSpans(s, 0)
	b := []byte(s)
	for i, c := range b {
		for len(spans) > 0 && i >= spans[0].upto {
			spans = spans[1:]
		}
		if c == '`' && (len(spans) == 0 || i < spans[0].from) {
			b[i] = '\''
		}
	}
	return string(b)
}
