package mention

import "strings"

// line is a cursor in one line. Columns count a tab as reaching the next
// multiple of four; base is the column at which the content of the innermost
// container entered so far begins.
type line struct {
	text   string
	at     int
	column int
	base   int
	noRule int // no rule begins before this offset
}

// fence is an open run of backticks or tildes.
type fence struct {
	mark   byte
	length int // 0: none is open
}

func (l *line) rest() string { return l.text[l.at:] }

// space goes on to the next character that is no space or tab.
func (l *line) space() {
	for ; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case ' ':
			l.column++
		case '\t':
			l.column += 4 - l.column%4
		default:
			return
		}
	}
}

// skip goes n characters on, none of them a tab.
func (l *line) skip(n int) {
	l.at += n
	l.column += n
}

func (l *line) blank() bool { return l.at == len(l.text) }

// indent returns how far the next character is indented in its container.
func (l *line) indent() int { return l.column - l.base }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// quote enters a block quote.
func (l *line) quote() bool {
	if l.blank() || l.text[l.at] != '>' {
		return false
	}
	l.skip(1)
	l.base = l.column
	if !l.blank() && isSpace(l.text[l.at]) {
		l.base++
	}
	l.space()
	return true
}

// container enters a block quote or list item that begins here. Where it
// would interrupt a paragraph, an item must have content and a first number 1.
func (l *line) container(interrupts bool) (container, bool) {
	if l.quote() {
		return container{}, true
	}
	width := l.marker(interrupts)
	if width == 0 || l.rule() {
		return container{}, false
	}
	outer := l.base
	l.skip(width)
	after := l.column
	l.space()
	l.base = l.column
	if l.blank() || l.column-after > 4 {
		l.base = after + 1 // an empty item, or one that begins with indented code
	}
	return container{indent: l.base - outer, empty: l.blank()}, true
}

// marker returns the width of the list marker here, 0 for none.
func (l *line) marker(interrupts bool) int {
	s := l.rest()
	digits := 0
	for digits < len(s) && digits < 10 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	width := digits + 1
	switch {
	case digits == len(s) || digits > 9:
		return 0
	case digits == 0 && s[0] != '-' && s[0] != '+' && s[0] != '*':
		return 0
	case digits > 0 && s[digits] != '.' && s[digits] != ')':
		return 0
	case width < len(s) && !isSpace(s[width]):
		return 0
	}
	if interrupts && (digits > 0 && strings.TrimLeft(s[:digits], "0") != "1" || strings.Trim(s[width:], " \t") == "") {
		return 0
	}
	return width
}

// leaf says what the rest of the line is.
func (l *line) leaf(paragraph bool) effect {
	switch {
	case l.blank():
		return nothing
	case l.indent() > 3:
		return plain
	}
	if _, ok := l.fence(); ok {
		return nothing
	}
	if l.heading() || l.rule() || paragraph && l.underline() {
		return alone
	}
	return plain
}

// fence returns the opening fence here: at least three of its mark, and after
// backticks no other backtick.
func (l *line) fence() (fence, bool) {
	s := l.rest()
	if s == "" || s[0] != '`' && s[0] != '~' {
		return fence{}, false
	}
	f := fence{mark: s[0]}
	for f.length < len(s) && s[f.length] == f.mark {
		f.length++
	}
	if f.length < 3 || f.mark == '`' && strings.IndexByte(s[f.length:], '`') >= 0 {
		return fence{}, false
	}
	return f, true
}

// closes reports whether the rest of the line is the closing fence of f.
func (l *line) closes(f fence) bool {
	s := strings.TrimRight(l.rest(), " \t")
	return len(s) >= f.length && strings.Trim(s, string(f.mark)) == ""
}

// heading reports whether the rest of the line is an ATX heading.
func (l *line) heading() bool {
	s := strings.TrimLeft(l.rest(), "#")
	n := len(l.rest()) - len(s)
	return 1 <= n && n <= 6 && (s == "" || isSpace(s[0]))
}

// underline reports whether the rest of the line makes a heading of the
// paragraph before it.
func (l *line) underline() bool {
	s := strings.TrimRight(l.rest(), " \t")
	return strings.Trim(s, "=") == "" || strings.Trim(s, "-") == ""
}

// rule reports whether the rest of the line is a thematic break. It remembers
// what it saw, so that asking at every marker of a line stays linear.
func (l *line) rule() bool {
	s := l.rest()
	if l.at < l.noRule || s == "" || s[0] != '-' && s[0] != '*' && s[0] != '_' {
		return false
	}
	marks := 0
	for i := range len(s) {
		switch {
		case s[i] == s[0]:
			marks++
		case !isSpace(s[i]):
			l.noRule = l.at + i
			return false
		}
	}
	if marks < 3 {
		l.noRule = len(l.text)
	}
	return marks >= 3
}
