package importer

import "weir"

// maxBroken is how many broken lines are listed one by one.
const maxBroken = 100

// Report says what became of a transcript. It holds numbers, ids and titles,
// and nothing else of its contents.
//
// Every record that was read is accounted for: of a transcript that came in,
//
//	Records + Split + Unanswered = Added + Known + the sum of Skipped + Merged
//
// A conversation's log gains Added messages and Marks.
type Report struct {
	Format        string         `json:"format"`
	File          string         `json:"file,omitempty"`
	DryRun        bool           `json:"dry_run,omitempty"`
	Lines         int            `json:"lines"`
	Records       int            `json:"records"`           // objects read
	Added         int            `json:"added"`             // messages appended to conversations
	Known         int            `json:"known"`             // messages that were there already
	Kinds         map[string]int `json:"kinds,omitempty"`   // of what was added
	Skipped       map[string]int `json:"skipped,omitempty"` // objects that are no message, by reason
	Merged        int            `json:"merged"`            // objects that went into the message of another one: pieces of one answer
	Split         int            `json:"split"`             // messages beyond the first of one object, such as several results
	Marks         int            `json:"marks"`             // records appended beside the messages: rewinds, the title, the folder, the visibility
	Broken        []Broken       `json:"broken,omitempty"`  // the first of them
	BrokenLines   int            `json:"broken_lines"`
	Glued         int            `json:"glued"`          // objects that shared a line with another
	Branches      int            `json:"branches"`       // abandoned by a rewind; kept, hidden
	Compactions   int            `json:"compactions"`    // that opened a generation
	Tasks         int            `json:"tasks"`          // side chains
	Orphans       int            `json:"orphans"`        // messages whose parent is not in the transcript
	OutOfOrder    int            `json:"out_of_order"`   // appended after what follows them
	Unanswered    int            `json:"unanswered"`     // tool calls without a result; each got one that says so
	OrphanResults int            `json:"orphan_results"` // results without a call, kept as notices
	SameCalls     int            `json:"same_calls"`     // calls left out because their answer made one with the same id already
	Placeholders  int            `json:"placeholders"`   // images and files named in place of their contents
	Thoughts      int            `json:"thoughts"`       // reasoning, kept without its signature or left out when sealed
	Repaired      Repaired       `json:"repaired"`
	Conversations []Imported     `json:"conversations"`
}

// Broken is a line, or the rest of one, that could not be read.
type Broken struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Repaired counts what was replaced: by U+FFFD what is no text, and times that
// cannot be true by the time of the record before, or of the import.
type Repaired struct {
	InvalidUTF8    int `json:"invalid_utf8"`
	LoneSurrogates int `json:"lone_surrogates"`
	NUL            int `json:"nul"`
	Times          int `json:"times"`
}

// Imported is what became of one conversation.
type Imported struct {
	ID      weir.ConversationID `json:"id"`
	Kind    weir.Kind           `json:"kind"`
	Title   string              `json:"title,omitempty"`
	Created bool                `json:"created,omitempty"`
	Added   int                 `json:"added"`
	Known   int                 `json:"known"`
	Refused string              `json:"refused,omitempty"` // a code: nothing was written
	Detail  string              `json:"detail,omitempty"`  // why it was refused, and what to do
}

func newReport(file string, o Options) Report {
	return Report{Format: ClaudeCode, File: file, DryRun: o.DryRun, Kinds: map[string]int{}, Skipped: map[string]int{}}
}

func (r *Report) broken(line int, reason string) {
	r.BrokenLines++
	if len(r.Broken) < maxBroken {
		r.Broken = append(r.Broken, Broken{line, reason})
	}
}

// skip counts an object that is no message. Reasons that come from the
// transcript are bounded in number and length.
func (r *Report) skip(reason string) {
	if _, ok := r.Skipped[reason]; !ok && (len(r.Skipped) >= 50 || len(reason) > 60 || !validID(reason)) {
		reason = "other"
	}
	r.Skipped[reason]++
}

// close sums up the conversations.
func (r *Report) close(sessions []*session) {
	r.Conversations = make([]Imported, 0, len(sessions))
	for _, s := range sessions {
		if s.empty() {
			continue
		}
		it := Imported{ID: s.row.ID, Kind: s.row.Kind, Title: s.row.Title, Created: s.new, Added: s.added, Known: s.known}
		if s.refused != nil {
			it = Imported{ID: s.row.ID, Kind: s.row.Kind, Refused: weir.CodeOf(s.refused), Detail: s.refused.Public}
		}
		r.Added += it.Added
		r.Known += it.Known
		r.Marks += s.marks
		r.Conversations = append(r.Conversations, it)
	}
}
