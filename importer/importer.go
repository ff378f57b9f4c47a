// Package importer brings transcripts of other products in as conversations.
//
// Order: the records of a conversation are appended in the order in which the
// transcript holds them, except that a model's answer is made whole first and
// each of its tool calls is followed by its one result. What the other product
// rewound is kept: it is appended, hidden by a rewind record, and what replaced
// it follows. A compaction becomes a checkpoint; both sides stay. The title, the
// folder and the visibility that an import gives come last.
//
// Loss: nothing that a person or a model said is dropped. What is no message
// (snapshots of files, progress, timings), a line that cannot be read and a
// conversation that may not be written to are counted in the report, by reason
// or by line; the numbers of a report add up. Foreign signatures and prompts are left out: they are never sent
// to anyone. An import appends only and changes nothing that is there, so the
// same transcript again adds nothing, a longer one adds what is new, and one
// that broke off is completed by importing it again.
//
// Trust: transcripts are input from outside. Lines, and the number of records,
// have limits; ids are checked; what is not text is replaced and counted. No
// step is ever run by an import.
//
// Concurrency: an [Importer] may be used by many goroutines. A conversation is
// written in chunks, each under a lease of its own; one that is busy or that
// changes meanwhile ends the import with an error, and what was appended stays.
package importer

import (
	"context"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"weir"
	"weir/lifecycle"
)

// The formats.
const ClaudeCode = "claude-code"

// Limits of what is read.
const (
	MaxLine    = 64 << 20  // bytes; a longer line is set aside
	MaxRecords = 2_000_000 // of one transcript
	maxFile    = 1024
)

// Config is what an importer needs.
type Config struct {
	Store Store
	Live  Publisher // nil: nobody watches
	Now   func() time.Time
}

// Importer brings transcripts in.
type Importer struct{ cfg Config }

// New makes an importer.
func New(cfg Config) *Importer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Importer{cfg}
}

// Source is one transcript. Name is that of its file, kept as its origin.
type Source struct {
	Name   string
	Reader io.Reader
}

// Options say how to import. A part of the visibility that is left empty was
// not asked for: new conversations are open and without a category, others
// keep theirs. One that was asked for is a condition: what is there and is not
// so is refused, because nothing may come to stand behind less than it asks.
type Options struct {
	Format     string // "" to recognise it by content
	DryRun     bool   // only report what would be done
	Visibility weir.Visibility
}

// fresh is the visibility of new conversations.
func (o *Options) fresh() weir.Visibility {
	v := o.Visibility
	if v.Level == "" {
		v.Level = weir.Open
	}
	return v
}

// Import reads a transcript and appends what is new in it. On an error the
// report says what was done until then.
func (im *Importer) Import(ctx context.Context, a weir.Actor, src Source, o Options) (Report, error) {
	r := run{im: im, actor: a, source: src, options: o, report: newReport(src.Name, o), byID: map[weir.ConversationID]*session{}}
	if err := r.check(); err != nil {
		return r.report, err
	}
	err := r.read(ctx)
	if err == nil {
		err = r.finish(ctx)
	}
	r.report.close(r.sessions)
	if err == nil {
		err = r.verdict()
	}
	return r.report, err
}

// run is one import under way.
type run struct {
	im      *Importer
	actor   weir.Actor
	source  Source
	options Options
	report  Report

	sessions []*session // in the order of appearance
	byID     map[weir.ConversationID]*session
	current  string // session of the line read last
	titles   []leafTitle
	known    bool // some line is of the format
	unplaced bool // some line does not say which conversation it is of
	bad      bool // some line's session cannot be a conversation
}

func (r *run) check() error {
	if r.options.Format != "" && r.options.Format != ClaudeCode {
		return weir.Fault(weir.Invalid, "format_unknown", "The formats that can be imported are: %s.", ClaudeCode)
	}
	if err := lifecycle.CheckVisibility(r.options.fresh()); err != nil {
		return err
	}
	if !utf8.ValidString(r.source.Name) || len(r.source.Name) > maxFile {
		return weir.Fault(weir.Invalid, "file_invalid", "The transcript's name is text of at most %d bytes.", maxFile)
	}
	return nil
}

// read takes the transcript line by line.
func (r *run) read(ctx context.Context) error {
	lines := newLines(r.source.Reader, MaxLine)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r.report.Lines++
		if line.long {
			r.report.broken(line.number, "longer than the limit")
			continue
		}
		if err := r.line(ctx, line); err != nil {
			return err
		}
		if r.report.Records > MaxRecords {
			return weir.Fault(weir.TooLarge, "import_too_long",
				"The transcript holds more than %d records; split it.", MaxRecords)
		}
	}
}

// verdict is the error of an import that brought nothing in.
func (r *run) verdict() error {
	switch {
	case len(r.sessions) > 0:
	case r.bad:
		return weir.Fault(weir.Unprocessable, "id_invalid",
			"No conversation can have the id that this transcript gives its session; give it another sessionId.")
	case r.unplaced:
		return weir.Fault(weir.Unprocessable, "session_missing",
			"This transcript names no session and its messages have no ids, so nothing tells which conversation it is; "+
				"export it again with sessionId and uuid in its lines.")
	}
	if !r.known {
		return weir.Fault(weir.Unprocessable, "import_unrecognised",
			"This is no transcript that can be imported; export it as JSON Lines from one of: %s.", ClaudeCode)
	}
	for _, s := range r.sessions {
		if s.refused == nil {
			return nil
		}
	}
	if len(r.sessions) == 0 {
		return nil // titles and snapshots only
	}
	return r.sessions[0].refused
}
