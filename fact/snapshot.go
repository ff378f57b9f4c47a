package fact

import (
	"encoding/json"
	"fmt"
	"maps"

	"weir"
)

// Entry is what a snapshot keeps of a fact: the value the model was last told,
// and what it will be told when that no longer applies. The words are made
// when the value is told, because whoever can make them may be gone later.
type Entry struct {
	Value   json.RawMessage `json:"value"`
	Removal string          `json:"removed_text,omitempty"`
}

// Snapshot is, per fact, what the model was last told. Its JSON has fixed bytes.
type Snapshot map[string]Entry

// Parse reads a snapshot as an epoch keeps it; nothing is an empty one.
func Parse(raw json.RawMessage) (Snapshot, error) {
	s := Snapshot{}
	if len(raw) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("fact: parse a snapshot: %w", err)
	}
	if s == nil { // null
		s = Snapshot{}
	}
	return s, nil
}

// Apply advances s by an update that was told. An update from before updates
// named their fact's value leaves it alone.
func Apply(s Snapshot, u *weir.Update) {
	switch {
	case u.Fact == "":
	case u.Value == nil:
		delete(s, u.Fact)
	default:
		s[u.Fact] = Entry{Value: u.Value, Removal: u.Removal}
	}
}

// Record is the record of an update that was told.
func (t Told) Record(noticed int64) *weir.Update {
	u := &weir.Update{Fact: t.Key, Text: t.Text, At: t.At, Noticed: noticed}
	if t.Entry != nil {
		u.Value, u.Removal = t.Entry.Value, t.Entry.Removal
	}
	return u
}

func (s Snapshot) clone() Snapshot {
	c := make(Snapshot, len(s))
	maps.Copy(c, s)
	return c
}
