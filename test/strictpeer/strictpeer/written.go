package strictpeer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Obey makes the peer call the tools that it is asked for: each line "call
// NAME {…}" of the newest user side is a call, if there is such a tool and the
// model may call any. Scripts come first.
func Obey() Option { return func(p *Peer) { p.obey = true } }

// commanded is the answer that makes the calls it is asked for, nil for none.
func (p *Peer) commanded(r *Request) Answer {
	if !r.Free {
		return nil
	}
	var a Answer
	for line := range strings.Lines(r.Last) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), "call ")
		if name, arguments := callLine(rest); found && slices.Contains(r.Tools, name) && json.Valid([]byte(arguments)) {
			a = append(a, Use(name, arguments))
		}
	}
	if a == nil {
		return nil
	}
	return p.musing("They want a tool called.", a...)
}

func callLine(rest string) (name, arguments string) {
	name, arguments, _ = strings.Cut(strings.TrimSpace(rest), " ")
	if arguments = strings.TrimSpace(arguments); arguments == "" {
		arguments = "{}"
	}
	return name, arguments
}

// Parse reads answers as people write them: one act a line, a blank line
// between answers, lines that begin with # for people.
//
//	say TEXT         think TEXT       call NAME {…}    redacted
//	fail STATUS [TEXT]                stop REASON      pieces N
//	cut              abort            reset
//
// A text in quotation marks may have Go's escapes in it.
func Parse(text string) ([]Answer, error) {
	var all []Answer
	var a Answer
	n := 0
	for line := range strings.Lines(text + "\n\n") {
		n++
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			act, err := parseAct(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			a = append(a, act)
		case a != nil:
			all, a = append(all, a), nil
		}
	}
	return all, nil
}

func parseAct(line string) (Act, error) {
	word, rest, _ := strings.Cut(line, " ")
	text := strings.TrimSpace(rest)
	if unquoted, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		text = unquoted
	}
	switch word {
	case "say":
		return Say(text), nil
	case "think":
		return Think(text), nil
	case "redacted":
		return Redacted(), nil
	case "call":
		name, arguments := callLine(rest)
		if name == "" {
			return Act{}, fmt.Errorf("%q names no tool", line)
		}
		return Use(name, arguments), nil
	case "fail":
		number, message, _ := strings.Cut(text, " ")
		status, err := strconv.Atoi(number)
		if err != nil || http.StatusText(status) == "" && status != 529 || status < 400 {
			return Act{}, fmt.Errorf("%q is no status of a failure", number)
		}
		return Fail(status, strings.TrimSpace(message)), nil
	case "stop":
		return Stop(text), nil
	case "pieces":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return Act{}, fmt.Errorf("%q is no length of a piece", text)
		}
		return Pieces(n), nil
	case "cut":
		return Cut(), nil
	case "abort":
		return Abort(), nil
	case "reset":
		return Reset(), nil
	}
	return Act{}, fmt.Errorf("%q is nothing that an answer does", word)
}
