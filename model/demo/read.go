package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir/model/strict"
)

// opening begins every answer, so that no one takes it for another model's
// and later turns do not take it for a source.
const opening = "Demo model: "

// source is a text that may answer a question, and where it stands.
type source struct {
	name string
	text string
}

// reference is something that was handed over with a message.
type reference struct {
	title string
	of    string // what stands in brackets behind the title
	text  string // of a quote
}

// source is a quote as a text that may answer.
func (r *reference) source() source { return source{"the quote from “" + r.title + "”", r.text} }

// attached is what came along with the words of one section.
type attached struct {
	quotes, pointers, recalls []reference
	updates                   []string
}

func (a *attached) any() bool {
	return len(a.quotes)+len(a.pointers)+len(a.recalls)+len(a.updates) > 0
}

// view is what the demo model sees of a request.
type view struct {
	question  string   // the person's own words in the newest section
	now       attached // with it
	before    attached // with earlier ones
	sources   []source // oldest first, what is attached now last
	told      int      // how many sources are what it was told at the beginning
	explained bool     // an earlier answer says what this model is
}

// read takes a request apart.
func read(q *strict.Request) *view {
	v := &view{}
	for i := range q.System {
		v.source("what I was told at the beginning", q.System[i].Text(q.Body))
	}
	v.told = len(v.sources)
	newest := len(q.Messages)
	for newest > 0 && q.Messages[newest-1].Role != "assistant" {
		newest--
	}
	for i := range q.Messages {
		m := &q.Messages[i]
		into := &v.before
		if i >= newest {
			into = &v.now
		}
		for j := range m.Blocks {
			v.block(q, m.Role, &m.Blocks[j], into)
		}
	}
	v.question = strings.TrimSpace(v.question)
	return v
}

func (v *view) source(name, text string) {
	if strings.TrimSpace(text) != "" {
		v.sources = append(v.sources, source{name, text})
	}
}

func (v *view) block(q *strict.Request, role string, b *strict.Block, into *attached) {
	text := b.Text(q.Body)
	switch {
	case b.Type == "tool_result":
		v.result(q, b.Value.Get("content"))
	case b.Type != "text":
	case role == "system":
		into.updates = append(into.updates, text)
		v.source("an update", text)
	case role == "assistant":
		if !strings.HasPrefix(text, opening) {
			v.source("an earlier answer", text)
		}
		v.explained = v.explained || strings.HasPrefix(text, opening) && strings.Contains(text, whatIAm)
	default:
		v.user(text, into)
	}
}

func (v *view) result(q *strict.Request, content *strict.Value) {
	if content.Is(strict.String) {
		v.source("the result of a tool", content.Text(q.Body))
		return
	}
	if content == nil {
		return
	}
	for i := range content.Elements {
		v.source("the result of a tool", content.Elements[i].Get("text").Text(q.Body))
	}
}

// user takes a block of the person's side apart: notes first, then words.
func (v *view) user(text string, into *attached) {
	rest := text
	for {
		note, after, ok := cutNote(rest)
		if !ok {
			break
		}
		v.note(note, into)
		rest = after
	}
	if titles, texts, ok := recalled(rest); ok {
		into.recalls = append(into.recalls, titles...)
		for i, t := range texts {
			v.source("the recall of “"+titles[i].title+"”", t)
		}
		return
	}
	if into == &v.now {
		v.question += "\n" + rest
		return
	}
	v.source("an earlier message", rest)
}

// note is one framework block: the heading and, of a quote, its text.
type note struct {
	heading string
	quote   string
	isQuote bool
}

// cutNote takes a note from the beginning of a text. Its fence is drawn so
// that nothing inside can close it.
func cutNote(text string) (n note, rest string, ok bool) {
	text = strings.TrimLeft(text, "\n")
	inner, ok := strings.CutPrefix(text, "<framework ")
	if !ok {
		return n, text, false
	}
	fence, inner, ok := strings.Cut(inner, ">\n")
	if !ok || fence == "" || len(fence) > 64 || strings.ContainsAny(fence, " \n<>") {
		return n, text, false
	}
	inner, rest, ok = strings.Cut(inner, "\n</framework "+fence+">")
	if !ok {
		return n, text, false
	}
	n.heading, _, _ = strings.Cut(inner, "\n")
	if _, after, found := strings.Cut(inner, "\n<quote "+fence+">\n"); found {
		n.isQuote = true
		n.quote, _, _ = strings.Cut(after, "\n</quote "+fence+">")
	}
	return n, strings.TrimLeft(rest, "\n"), true
}

func (v *view) note(n note, into *attached) {
	r := reference{title: "untitled", text: n.quote}
	if _, after, ok := strings.Cut(n.heading, "“"); ok {
		if i := strings.LastIndex(after, "” ("); i >= 0 {
			r.title = after[:i]
			r.of = strings.TrimSuffix(after[i+len("” ("):], ").")
		}
	}
	if !n.isQuote {
		into.pointers = append(into.pointers, r)
		return
	}
	into.quotes = append(into.quotes, r)
	s := r.source()
	v.source(s.name, s.text)
}

// recalled reads a recall's envelope.
func recalled(text string) (titles []reference, texts []string, ok bool) {
	_, after, ok := strings.Cut(text, "\n<referenced-conversations>\n")
	if !ok || !strings.HasPrefix(text, "## Referenced conversations\n") {
		return nil, nil, false
	}
	raw, _, _ := strings.Cut(after, "\n</referenced-conversations>")
	var list []struct {
		Conversation string `json:"conversation"`
		Title        string `json:"title"`
		Messages     []struct {
			Text       string `json:"text"`
			Checkpoint string `json:"checkpoint"`
		} `json:"messages"`
	}
	if json.Unmarshal([]byte(raw), &list) != nil {
		return nil, nil, false
	}
	for _, c := range list {
		var all []string
		for _, m := range c.Messages {
			all = append(all, m.Checkpoint, m.Text)
		}
		titles = append(titles, reference{title: c.Title, of: fmt.Sprintf("%d messages", len(c.Messages))})
		texts = append(texts, strings.Join(all, "\n"))
	}
	return titles, texts, true
}
