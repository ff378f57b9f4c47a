package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// entry is one object of a Claude Code transcript: what of it matters here.
// Members of an unexpected type count as absent.
type entry struct {
	Type          str             `json:"type"`
	Subtype       str             `json:"subtype"`
	UUID          str             `json:"uuid"`
	Parent        str             `json:"parentUuid"`
	LogicalParent str             `json:"logicalParentUuid"`
	Session       str             `json:"sessionId"`
	Agent         str             `json:"agentId"`
	Time          str             `json:"timestamp"`
	Folder        str             `json:"cwd"`
	Sidechain     flag            `json:"isSidechain"`
	Meta          flag            `json:"isMeta"`
	Compacted     flag            `json:"isCompactSummary"`
	APIError      flag            `json:"isApiErrorMessage"`
	Summary       str             `json:"summary"`
	Leaf          str             `json:"leafUuid"`
	CustomTitle   str             `json:"customTitle"`
	AITitle       str             `json:"aiTitle"`
	Title         str             `json:"title"`
	Message       json.RawMessage `json:"message"`
}

// message is what an entry of a person's or a model's carries.
type message struct {
	ID      str             `json:"id"`
	Model   str             `json:"model"`
	Content json.RawMessage `json:"content"`
}

// synthetic is what Claude Code calls the model of answers that it made itself.
const synthetic = "<synthetic>"

type str string

func (s *str) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return nil
	}
	return json.Unmarshal(b, (*string)(s))
}

type flag bool

func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true"
	return nil
}

// A broken line of at most so many bytes is searched for a whole object, at so
// many places.
const (
	maxSalvage  = 16
	maxSalvaged = 4 << 20
)

// line takes the objects of one line: most often one, sometimes two that were
// glued together, or one behind a torn one.
func (r *run) line(ctx context.Context, l line) error {
	b := r.report.Repaired.repair(bytes.TrimSpace(l.bytes))
	whole := true // so far
	for objects, tries := 0, 0; len(b) > 0; {
		e, size := decode(b)
		if size > 0 && (whole || e.UUID != "" && e.Session != "") {
			if objects++; objects > 1 {
				r.report.Glued++
			}
			r.report.Records++
			b = bytes.TrimLeft(b[size:], " \t\r\n\v\f")
			if err := r.entry(ctx, &e); err != nil {
				return err
			}
			continue
		}
		if whole {
			r.report.broken(l.number, brokenReason(l, b))
			whole = false
		}
		n := bytes.Index(b[1:], []byte(`{"`))
		if tries++; n < 0 || tries > maxSalvage || len(b) > maxSalvaged {
			break
		}
		b = b[1+n:]
	}
	return nil
}

// decode reads the object at the front of b and returns its size, 0 for none.
func decode(b []byte) (e entry, size int) {
	if json.Unmarshal(b, &e) == nil {
		return e, len(b)
	}
	e = entry{}
	dec := json.NewDecoder(bytes.NewReader(b))
	if dec.Decode(&e) != nil {
		return entry{}, 0
	}
	return e, int(dec.InputOffset())
}

func brokenReason(l line, b []byte) string {
	var any json.RawMessage
	err := json.NewDecoder(bytes.NewReader(b)).Decode(&any)
	switch {
	case err == nil:
		return "not an object"
	case l.torn && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)):
		return "the last line, cut off"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut off"
	}
	return "not JSON"
}

// entry takes one object.
func (r *run) entry(ctx context.Context, e *entry) error {
	if e.UUID != "" && !validID(string(e.UUID)) {
		r.report.skip("bad_id")
		return nil
	}
	switch e.Type {
	case "file-history-snapshot":
		r.known = true
	case "summary":
		r.note(e)
		return nil
	}
	if e.UUID == "" && e.Type != "custom-title" && e.Type != "ai-title" {
		said := (e.Type == "user" || e.Type == "assistant") && len(e.Message) > 0 && e.Message[0] == '{'
		r.unplaced = r.unplaced || said && e.Session == ""
		r.report.skip(orOther(string(e.Type)))
		return nil
	}
	s, err := r.sessionOf(ctx, e)
	if s == nil || err != nil {
		return err
	}
	r.known = r.known || e.Session != "" || e.Message != nil
	if s.refused != nil {
		r.report.skip("refused")
		return nil
	}
	return s.take(ctx, e)
}

func orOther(reason string) string {
	if reason == "" {
		return "other"
	}
	return reason
}

// note remembers a title for the conversation that holds the leaf; it is often
// another file's.
func (r *run) note(e *entry) {
	r.known = r.known || e.Leaf != ""
	r.report.skip("summary")
	if t := titleOf(string(e.Summary)); t != "" {
		r.titles = append(r.titles, leafTitle{string(e.Leaf), t})
	}
}

// leafTitle is a title of whatever conversation holds the entry with this uuid.
type leafTitle struct{ leaf, title string }
