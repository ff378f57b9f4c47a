package builtin

import (
	"context"
	"log/slog"
	"time"

	"weir"
	"weir/fact"
)

// Journal takes what a Watcher has noticed.
type Journal interface {
	Notice(ctx context.Context, changes ...weir.Change) error
}

// WatcherConfig is what a Watcher works with.
type WatcherConfig struct {
	Journal Journal
	Facts   []fact.Fact      // of the breadth of a workspace
	Global  string           // as of [Instructions]
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger
}

// Watcher follows the workspaces of conversations in use.
type Watcher struct{ cfg WatcherConfig }

// NewWatcher makes a watcher; nothing is watched before Start.
func NewWatcher(cfg WatcherConfig) *Watcher { return &Watcher{cfg: cfg} }

// Start begins to watch.
func (w *Watcher) Start(ctx context.Context) error { return nil }

// Stop ends it and waits for what is under way.
func (w *Watcher) Stop() {}

// Follow asks that the conversation's workspace be watched. It never blocks.
func (w *Watcher) Follow(c weir.Conversation) {}
