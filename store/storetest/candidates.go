package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func (w *world) candidates(target weir.ConversationID, words string, limit int) []weir.ConversationID {
	w.Helper()
	all, err := w.Candidates(w.ctx, weir.CandidateQuery{Owner: owner, Target: target, Words: words, Limit: limit})
	if err != nil {
		w.Fatal(err)
	}
	return ids(all)
}

// spoke inserts a conversation in which something was said at a second.
func (w *world) spoke(id weir.ConversationID, seconds int, options ...func(*weir.Conversation)) {
	w.Helper()
	w.conversation(id, options...)
	l := w.lease(id)
	rec := said("x")
	rec.Time = at(seconds)
	w.append(l, rec)
}

var candidates = []scenario{
	{"CandidatesComeFromHereFirstThenByActivityThenById", func(w *world) {
		w.conversation("target", in("/here"))
		w.spoke("here-old", 1, in("/here"))
		w.spoke("here-new", 2, in("/here"))
		w.spoke("b", 9)
		w.spoke("a", 9, in("/elsewhere"))
		w.spoke("newest", 10)
		w.conversation("blank-here", in("/here"))
		w.conversation("blank")
		want := []weir.ConversationID{"here-new", "here-old", "newest", "a", "b", "blank-here", "blank"}
		if d := gocmp.Diff(want, w.candidates("target", "", 50)); d != "" {
			w.Error("(-want +got):\n", d)
		}
		for limit := 1; limit < len(want); limit++ {
			if d := gocmp.Diff(want[:limit], w.candidates("target", "", limit)); d != "" {
				w.Errorf("limit %d (-want +got):\n%s", limit, d)
			}
		}
	}},
	{"NoWorkspaceIsNotTheSameWorkspace", func(w *world) {
		w.conversation("target")
		w.spoke("none", 1)
		w.spoke("some", 2, in("/x"))
		if d := gocmp.Diff([]weir.ConversationID{"some", "none"}, w.candidates("target", "", 50)); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"WhatCannotBeASourceIsNoCandidate", func(w *world) {
		root := w.conversation("target", titled("word"))
		for _, kind := range []weir.Kind{weir.Chat, weir.Main, weir.Task} {
			w.spoke(weir.ConversationID(kind), 1, titled("word"), func(c *weir.Conversation) { c.Kind = kind })
		}
		w.branch("branch", root, 0, titled("word"))
		w.spoke("archived", 1, titled("word"), func(c *weir.Conversation) { c.Archived = true })
		w.spoke("deleted", 1, titled("word"))
		w.spoke("foreign", 1, titled("word"), func(c *weir.Conversation) { c.Owner = "own_2" })
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "deleted", 0) })
		for _, words := range []string{"", "word"} {
			if d := gocmp.Diff([]weir.ConversationID{"chat", "branch"}, w.candidates("target", words, 50)); d != "" {
				w.Errorf("%q (-want +got):\n%s", words, d)
			}
		}
		_, err := w.Candidates(w.ctx, weir.CandidateQuery{Owner: owner, Target: "none"})
		wantCode(w, err, weir.CodeConversationNotFound)
	}},
	{"CandidatesAreThoseOfAPlainSearch", func(w *world) {
		// Few letters, so that all lengths of words are both rare and common.
		r := rand.New(rand.NewPCG(1, 2))
		word := func() string {
			letters := []rune("aAbBß会议éÉx_/")
			var b strings.Builder
			for range 1 + r.IntN(4) {
				b.WriteRune(letters[min(r.IntN(len(letters)), r.IntN(len(letters)))])
			}
			return b.String()
		}
		var all []weir.Conversation
		w.must(func(tx store.Tx) error {
			for i := range 700 {
				c := weir.Conversation{
					ID: weir.ConversationID(fmt.Sprint("c", i)), Owner: owner, Kind: weir.Chat, Generation: "g", CreatedAt: at(r.IntN(300)),
					Title: word() + " " + word(), Workspace: []string{"", "/w1", "/w2"}[r.IntN(3)], Archived: r.IntN(20) == 0,
				}
				if err := tx.InsertConversation(w.ctx, &c); err != nil {
					return err
				}
				all = append(all, c)
			}
			return nil
		})
		target := all[7]
		queries := []string{"", "a", "A", "c", "b a", "会", "会议", "é", "/w1", "c1 a", "zzz"}
		for range 60 {
			queries = append(queries, word(), word()+" "+word())
		}
		for _, q := range queries {
			want := plainSearch(all, target, q, 50)
			if d := gocmp.Diff(want, w.candidates(target.ID, q, 50)); d != "" {
				w.Errorf("%q (-want +got):\n%s", q, d)
			}
		}
	}},
	{"ACancelledSearchSaysSo", func(w *world) {
		w.conversation("target")
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		if _, err := w.Candidates(ctx, weir.CandidateQuery{Owner: owner, Target: "target"}); !errors.Is(err, context.Canceled) {
			w.Errorf("error is %v", err)
		}
		if got := w.candidates("target", "", 5); len(got) != 0 {
			w.Errorf("afterwards: %v", got)
		}
	}},
}

// plainSearch is what Candidates must find, done the slow way.
func plainSearch(all []weir.Conversation, target weir.Conversation, query string, limit int) []weir.ConversationID {
	// The letters of this test have one upper and one lower case each.
	lower := func(s string) string { return strings.ToLower(s) }
	var found []weir.Conversation
	for _, c := range all {
		matches := !c.Archived && c.ID != target.ID
		for _, w := range strings.Fields(lower(query)) {
			matches = matches && (strings.Contains(lower(c.Title), w) || strings.Contains(lower(string(c.ID)), w) || strings.Contains(lower(c.Workspace), w))
		}
		if matches {
			found = append(found, c)
		}
	}
	here := func(c weir.Conversation) int {
		if c.Workspace == target.Workspace && c.Workspace != "" {
			return 0
		}
		return 1
	}
	slices.SortFunc(found, func(a, b weir.Conversation) int {
		return cmp.Or(here(a)-here(b), b.LastActive.Compare(a.LastActive), strings.Compare(string(a.ID), string(b.ID)))
	})
	return ids(found[:min(limit, len(found))])
}
