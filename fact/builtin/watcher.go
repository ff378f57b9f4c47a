package builtin

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"weir"
	"weir/fact"
)

// Journal takes what a Watcher has noticed, in the order of happening.
type Journal interface {
	Notice(ctx context.Context, changes ...weir.Change) error
}

// WatcherConfig is what a Watcher works with.
type WatcherConfig struct {
	Journal Journal
	Facts   []fact.Fact      // [Workspace], [Instructions]
	Global  string           // as of [Instructions]
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: slog.Default
}

const (
	maxFollowed = 64                     // workspaces that are watched at once
	globalPause = 500 * time.Millisecond // between two looks at the global instructions
)

// Watcher follows the workspaces of conversations in use, the last 64 of them.
// What it sees changing there it observes anew, and what is really another
// value goes into the journal with the source's own time: HEAD at once,
// instructions and git's index when they have been left alone for a moment, so
// that a file half written is not told. The global instructions may lie beside
// files that are written all the time; they are looked at every half second.
// It watches the places that matter, not the tree: that tracked files were edited, committed or reset without HEAD
// and index being written, that a symbolic link leads elsewhere, and the turn
// of the day are noticed at a boundary only. So is everything where the
// system's watches run out; then it says so in the log, once.
//
// Concurrency: each workspace has a goroutine of its own; one that hangs holds
// up no other. A hanging read that Stop finds under way is left behind.
type Watcher struct {
	cfg  WatcherConfig
	set  *fact.Set
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu        sync.Mutex
	ctx       context.Context // of its life; nil before Start and after Stop
	watches   *watches
	followers map[string]*follower // by workspace
	tick      int64
}

// NewWatcher makes a watcher; nothing is watched before Start.
func NewWatcher(cfg WatcherConfig) *Watcher {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Watcher{cfg: cfg, followers: map[string]*follower{}}
}

// Start begins to watch. It fails for facts that cannot be composed; where the
// system gives no watches it logs that and watches nothing.
func (w *Watcher) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return errors.New("builtin: a watcher is started once")
	}
	set, err := fact.Compose(w.cfg.Facts...)
	if err != nil {
		return err
	}
	w.set = set
	w.watches = &watches{log: w.cfg.Log, by: map[string]map[*follower]bool{}}
	events, err := fsnotify.NewWatcher()
	ctx, w.stop = context.WithCancel(ctx)
	if err != nil {
		w.watches.exhausted(err)
		return nil
	}
	w.watches.fs, w.ctx = events, ctx
	w.wg.Go(func() { w.listen(ctx, events) })
	return nil
}

// Stop ends it and waits for what is under way.
func (w *Watcher) Stop() {
	w.mu.Lock()
	stop := w.stop
	w.ctx = nil // nobody is followed any longer
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
	w.wg.Wait()
}

// Follow asks that the conversation's workspace be watched. It can be called
// at every boundary: it never blocks, and does nothing for one that is.
func (w *Watcher) Follow(c weir.Conversation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		return
	}
	w.tick++
	if f := w.followers[c.Workspace]; f != nil {
		f.used = w.tick
		return
	}
	if len(w.followers) >= maxFollowed {
		w.dropOldest()
	}
	ctx, cancel := context.WithCancel(w.ctx)
	f := &follower{
		w: w, watches: w.watches, about: fact.Subject{Conversation: c},
		used: w.tick, cancel: cancel, wake: make(chan struct{}, 1),
	}
	w.followers[c.Workspace] = f
	w.wg.Go(func() { f.run(ctx) })
}

func (w *Watcher) dropOldest() {
	var oldest *follower
	for _, f := range w.followers {
		if oldest == nil || f.used < oldest.used {
			oldest = f
		}
	}
	oldest.cancel()
	delete(w.followers, oldest.about.Conversation.Workspace)
}

// listen hands each event to those whom it concerns.
func (w *Watcher) listen(ctx context.Context, events *fsnotify.Watcher) {
	defer events.Close()
	global := globalFile{path: w.cfg.Global}
	global.changed()
	look := time.NewTicker(globalPause)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-events.Events:
			if !ok {
				return
			}
			if ev.Op != fsnotify.Chmod || filepath.Base(ev.Name) == instructionsName { // it may have become readable
				for _, f := range w.watches.of(ev.Name) {
					f.heard(ev)
				}
			}
		case <-look.C:
			if global.changed() {
				w.everyone(func(f *follower) { f.wants(instructionsKey) })
			}
		case err, ok := <-events.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.everyone((*follower).all)
			} else {
				w.cfg.Log.Warn("watching files failed", "err", err)
			}
		}
	}
}

func (w *Watcher) everyone(do func(*follower)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.followers {
		do(f)
	}
}

// globalFile is what the global instructions looked like from outside.
type globalFile struct {
	path string
	last os.FileInfo // nil: not there
}

// changed reports whether the file has been written, replaced or removed, or
// has come, since it was asked last.
func (g *globalFile) changed() bool {
	if g.path == "" {
		return false
	}
	was := g.last
	g.last = nil
	if info, err := os.Stat(g.path); err == nil {
		g.last = info
	}
	if was == nil || g.last == nil {
		return was != g.last
	}
	return !os.SameFile(was, g.last) || was.Size() != g.last.Size() || !was.ModTime().Equal(g.last.ModTime())
}

// watches are the folders that are watched, and for whom.
type watches struct {
	log *slog.Logger
	fs  *fsnotify.Watcher

	mu   sync.Mutex
	by   map[string]map[*follower]bool
	said bool
}

// of returns those who watch the folder that a path is in, or the path itself.
func (s *watches) of(path string) []*follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*follower
	for f := range s.by[filepath.Dir(path)] {
		all = append(all, f)
	}
	for f := range s.by[path] {
		if !s.by[filepath.Dir(path)][f] {
			all = append(all, f)
		}
	}
	return all
}

// set makes the folders those that f watches. One that is asked for again is
// watched anew: another folder may be in its place.
func (s *watches) set(f *follower, folders map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for folder, who := range s.by {
		if who[f] && !folders[folder] {
			delete(who, f)
			if len(who) == 0 {
				delete(s.by, folder)
				_ = s.fs.Remove(folder) // gone already, with what it watched
			}
		}
	}
	for folder := range folders {
		if err := s.fs.Add(folder); err != nil {
			s.exhausted(err)
			continue
		}
		if s.by[folder] == nil {
			s.by[folder] = map[*follower]bool{}
		}
		s.by[folder][f] = true
	}
}

// exhausted logs once that not everything can be watched.
func (s *watches) exhausted(err error) {
	if s.said || errors.Is(err, fsnotify.ErrClosed) || errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.said = true
	s.log.Warn("not all files can be watched; their changes are noticed at the next step", "err", err)
}
