// Package transcript folds the records of a conversation.
package transcript

import "weir"

// Span is a range of seqs, both ends included.
type Span struct{ From, Upto weir.Seq }

// Shape is what the structural records of a log amount to.
type Shape struct{}

// Fold makes the shape of a log from its structural records, in order.
func Fold(structure []weir.Record) *Shape { panic("not yet") }

// Apply adds the next record.
func (s *Shape) Apply(r *weir.Record) { panic("not yet") }

// Hidden reports whether a rewind hides the record at seq.
func (s *Shape) Hidden(seq weir.Seq) bool { panic("not yet") }

// Surface returns the current records' seqs in reading order.
func (s *Shape) Surface(head weir.Seq) []Span { panic("not yet") }

// Current reports whether seq is on the surface.
func (s *Shape) Current(seq, head weir.Seq) bool { panic("not yet") }

// Generation returns the id that the checkpoint in force opened, "" for the first.
func (s *Shape) Generation() weir.GenerationID { panic("not yet") }

// Epoch returns the seq of the epoch record in force, 0 for none.
func (s *Shape) Epoch() weir.Seq { panic("not yet") }

// LastRewind returns the newest rewind not undone.
func (s *Shape) LastRewind() (weir.Seq, weir.Rewind, bool) { panic("not yet") }

// Quotable returns the text that a quote of r hands over.
func Quotable(r *weir.Record, writtenIn weir.Kind, s *Shape) (role, text string, ok bool) {
	panic("not yet")
}

// CutAfter returns the seq of the last record that belongs to at.
func CutAfter(at *weir.Record, following []weir.Record) (weir.Seq, error) { panic("not yet") }

// Project returns r's timeline item, false for kinds that people are not shown.
func Project(r *weir.Record, s *Shape, writtenIn weir.Kind) (Item, bool) { panic("not yet") }
