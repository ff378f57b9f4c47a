package builtin

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"weir"
	"weir/fact"
	"weir/fact/builtin/internal/git"
)

// settle is how long a file that is not replaced as a whole has to be left
// alone before it is read, and patience how long that is waited for.
const (
	settle   = 20 * time.Millisecond
	patience = 500 * time.Millisecond
)

// follower watches one workspace.
type follower struct {
	w       *Watcher
	watches *watches
	about   fact.Subject
	used    int64 // guarded by w.mu
	cancel  context.CancelFunc
	wake    chan struct{} // holds one

	mu      sync.Mutex
	folders map[string]bool // whose coming and going changes what to watch
	due     map[string]bool // facts to be observed; true: at once
	again   bool            // what to watch has to be found out anew
}

// heard takes an event; it never blocks.
func (f *follower) heard(ev fsnotify.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := filepath.Base(ev.Name)
	switch {
	case name == "HEAD":
		f.want(workspaceKey, true)
	case name == "index":
		f.want(workspaceKey, false)
	case name == instructionsName:
		f.want(instructionsKey, false)
	case name == ".git" || f.folders[ev.Name]:
		f.again = true
		f.want(workspaceKey, false)
		f.want(instructionsKey, false)
	default:
		return
	}
	f.ring()
}

// all looks at everything, because events were lost.
func (f *follower) all() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = true
	f.want(workspaceKey, false)
	f.want(instructionsKey, false)
	f.ring()
}

func (f *follower) wants(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.want(key, false)
	f.ring()
}

func (f *follower) want(key string, now bool) {
	if f.due == nil {
		f.due = map[string]bool{}
	}
	f.due[key] = f.due[key] || now
}

func (f *follower) ring() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run notices changes until its context ends. What holds at the beginning is
// the boundaries' business.
func (f *follower) run(ctx context.Context) {
	defer f.watches.set(f, nil)
	f.plan(ctx)
	last := map[string]known{}
	for _, o := range f.w.set.Observe(ctx, f.about) {
		last[o.Key] = of(o)
	}
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	var since time.Time // the first event that nothing has come of yet
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			if since.IsZero() {
				since = time.Now()
			}
			f.look(ctx, last, true)
			quiet.Reset(min(settle, max(0, patience-time.Since(since))))
		case <-quiet.C:
			since = time.Time{}
			f.look(ctx, last, false)
		}
	}
}

// known is what was last seen of a fact.
type known struct {
	sure  bool
	value json.RawMessage // nil: absent
}

func of(o fact.Observation) known {
	switch o.State {
	case fact.Present:
		return known{true, o.Value}
	case fact.Absent:
		return known{sure: true}
	}
	return known{}
}

// look observes the facts that are due, or those that are due at once, and
// journals what is really different.
func (f *follower) look(ctx context.Context, last map[string]known, urgent bool) {
	keys, again := f.take(urgent)
	if again {
		f.plan(ctx)
	}
	if len(keys) == 0 {
		return
	}
	now := f.w.cfg.Now()
	var changes []weir.Change
	for _, o := range f.w.set.Only(keys...).Observe(ctx, f.about) {
		was, is := last[o.Key], of(o)
		if !is.sure {
			continue // what was seen before still counts
		}
		last[o.Key] = is
		if was.sure && (was.value == nil) == (is.value == nil) && string(was.value) == string(is.value) || !was.sure {
			continue
		}
		changes = append(changes, weir.Change{
			Scope: f.w.set.ScopeOf(o.Key, f.about), Fact: o.Key, Value: is.value,
			At: f.w.set.When(o, was.value, now), Noticed: now,
		})
	}
	if len(changes) == 0 {
		return
	}
	slices.SortStableFunc(changes, func(a, b weir.Change) int { return a.At.Compare(b.At) })
	if err := f.w.cfg.Journal.Notice(ctx, changes...); err != nil && ctx.Err() == nil {
		f.w.cfg.Log.Warn("a change could not be put into the journal; the next step notices it", "workspace", f.about.Conversation.Workspace, "err", err)
	}
}

// take returns what is due, and whether to plan anew. While files are still
// being written only what is due at once is.
func (f *follower) take(urgent bool) (keys []string, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.due)) {
		if !urgent || f.due[key] {
			keys = append(keys, key)
			delete(f.due, key)
		}
	}
	if !urgent {
		again, f.again = f.again, false
	}
	return keys, again
}

// plan finds out what to watch, and watches it.
func (f *follower) plan(ctx context.Context) {
	found := make(chan places, 1)
	go func() { found <- placesOf(f.about.Conversation.Workspace) }() // may hang with its file system
	select {
	case <-ctx.Done():
	case p := <-found:
		f.watches.set(f, p.watch)
		f.mu.Lock()
		f.folders = p.lead
		f.mu.Unlock()
	}
}

// places are the folders to watch, and those whose coming and going changes that.
type places struct{ watch, lead map[string]bool }

// placesOf are the folders where an AGENTS.md counts, the repository's own, and
// for each that is not there the nearest that is.
func placesOf(workspace string) places {
	folders, _ := upwards(workspace) // what is not there is found by its path below
	wanted := slices.Clone(folders)
	if len(folders) == 0 && filepath.IsAbs(workspace) {
		wanted = append(wanted, filepath.Clean(workspace))
	}
	if len(folders) > 0 {
		if repo, err := git.Find(folders[0]); err == nil && repo != nil {
			wanted = append(wanted, repo.Dir)
		}
	}
	p := places{map[string]bool{}, map[string]bool{}}
	for _, folder := range wanted {
		for p.lead[folder] = true; ; p.lead[folder] = true {
			if info, err := os.Stat(folder); err == nil && info.IsDir() {
				p.watch[folder] = true
				break
			}
			up := filepath.Dir(folder)
			if up == folder {
				break
			}
			folder = up
		}
	}
	return p
}
