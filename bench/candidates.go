package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"weir"
	"weir/store"
)

var candidatesRare = row{
	name: "candidates for a word that matches 50, among 100,000", reference: "the same among 1,000", bound: "3×",
	run: func(ctx context.Context, dir string) (result, error) { return candidates(ctx, dir, "zeppelin") },
}

var candidatesCommon = row{
	name: "candidates for a common word, among 100,000", reference: "the same among 1,000", bound: "reported",
	run: func(ctx context.Context, dir string) (result, error) { return candidates(ctx, dir, "notes") },
}

func candidates(ctx context.Context, dir, word string) (result, error) {
	few, err := filled(ctx, filepath.Join(dir, "few"), 1_000)
	if err != nil {
		return result{}, err
	}
	defer few.Close()
	many, err := filled(ctx, filepath.Join(dir, "many"), 100_000)
	if err != nil {
		return result{}, err
	}
	defer many.Close()
	ask := func(s store.Store) func(int) error {
		q := weir.CandidateQuery{Owner: "own_bench", Target: "cnv_0", Words: word, Limit: 50}
		return func(int) error {
			found, err := s.Candidates(ctx, q)
			if err == nil && len(found) != 50 {
				err = fmt.Errorf("found %d of 50", len(found))
			}
			return err
		}
	}
	ours, reference, err := medians(101, ask(many), ask(few))
	return times(ours, reference, ""), err
}

// filled makes a store with n conversations, 50 of which have a rare word.
func filled(ctx context.Context, dir string, n int) (store.Store, error) {
	s, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	for from := 0; from < n; from += 1000 {
		err := s.Update(ctx, func(tx store.Tx) error {
			for i := from; i < min(from+1000, n); i++ {
				title := fmt.Sprintf("Notes on item %d of the weekly review", i)
				if i > 0 && i%(n/50) == n/50-1 {
					title = fmt.Sprintf("Zeppelin plan %d with notes", i)
				}
				if err := tx.InsertConversation(ctx, conversation(weir.ConversationID(fmt.Sprintf("cnv_%d", i)), title, time.Duration(i)*time.Second)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}
