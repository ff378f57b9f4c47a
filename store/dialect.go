package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
)

// dialect is what differs between the two databases. All statements are
// written once, with ? for arguments and these words in braces:
//
//	{list}   a table j with one column, value: one argument, a JSON array of strings
//	{ids}    a subquery that selects all of such a table
//	{marks}, {pending}, {waiting}, {refused} the partial index to use, where that has to be said
//	{walls}  JSON array of the isolated ancestors of conversation c
//	{named} whether the bytes in column body hold a text; takes one argument
//	{has}    function (text, part) that is > 0 when text contains part
//	{now}    the time in microseconds; takes one argument, [dialect.now]
//	{shared} locks selected rows against change until the transaction ends
//	{change} locks selected rows exclusively until the transaction ends
type dialect struct {
	words     *strings.Replacer
	numbered  bool // arguments are spelled $1, $2, …
	oneWriter bool // nobody else can change anything during an Update

	// now is the argument of {now}: a time, or nil where the database's own
	// clock counts.
	now func() any
	// run tells leases given since this opening of the database from older
	// ones, which are free; "" where they stay good.
	run string
	// meter, when there is one, counts what is read and written.
	meter *Meter
	// holding selects ids of an owner's conversations that hold all of the
	// pieces, at most limit of them.
	holding func(owner string, pieces []string, limit int) (text string, args []any)
	// turn waits until no other transaction that took its turn is open, and
	// keeps others waiting until this one ends.
	turn func(ctx context.Context, q querier) error
	// index puts a conversation's pieces into the candidate index; fresh says
	// that it was not there before.
	index func(ctx context.Context, q querier, e entry, fresh bool) error

	spelled sync.Map // statement as written → as sent
}

// entry is what the candidate index holds of a conversation.
type entry struct {
	id     string
	owner  string
	pieces []string
}

// spell turns a statement as written into the database's own spelling.
func (d *dialect) spell(text string) string {
	if s, ok := d.spelled.Load(text); ok {
		return s.(string)
	}
	s := d.words.Replace(text)
	if d.numbered {
		s = number(s)
	}
	d.spelled.Store(text, s)
	return s
}

// number replaces each ? by $1, $2, … No statement holds a ? of another kind.
func number(s string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(s, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		s = after
	}
}
