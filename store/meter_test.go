package store

import (
	"fmt"
	"testing"

	"weir"
)

func TestAMeterTellsWhatReadingAndWritingTakes(t *testing.T) {
	ctx, m := t.Context(), new(Meter)
	s, err := openSQLite(ctx, t.TempDir(), Options{Meter: m})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// since runs fn and returns what it took.
	since := func(fn func() error) (rows, pages, written int64) {
		t.Helper()
		rows, pages, written = m.Rows.Load(), m.Pages.Load(), m.Written.Load()
		if err := fn(); err != nil {
			t.Fatal(err)
		}
		return m.Rows.Load() - rows, m.Pages.Load() - pages, m.Written.Load() - written
	}
	_, _, written := since(func() error {
		return s.Update(ctx, func(tx Tx) error {
			for i := range 500 {
				c := weir.Conversation{ID: weir.ConversationID(fmt.Sprintf("%0*d", 400, i)), Owner: "me", Kind: weir.Chat, Generation: "g"}
				if err := tx.InsertConversation(ctx, &c); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if written*PageBytes < 500*400 {
		t.Errorf("%d pages were written for 200,000 bytes", written)
	}
	list := func(n int) func() error {
		return func() error {
			_, err := s.Conversations(ctx, weir.ConversationQuery{Owner: "me", Limit: n})
			return err
		}
	}
	since(list(1)) // prepared from here on
	few, fewPages, _ := since(list(1))
	many, manyPages, written := since(list(100))
	if few != 2 || many != 101 || written != 0 { // one more tells whether there is a next page
		t.Errorf("a list of one reads %d rows, of 100 %d, and writes %d pages", few, many, written)
	}
	if fewPages == 0 || manyPages < fewPages+100 {
		t.Errorf("a list of one looks at %d pages, of 100 at %d", fewPages, manyPages)
	}
}
