package importer

import "time"

// ahead is how far another machine's clock may be ahead of ours.
const ahead = 24 * time.Hour

// clock sets the time of the entry under way: its own, or that of the one
// before, or that of the import. A time that cannot be true is left out and
// counted: years before 1970 and beyond 9999 cannot be shown either.
func (s *session) clock(e *entry) {
	now := s.run.im.cfg.Now().UTC()
	t, err := time.Parse(time.RFC3339Nano, string(e.Time))
	t = t.UTC().Truncate(time.Millisecond)
	switch {
	case err == nil && !t.Before(time.Unix(0, 0)) && !t.After(now.Add(ahead)) && t.Year() <= 9999:
		s.now = t
		return
	case e.Time != "":
		s.run.report.Repaired.Times++
	}
	s.tick()
}

// tick makes sure that there is a time.
func (s *session) tick() {
	if s.now.IsZero() {
		s.now = s.run.im.cfg.Now().UTC().Truncate(time.Millisecond)
	}
}
