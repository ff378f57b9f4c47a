package storetest

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

var remembered = []scenario{
	{"AnAnswerIsRememberedByOwnerRouteAndKey", func(w *world) {
		a := weir.IdempotentAnswer{Digest: "d", Status: 201, Body: []byte(`{"id":"x"}`)}
		w.must(func(tx store.Tx) error { return tx.RememberAnswer(w.ctx, owner, "POST /x", "k", a) })
		got, err := w.Answer(w.ctx, owner, "POST /x", "k")
		if err != nil || !cmp.Equal(a, got) {
			w.Errorf("%v (-want +got):\n%s", err, cmp.Diff(a, got))
		}
		for _, other := range [][3]string{{"own_2", "POST /x", "k"}, {string(owner), "POST /y", "k"}, {string(owner), "POST /x", "K"}} {
			_, err := w.Answer(w.ctx, weir.OwnerID(other[0]), other[1], other[2])
			wantCode(w, err, "answer_not_found")
		}
	}},
	{"OfTwoRequestsWithOneKeyOneCounts", func(w *world) {
		var counted sync.Map
		each(w.T, 8, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error {
				c := weir.Conversation{ID: weir.ConversationID(fmt.Sprint("c", i)), Owner: owner, Kind: weir.Chat, Generation: "g"}
				if err := tx.InsertConversation(w.ctx, &c); err != nil {
					return err
				}
				return tx.RememberAnswer(w.ctx, owner, "POST /v1/conversations", "k", weir.IdempotentAnswer{Digest: "d", Status: 201, Body: []byte(c.ID)})
			})
			if err == nil {
				counted.Store(i, true)
			} else {
				wantCode(w, err, "idempotency_conflict")
			}
		})
		page, err := w.Conversations(w.ctx, weir.ConversationQuery{Owner: owner})
		if err != nil {
			w.Fatal(err)
		}
		a, err := w.Answer(w.ctx, owner, "POST /v1/conversations", "k")
		if err != nil || size(&counted) != 1 || len(page.Items) != 1 || string(page.Items[0].ID) != string(a.Body) {
			w.Errorf("%d counted, %d made, answer %q, %v", size(&counted), len(page.Items), a.Body, err)
		}
	}},
	{"TheFirstValueOfASettingStays", func(w *world) {
		_, err := w.Setting(w.ctx, "key")
		wantCode(w, err, "setting_not_found")
		var mu sync.Mutex
		values := map[string]bool{}
		each(w.T, 8, func(i int) {
			var got []byte
			err := w.Update(w.ctx, func(tx store.Tx) error {
				var err error
				got, err = tx.InitSetting(w.ctx, "key", []byte{0, 255, byte(i)})
				return err
			})
			if err != nil {
				w.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			values[string(got)] = true
		})
		stored, err := w.Setting(w.ctx, "key")
		if err != nil || len(values) != 1 || !values[string(stored)] || !bytes.HasPrefix(stored, []byte{0, 255}) {
			w.Errorf("stored %v, seen %d values, %v", stored, len(values), err)
		}
	}},
}
