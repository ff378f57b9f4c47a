package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/transcript"
)

// growth is a transcript that was made at random, and what is known of it.
type growth struct {
	lines  []string
	nodes  map[string]*sprout
	spoken []string // texts of people and models, each once
	heard  []string // texts of tools, each once
}

// sprout is an entry. Those that are no message have a through.
type sprout struct {
	uuid    string
	parent  *sprout
	through *sprout
	kids    []*sprout // prompts
	prompt  bool
}

// real follows links through entries that are no message.
func (s *sprout) real() *sprout {
	for s.through != nil {
		s = s.through
	}
	return s
}

// abandoned follows the words of FORMAT.md: of two or more prompts with one
// parent only the last written is live, and what follows it.
func (s *sprout) abandoned() bool {
	for ; s != nil; s = s.parent {
		if s.prompt && s.parent != nil && s.parent.kids[len(s.parent.kids)-1] != s {
			return true
		}
	}
	return false
}

func grown(t *rapid.T) *growth {
	g := &growth{nodes: map[string]*sprout{}}
	var all []*sprout
	message := 0
	for i := range rapid.IntRange(1, 30).Draw(t, "entries") {
		uuid := fmt.Sprintf("e%d", i)
		var parent *sprout
		switch back := rapid.IntRange(-1, 12).Draw(t, "parent"); {
		case back < 0 || len(all) == 0:
		case back == 12:
			missing := fmt.Sprint("missing", rapid.IntRange(0, 1).Draw(t, "missing"))
			if g.nodes[missing] == nil {
				g.nodes[missing] = &sprout{uuid: missing}
			}
			parent = g.nodes[missing]
		default:
			parent = all[max(0, len(all)-1-max(0, back-6))] // most often the one before
		}
		s := &sprout{uuid: uuid}
		from := ""
		if parent != nil {
			from, s.parent = parent.uuid, parent.real()
		}
		words := "said" + uuid + "."
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1, 2:
			g.lines = append(g.lines, user(uuid, from, words))
			s.prompt = true
			if s.parent != nil {
				s.parent.kids = append(s.parent.kids, s)
			}
			g.spoken = append(g.spoken, words)
		case 3:
			g.lines = append(g.lines, object(uuid, from, `"type":"user","isMeta":true,"message":{"content":"`+words+`"}`))
			g.spoken = append(g.spoken, words)
		case 4:
			if parent == nil {
				parent = &sprout{}
			}
			s.through = parent
			g.lines = append(g.lines, object(uuid, from, `"type":"progress"`))
		case 5, 6:
			var of []string
			for k := range rapid.IntRange(1, 2).Draw(t, "results") {
				heard := fmt.Sprintf("heard%s-%d.", uuid, k)
				g.heard = append(g.heard, heard)
				of = append(of, result(fmt.Sprint("t", rapid.IntRange(0, message*2+1).Draw(t, "of")), heard))
			}
			g.lines = append(g.lines, results(uuid, from, of...))
		case 7:
			g.lines = append(g.lines, object(uuid, from, `"type":"user","isCompactSummary":true,"message":{"content":"`+words+`"}`))
			g.spoken = append(g.spoken, words)
		default:
			message += rapid.IntRange(0, 1).Draw(t, "message")
			content := []string{text(words)}
			if rapid.Bool().Draw(t, "calls") {
				content = append(content, call(fmt.Sprint("t", 2*message+rapid.IntRange(0, 1).Draw(t, "call"))))
			}
			g.lines = append(g.lines, said(uuid, from, fmt.Sprint("m", message), content...))
			g.spoken = append(g.spoken, words)
		}
		g.nodes[uuid] = s
		all = append(all, s)
	}
	return g
}

// where finds the records that hold a text.
func where(log []weir.Record, text string) (found []*weir.Record) {
	for i := range log {
		if strings.Contains(tell(&log[i]), text) {
			found = append(found, &log[i])
		}
	}
	return found
}

func TestWhateverATranscriptHoldsIsThereOnceAndHiddenIffAbandoned(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := grown(r)
		m := newMemory()
		// In one go, or as it grew.
		for cut := rapid.IntRange(1, len(g.lines)).Draw(r, "first"); cut < len(g.lines); cut += rapid.IntRange(1, 20).Draw(r, "more") {
			if _, err := m.bring(g.lines[:cut]...); err != nil {
				r.Fatal(err)
			}
		}
		if _, err := m.bring(g.lines...); err != nil {
			r.Fatal(err)
		}
		m.check(t)
		log := m.logs["s1"]
		shape := transcript.Fold(log)
		for _, words := range g.spoken {
			found := where(log, words)
			if len(found) != 1 {
				r.Fatalf("%q is there %d times\n%s\n%s", words, len(found), strings.Join(g.lines, "\n"), told(log))
			}
			s := g.nodes[strings.TrimSuffix(strings.TrimPrefix(words, "said"), ".")]
			if hidden := shape.Hidden(found[0].Seq); hidden != s.abandoned() {
				r.Fatalf("%q: hidden %v, abandoned %v\n%s\n%s", words, hidden, s.abandoned(), strings.Join(g.lines, "\n"), told(log))
			}
		}
		for _, words := range g.heard {
			if n := len(where(log, words)); n != 1 {
				r.Fatalf("%q is there %d times\n%s\n%s", words, n, strings.Join(g.lines, "\n"), told(log))
			}
		}
		before := slices.Clone(log)
		report, err := m.bring(g.lines...)
		if err != nil || report.Added != 0 || told(m.logs["s1"]) != told(before) {
			r.Fatalf("again: %v, %d added\n%s\n%s\n%s", err, report.Added, strings.Join(g.lines, "\n"), told(before), told(m.logs["s1"]))
		}
	})
}
