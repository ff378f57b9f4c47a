package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/store"
)

var branchNoticed = row{
	name: "another branch, from git's file to the journal", reference: "the bare file event, reading the file, the same insert", bound: "reported",
	run: func(ctx context.Context, dir string) (result, error) {
		return noticed(ctx, dir, filepath.Join(".git", "HEAD"), func(i int) string { return fmt.Sprintf("ref: refs/heads/b%d\n", i) }, "")
	},
}

var instructionsNoticed = row{
	name: "other instructions, from AGENTS.md to the journal", reference: "the bare file event, reading the file, the same insert", bound: "reported",
	run: func(ctx context.Context, dir string) (result, error) {
		return noticed(ctx, dir, "AGENTS.md", func(i int) string { return fmt.Sprintf("Rule %d.\n", i) },
			"a file is left alone for 20 ms before it is read")
	},
}

// noted is a journal in a store that says when an entry is durable.
type noted struct {
	s    store.Store
	done chan struct{}
}

func (n noted) Notice(ctx context.Context, changes ...weir.Change) error {
	err := n.s.Update(ctx, func(tx store.Tx) error {
		entries := make([]*weir.Change, len(changes))
		for i := range changes {
			entries[i] = &changes[i]
		}
		return tx.AppendChanges(ctx, entries...)
	})
	n.done <- struct{}{}
	return err
}

// noticed replaces a file in a workspace as git does, and waits for the entry.
func noticed(ctx context.Context, dir, file string, text func(int) string, note string) (result, error) {
	s, err := store.Open(ctx, filepath.Join(dir, "weir"))
	if err != nil {
		return result{}, err
	}
	defer s.Close()
	journal := noted{s, make(chan struct{}, 1000)}
	work, bare := filepath.Join(dir, "ours"), filepath.Join(dir, "bare")
	for _, d := range []string{work, bare} {
		if err := os.MkdirAll(filepath.Join(d, ".git", "objects"), 0o700); err != nil {
			return result{}, err
		}
		if err := os.WriteFile(filepath.Join(d, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			return result{}, err
		}
	}
	seen := make(chan struct{}, 100)
	facts := []fact.Fact{builtin.Workspace(), builtin.Instructions("")}
	for i, f := range facts {
		facts[i].Observe = func(ctx context.Context, about fact.Subject) fact.Observation {
			defer func() { seen <- struct{}{} }()
			return f.Observe(ctx, about)
		}
	}
	w := builtin.NewWatcher(builtin.WatcherConfig{Journal: journal, Facts: facts, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := w.Start(ctx); err != nil {
		return result{}, err
	}
	defer w.Stop()
	w.Follow(weir.Conversation{ID: "cnv_bench", Workspace: work})
	<-seen
	<-seen
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return result{}, err
	}
	defer events.Close()
	if err := events.Add(filepath.Dir(filepath.Join(bare, file))); err != nil {
		return result{}, err
	}
	ours, reference, err := medians(60,
		func(i int) error {
			for len(seen) > 0 {
				<-seen
			}
			if err := replace(filepath.Join(work, file), text(i)); err != nil {
				return err
			}
			return waitFor(journal.done)
		},
		func(i int) error {
			name := filepath.Join(bare, file)
			if err := replace(name, text(i)); err != nil {
				return err
			}
			for ev := range events.Events {
				if ev.Name == name {
					break
				}
			}
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			c := weir.Change{Scope: "workspace:bare", Fact: "core/workspace", Value: fmt.Appendf(nil, "%q", raw), At: time.Now(), Noticed: time.Now()}
			if err := journal.Notice(ctx, c); err != nil {
				return err
			}
			return waitFor(journal.done)
		})
	return times(ours, reference, note), err
}

func replace(name, text string) error {
	if err := os.WriteFile(name+".lock", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".lock", name)
}

func waitFor(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("nothing was noticed")
	}
}
