package builtin

import (
	"context"
	"encoding/json"
	"time"

	"weir"
	"weir/fact"
)

type date struct {
	Date string `json:"date"`
	Zone string `json:"zone"`
}

// Zone tells in which time zone a person lives; nil: not known.
type Zone func(ctx context.Context, id weir.OwnerID) *time.Location

// Date is the fact core/date: the calendar date where the owner is. It changes
// at midnight there.
func Date(zone Zone, now func() time.Time) fact.Fact {
	return fact.Fact{
		Key:     "core/date",
		Breadth: fact.OfOwner,
		Observe: func(ctx context.Context, s fact.Subject) fact.Observation {
			loc := zone(ctx, s.Conversation.Owner)
			if loc == nil {
				loc = time.UTC
			}
			today := now().In(loc)
			o := fact.Observed(date{Date: today.Format(time.DateOnly), Zone: oneLine(loc.String())})
			o.At = startOfDay(today)
			return o
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return render(v, func(d date) string { return "Today is " + d.say() + "." })
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return render(v, func(d date) string { return "Today is now " + d.say() + "." })
		},
		Removed: func(json.RawMessage) (string, error) { return "The date given earlier no longer applies.", nil },
		Dates: func(prev, v json.RawMessage) bool {
			var was, is date
			if prev == nil || v == nil || json.Unmarshal(prev, &was) != nil || json.Unmarshal(v, &is) != nil {
				return false
			}
			return was.Zone == is.Zone && was.Date < is.Date
		},
	}
}

func (d date) say() string {
	day := d.Date
	if t, err := time.Parse(time.DateOnly, d.Date); err == nil {
		day = t.Format("Monday, 2 January 2006")
	}
	return day + " (time zone " + d.Zone + ")"
}

// startOfDay is the first instant of t's calendar day. Where a clock is put
// forward at midnight the day begins later than 0:00.
func startOfDay(t time.Time) time.Time {
	y, m, d := t.Date()
	s := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	for s.Day() != d { // time.Date chose the side before the gap
		s = s.Add(15 * time.Minute)
	}
	return s
}
