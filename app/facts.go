package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/store"
	"weir/tool"
)

// journal lets watchers note what they have seen.
type journal struct{ store store.Store }

func (j journal) Notice(ctx context.Context, changes ...weir.Change) error {
	return j.store.Update(ctx, func(tx store.Tx) error {
		entries := make([]*weir.Change, len(changes))
		for i, c := range changes {
			entries[i] = &c
		}
		return tx.AppendChanges(ctx, entries...)
	})
}

// globalInstructions is the file whose text every conversation's model is told.
func globalInstructions(c *Config) string {
	if c.Owner.Instructions != "" {
		return c.Owner.Instructions
	}
	return filepath.Join(c.Data, "AGENTS.md")
}

// facts composes what every model is told with authority, and the watcher of
// those facts that files are about.
func facts(c *Config, s store.Store, tools *tool.Registry, log *slog.Logger) (*fact.Set, *builtin.Watcher, error) {
	name, zone, global := c.Owner.Name, c.zone, globalInstructions(c)
	files := []fact.Fact{builtin.Workspace(), builtin.Instructions(global)}
	set, err := fact.Compose(
		builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return name, nil }),
		builtin.Date(func(context.Context, weir.OwnerID) *time.Location { return zone }, time.Now),
		files[0], files[1],
		builtin.Tools(func() builtin.Guidance { return guidance(tools) }),
		builtin.Visibility(),
		builtin.Limits(),
	)
	if err != nil {
		return nil, nil, err
	}
	return set, builtin.NewWatcher(builtin.WatcherConfig{Journal: journal{s}, Facts: files, Global: global, Log: log}), nil
}

// guidance says which tools are the server's own and which come from where.
func guidance(r *tool.Registry) builtin.Guidance {
	var g builtin.Guidance
	theirs := map[string]bool{}
	for _, s := range r.Servers() {
		g.Servers = append(g.Servers, builtin.Server{Name: s.Name, State: s.State, Tools: s.Tools})
		for _, name := range s.Tools {
			theirs[name] = true
		}
	}
	for _, d := range r.Definitions() {
		if !theirs[d.Name] {
			g.Tools = append(g.Tools, d.Name)
		}
	}
	return g
}
