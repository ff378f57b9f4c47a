package mention

import "strings"

// maxNesting bounds what one line can cost; deeper markers are text.
const maxNesting = 64

// eachParagraph calls inline for each stretch of text in which Markdown's
// inline constructs may be: it leaves out fenced code, and ends a stretch
// where CommonMark ends a paragraph, a heading or whatever else has inline
// content. Blocks of indented code and of HTML count as paragraphs: only
// fenced blocks and code spans are exempt from holding mentions.
func eachParagraph(text string, inline func(from, upto int)) {
	var b blocks
	open := -1 // start of the paragraph under way
	flush := func(upto int) {
		if open >= 0 {
			inline(open, upto)
		}
		open = -1
	}
	for at := 0; at < len(text); {
		end, next := lineEnd(text, at)
		switch b.enter(&line{text: text[at:end]}, open >= 0) {
		case plain:
			if open < 0 {
				open = at
			}
		case start:
			flush(at)
			open = at
		case alone:
			flush(at)
			inline(at, end)
		case nothing:
			flush(at)
		}
		at = next
	}
	flush(len(text))
}

// lineEnd returns where the line that starts at i ends, and where the next starts.
func lineEnd(text string, i int) (end, next int) {
	n := strings.IndexAny(text[i:], "\n\r")
	if n < 0 {
		return len(text), len(text)
	}
	end = i + n
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// effect is what a line does to the paragraph before it.
type effect uint8

const (
	plain   effect = iota // goes on with it, or starts one where none is open
	start                 // ends it and starts another
	alone                 // ends it and is a block by itself
	nothing               // ends it and has no inline content
)

// blocks is what is open between two lines: block quotes and list items,
// outermost first, and fenced code inside all of them.
type blocks struct {
	open   []container
	steady int // from here on a blank line ends none of them
	fence  fence
}

// container is a block quote, or a list item whose content is indented by so
// many columns.
// An item that is empty so far ends with a blank line.
type container struct {
	indent int
	empty  bool
}

func (c container) isQuote() bool { return c.indent == 0 }

// enter takes the next line. The containers come first, as in CommonMark: the
// open ones that go on, then those that begin on this line.
func (b *blocks) enter(l *line, paragraph bool) effect {
	matched := b.match(l)
	if b.fence.length > 0 {
		if matched == len(b.open) {
			if l.indent() <= 3 && l.closes(b.fence) {
				b.fence = fence{}
			}
			return nothing
		}
		b.fence = fence{} // what was around it has ended
	}
	whole := matched == len(b.open)
	begun := false
	for ; matched < maxNesting && l.indent() <= 3; matched++ {
		c, ok := l.container(paragraph && whole && !begun)
		if !ok {
			break
		}
		b.open = append(b.open[:matched], c)
		begun = true
		if c.isQuote() || c.empty {
			b.steady = matched + 1
		}
	}
	what := l.leaf(paragraph && whole && !begun)
	if lazy := what == plain && paragraph && !begun; !lazy {
		b.open = b.open[:matched]
	}
	b.steady = min(b.steady, len(b.open))
	if what == nothing {
		b.fence, _ = l.fence()
	}
	if what == plain && begun {
		return start
	}
	return what
}

// match returns how many of the open containers go on with this line.
func (b *blocks) match(l *line) int {
	for i, c := range b.open {
		l.space()
		switch {
		case c.isQuote():
			if l.indent() > 3 || !l.quote() {
				return i
			}
		case l.blank():
			if i >= b.steady {
				return len(b.open)
			}
			if c.empty {
				return i
			}
		case l.indent() >= c.indent:
			l.base += c.indent
			b.open[i].empty = false
		default:
			return i
		}
	}
	l.space()
	return len(b.open)
}
