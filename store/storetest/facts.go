package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func clientFact(scope weir.ChangeScope, key, value string) weir.ClientFact {
	return weir.ClientFact{Scope: scope, Key: key, Value: json.RawMessage(value), Text: "It is " + value, At: at(3)}
}

func (w *world) put(facts ...weir.ClientFact) {
	w.Helper()
	w.must(func(tx store.Tx) error {
		for _, f := range facts {
			if err := tx.PutClientFact(w.ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) facts(scopes ...weir.ChangeScope) []weir.ClientFact {
	w.Helper()
	all, err := w.ClientFacts(w.ctx, scopes...)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

var facts = []scenario{
	{"AClientsFactComesBackAsItWasPutLast", func(w *world) {
		w.conversation("a")
		b, a, mine := clientFact(ofA, "x/b", ` {"b": 1} `), clientFact(ofA, "X/a", `null`), clientFact(ofOwner, "x/b", `"\u0000"`)
		a.Text = ""
		w.put(b, a, mine, clientFact("owner:another", "x/b", `0`))
		if d := cmp.Diff([]weir.ClientFact{mine, a, b}, w.facts(ofOwner, ofA)); d != "" {
			w.Error("(-want +got):\n", d)
		}
		b.Value, b.Text, b.At = json.RawMessage(`2`), "two", at(9)
		w.put(b)
		if d := cmp.Diff([]weir.ClientFact{a, b, mine}, w.facts(ofA, ofOwner)); d != "" {
			w.Error("after a change (-want +got):\n", d)
		}
		w.must(func(tx store.Tx) error { return tx.DeleteClientFact(w.ctx, ofA, "x/b") })
		if d := cmp.Diff([]weir.ClientFact{a, mine}, w.facts(ofA, ofOwner)); d != "" {
			w.Error("after a deletion (-want +got):\n", d)
		}
		w.refused("fact_not_found", func(tx store.Tx) error { return tx.DeleteClientFact(w.ctx, ofA, "x/b") })
		if got := w.facts(); len(got) != 0 {
			w.Errorf("of no scope: %v", got)
		}
	}},
	{"AScopeHoldsSoManyFactsHoweverManyPutThemAtOnce", func(w *world) {
		w.conversation("a")
		for _, scope := range []weir.ChangeScope{ofA, ofOwner} {
			for i := range weir.MaxClientFacts - 3 {
				w.put(clientFact(scope, fmt.Sprint("x/", i), `1`))
			}
		}
		var stored sync.Map
		each(w.T, 8, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error {
				return tx.PutClientFact(w.ctx, clientFact(ofA, fmt.Sprint("x/at once ", i), `1`))
			})
			if err == nil {
				stored.Store(i, true)
			} else if wantCode(w, err, "too_many_facts"); weir.KindOf(err) != weir.Unprocessable {
				w.Errorf("its kind is %v", weir.KindOf(err))
			}
		})
		if got := len(w.facts(ofA)); size(&stored) != 3 || got != weir.MaxClientFacts {
			w.Errorf("%d were stored, there are %d", size(&stored), got)
		}
		w.put(clientFact(ofA, "x/0", `2`)) // replaces one
		w.put(clientFact(ofOwner, "x/more", `1`))
		w.must(func(tx store.Tx) error { return tx.DeleteClientFact(w.ctx, ofA, "x/0") })
		w.put(clientFact(ofA, "x/in its place", `1`))
	}},
	{"TheFactsOfAScopeShareItsRoomHoweverManyPutThemAtOnce", func(w *world) {
		w.conversation("a")
		half := func(scope weir.ChangeScope, key string) weir.ClientFact {
			return weir.ClientFact{Scope: scope, Key: key, Value: json.RawMessage(`1`), Text: strings.Repeat("x", weir.MaxClientFactsBytes/2-len(key)-1)}
		}
		w.put(half(ofA, "x/first"), half(ofOwner, "x/first"))
		var stored sync.Map
		each(w.T, 8, func(i int) {
			err := w.Update(w.ctx, func(tx store.Tx) error { return tx.PutClientFact(w.ctx, half(ofA, fmt.Sprint("x/", i))) })
			if err == nil {
				stored.Store(i, true)
			} else if wantCode(w, err, "facts_too_long"); weir.KindOf(err) != weir.Unprocessable {
				w.Errorf("its kind is %v", weir.KindOf(err))
			}
		})
		if got := len(w.facts(ofA)); size(&stored) != 1 || got != 2 {
			w.Errorf("%d were stored, there are %d", size(&stored), got)
		}
		w.put(half(ofA, "x/first")) // in its own place
		longer := half(ofA, "x/first")
		longer.Value = json.RawMessage(`12`)
		w.refused("facts_too_long", func(tx store.Tx) error { return tx.PutClientFact(w.ctx, longer) })
		w.refused("facts_too_long", func(tx store.Tx) error { return tx.PutClientFact(w.ctx, clientFact(ofA, "x/small", `1`)) })
		w.must(func(tx store.Tx) error { return tx.DeleteClientFact(w.ctx, ofA, "x/first") })
		w.put(half(ofA, "x/in its place"), half(ofOwner, "x/second"))
	}},
	{"AFactAndItsNewestEntryAgreeHoweverManyChangeIt", func(w *world) {
		w.conversation("a")
		each(w.T, 8, func(i int) {
			for j := range 5 {
				value := fmt.Sprint(i*10 + j)
				err := w.Update(w.ctx, func(tx store.Tx) error {
					if err := tx.PutClientFact(w.ctx, clientFact(ofA, "x/y", value)); err != nil {
						return err
					}
					return tx.AppendChanges(w.ctx, change(ofA, "x/y", value))
				})
				if err != nil {
					w.Error(err)
				}
			}
		})
		newest, err := w.NewestChange(w.ctx, ofA, "x/y")
		if err != nil || string(newest.Value) != string(w.facts(ofA)[0].Value) {
			w.Errorf("the fact is %s, its newest entry %s, %v", w.facts(ofA)[0].Value, newest.Value, err)
		}
	}},
	{"WhatIsNoFactIsRefused", func(w *world) {
		w.conversation("a")
		big := `"` + strings.Repeat("x", weir.MaxFactBytes-2) + `"`
		w.put(weir.ClientFact{Scope: ofA, Key: "x/largest", Value: json.RawMessage(big)})
		w.put(weir.ClientFact{Scope: ofA, Key: "x/largest", Value: json.RawMessage(`1`), Text: strings.Repeat("x", weir.MaxFactBytes)})
		w.notice(change(ofA, "x/largest", big))
		for _, c := range []struct {
			name, key, value, text, code string
			only                         bool // matters to facts alone
		}{
			{"no key", "", `1`, "", "fact_invalid", false},
			{"a long key", strings.Repeat("x", weir.MaxIDBytes+1), `1`, "", "fact_invalid", false},
			{"a key with a NUL", "x/\x00", `1`, "", "fact_invalid", false},
			{"no value", "x/y", ``, "", "fact_invalid", true},
			{"no JSON", "x/y", `{`, "", "fact_invalid", false},
			{"two values", "x/y", `1 2`, "", "fact_invalid", false},
			{"not UTF-8", "x/y", "\"\xff\"", "", "text_invalid", false},
			{"a large value", "x/y", big + " ", "", "fact_too_large", false},
			{"a large text", "x/y", `1`, strings.Repeat("x", weir.MaxFactBytes+1), "fact_too_large", true},
			{"a text with a NUL", "x/y", `1`, "a\x00", "text_invalid", true},
			{"a text that is not UTF-8", "x/y", `1`, "\xff", "text_invalid", true},
		} {
			f := clientFact(ofA, c.key, c.value)
			f.Text = c.text
			if err := w.Update(w.ctx, func(tx store.Tx) error { return tx.PutClientFact(w.ctx, f) }); weir.CodeOf(err) != c.code {
				w.Errorf("a fact with %s: %v", c.name, err)
			}
			if err := w.Update(w.ctx, func(tx store.Tx) error { return tx.AppendChanges(w.ctx, change(ofA, c.key, c.value)) }); !c.only && weir.CodeOf(err) != c.code {
				w.Errorf("a change with %s: %v", c.name, err)
			}
		}
	}},
}
